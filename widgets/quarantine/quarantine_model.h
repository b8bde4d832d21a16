// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/quarantine.h"

#include <QAbstractTableModel>

#include <vector>

namespace cuda_agent::widgets {

/// Devices in quarantine, one a row. The device of a row stays where it is while others come or go
/// around it.
class QuarantineModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { DeviceColumn, SinceColumn, ReasonColumn, ColumnCount };

    explicit QuarantineModel(QObject *parent = nullptr) : QAbstractTableModel(parent) {}

    /// Sorted by device, as device::quarantines() gives them.
    void set(const std::vector<device::Quarantine> &list);
    /// Empty for a row that is not there.
    QString device(int row) const;
    /// -1 when it is not there.
    int rowOf(const QString &device) const;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    std::vector<device::Quarantine> rows_;
};

} // namespace cuda_agent::widgets
