// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/build/build_model.h"

#include "widgets/base/text.h"
#include "widgets/base/theme.h"

#include <algorithm>

namespace cuda_agent::widgets {

using session::EventType;

namespace {

BuildMessage::Severity severityOf(const Json &diagnostic) {
    const QString text = textOf(diagnostic, "severity"); // "fatal error" is an error
    if (text.contains(QLatin1String("error"), Qt::CaseInsensitive))
        return BuildMessage::error;
    return text.contains(QLatin1String("warning"), Qt::CaseInsensitive) ? BuildMessage::warning
                                                                        : BuildMessage::note;
}

/// A place in a file as others may have written it.
int placeOf(const Json &diagnostic, const char *name) {
    const double value = numberOf(diagnostic, name);
    return value >= 1 && value <= 100'000'000 ? static_cast<int>(value) : 0;
}

const Json &diagnosticsOf(const session::Event &event) {
    static const Json none = Json::array();
    const Json &list = partOf(event.data, "diagnostics");
    return list.is_array() ? list : none;
}

} // namespace

QString BuildMessage::text() const {
    static const QLatin1String names[] = {QLatin1String("error"), QLatin1String("warning"),
                                          QLatin1String("note")};
    QString place = file; // as compilers print it, so that editors and terminals understand it
    for (const int number : {line, column}) {
        if (number > 0 && !place.isEmpty())
            place += QStringLiteral(":%1").arg(number);
    }
    const QString what = QStringLiteral("%1: %2").arg(names[severity], message);
    return place.isEmpty() ? what : QStringLiteral("%1: %2").arg(place, what);
}

BuildModel::BuildModel(SessionDocument *document, QObject *parent)
    : QAbstractTableModel(parent), document_(document) {
    connect(document, &SessionDocument::reset, this, &BuildModel::reset);
    connect(document, &SessionDocument::advanced, this, &BuildModel::advance);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        if (!rows_.empty())
            Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columns - 1),
                               {Qt::ForegroundRole});
    });
    reset();
}

void BuildModel::reset() {
    beginResetModel();
    rows_.clear();
    highestTurn_ = 0;
    anyCompiled_ = false;
    take(0, document_->cursor(), rows_);
    endResetModel();
}

void BuildModel::advance(std::size_t first, std::size_t last) {
    const auto &events = document_->index().events();
    for (std::size_t i = first; i < last; ++i) {
        if (events[i].type == EventType::turnStarted && events[i].turn <= highestTurn_) {
            reset(); // a turn that was cut off is done again: what it said is taken back
            return;
        }
    }
    std::vector<Row> more;
    take(first, last, more);
    if (more.empty())
        return;
    beginInsertRows({}, rowCount(), rowCount() + static_cast<int>(more.size()) - 1);
    rows_.insert(rows_.end(), more.begin(), more.end());
    endInsertRows();
}

void BuildModel::take(std::size_t first, std::size_t last, std::vector<Row> &into) {
    const SessionIndex &index = document_->index();
    for (std::size_t i = first; i < last; ++i) {
        const session::Event &event = index.events()[i];
        highestTurn_ = std::max(highestTurn_, event.turn);
        if (event.type != EventType::compiled)
            continue;
        const TurnRange *turn = index.turn(event.turn, document_->cursor());
        if (turn && i < turn->begin)
            continue; // of an attempt that was cut off and done again
        const Json &list = diagnosticsOf(event);
        const bool again = anyCompiled_ && index.events()[lastCompiled_].turn == event.turn &&
                           diagnosticsOf(index.events()[lastCompiled_]) == list;
        anyCompiled_ = true;
        lastCompiled_ = i;
        if (again)
            continue;
        for (std::size_t place = 0; place < list.size(); ++place) {
            if (list[place].is_object())
                into.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(place),
                                event.turn, severityOf(list[place])});
        }
    }
}

const Json &BuildModel::json(const Row &row) const {
    return diagnosticsOf(document_->index().events()[row.event])[row.diagnostic];
}

BuildMessage BuildModel::message(int row) const {
    const Row &place = rows_[at(row)];
    const Json &diagnostic = json(place);
    return {place.turn,
            place.severity,
            textOf(diagnostic, "file"),
            placeOf(diagnostic, "line"),
            placeOf(diagnostic, "column"),
            textOf(diagnostic, "message")};
}

int BuildModel::count(BuildMessage::Severity severity, int turn) const {
    return static_cast<int>(std::count_if(rows_.begin(), rows_.end(), [&](const Row &row) {
        return row.severity == severity && (turn == 0 || row.turn == turn);
    }));
}

int BuildModel::firstOf(int turn) const {
    const auto found =
        std::find_if(rows_.begin(), rows_.end(), [&](const Row &row) { return row.turn == turn; });
    return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
}

int BuildModel::rowCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int BuildModel::columnCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : columns;
}

