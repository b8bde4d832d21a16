// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/profile/profile.h"

// What the profiling process answers. Device code of the candidate may have reached its memory, so
// nothing is believed beyond its form and its numbers are only ever shown.

namespace cuda_agent::profile {

/// Why a pass was refused, as CUPTI says it.
struct Refused {
    std::string call;
    int status = 0;
    std::string name;
    std::string text;
    /// The driver keeps the counters for an administrator.
    bool lacksPrivileges() const;
};
/// None where the answer is no refusal.
std::optional<Refused> refusalIn(const Json &answer);

/// One sentence for a person: what is missing and what to do about it. `what` begins it
/// ("hardware counters", "exact kernel times").
std::string sentenceOf(const Refused &refused, std::string_view what);

/// The answer to a pass over activities: launches with their times, without steps' labels.
struct Traced {
    std::vector<Launch> launches;
    bool asTimed = true;       ///< replays of a graph; else launched one by one
    std::uint64_t dropped = 0; ///< records that CUPTI lost
};
/// Errors: machine (it is not of that form, or far too long).
Result<Traced> tracedIn(const Json &answer);

/// The answer to a pass over counters: a range for each kernel, or for each step.
struct Range {
    std::string name; ///< number of the kernel, or of the step
    std::map<std::string, double> counters;
};
struct CountedRanges {
    std::vector<Range> ranges;
    bool bySteps = false;
    std::string mode;
    int passes = 0;
    std::vector<std::string> leftOut;
    /// How the metrics over instructions were counted, or why they were not.
    std::string instructions;
    std::optional<Refused> instructionsRefused;
};
/// Errors: machine.
Result<CountedRanges> rangesIn(const Json &answer);

/// The answer to a pass over program counters: where each kernel's warps were seen, by its name.
struct Sampled {
    std::map<std::string, std::vector<HotLine>> lines;
    std::uint64_t samples = 0, dropped = 0;
};
/// Errors: machine.
Result<Sampled> samplesIn(const Json &answer);

/// Gives the launches their counters, by order or by step; says in words where they do not fit.
/// A range of a step with several kernels goes to the longest of them, with a note.
std::vector<std::string> assignCounters(std::vector<Launch> &launches,
                                        const CountedRanges &counted);

} // namespace cuda_agent::profile
