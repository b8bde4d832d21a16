// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/roofline/roofline_data.h"

#include <QAbstractTableModel>

#include <vector>

namespace cuda_agent::widgets {

/// Facts about the shown turn's candidate beside those of the best stock baseline: what was
/// counted, what was reached, and for each kernel what the compiler tells. Facts that the log does
/// not have have no row. GUI thread.
class ProfileModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Fact, Candidate, Stock, Difference, columns };

    using QAbstractTableModel::QAbstractTableModel;
    /// `turn` 0 or not timed: only what is known without a time.
    void setData(const RooflineData &data, int turn, const Json &verdict, const Json &compiled);
    using QAbstractItemModel::setData;
    /// The table as lines of tab-separated values with a head.
    QString text() const;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    struct Row {
        QString fact, candidate, stock, difference;
        int tone = 0; ///< of the difference: 1 better, -1 worse
    };
    void addKernels(const Json &kernels);

    std::vector<Row> rows_;
    QString stock_; ///< the best baseline's name
    int turn_ = 0;
};

} // namespace cuda_agent::widgets
