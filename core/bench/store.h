// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/line_log.h"
#include "core/bench/record.h"

#include <filesystem>
#include <vector>

namespace cuda_agent::bench {

/// The folder of one evaluation: `evaluation.json` says what is evaluated, `results.jsonl` has a
/// line for each record, appended and synced one by one, so that a kill at any moment loses only
/// what was being worked on. One writer at a time, by a lock. Not thread-safe.
class Store {
  public:
    /// Creates the folder or opens the one that is there. `settings` are what makes two runs the
    /// same evaluation. A cut-off last line is dropped.
    /// Errors: request (another evaluation's folder: says which setting differs; a line that is no
    /// result; somebody else writes), machine.
    static Result<Store> open(const std::filesystem::path &folder, const Json &settings);

    const std::filesystem::path &folder() const { return folder_; }
    /// The last one of each key, in the order in which the keys came up.
    const std::vector<Record> &records() const { return records_; }
    /// Whether there is one that stands: not one by the machine's fault.
    bool has(const std::string &key) const;
    /// Errors: machine (disk full, ...).
    Result<void> append(Record record);

    /// Seconds of GPUs or, on the cpu, of the machine that were spent so far, earlier runs counted
    /// in. Errors: machine.
    Result<void> addCost(double deviceSeconds);
    double cost() const { return cost_; }

  private:
    Store() = default;
    void keep(Record record);

    std::filesystem::path folder_;
    std::optional<LineLog> log_;
    std::vector<Record> records_;
    double cost_ = 0;
};

} // namespace cuda_agent::bench
