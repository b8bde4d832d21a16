// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/device.h"
#include "core/policy/planner/kernel_writer.h"

namespace cuda_agent::policy {

/// Ways to share the units of a recurrence out to blocks.
inline constexpr int recurrenceChoices = 4;

/// Sets the schedules of all recurrences of a program; other choices may come to the same. Errors:
/// failed, when the states of one do not fit a multiprocessor.
Result<void> scheduleRecurrences(Program &program, const device::Info &device, int choice);

/// Seconds, at a guess: waiting for each other, arithmetic.
double secondsOf(const Recurrence &recurrence);

/// "lstm, 512 steps of 10 rows, 256 units, 2 directions; 64 blocks of 256 threads each keep the
/// weights of 4 units in registers", for people.
std::string describe(const Recurrence &recurrence);

/// The kernel of a library step that is a recurrence. `name` prefixes everything it defines.
KernelSource writeRecurrence(const Program &program, const LibraryStep &step,
                             const std::string &name);

/// Definitions that such kernels need; helpers are "recurInBlocks", "recurAlone".
std::string recurrencePrelude(const std::set<std::string> &helpers);

} // namespace cuda_agent::policy
