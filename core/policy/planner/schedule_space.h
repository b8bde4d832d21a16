// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/device.h"
#include "core/policy/planner/candidate.h"

namespace cuda_agent::policy {

/// A schedule with the planner's opinion of it.
struct Option {
    Schedule schedule;
    double traffic = 1; ///< expected bytes moved, as a multiple of the group's least
    std::string reason; ///< "one read: the row stays in registers"
    double seconds = 0; ///< of products: expected time of their arithmetic
};

/// The schedules of one group, the most promising first. Empty when the group cannot be done on
/// this device in this form (a fused group may need splitting first).
std::vector<Option> scheduleOptions(const Program &program, const ScheduledGroup &group,
                                    const device::Info &device);

/// The same for a group that computes a product.
std::vector<Option> productOptions(const Program &program, const ScheduledGroup &group,
                                   const device::Info &device);

/// The same for a group that puts elements in order.
std::vector<Option> orderOptions(const Program &program, const ScheduledGroup &group,
                                 const device::Info &device);

/// The widest vector that every access to neighbouring elements allows: as many elements as the
/// narrowest of these has, and at most 16 bytes of the smallest type.
int widestVector(const Program &program, const ScheduledGroup &group);

} // namespace cuda_agent::policy