QVariant BuildModel::data(const QModelIndex &index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Row &row = rows_[at(index.row())];
    const auto number = [](int value) { return value > 0 ? QVariant(value) : QVariant(); };
    switch (role) {
    case Qt::DisplayRole:
        switch (index.column()) {
        case Turn:
            return row.turn;
        case SeverityColumn:
            return row.severity == BuildMessage::error     ? tr("error")
                   : row.severity == BuildMessage::warning ? tr("warning")
                                                           : tr("note");
        case File:
            return textOf(json(row), "file");
        case Line:
            return number(placeOf(json(row), "line"));
        case ColumnColumn:
            return number(placeOf(json(row), "column"));
        case Message:
            return textOf(json(row), "message").simplified();
        default:
            return {};
        }
    case Qt::ToolTipRole:
        return message(index.row()).text();
    case Qt::AccessibleTextRole:
        return index.column() == Message ? QVariant(message(index.row()).text()) : QVariant();
    case Qt::ForegroundRole:
        if (index.column() != SeverityColumn)
            return {};
        return row.severity == BuildMessage::error     ? Theme::instance().colors().bad
               : row.severity == BuildMessage::warning ? Theme::instance().colors().warning
                                                       : Theme::instance().colors().muted;
    case Qt::TextAlignmentRole:
        if (index.column() == Turn || index.column() == Line || index.column() == ColumnColumn)
            return QVariant(Qt::AlignRight | Qt::AlignVCenter);
        return {};
    default:
        return {};
    }
}

QVariant BuildModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal)
        return QAbstractTableModel::headerData(section, orientation, role);
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Turn:
        return tr("Turn");
    case SeverityColumn:
        return tr("Kind");
    case File:
        return tr("File");
    case Line:
        return tr("Line");
    case ColumnColumn:
        return tr("Column");
    case Message:
        return tr("Message");
    default:
        return {};
    }
}

BuildFilter::BuildFilter(BuildModel *model, QObject *parent)
    : QSortFilterProxyModel(parent), model_(model) {
    setSourceModel(model);
}

void BuildFilter::setShown(BuildMessage::Severity severity, bool shown) {
    if (shown_[severity] == shown)
        return;
    shown_[severity] = shown;
    invalidateFilter();
}

void BuildFilter::setText(const QString &text) {
    if (text_ == text)
        return;
    text_ = text;
    invalidateFilter();
}

void BuildFilter::setTurn(int turn) {
    if (turn_ == turn)
        return;
    turn_ = turn;
    invalidateFilter();
}

bool BuildFilter::filterAcceptsRow(int row, const QModelIndex &) const {
    if (!shown_[model_->severity(row)] || (turn_ != 0 && model_->turn(row) != turn_))
        return false;
    if (text_.isEmpty())
        return true;
    const BuildMessage message = model_->message(row);
    return message.file.contains(text_, Qt::CaseInsensitive) ||
           message.message.contains(text_, Qt::CaseInsensitive);
}

bool BuildFilter::lessThan(const QModelIndex &left, const QModelIndex &right) const {
    if (left.column() == BuildModel::SeverityColumn)
        return model_->severity(left.row()) < model_->severity(right.row()); // errors first
    return QSortFilterProxyModel::lessThan(left, right);
}

const std::vector<KernelModel::Fact> &KernelModel::facts() {
    static const std::vector<Fact> all = {{"registers", QT_TR_NOOP("Registers"), false},
                                          {"shared_bytes", QT_TR_NOOP("Shared memory"), true},
                                          {"spill_bytes", QT_TR_NOOP("Spills"), true},
                                          {"stack_bytes", QT_TR_NOOP("Stack"), true}};
    return all;
}

void KernelModel::setKernels(const Json &kernels) {
    beginResetModel();
    kernels_.clear();
    shown_.clear();
    if (kernels.is_array()) {
        for (const Json &json : kernels) {
            Kernel kernel{textOf(json, "name"), {}};
            for (const Fact &fact : facts())
                kernel.values.push_back(numberOf(json, fact.name, -1));
            kernels_.push_back(std::move(kernel));
        }
    }
    for (std::size_t fact = 0; fact < facts().size(); ++fact) {
        if (std::any_of(kernels_.begin(), kernels_.end(),
                        [&](const Kernel &kernel) { return kernel.values[fact] >= 0; }))
            shown_.push_back(fact);
    }
    endResetModel();
}

int KernelModel::rowCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : static_cast<int>(kernels_.size());
}

int KernelModel::columnCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : 1 + static_cast<int>(shown_.size());
}

QVariant KernelModel::data(const QModelIndex &index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Kernel &kernel = kernels_[static_cast<std::size_t>(index.row())];
    if (index.column() == 0)
        return role == Qt::DisplayRole || role == Qt::ToolTipRole ? QVariant(kernel.name)
                                                                  : QVariant();
    const std::size_t fact = shown_[static_cast<std::size_t>(index.column() - 1)];
    const double value = kernel.values[fact];
    switch (role) {
    case Qt::DisplayRole:
        if (value < 0)
            return QStringLiteral("–");
        return facts()[fact].bytes ? bytesText(value) : QString::number(value, 'f', 0);
    case Qt::TextAlignmentRole:
        return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    case Qt::ForegroundRole: // spilling is what one looks for here
        if (value > 0 && std::string_view(facts()[fact].name) == "spill_bytes")
            return Theme::instance().colors().warning;
        return {};
    default:
        return {};
    }
}

QVariant KernelModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return QAbstractTableModel::headerData(section, orientation, role);
    if (section == 0)
        return tr("Kernel");
    const auto at = static_cast<std::size_t>(section - 1);
    return at < shown_.size() ? QVariant(tr(facts()[shown_[at]].title)) : QVariant();
}

} // namespace cuda_agent::widgets
