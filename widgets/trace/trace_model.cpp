// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/trace/trace_model.h"

#include "widgets/base/text.h"

#include <algorithm>

namespace cuda_agent::widgets {

using session::Event;
using session::EventType;

namespace {

bool same(const Event &a, const Event &b) {
    return a.sequence == b.sequence && a.time == b.time && a.type == b.type && a.turn == b.turn;
}
Event withoutData(const Event &event) {
    return {event.sequence, event.time, event.type, event.turn, {}};
}

} // namespace

TraceModel::TraceModel(SessionDocument *document, QObject *parent)
    : QAbstractListModel(parent), document_(document) {
    connect(document, &SessionDocument::reset, this, &TraceModel::sync);
    connect(document, &SessionDocument::advanced, this, &TraceModel::sync);
    connect(document, &SessionDocument::cursorMoved, this, &TraceModel::sync);
    grow(document->cursor());
    remember();
}

int TraceModel::rowCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : int(rows_.size()) + (pendingShown_ ? 1 : 0);
}

QVariant TraceModel::data(const QModelIndex &index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const int row = index.row();
    switch (role) {
    case KindRole:
        return int(kindOf(row));
    case TurnRole:
        return turnOf(row);
    case FoldedRole:
        return folded(row);
    case Qt::DisplayRole:
        return card(row).title;
    case TextRole: {
        const Card shown = card(row);
        const std::string_view body = shown.body();
        return QString::fromUtf8(body.data(), qsizetype(body.size()));
    }
    case ChipRole: {
        QStringList texts;
        for (const Chip &chip : card(row).chips)
            texts += chip.text;
        return texts;
    }
    case DurationRole: {
        const double seconds = card(row).seconds;
        return seconds >= 0 ? QVariant(seconds) : QVariant();
    }
    default:
        return {};
    }
}

bool TraceModel::setData(const QModelIndex &index, const QVariant &value, int role) {
    if (role != FoldedRole || !checkIndex(index, CheckIndexOption::IndexIsValid))
        return false;
    setFolded(index.row(), value.toBool());
    return true;
}

Qt::ItemFlags TraceModel::flags(const QModelIndex &index) const {
    return index.isValid() ? Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemNeverHasChildren
                           : Qt::NoItemFlags;
}

QHash<int, QByteArray> TraceModel::roleNames() const {
    return {{Qt::DisplayRole, "display"}, {KindRole, "kind"},  {TurnRole, "turn"},
            {TextRole, "text"},           {ChipRole, "chips"}, {FoldedRole, "folded"},
            {DurationRole, "duration"}};
}

Card TraceModel::card(int row) const {
    if (std::size_t(row) >= rows_.size()) {
        Card card;
        card.kind = CardKind::pending;
        card.title = streamed_.empty() ? tr("In progress") : tr("Writing");
        card.own = streamed_.empty() ? pending_.toStdString() : streamed_;
        card.turn = turnOf(row);
        return card;
    }
    const std::vector<Event> &events = document_->index().events();
    const Event &shown = event(row);
    CardContext context;
    if (shown.type == EventType::observation) {
        context.tool = toolOf(row);
    } else if (shown.type == EventType::thought) {
        const TurnRange *turn = document_->index().turn(shown.turn, document_->cursor());
        context.engineer = turn && turn->engineer;
    } else if (const Head *head = shown.type == EventType::turnStarted ? headAt(row) : nullptr) {
        if (head->verdict)
            context.verdict = &events[*head->verdict];
        if (head->end)
            context.seconds = events[*head->end].time - shown.time;
    }
    return cardOf(shown, context);
}

CardKind TraceModel::kindOf(int row) const {
    if (std::size_t(row) >= rows_.size())
        return CardKind::pending;
    switch (event(row).type) {
    case EventType::sessionStarted:
        return CardKind::session;
    case EventType::taskDescribed:
        return CardKind::task;
    case EventType::baselinesMeasured:
        return CardKind::baselines;
    case EventType::turnStarted:
        return CardKind::turn;
    case EventType::thought:
        return CardKind::thought;
    case EventType::action:
        return CardKind::action;
    case EventType::observation:
        return CardKind::observation;
    case EventType::sessionEnded:
        return CardKind::end;
    default:
        return CardKind::note;
    }
}

