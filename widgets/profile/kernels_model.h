// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/profile/kernel_profile.h"

#include <QAbstractTableModel>

namespace cuda_agent::widgets {

/// The launches of one call, a row each in their order; what a profile does not know is empty. A
/// proxy sorts by `sortRole`. GUI thread.
class KernelsModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column {
        Name,
        Time,
        Share,
        Memory,  ///< nearest memory ceiling, share of it reached
        Compute, ///< likewise of arithmetic
        Achieved,
        Theoretical,
        LimitedBy,
        Registers,
        Spills,
        columns
    };
    static constexpr int sortRole = Qt::UserRole;

    using QAbstractTableModel::QAbstractTableModel;
    void setProfile(const KernelProfile &profile);
    /// The table as lines of tab-separated values with a head.
    QString text() const;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    QString textAt(int row, int column) const;
    Figure numberAt(int row, int column) const;
    QString tipOf(int row, int column) const;

    KernelProfile profile_;
};

} // namespace cuda_agent::widgets
