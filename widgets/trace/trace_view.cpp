// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/trace/trace_view.h"

#include "widgets/base/theme.h"

#include <QAccessible>
#include <QPushButton>
#include <QScrollBar>

#include <algorithm>
#include <limits>

// Layout and scrolling; what the mouse and the keyboard do is in trace_view_input.cpp.

namespace cuda_agent::widgets {

TraceView::TraceView(TraceModel *model, TraceFinder *finder, QWidget *parent)
    : QAbstractScrollArea(parent), model_(model), finder_(finder), style_(font()) {
    setFocusPolicy(Qt::StrongFocus);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    // Always there: a bar that comes and goes would lay out all cards again.
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
    viewport()->setMouseTracking(true);
    setAccessibleName(tr("Agent trace"));

    jump_ = new QPushButton(tr("Jump to latest"), viewport());
    jump_->setAccessibleName(tr("Jump to the latest card"));
    jump_->setFocusPolicy(Qt::NoFocus); // the End key does the same
    jump_->setCursor(Qt::ArrowCursor);
    jump_->hide();
    connect(jump_, &QPushButton::clicked, this, &TraceView::jumpRequested);

    connect(model, &QAbstractItemModel::rowsInserted, this,
            [this](const QModelIndex &, int first, int last) { rowsInserted(first, last); });
    connect(model, &QAbstractItemModel::rowsRemoved, this,
            [this](const QModelIndex &, int first) { rowsRemoved(first); });
    connect(model, &QAbstractItemModel::modelReset, this, &TraceView::startOver);
    connect(model, &QAbstractItemModel::dataChanged, this,
            [this](const QModelIndex &first, const QModelIndex &last) {
                rowsChanged(first.row(), last.row());
            });
    connect(finder, &TraceFinder::changed, viewport(), qOverload<>(&QWidget::update));
    connect(&Theme::instance(), &Theme::changed, this, &TraceView::restyle);
    startOver();
}

void TraceView::setEmptyText(const QString &text) {
    empty_ = text;
    viewport()->update();
}

void TraceView::setFoldLines(int lines) {
    foldLines_ = std::clamp(lines, 1, 1000);
    forgetLayouts();
}

// Heights

int TraceView::guess(int row) const {
    const int line = QFontMetrics(style_.text).height();
    const int head = line + 4 * style_.gap;
    switch (model_->kindOf(row)) {
    case CardKind::turn:
        return head;
    case CardKind::action:
        return model_->folded(row) ? head + line : head + 20 * line;
    case CardKind::observation:
        return head + line + style_.edge;
    case CardKind::thought:
        return head + 3 * line;
    default:
        return head + 5 * line;
    }
}

const CardLayout &TraceView::layoutOf(int row) const {
    std::unique_ptr<CardLayout> &layout = layouts_[row];
    if (!layout) {
        CardLayout::Options options;
        options.width = viewport()->width();
        options.folded = model_->folded(row);
        options.foldLines = foldLines_;
        const auto part = parts_.find(row);
        options.part = part == parts_.end() ? 0 : part->second;
        layout = std::make_unique<CardLayout>(model_->card(row), style_, options);
        heights_.set(row, layout->height());
    }
    return *layout;
}

int TraceView::measured(int row) const {
    return layoutOf(row).height();
}

void TraceView::forgetLayouts() {
    layouts_.clear();
    selection_ = {};
    settle();
}

void TraceView::restyle() {
    style_ = CardStyle(font());
    forgetLayouts();
}

void TraceView::changeEvent(QEvent *event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange)
        restyle();
}

void TraceView::startOver() {
    layouts_.clear();
    heights_.clear();
    parts_.clear();
    selection_ = {};
    press_ = {};
    match_ = -1;
    top_ = topOffset_ = 0;
    follow_ = true;
    current_ = -1;
    for (int row = 0; row < count(); ++row)
        heights_.append(guess(row));
    settle();
    setCurrentRow(-1);
}

void TraceView::rowsInserted(int first, int last) {
    // Cards are added at the end, but for the provisional one, which goes before they come.
    for (int row = first; row <= last; ++row)
        heights_.append(guess(row));
    settle();
}

void TraceView::rowsRemoved(int first) {
    heights_.shrink(first);
    std::erase_if(layouts_, [&](const auto &item) { return item.first >= first; });
    parts_.erase(parts_.lower_bound(first), parts_.end());
    if (selection_.row >= first)
        selection_ = {};
    if (press_.row >= first)
        press_ = {};
    match_ = -1;
    if (current_ >= first)
        setCurrentRow(count() - 1);
    settle();
}

