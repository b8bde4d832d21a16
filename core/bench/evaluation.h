// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agent/run.h"
#include "core/bench/report.h"
#include "core/bench/store.h"
#include "core/bench/suite.h"

namespace cuda_agent::bench {

struct Request {
    Suite suite;
    /// Candidates made elsewhere, by task id; empty: a policy writes them.
    std::map<std::string, std::vector<Sample>> samples;
    std::filesystem::path samplesFolder; ///< where they came from, for the report
    std::vector<task::Numerics> numerics{task::Numerics::standard};
    /// What every task is asked with: device, judge, policy, budget. Its spec, session, numerics
    /// and GPU are set for each task.
    agent::RunRequest one;
    int gpus = 0;      ///< 0: all that CUDA sees
    int perDevice = 0; ///< tasks at a time on each; 0: 3 on a GPU, 1 on the cpu
    /// Tasks have PyTorch's processes on a device one after the other (reference::Stock): for a
    /// suite whose tasks trust each other.
    bool sharedWorkers = false;
    double longest = 0; ///< seconds for one task; 0: no limit
    double seconds = 0; ///< no task begins or goes on after that time; 0: no limit
    std::filesystem::path folder;
};

/// How far an evaluation is.
struct Status {
    std::size_t done = 0; ///< records that stand, those of earlier runs counted in
    std::size_t all = 0;
    std::size_t correct = 0;
    double seconds = 0;         ///< of this run
    std::optional<double> left; ///< estimate, once a task has ended in this run
};

/// What is heard meanwhile. Called on several threads, never two at a time.
struct Listener {
    std::function<void(const Status &)> begun; ///< once, before the first task
    std::function<void(const Record &, const Status &)> finished;
    std::function<void(const std::string &task, const std::string &what)> doing;
};

/// The outcome of one run.
struct Evaluation {
    std::vector<Record> records; ///< of all runs in that folder
    std::vector<Summary> summaries;
    bool whole = false; ///< nothing is left to be evaluated
    std::size_t machineFailures = 0;
};

/// Evaluates what is not in the folder's results yet, several tasks at a time, and writes after
/// each a line to `results.jsonl`, at the end `report.html`, `report.md` and `summary.json`.
/// Sessions of a policy stay below `sessions/`; one that was cut off goes on where it was.
/// A task that fails for the machine's sake is recorded so and tried again by the next run.
/// Blocks. A stop ends it with reports of what is there.
/// Errors: request (another evaluation's folder, unusable settings), machine (the folder cannot be
/// written, no GPU, every task failed so).
Result<Evaluation> evaluate(const Request &request, const Listener &listener, std::stop_token stop);

} // namespace cuda_agent::bench
