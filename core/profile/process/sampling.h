// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/runner/backend.h"
#include "core/profile/process/cupti.h"
#include "core/profile/process/flush.h"

#include <filesystem>

namespace cuda_agent::profile::process {

/// What to sample.
struct SampleRequest {
    int set = 0;
    int calls = 1;
    bool flush = true;
    int period = 12; ///< a sample every 2^period cycles of each multiprocessor, 5 to 31
};

/// Where in a file of the candidate an instruction comes from.
struct SourceLine {
    std::string file; ///< without its folders, as CUPTI tells it
    int line = 0;
};

/// The candidate's compiled kernels, as the process sees them.
class Cubins {
  public:
    /// Reads every ELF file of the folder.
    Cubins(const Cupti &cupti, const std::filesystem::path &folder);
    /// Of an instruction at `offset` in a function; none without line information, and for code
    /// that is not the candidate's.
    std::optional<SourceLine> lineOf(std::uint64_t crc, const std::string &function,
                                     std::uint64_t offset) const;
    /// Check sums of those that were read, for tests.
    std::vector<std::uint64_t> sums() const;

  private:
    const Cupti &cupti_;
    std::map<std::uint64_t, std::string> images_;
};

/// Samples the program counters of resident warps while calls run, and why each warp waited.
/// Needs the same privileges as counters.
///
/// The answer: {"functions": [{"name", "samples", "lines": [{"file", "line", "samples", "stalls":
/// {reason: samples}}]}], "samples", "dropped"}; samples without a line count for the function.
Outcome<Json> sampleCalls(const Cupti &cupti, plan::runner::Backend &backend, CacheFlush &flush,
                          const SampleRequest &request);

} // namespace cuda_agent::profile::process
