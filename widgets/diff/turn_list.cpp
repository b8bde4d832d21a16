// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/diff/turn_list.h"

#include "widgets/base/text.h"

#include <algorithm>

namespace cuda_agent::widgets {

TurnList::TurnList(SessionDocument *document, QObject *parent)
    : QAbstractListModel(parent), document_(document) {
    refresh();
}

int TurnList::turnAt(int row) const {
    return row >= 0 && row < rowCount() ? turns_[static_cast<std::size_t>(row)] : -1;
}

int TurnList::rowOf(int turn) const {
    const auto found = std::lower_bound(turns_.begin(), turns_.end(), turn);
    return found != turns_.end() && *found == turn ? static_cast<int>(found - turns_.begin()) : -1;
}

void TurnList::refresh() {
    const SessionIndex &session = document_->index();
    const std::size_t cursor = document_->cursor();
    std::vector<int> turns;
    const std::vector<const TurnRange *> ranges = session.turns(cursor);
    turns.reserve(ranges.size() + 1);
    std::size_t firstBegin = cursor;
    for (const TurnRange *range : ranges) {
        turns.push_back(range->number);
        firstBegin = std::min(firstBegin, range->begin);
    }
    if (!session.files(firstBegin).empty())
        turns.insert(turns.begin(), 0);
    const bool grown =
        turns.size() >= turns_.size() && std::equal(turns_.begin(), turns_.end(), turns.begin());
    if (!grown) {
        beginResetModel();
        turns_ = std::move(turns);
        endResetModel();
        return;
    }
    if (turns.size() > turns_.size()) {
        beginInsertRows({}, rowCount(), static_cast<int>(turns.size()) - 1);
        turns_ = std::move(turns);
        endInsertRows();
    }
    if (!turns_.empty()) // verdicts arrive
        Q_EMIT dataChanged(index(0), index(rowCount() - 1), {Qt::DisplayRole});
}

int TurnList::rowCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : static_cast<int>(turns_.size());
}

QVariant TurnList::data(const QModelIndex &place, int role) const {
    if (!checkIndex(place, CheckIndexOption::IndexIsValid) || role != Qt::DisplayRole)
        return {};
    const int turn = turnAt(place.row());
    if (turn == 0)
        return tr("Start");
    const Json &verdict = document_->verdictOf(turn);
    if (!verdict.is_object())
        return tr("Turn %1").arg(turn);
    if (!truthOf(verdict, "correct"))
        return truthOf(verdict, "compiled") ? tr("Turn %1: wrong").arg(turn)
                                            : tr("Turn %1: does not compile").arg(turn);
    const double eager = numberOf(partOf(verdict, "speedup"), "eager");
    return eager > 0 ? tr("Turn %1: %2").arg(turn).arg(timesText(eager))
                     : tr("Turn %1: correct").arg(turn);
}

} // namespace cuda_agent::widgets
