// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

class QSpinBox;

namespace cuda_agent::widgets {

/// How many attempts a run makes at its task, and how many of them at once.
class AttemptsDialog : public QDialog {
    Q_OBJECT
  public:
    /// `atOnce` 0: as many as fit.
    AttemptsDialog(int attempts, int atOnce, QWidget *parent = nullptr);
    int attempts() const;
    int atOnce() const;

  private:
    QSpinBox *attempts_, *atOnce_;
};

} // namespace cuda_agent::widgets
