// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/run_progress.h"

#include <QLocale>

#include <algorithm>
#include <cmath>

namespace cuda_agent::widgets {

namespace {

using Life = learn::RunReader::Life;
using learn::RunState;

/// Steps done of all that are planned, when the recipe plans every stage; else of the stage.
double shareOf(const TrainerState &trainer) {
    const learn::RunStatus &status = *trainer.status;
    if (status.state == RunState::done)
        return 1;
    double planned = 0, done = 0;
    bool found = false, whole = trainer.info && !trainer.info->stages.empty();
    if (trainer.info)
        for (const learn::PlannedStage &stage : trainer.info->stages) {
            whole = whole && stage.steps > 0;
            planned += static_cast<double>(stage.steps);
            if (stage.name == status.stage)
                found = true;
            else if (!found)
                done += static_cast<double>(stage.steps);
        }
    const auto here = static_cast<double>(status.stageStep);
    if (whole && found && planned > 0)
        return std::clamp((done + here) / planned, 0.0, 1.0);
    if (status.stageSteps > 0)
        return std::clamp(here / static_cast<double>(status.stageSteps), 0.0, 1.0);
    return -1;
}

} // namespace

QString trainingTimeText(double seconds) {
    const auto whole = static_cast<qint64>(std::clamp(seconds, 0.0, 1e12));
    if (whole < 60)
        return RunProgress::tr("%1 s").arg(whole);
    if (whole < 3600)
        return RunProgress::tr("%1 min %2 s").arg(whole / 60).arg(whole % 60);
    if (whole < 86400)
        return RunProgress::tr("%1 h %2 min").arg(whole / 3600).arg(whole / 60 % 60);
    return RunProgress::tr("%1 d %2 h").arg(whole / 86400).arg(whole / 3600 % 24);
}

QString tokenCountText(double count) {
    const QLocale locale;
    if (count < 1e4)
        return locale.toString(count, 'f', 0);
    for (const auto &[unit, sign] : {std::pair{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}})
        if (count >= unit)
            return locale.toString(count / unit, 'g', 3) + QChar(0x202f) + QLatin1String(sign);
    return {};
}

RunProgress RunProgress::of(const TrainerState &trainer) {
    RunProgress result;
    if (!trainer.status)
        return result;
    const learn::RunStatus &status = *trainer.status;
    const bool there = trainer.life == Life::alive || trainer.life == Life::silent;
    switch (status.state) {
    case RunState::running:
        result.state = tr("running");
        break;
    case RunState::paused:
        result.state = tr("paused");
        break;
    case RunState::stopped:
        result.state = tr("stopped");
        break;
    case RunState::done:
        result.state = tr("done");
        break;
    case RunState::failed:
        result.state = tr("failed");
        result.error = QString::fromStdString(status.error);
        break;
    }
    if (trainer.life == Life::lost) {
        result.state = tr("ended without a word");
        result.error =
            tr("The trainer said that it runs, but no program holds the run any more: it "
               "was killed, or its machine went. Resume goes on from the last "
               "checkpoint.");
    } else if (trainer.life == Life::silent) {
        result.state = tr("in a long step");
    }
    if (there && trainer.asked)
        result.state = *trainer.asked == learn::RunOrder::stop    ? tr("stopping after this step")
                       : *trainer.asked == learn::RunOrder::pause ? tr("pausing after this step")
                                                                  : tr("going on");
    result.share = shareOf(trainer);
    QStringList parts;
    const QString stage = QString::fromStdString(status.stage);
    qsizetype number = 0;
    if (trainer.info)
        for (std::size_t i = 0; i < trainer.info->stages.size(); ++i)
            if (trainer.info->stages[i].name == status.stage)
                number = static_cast<qsizetype>(i) + 1;
    if (number > 0)
        parts << tr("%1 (stage %2 of %3)").arg(stage).arg(number).arg(trainer.info->stages.size());
    else if (!stage.isEmpty())
        parts << stage;
    const QLocale locale;
    if (status.stageSteps > 0)
        parts << tr("step %1 of %2")
                     .arg(locale.toString(static_cast<qlonglong>(status.stageStep)),
                          locale.toString(static_cast<qlonglong>(status.stageSteps)));
    else
        parts << tr("step %1").arg(locale.toString(static_cast<qlonglong>(status.step)));
    if (status.tokens > 0)
        parts << tr("%1 tokens").arg(tokenCountText(static_cast<double>(status.tokens)));
    if (status.seconds > 0)
        parts << tr("%1 so far").arg(trainingTimeText(status.seconds));
    if (there && std::isfinite(status.secondsLeft))
        parts << tr("about %1 left").arg(trainingTimeText(status.secondsLeft));
    result.detail = parts.join(QStringLiteral(" · "));
    const bool paused = status.state == RunState::paused;
    const bool stopping = trainer.asked == learn::RunOrder::stop;
    result.canPause = there && !paused && !stopping;
    result.canGoOn = there && paused && !stopping;
    result.canStop = there && !stopping;
    result.canResume = !there && status.state != RunState::done;
    return result;
}

} // namespace cuda_agent::widgets
