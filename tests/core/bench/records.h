// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/bench/record.h"

namespace cuda_agent::bench {

inline Record failed(const std::string &task, Outcome outcome, const std::string &cause) {
    Record record;
    record.task = task;
    record.level = task.substr(0, task.find('/'));
    record.name = "task_" + task.substr(task.find('/') + 1);
    record.outcome = outcome;
    record.cause = cause;
    record.seconds = 2;
    return record;
}

/// A correct one that takes 1 ms; eager and torch.compile take that many.
inline Record correct(const std::string &task, double eager, double compile, double limit = 0.5) {
    Record record = failed(task, Outcome::correct, {});
    record.verdict = {{"compiled", true},
                      {"correct", true},
                      {"fraction_of_limit", limit},
                      {"speedup", {{"eager", eager}, {"compile", compile}}},
                      {"best_stock", {{"name", "x"}, {"seconds", 1e-3 * std::min(eager, compile)}}},
                      {"times", {{"candidate", {{"seconds", 1e-3}}}}}};
    record.versions = {{"device", "a card"}};
    return record;
}

} // namespace cuda_agent::bench
