// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/runs/run_follower.h"

#include <QCoreApplication>

namespace cuda_agent::widgets {

/// What there is to say of a trainer, and what it can be asked for. No widgets.
struct RunProgress {
    Q_DECLARE_TR_FUNCTIONS(RunProgress)
  public:
    QString state;  ///< "running", "paused", "killed", ... ; empty where no trainer of ours wrote
    QString detail; ///< stage, step, tokens, time and estimate, in one line
    QString error;  ///< why it failed or stands still; may be empty
    double share = -1; ///< of all planned steps, else of the stage's; -1 where nothing is planned
    bool canPause = false, canGoOn = false, canStop = false;
    bool canResume = false; ///< a new start of the trainer can go on with it

    static RunProgress of(const TrainerState &trainer);
};

/// "1 h 05 min", "3 min 20 s", "12 s".
QString trainingTimeText(double seconds);
/// "1.24 M", "980".
QString tokenCountText(double count);

} // namespace cuda_agent::widgets