void TraceView::rowsChanged(int first, int last) {
    if (last - first > int(layouts_.size())) {
        std::erase_if(layouts_,
                      [&](const auto &item) { return item.first >= first && item.first <= last; });
    } else {
        for (int row = first; row <= last; ++row)
            layouts_.erase(row);
    }
    if (last > first) {
        // All were folded or unfolded: what was measured is worth nothing now.
        for (int row = first; row <= last; ++row)
            heights_.set(row, guess(row));
        parts_.clear();
    }
    if (selection_.row >= first && selection_.row <= last)
        selection_ = {};
    settle();
    if (current_ >= first && current_ <= last)
        tellScreenReader();
}

// Scrolling

void TraceView::settle() {
    if (heights_.size() != count())
        return; // the model is telling several things; the last one settles
    if (count() == 0) {
        top_ = topOffset_ = 0;
        follow_ = true;
    } else if (follow_) {
        alignToEnd();
    } else {
        top_ = std::clamp(top_, 0, count() - 1);
        topOffset_ = std::clamp(topOffset_, 0, std::max(measured(top_) - 1, 0));
        int y = -topOffset_;
        for (int row = top_; row < count() && y < pageHeight(); ++row)
            y += measured(row);
        if (y < pageHeight())
            alignToEnd();
    }
    // Layouts out of sight are cheap to make again.
    if (layouts_.size() > 300) {
        std::erase_if(layouts_, [&](const auto &item) {
            return item.first < top_ - 50 || item.first > top_ + 150;
        });
    }
    updateBar();
    viewport()->update();
}

void TraceView::alignToEnd() {
    int y = pageHeight();
    int row = count();
    while (row > 0 && y > 0)
        y -= measured(--row);
    top_ = row;
    topOffset_ = std::max(-y, 0);
}

bool TraceView::atEnd() const {
    if (count() == 0)
        return true;
    int y = -topOffset_;
    for (int row = top_; row < count(); ++row) {
        y += measured(row);
        if (y > pageHeight())
            return false;
    }
    return true;
}

void TraceView::goTo(int row, int offset) {
    top_ = std::clamp(row, 0, std::max(count() - 1, 0));
    topOffset_ = offset;
    readerScrolled();
}

/// Follows the end from now on if this is it.
void TraceView::readerScrolled() {
    follow_ = false;
    settle();
    follow_ = atEnd();
    placeButton();
}

void TraceView::scrollBy(qint64 pixels) {
    if (count() == 0)
        return;
    if (std::abs(pixels) > 5 * qint64(pageHeight())) {
        // Far: by what is guessed of the cards in between.
        const qint64 target = std::clamp<qint64>(heights_.offset(top_) + topOffset_ + pixels, 0,
                                                 std::max<qint64>(heights_.total() - 1, 0));
        const int row = heights_.rowAt(target);
        goTo(row, int(target - heights_.offset(row)));
        return;
    }
    int row = top_;
    qint64 offset = topOffset_ + pixels;
    while (offset < 0 && row > 0)
        offset += measured(--row);
    while (row < count() - 1 && offset >= measured(row))
        offset -= measured(row++);
    goTo(row, int(std::max<qint64>(offset, 0)));
}

void TraceView::updateBar() {
    settingBar_ = true;
    constexpr qint64 most = std::numeric_limits<int>::max() / 2;
    QScrollBar *bar = verticalScrollBar();
    const qint64 range = std::clamp<qint64>(heights_.total() - pageHeight(), 0, most);
    bar->setRange(0, int(range));
    bar->setPageStep(pageHeight());
    bar->setSingleStep(3 * QFontMetrics(style_.text).height());
    barValue_ = std::clamp<qint64>(heights_.offset(top_) + topOffset_, 0, range);
    bar->setValue(int(barValue_));
    settingBar_ = false;
    placeButton();
}

void TraceView::scrollContentsBy(int, int) {
    if (settingBar_)
        return;
    const QScrollBar *bar = verticalScrollBar();
    if (bar->value() == bar->maximum())
        toEnd();
    else if (bar->value() == 0)
        goTo(0, 0);
    else
        scrollBy(bar->value() - barValue_);
}

void TraceView::toEnd() {
    follow_ = true;
    settle();
}

void TraceView::resizeEvent(QResizeEvent *) {
    forgetLayouts();
}

