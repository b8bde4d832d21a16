// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace cuda_agent::bench {

/// One task of a suite.
struct SuiteTask {
    std::string id;    ///< unique in its suite: "1/19" of level1/19_ReLU.py, else the file's stem
    std::string level; ///< "1"; empty where the suite has none
    std::filesystem::path file; ///< absolute
    std::string split = {};     ///< "train", "held_out", ... where the suite is a set that has some
    /// Of the device, what eager PyTorch takes for it at most beside inputs and parameters, where a
    /// set says so; 0: not known.
    std::uint64_t memoryBytes = 0;
    std::string name() const { return file.stem().string(); }
};

/// Tasks that are evaluated together.
struct Suite {
    std::filesystem::path source;
    std::vector<SuiteTask> tasks; ///< by level and number, then name; of a list, in its order
    std::uint64_t mostBytes = 0;  ///< Selection::mostBytes
};

/// Which of a suite's tasks. Empty parts choose everything.
struct Selection {
    std::vector<std::string> levels;      ///< "1"
    std::vector<std::string> only;        ///< ids or names of files without ".py"
    std::vector<std::string> splits = {}; ///< "held_out"
    /// Tasks of a set whose SuiteTask::memoryBytes is more than this have their `batch_size` cut
    /// down to it, as far as that goes: for many small ones beside each other. 0: all are as they
    /// are.
    std::uint64_t mostBytes = 0;
};

/// Selection::mostBytes of what a person writes.
constexpr std::uint64_t bytesOf(double gigabytes) {
    return static_cast<std::uint64_t>(gigabytes * 1e9);
}

/// Opens a suite: a folder with level1, level2, ... (KernelBench's), a folder of .py files, a set
/// of tasks (.jsonl, .jsonl.gz, or a folder that a synthesis has written one in; those that are
/// chosen are written as files below the cache folder),
/// a text file that names one task a line (relative to it; empty lines and those after '#' are left
/// out), or a single .py file. Nothing of a task is run. Errors: request (not there, no tasks, a
/// file that a list names is missing, a name chosen that the suite has not, an id twice, tasks to
/// be cut whose memory no set tells), machine.
Result<Suite> openSuite(const std::filesystem::path &source, const Selection &selection);

/// A candidate that was made elsewhere.
struct Sample {
    int number = 0; ///< of several for one task, from 0
    std::filesystem::path path;
};

/// Candidates of a folder by task id: folders or .py files below it or below its levelN, named as
/// the task ("19_ReLU", "19_ReLU.py"), by its number with more behind ("19_mine.py"), or as
/// KernelBench's runs store them ("level_1_problem_19_sample_0_kernel.py"). A name of a task
/// followed by "_sample_N" is its sample N.
/// Errors: request (not a folder, none belongs to any task, two are the same sample).
Result<std::map<std::string, std::vector<Sample>>> matchSamples(const std::filesystem::path &folder,
                                                                const Suite &suite);

} // namespace cuda_agent::bench
