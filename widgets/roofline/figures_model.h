// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/roofline/roofline_data.h"

#include <QAbstractTableModel>

namespace cuda_agent::widgets {

/// Figures of the shown turn beside those of the fastest stock setting: time, bandwidth, rate,
/// share of the limit; then what the compiler said about each kernel.
class FiguresModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { NameColumn, CandidateColumn, StockColumn, DeltaColumn, ColumnCount };
    explicit FiguresModel(QObject *parent = nullptr);
    void setFigures(const RooflineData &data, const Json &verdict, const Json &compiled);
    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    struct Row {
        QString name, candidate, stock, delta;
    };
    std::vector<Row> rows_;
};

} // namespace cuda_agent::widgets
