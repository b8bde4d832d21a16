// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/budget/budget_fold.h"

#include <QWidget>

class QTimer;

namespace cuda_agent::widgets {

class Gauge;
class SessionDocument;

/// Turns, tokens, cost and time of a session at the cursor, as gauges in a row. GUI thread; the
/// document outlives it.
class BudgetStrip : public QWidget {
    Q_OBJECT
  public:
    explicit BudgetStrip(SessionDocument *document, QWidget *parent = nullptr);

    /// The limits that are shown until the log says what they are, and whether they are a language
    /// model's.
    void setPlanned(const agent::Budget &limits, bool model);
    /// The clock goes on by itself while the cursor is at the end of a session that runs.
    void setRunning(bool running);
    const BudgetFigures &figures();
    Gauge &turns() { return *turns_; }
    Gauge &tokens() { return *tokens_; }
    Gauge &cost() { return *cost_; }
    Gauge &time() { return *time_; }

  private:
    void refresh();

    SessionDocument *document_;
    BudgetFold fold_;
    agent::Budget planned_{0, 0, 0, 0};
    bool plannedModel_ = false;
    QTimer *clock_;
    Gauge *turns_, *tokens_, *cost_, *time_;
};

/// "950", "12.3 k", "1.20 M".
QString countText(std::int64_t count);

} // namespace cuda_agent::widgets
