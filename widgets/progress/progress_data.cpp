// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/progress/progress_data.h"

#include "core/reward/reward.h"
#include "widgets/base/text.h"

#include <algorithm>

namespace cuda_agent::widgets {

namespace {

double secondsOf(const Json &times, const char *name) {
    return numberOf(partOf(times, name), "seconds");
}

} // namespace

ProgressData progressOf(const SessionDocument &document, Against against) {
    ProgressData data;
    const bool tf32 = textOf(document.start(), "numerics") == QLatin1String("tf32");
    const Json &baselines = document.baselines();
    const double eager = secondsOf(baselines, tf32 ? "eager_tf32" : "eager");
    const double compile = secondsOf(baselines, tf32 ? "compile_tf32" : "compile");
    double limit = 0;
    for (const VerdictFigures *figures : document.index().verdicts(document.cursor())) {
        TurnResult result;
        result.turn = figures->turn;
        result.engineer = figures->engineer;
        result.correct = figures->correct;
        result.compiled = figures->compiled;
        result.reward = figures->reward;
        result.seconds = figures->seconds;
        result.speedup = against == Against::eager     ? figures->againstEager
                         : against == Against::compile ? figures->againstCompile
                                                       : figures->fractionOfLimit;
        if (figures->limitSeconds > 0)
            limit = figures->limitSeconds;
        data.comparable = data.comparable || result.speedup > 0;
        data.turns.push_back(result);
    }
    const double reference = against == Against::eager     ? eager
                             : against == Against::compile ? compile
                                                           : limit;
    data.milestones.push_back({1, 0});
    if (reference > 0 && eager > 0)
        data.milestones.push_back({2, reference * reward::clearlyFaster / eager});
    if (reference > 0 && eager > 0 && compile > 0)
        data.milestones.push_back(
            {3, reference * reward::clearlyFaster / std::min(eager, compile)});
    return data;
}

} // namespace cuda_agent::widgets
