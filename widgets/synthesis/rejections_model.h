// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/synthesis/synthesis_progress.h"

#include <QAbstractTableModel>

namespace cuda_agent::widgets {

/// Rejections by reason, most frequent first. GUI thread.
class RejectionsModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { reasonColumn, countColumn, shareColumn, columns };
    using QAbstractTableModel::QAbstractTableModel;

    /// Rows that stay keep their persistent indexes.
    void set(const QVector<SynthesisProgress::Rejection> &rejections);
    QString reason(int row) const { return rows_.value(row).reason; }

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    QVector<SynthesisProgress::Rejection> rows_;
    double total_ = 0;
};

} // namespace cuda_agent::widgets
