// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/quarantine/quarantine_model.h"

#include "widgets/quarantine/quarantine_watch.h"

namespace cuda_agent::widgets {

/// As few changes as there are, so that a selection stays.
void QuarantineModel::set(const std::vector<device::Quarantine> &list) {
    int row = 0;
    const auto here = [&] { return static_cast<std::size_t>(row) < rows_.size(); };
    const auto place = [&] { return rows_.begin() + row; };
    for (const device::Quarantine &each : list) {
        while (here() && place()->device < each.device) {
            beginRemoveRows({}, row, row);
            rows_.erase(place());
            endRemoveRows();
        }
        if (here() && place()->device == each.device) {
            *place() = each;
            Q_EMIT dataChanged(index(row, 0), index(row, ColumnCount - 1));
        } else {
            beginInsertRows({}, row, row);
            rows_.insert(place(), each);
            endInsertRows();
        }
        ++row;
    }
    if (!here())
        return;
    beginRemoveRows({}, row, static_cast<int>(rows_.size()) - 1);
    rows_.erase(place(), rows_.end());
    endRemoveRows();
}

QString QuarantineModel::device(int row) const {
    return row >= 0 && row < rowCount()
               ? QString::fromStdString(rows_[static_cast<std::size_t>(row)].device)
               : QString();
}

int QuarantineModel::rowOf(const QString &device) const {
    for (int row = 0; row < rowCount(); ++row)
        if (this->device(row) == device)
            return row;
    return -1;
}

int QuarantineModel::rowCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int QuarantineModel::columnCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant QuarantineModel::data(const QModelIndex &index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const device::Quarantine &row = rows_[static_cast<std::size_t>(index.row())];
    if (role == Qt::ToolTipRole)
        return noticeText(row);
    if (role != Qt::DisplayRole)
        return {};
    switch (index.column()) {
    case DeviceColumn:
        return QString::fromStdString(row.device);
    case SinceColumn:
        return sinceText(row);
    case ReasonColumn:
        return QString::fromStdString(row.reason);
    default:
        return {};
    }
}

QVariant QuarantineModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case DeviceColumn:
        return tr("Device");
    case SinceColumn:
        return tr("Since");
    case ReasonColumn:
        return tr("Reason");
    default:
        return {};
    }
}

} // namespace cuda_agent::widgets
