// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/synthesis/candidate.h"
#include "core/synthesis/maker_process.h"
#include "core/synthesis/recipe.h"

#include <functional>
#include <mutex>

namespace cuda_agent::synthesis {

/// Proposer processes: they run what we have written alone, see no GPU and need none.
class Proposer {
  public:
    /// `scratch`: a folder for their caches. `against`: tasks of a benchmark, or empty for
    /// KernelBench's fingerprints.
    Proposer(const Recipe &recipe, std::filesystem::path scratch, std::filesystem::path against);

    /// All operators that were found, as crawl.json has them. Errors: machine, stopped.
    Result<Json> crawl(std::stop_token stop);
    /// Candidates `from` to `to` - 1, by as many processes as there are cores, in order; not
    /// screened yet. `done` hears, on several threads, how many more there are. Errors: as crawl().
    Result<std::vector<Candidate>> propose(std::size_t from, std::size_t to,
                                           const std::function<void(std::size_t)> &done,
                                           std::stop_token stop);
    /// Hashes and similarity of a text from elsewhere, put into `candidate`; sets `rejected` where
    /// it is no Python. Errors: as crawl().
    Result<void> look(Candidate &candidate, std::stop_token stop);

    /// {"torch", "python", "packages"}; asked for once.
    Result<Json> versions(std::stop_token stop);

  private:
    Result<MakerProcess> start(int number, std::stop_token stop);
    Result<Json> ask(MakerProcess &process, const Json &request, std::stop_token stop);

    Json recipe_;
    std::filesystem::path scratch_, against_;
    std::vector<MakerProcess> processes_;
    Json versions_;
    std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>(); ///< of `versions_`
};

} // namespace cuda_agent::synthesis
