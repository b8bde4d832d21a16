// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agent/loop.h"

#include <QDialog>

class QDoubleSpinBox;
class QSpinBox;

namespace cuda_agent::widgets {

/// What the next session may use up. GUI thread.
class BudgetDialog : public QDialog {
    Q_OBJECT
  public:
    BudgetDialog(const agent::Budget &budget, QWidget *parent = nullptr);
    agent::Budget budget() const;

  private:
    QSpinBox *turns_, *seconds_;
    QDoubleSpinBox *tokens_, *cost_; ///< tokens are more than an int holds
};

} // namespace cuda_agent::widgets
