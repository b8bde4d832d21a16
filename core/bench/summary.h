// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/bench/record.h"

#include <vector>

namespace cuda_agent::bench {

/// Speed-ups of candidates over one stock setting of PyTorch.
struct Against {
    std::string name;                ///< "eager", "compile" or "best_stock"
    std::size_t faster = 0;          ///< correct and more than 5 % faster
    std::size_t fasterOrAtLimit = 0; ///< correct and more than 5 % faster or at the limit
    double geometricMean = 0;        ///< of those that are correct; 0 when none is
    /// A failure counts as the stock setting itself, with 1; 0 when nothing was judged.
    double geometricMeanOfAll = 0;
    /// fast_p of KernelBench (Ouyang et al., 2025): the share of all that are correct and more
    /// than p times as fast, at the values of fastPs().
    std::vector<double> fastP;
};
/// 0, 0.25, ... 3, and the doubles of it up to 8: where fast_p is computed.
const std::vector<double> &fastPs();

/// Some records, summed up. Only those that were judged count: not what the machine's fault, an
/// unusable task or a missing candidate kept from it.
struct Group {
    std::string name; ///< "all", "level 1"
    std::size_t records = 0;
    std::size_t judged = 0;
    std::map<Outcome, std::size_t> outcomes;
    std::size_t correct = 0;
    std::size_t timed = 0;   ///< correct, with a time
    std::size_t limit = 0;   ///< correct and at the limit
    std::size_t algebra = 0; ///< correct by rewriting, counted in the others too
    std::vector<Against> against;
    double passRate() const;
    /// Whether it is known how many are fast: not where candidates were verified alone.
    bool measured() const { return timed > 0 || correct == 0; }
};

/// A cause of failure, and whose.
struct Cause {
    std::string what; ///< outcome, then the check that failed, or why without numbers and places
    std::vector<std::string> tasks; ///< ids, with the sample where there are several
};

/// Everything the reports show of one numeric mode.
struct Summary {
    task::Numerics numerics = task::Numerics::standard;
    std::vector<Group> groups; ///< all, then the levels where there are several
    std::vector<Cause> causes; ///< of what was judged and is not correct, most frequent first
    std::vector<Cause> unjudged;
    /// Seconds by what was going on, over all workers.
    std::map<std::string, double> phases;
    double seconds = 0; ///< of all tasks together
};
/// One for each mode that occurs, in the order of the enumeration.
std::vector<Summary> summarise(const std::vector<Record> &records);
Json toJson(const Summary &summary);

/// "default": like for like, ...; for the reports.
std::string_view meaningOf(task::Numerics numerics);

} // namespace cuda_agent::bench
