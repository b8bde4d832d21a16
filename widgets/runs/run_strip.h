// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/runs/run_progress.h"

#include <QFrame>

class QAction;
class QLabel;
class QProgressBar;

namespace cuda_agent::widgets {

/// One run's trainer: state, progress, estimate, and the buttons of the actions it is given. GUI
/// thread.
class RunStrip : public QFrame {
    Q_OBJECT
  public:
    /// Borrows the actions.
    explicit RunStrip(const QList<QAction *> &actions, QWidget *parent = nullptr);

    void setRun(const QString &name, const QColor &color, const RunProgress &progress);
    /// No run.
    void clear();

  private:
    QLabel *name_, *state_, *detail_, *error_;
    QProgressBar *bar_;
};

} // namespace cuda_agent::widgets
