// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QTreeView;

namespace cuda_agent::widgets {

class AttemptsModel;

/// The attempts at a task as a table, and below it how they compare. The attempt of the current row
/// is the one that the other panes show. GUI thread; the model outlives the pane.
class AttemptsPane : public QWidget {
    Q_OBJECT
  public:
    explicit AttemptsPane(AttemptsModel *model, QWidget *parent = nullptr);

    /// Marks the attempt that is shown; no signal.
    void setShown(int attempt);
    /// One line about all of them: how many at once, what is compared.
    void setStatus(const QString &text);
    /// Status and outcome, as they are shown.
    QString summary() const;

  signals:
    void attemptChosen(int attempt);

  private:
    void refresh();

    AttemptsModel *model_;
    QTreeView *view_;
    QLabel *summary_;
    QString status_;
    int shown_ = 0;
};

} // namespace cuda_agent::widgets
