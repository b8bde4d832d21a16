// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/bench/summary.h"

namespace cuda_agent::bench {

/// What stands over the figures.
struct Heading {
    std::string title;               ///< "KernelBench, planner"
    Json settings;                   ///< as in evaluation.json
    double deviceSeconds = 0;        ///< cost so far
    std::optional<double> busyShare; ///< of the GPUs, while this run evaluated; unknown on the cpu
    bool whole = true;               ///< false: tasks are left
};

/// A page for a browser that needs nothing else: plots as inline SVG, a table that sorts, both
/// colour schemes. What comes from tasks and candidates is escaped.
std::string htmlReport(const Heading &heading, const std::vector<Record> &records,
                       const std::vector<Summary> &summaries);

/// The same figures as Markdown, for a repository.
std::string markdownReport(const Heading &heading, const std::vector<Record> &records,
                           const std::vector<Summary> &summaries);

/// Rows shared by both: the versions that occur, "device: NVIDIA H200", each once.
std::vector<std::string> versionsOf(const std::vector<Record> &records);
/// "1.23x", "-" where there is none.
std::string factorText(std::optional<double> factor);
/// How many of a group are fast, "-" where that was not measured.
std::string fastText(const Group &group, std::size_t count);
/// A geometric mean of speed-ups, "-" where there is none.
std::string meanText(const Group &group, double mean);
/// "12.3 us", "-" for 0.
std::string timeText(double seconds);

} // namespace cuda_agent::bench
