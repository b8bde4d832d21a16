// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/bench/suite.h"

namespace cuda_agent::bench {

/// A set of tasks in one file of JSON lines, plain or compressed by gzip, with `name`, `code` and
/// perhaps `level` and `split` (core/synthesis/README.md).
bool isTaskSet(const std::filesystem::path &file); ///< by its name: .jsonl, .jsonl.gz

/// The set of a folder that a synthesis has written one in; any other path as it is.
std::filesystem::path setOf(const std::filesystem::path &path);

/// A set that was read; its tasks have no files yet.
struct TaskSet {
    std::vector<SuiteTask> tasks; ///< `file` is where writeTasks() puts them
    std::map<std::filesystem::path, std::string> sources;
};

/// `place`: a set, or a folder that has one. `mostBytes`: as Selection has it, by the tasks' own
/// "memory_bytes". Errors: request (no such file, a line that is no task, with its number; a name
/// that is no plain file name).
Result<TaskSet> readTaskSet(const std::filesystem::path &place, std::uint64_t mostBytes = 0);

/// Cuts the module-level constant `batch_size` of a task's code to about `share` of it, at least 1.
/// Returns what share of it is left: 1 where there is none to cut.
double cutBatch(std::string &code, double share);

/// Writes those of `tasks` that are not there yet below the cache folder, in a folder of the set's
/// own content. Errors: machine.
Result<void> writeTasks(const TaskSet &set, const std::vector<SuiteTask> &tasks);

} // namespace cuda_agent::bench
