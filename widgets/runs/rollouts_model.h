// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/runs/run_follower.h"

#include <QAbstractTableModel>

namespace cuda_agent::widgets {

/// The sampled trajectories of one run, newest step first. No widgets.
class RolloutsModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { stepColumn, taskColumn, rewardColumn, turnsColumn, noteColumn, columns };
    static constexpr int sortRole = Qt::UserRole;

    explicit RolloutsModel(QObject *parent = nullptr);

    /// Null for none. Rows that only came to the front are inserted, so that a selection stays.
    void setRollouts(std::shared_ptr<const Rollouts> rollouts);
    /// Folder of the session of a row.
    QString folder(int row) const;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    const Rollouts::Row &rowAt(int row) const;

    std::shared_ptr<const Rollouts> rollouts_; ///< oldest first
};

} // namespace cuda_agent::widgets
