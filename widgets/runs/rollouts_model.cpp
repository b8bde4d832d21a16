// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/rollouts_model.h"

#include "widgets/base/theme.h"

#include <QLocale>

#include <algorithm>

namespace cuda_agent::widgets {

RolloutsModel::RolloutsModel(QObject *parent) : QAbstractTableModel(parent) {}

void RolloutsModel::setRollouts(std::shared_ptr<const Rollouts> rollouts) {
    const auto size = [](const auto &list) { return list ? list->rows.size() : 0; };
    const std::size_t before = size(rollouts_), after = size(rollouts);
    const bool grown =
        before > 0 && after >= before && rollouts_->run == rollouts->run &&
        std::equal(rollouts_->rows.begin(), rollouts_->rows.end(), rollouts->rows.begin(),
                   [](const Rollouts::Row &a, const Rollouts::Row &b) {
                       return a.folder == b.folder && a.row.task == b.row.task &&
                              a.row.reward == b.row.reward;
                   });
    if (grown && after == before)
        return;
    if (grown) {
        beginInsertRows({}, 0, static_cast<int>(after - before) - 1);
        rollouts_ = std::move(rollouts);
        endInsertRows();
        return;
    }
    beginResetModel();
    rollouts_ = std::move(rollouts);
    endResetModel();
}

const Rollouts::Row &RolloutsModel::rowAt(int row) const {
    return rollouts_->rows[rollouts_->rows.size() - 1 - static_cast<std::size_t>(row)];
}

QString RolloutsModel::folder(int row) const {
    return row >= 0 && row < rowCount() ? rowAt(row).folder : QString();
}

int RolloutsModel::rowCount(const QModelIndex &parent) const {
    return parent.isValid() || !rollouts_ ? 0 : static_cast<int>(rollouts_->rows.size());
}

int RolloutsModel::columnCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : static_cast<int>(columns);
}

QVariant RolloutsModel::data(const QModelIndex &index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const learn::RolloutRow &row = rowAt(index.row()).row;
    if (role == Qt::ToolTipRole)
        return rowAt(index.row()).folder;
    if (role == Qt::TextAlignmentRole && index.column() != taskColumn &&
        index.column() != noteColumn)
        return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    if (role == Qt::ForegroundRole && index.column() == rewardColumn) {
        const Colors &colors = Theme::instance().colors();
        return row.reward < 0 ? colors.bad : row.reward >= 2 ? colors.good : colors.text;
    }
    if (role != Qt::DisplayRole && role != sortRole)
        return {};
    switch (index.column()) {
    case stepColumn:
        return role == sortRole ? QVariant(static_cast<qlonglong>(row.step))
                                : QLocale().toString(static_cast<qlonglong>(row.step));
    case taskColumn:
        return QString::fromStdString(row.task);
    case rewardColumn:
        return role == sortRole ? QVariant(row.reward) : QLocale().toString(row.reward, 'g', 4);
    case turnsColumn:
        return role == sortRole ? QVariant(row.turns) : QLocale().toString(row.turns);
    case noteColumn:
        return QString::fromStdString(row.note);
    default:
        return {};
    }
}

QVariant RolloutsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case stepColumn:
        return tr("Step");
    case taskColumn:
        return tr("Task");
    case rewardColumn:
        return tr("Reward");
    case turnsColumn:
        return tr("Turns");
    case noteColumn:
        return tr("End");
    default:
        return {};
    }
}

} // namespace cuda_agent::widgets
