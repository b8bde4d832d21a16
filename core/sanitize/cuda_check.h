// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/linked_candidate.h"
#include "core/sanitize/report.h"

#include <filesystem>
#include <functional>

namespace cuda_agent::sanitize {

/// compute-sanitizer as the sandbox shows it. Errors: machine, with how to get it.
struct ComputeSanitizer {
    std::filesystem::path program;
    std::vector<sandbox::Mount> mounts; ///< beside the system
};
Result<ComputeSanitizer> findComputeSanitizer();

/// What comes before a candidate's process on its command line.
struct Launcher {
    std::vector<std::string> argv;
    std::vector<sandbox::Mount> mounts;
    std::chrono::milliseconds callTimeout{600'000};
};
/// Starts the candidate's process so, loaded and ready to be bound.
using StartUnder =
    std::function<Result<std::unique_ptr<plan::LinkedCandidate>>(const Launcher &launcher)>;

/// Runs the candidate once under each of compute-sanitizer's tools: memcheck, racecheck (shared
/// memory), initcheck (global memory), synccheck. Errors: machine, stopped; what the tools find is
/// the report, and a tool that could not look is one of its notes. When none could look: machine.
Result<Report> checkOnCuda(const StartUnder &start, const plan::CallBuffers &buffers,
                           std::stop_token stop = {});

/// Reads what compute-sanitizer prints under a tool ("memcheck"). Other lines are skipped.
struct ToolOutput {
    std::vector<Finding> findings;
    bool finished = false; ///< it printed its summary
    std::string problem;   ///< why the tool itself could not look, or empty
};
ToolOutput parseComputeSanitizer(std::string_view tool, std::string_view output);

} // namespace cuda_agent::sanitize