void TraceView::placeButton() {
    const bool shown = !follow_ && count() > 0;
    if (shown) {
        jump_->adjustSize();
        jump_->move((viewport()->width() - jump_->width()) / 2,
                    viewport()->height() - jump_->height() - style_.edge);
    }
    jump_->setVisible(shown);
}

QRect TraceView::cardRect(int row) const {
    if (row < top_ || row >= count())
        return {};
    int y = -topOffset_;
    for (int at = top_; at < row && y < pageHeight(); ++at)
        y += measured(at);
    return y < pageHeight() ? QRect(0, y, viewport()->width(), measured(row)) : QRect();
}

void TraceView::showRow(int row) {
    if (row >= 0 && row < count())
        goTo(row, 0);
}

void TraceView::ensureVisible(int row) {
    if (row < 0 || row >= count())
        return;
    const QRect rect = cardRect(row);
    if (rect.isEmpty()) {
        if (row < top_)
            return goTo(row, 0);
        // The card's end at the bottom, or its top at the top where it is taller.
        goTo(row, 0);
        scrollBy(std::min(0, cardRect(row).bottom() + 1 - pageHeight()));
    } else if (rect.top() < 0 && rect.height() <= pageHeight()) {
        scrollBy(rect.top());
    } else if (rect.bottom() >= pageHeight()) {
        scrollBy(std::min(rect.top(), rect.bottom() + 1 - pageHeight()));
    }
}

void TraceView::showMatch(int match) {
    if (match < 0 || match >= int(finder_->matches().size()))
        return;
    match_ = match;
    const TraceFinder::Match found = finder_->matches()[std::size_t(match)];
    if (!found.title) {
        if (found.begin >= layoutOf(found.row).shownEnd())
            model_->setFolded(found.row, false);
        const Card card = model_->card(found.row);
        const int part = CardLayout::partWith(card.body(), found.begin);
        if (!model_->folded(found.row) && part != layoutOf(found.row).part()) {
            parts_[found.row] = part;
            layouts_.erase(found.row);
            settle();
        }
    }
    setCurrentRow(found.row);
    const auto [lineTop, lineBottom] =
        found.title ? std::pair(0, 0) : layoutOf(found.row).lineOf(found.begin);
    const QRect rect = cardRect(found.row);
    const bool seen =
        !rect.isEmpty() && rect.top() + lineTop >= 0 && rect.top() + lineBottom < pageHeight();
    if (!seen) {
        goTo(found.row, 0);
        // A third of the page above the match says where it is.
        scrollBy(cardRect(found.row).top() + lineTop - pageHeight() / 3);
    }
    viewport()->update();
}

void TraceView::clearMatch() {
    match_ = -1;
    viewport()->update();
}

void TraceView::setMarkedTurn(int turn) {
    if (turn == markedTurn_)
        return;
    markedTurn_ = turn;
    viewport()->update();
}

void TraceView::paintEvent(QPaintEvent *event) {
    const Colors &colors = Theme::instance().colors();
    QPainter painter(viewport());
    painter.fillRect(event->rect(), colors.base);
    if (count() == 0) {
        painter.setPen(colors.muted);
        painter.drawText(viewport()->rect().adjusted(12, 12, -12, -12),
                         Qt::AlignCenter | Qt::TextWordWrap, empty_);
        return;
    }
    int y = -topOffset_;
    for (int row = top_; row < count() && y < pageHeight(); ++row) {
        const CardLayout &layout = layoutOf(row);
        CardLayout::Painting how;
        how.current = row == current_;
        how.focus = hasFocus();
        how.selectedTurn = markedTurn_ > 0 && model_->turnOf(row) == markedTurn_;
        if (selection_.row == row) {
            how.selectionFrom = selection_.from();
            how.selectionTo = selection_.to();
        }
        const auto [first, end] = finder_->matchesOf(row);
        for (int i = first; i < end; ++i) {
            const TraceFinder::Match &match = finder_->matches()[std::size_t(i)];
            how.titleMatches = how.titleMatches || match.title;
            if (match.title || match.begin < layout.shownBegin() ||
                match.begin >= layout.shownEnd())
                continue;
            if (i == match_)
                how.match = int(how.matches.size());
            how.matches.push_back({match.begin, match.end});
        }
        layout.paint(painter, QPoint(0, y), how);
        y += layout.height();
    }
}

} // namespace cuda_agent::widgets
