// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/synthesis/rejections_model.h"

#include <QLocale>

#include <algorithm>

namespace cuda_agent::widgets {

void RejectionsModel::set(const QVector<SynthesisProgress::Rejection> &rejections) {
    if (rejections == rows_)
        return;
    total_ = 0;
    for (const auto &each : rejections)
        total_ += each.count;
    const auto has = [](const auto &list, const QString &reason) {
        return std::any_of(list.begin(), list.end(),
                           [&](const auto &each) { return each.reason == reason; });
    };
    for (int row = rowCount() - 1; row >= 0; --row)
        if (!has(rejections, rows_[row].reason)) {
            beginRemoveRows({}, row, row);
            rows_.remove(row);
            endRemoveRows();
        }
    for (const auto &each : rejections)
        if (!has(rows_, each.reason)) {
            beginInsertRows({}, rowCount(), rowCount());
            rows_ << each;
            endInsertRows();
        }
    emit layoutAboutToBeChanged({}, VerticalSortHint);
    const QModelIndexList before = persistentIndexList();
    QModelIndexList after;
    for (const QModelIndex &index : before) {
        const QString &reason = rows_[index.row()].reason;
        const auto place = std::find_if(rejections.begin(), rejections.end(),
                                        [&](const auto &each) { return each.reason == reason; });
        after << this->index(static_cast<int>(place - rejections.begin()), index.column());
    }
    rows_ = rejections;
    changePersistentIndexList(before, after);
    emit layoutChanged({}, VerticalSortHint);
    if (!rows_.isEmpty())
        emit dataChanged(index(0, 0), index(rowCount() - 1, columns - 1));
}

int RejectionsModel::rowCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int RejectionsModel::columnCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : columns;
}

QVariant RejectionsModel::data(const QModelIndex &index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const auto &row = rows_[index.row()];
    if (role == Qt::TextAlignmentRole && index.column() != reasonColumn)
        return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole)
        return {};
    switch (index.column()) {
    case reasonColumn:
        return row.reason;
    case countColumn:
        return QLocale().toString(static_cast<qlonglong>(row.count));
    default:
        return QLocale().toString(total_ > 0 ? row.count / total_ * 100 : 0, 'f', 1) +
               QStringLiteral(" %");
    }
}

QVariant RejectionsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case reasonColumn:
        return tr("Reason");
    case countColumn:
        return tr("Candidates");
    case shareColumn:
        return tr("Share");
    default:
        return {};
    }
}

} // namespace cuda_agent::widgets
