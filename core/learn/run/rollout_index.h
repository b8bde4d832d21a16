// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/run/run_files.h"

#include <map>
#include <string>
#include <vector>

namespace cuda_agent::learn {

/// Follows rollouts/*/index.jsonl of a run. A line that is not whole yet waits; one that cannot be
/// read is left out and counted; a step whose file is gone or shorter (the trainer resumed before
/// it) begins anew. A step's file is looked at while it is among the newest few and once after
/// that: a run has thousands. Blocks for file reads; any one thread.
class RolloutIndex {
  public:
    static constexpr std::size_t most = 100'000; ///< rows kept; the newest steps stay

    explicit RolloutIndex(std::filesystem::path folder) : folder_(std::move(folder)) {}

    /// Reads what is new. True when rows() are other ones.
    bool read();

    /// By step, in the order of their files.
    const std::vector<RolloutRow> &rows() const { return rows_; }
    /// The session's folder. What lies there is checked by whoever opens it.
    std::filesystem::path sessionFolder(const RolloutRow &row) const;
    std::size_t badLines() const;
    /// The first bad line with file and number; empty when there is none.
    const std::string &problem() const { return problem_; }

  private:
    struct Step {
        std::uint64_t offset = 0, inode = 0;
        std::size_t line = 0, bad = 0;
        bool settled = false; ///< it was read since it was one of the newest
        std::vector<RolloutRow> rows;
    };
    bool readStep(std::int64_t number, Step &step);

    std::filesystem::path folder_;
    std::map<std::int64_t, Step> steps_;
    std::vector<RolloutRow> rows_;
    std::string problem_;
};

} // namespace cuda_agent::learn
