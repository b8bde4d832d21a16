// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session_document.h"

#include <QAbstractListModel>

#include <vector>

namespace cuda_agent::widgets {

/// The turns that have begun before the cursor, oldest first, as "Turn 3: 1.28×". Verdicts are read
/// when they are asked for. Before them "Start" as turn 0, when files were there before the first
/// turn. The document outlives the model.
class TurnList : public QAbstractListModel {
    Q_OBJECT
  public:
    explicit TurnList(SessionDocument *document, QObject *parent = nullptr);

    int turnAt(int row) const;
    int rowOf(int turn) const; ///< -1 when it is not there
    /// Takes over what has happened; rows that stay keep their places.
    void refresh();

    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;

  private:
    SessionDocument *document_;
    std::vector<int> turns_;
};

} // namespace cuda_agent::widgets
