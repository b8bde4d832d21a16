// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/schedule_space.h"
#include "core/policy/planner/shared_loop.h"

// What the parts of the space of schedules share.

namespace cuda_agent::policy {

/// What the choice of a schedule hangs on, of one group on one device.
struct Facts {
    const ScheduledGroup &group;
    const Nest &nest;
    std::int64_t rows, elements;
    int vector;         ///< widest possible
    std::size_t passes; ///< sweeps for reductions
    bool elementResults;
    bool boolState = false;
    int processors;
    std::int64_t cacheBytes;         ///< of the cache that all multiprocessors share
    std::int64_t elementBytes = 0;   ///< of all that is read for one element of a row
    std::int64_t bytesToNextRow = 0; ///< from an element to the same one of the next row, at most
    /// Rows along the second innermost loop whose windows overlap; 0: they do not.
    std::int64_t overlapping = 0;
    int arrays = 1;         ///< loads that differ by element
    bool wideReads = false; ///< neighbouring rows of some read lie next to each other
    SharedLoop shared = {}; ///< of maps
    bool gathers = false;   ///< positions of some read are read themselves
    int stagedBytes = 0;    ///< tiled: of one element of everything that is read across
};

inline Option option(Schedule schedule, double traffic, std::string reason) {
    return {schedule, traffic, std::move(reason)};
}

/// Adds it unless its schedule is there.
inline void offer(std::vector<Option> &out, Option fresh) {
    if (std::none_of(out.begin(), out.end(),
                     [&](const Option &o) { return o.schedule == fresh.schedule; }))
        out.push_back(std::move(fresh));
}

inline Schedule rowSchedule(int threads, int team, int vector, int unroll, std::int64_t parts = 1) {
    Schedule s;
    s.form = Schedule::Form::row;
    s.threads = threads;
    s.team = team;
    s.vector = vector;
    s.unroll = unroll;
    s.parts = parts;
    return s;
}

/// Schedules of the row form for groups with reductions, on a GPU.
void rowOptions(const Facts &facts, std::vector<Option> &out);

} // namespace cuda_agent::policy