int TraceModel::turnOf(int row) const {
    if (std::size_t(row) < rows_.size())
        return event(row).turn;
    // What goes on belongs to the turn that has not ended.
    return heads_.empty() || heads_.back().end ? 0 : heads_.back().turn;
}

std::pair<int, int> TraceModel::rowsOfTurn(int turn) const {
    const auto found = std::find_if(heads_.rbegin(), heads_.rend(),
                                    [&](const Head &head) { return head.turn == turn; });
    if (found == heads_.rend())
        return {-1, -1};
    int end = found->row + 1;
    while (std::size_t(end) < rows_.size() && event(end).turn == turn &&
           event(end).type != EventType::turnStarted)
        ++end;
    return {found->row, end};
}

bool TraceModel::folded(int row) const {
    if (std::size_t(row) >= rows_.size())
        return false;
    return allFolded_ != otherwise_.contains(rows_[std::size_t(row)]);
}

void TraceModel::setFolded(int row, bool wanted) {
    if (row < 0 || std::size_t(row) >= rows_.size() || folded(row) == wanted)
        return;
    if (wanted == allFolded_)
        otherwise_.erase(rows_[std::size_t(row)]);
    else
        otherwise_.insert(rows_[std::size_t(row)]);
    emit dataChanged(index(row), index(row), {FoldedRole});
}

void TraceModel::setAllFolded(bool wanted) {
    allFolded_ = wanted;
    otherwise_.clear();
    if (!rows_.empty())
        emit dataChanged(index(0), index(int(rows_.size()) - 1), {FoldedRole});
}

void TraceModel::setPending(const QString &text) {
    const bool another = text != pending_;
    pending_ = text;
    pendingAt_ = document_->index().size();
    syncPending();
    if (pendingShown_ && another)
        emit dataChanged(index(int(rows_.size())), index(int(rows_.size())),
                         {TextRole, Qt::DisplayRole});
}

std::string TraceModel::streamedText() const {
    const std::vector<Event> &events = document_->index().events();
    // A note in between says that the answer broke off and is asked for again.
    std::size_t first = document_->cursor();
    while (first > 0 && events[first - 1].type == EventType::textStreamed)
        --first;
    std::string text;
    for (; first < document_->cursor(); ++first)
        text += textOf(events[first].data, "text").toStdString();
    return text;
}

void TraceModel::syncPending() {
    if (document_->index().size() != pendingAt_)
        pending_.clear();
    std::string streamed = streamedText();
    const bool another = streamed != streamed_;
    streamed_ = std::move(streamed);
    showPending(!streamed_.empty() || (!pending_.isEmpty() && document_->atEnd()));
    if (pendingShown_ && another)
        emit dataChanged(index(int(rows_.size())), index(int(rows_.size())),
                         {TextRole, Qt::DisplayRole});
}

void TraceModel::showPending(bool shown) {
    if (shown == pendingShown_)
        return;
    const int row = int(rows_.size());
    if (shown) {
        beginInsertRows({}, row, row);
        pendingShown_ = true;
        endInsertRows();
    } else {
        beginRemoveRows({}, row, row);
        pendingShown_ = false;
        endRemoveRows();
    }
}

bool TraceModel::sameLog() const {
    const std::vector<Event> &events = document_->index().events();
    if (seen_ == 0)
        return true;
    if (events.size() < seen_ || events.size() < size_)
        return false;
    if (events.data() == at_)
        return true;
    // A log that grew may lie elsewhere in memory; one that did not, or went back, does not.
    return events.size() > size_ && document_->cursor() >= seen_ && same(events.front(), first_) &&
           events.front().data == first_.data && same(events[seen_ - 1], last_);
}

void TraceModel::remember() {
    const std::vector<Event> &events = document_->index().events();
    at_ = events.data();
    size_ = events.size();
    if (seen_ == 0)
        return;
    if (!same(first_, events.front()))
        first_ = events.front();
    last_ = withoutData(events[seen_ - 1]);
}

