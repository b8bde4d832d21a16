// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <QAbstractTableModel>

#include <vector>

namespace cuda_agent::widgets {

/// The checks of one verdict in the order they ran. A failed one says its evidence in words as its
/// detail; the tool tip has the log's own sentence. GUI thread.
class ChecksModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Result, Name, Detail, columns };
    enum class State { ok, failed, skipped };

    using QAbstractTableModel::QAbstractTableModel;
    /// Of a verdict; anything else clears.
    void setVerdict(const Json &verdict);
    State state(int row) const { return checks_[static_cast<std::size_t>(row)].state; }

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    struct Check {
        QString name, detail, evidence;
        State state = State::ok;
    };
    std::vector<Check> checks_;
};

} // namespace cuda_agent::widgets