void TraceModel::sync() {
    const std::size_t cursor = document_->cursor();
    if (!sameLog()) {
        beginResetModel();
        rows_.clear();
        heads_.clear();
        otherwise_.clear();
        pending_.clear();
        pendingShown_ = false;
        seen_ = 0;
        first_ = {};
        endResetModel();
    }
    if (cursor != seen_) {
        showPending(false);
        if (cursor < seen_)
            shrink(cursor);
        else
            grow(cursor);
    }
    remember();
    syncPending();
}

void TraceModel::grow(std::size_t cursor) {
    const std::vector<Event> &events = document_->index().events();
    std::vector<std::size_t> fresh;
    std::vector<Head> heads;
    Head *head = heads_.empty() ? nullptr : &heads_.back();
    bool touched = false; // the head that was there before
    for (std::size_t i = seen_; i < cursor; ++i) {
        const Event &event = events[i];
        if (event.type == EventType::turnStarted) {
            heads.push_back({int(rows_.size() + fresh.size()), event.turn, i, {}, {}});
            head = &heads.back();
        } else if (head && event.turn == head->turn) {
            if (event.type == EventType::verdictGiven)
                head->verdict = i;
            else if (event.type == EventType::turnEnded)
                head->end = i;
            touched = touched || (heads.empty() && !hasCard(event.type));
        }
        if (hasCard(event.type))
            fresh.push_back(i);
    }
    const std::size_t before = heads_.size();
    const auto take = [&] {
        rows_.insert(rows_.end(), fresh.begin(), fresh.end());
        heads_.insert(heads_.end(), heads.begin(), heads.end());
        seen_ = cursor;
    };
    if (fresh.empty()) {
        take();
    } else {
        beginInsertRows({}, int(rows_.size()), int(rows_.size() + fresh.size()) - 1);
        take();
        endInsertRows();
    }
    if (touched && before > 0)
        touch(heads_[before - 1]);
}

void TraceModel::shrink(std::size_t cursor) {
    const auto from = std::lower_bound(rows_.begin(), rows_.end(), cursor);
    const auto take = [&] {
        rows_.erase(from, rows_.end());
        while (!heads_.empty() && heads_.back().event >= cursor)
            heads_.pop_back();
        seen_ = cursor;
    };
    if (from == rows_.end()) {
        take();
    } else {
        beginRemoveRows({}, int(from - rows_.begin()), int(rows_.size()) - 1);
        take();
        endRemoveRows();
    }
    if (heads_.empty())
        return;
    // The turn is shown as it was at the cursor.
    Head &head = heads_.back();
    head.verdict.reset();
    head.end.reset();
    const std::vector<Event> &events = document_->index().events();
    for (std::size_t i = head.event; i < cursor; ++i) {
        if (events[i].turn != head.turn)
            continue;
        if (events[i].type == EventType::verdictGiven)
            head.verdict = i;
        else if (events[i].type == EventType::turnEnded)
            head.end = i;
    }
    touch(head);
}

void TraceModel::touch(const Head &head) {
    emit dataChanged(index(head.row), index(head.row), {ChipRole, DurationRole});
}

const TraceModel::Head *TraceModel::headAt(int row) const {
    const auto found = std::lower_bound(heads_.begin(), heads_.end(), row,
                                        [](const Head &head, int at) { return head.row < at; });
    return found != heads_.end() && found->row == row ? &*found : nullptr;
}

QString TraceModel::toolOf(int row) const {
    const QString id = textOf(event(row).data, "id");
    // A call's answer follows closely; a log that says otherwise is not searched to its start.
    constexpr int farthest = 64;
    for (int at = row - 1; at >= 0 && at >= row - farthest; --at) {
        const Event &call = event(at);
        if (call.turn != event(row).turn)
            break;
        if (call.type == EventType::action && textOf(call.data, "id") == id)
            return textOf(call.data, "tool");
    }
    return {};
}

} // namespace cuda_agent::widgets
