// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/synthesis/candidate.h"
#include "core/synthesis/checked.h"
#include "core/synthesis/criterion.h"
#include "core/synthesis/recipe.h"

#include <functional>
#include <stop_token>

namespace cuda_agent::synthesis {

/// Runs candidates in sandboxed filter processes, several on each device. Checks share the device
/// with others of this user (`device::Lease`); eager times are taken with the device alone, one at
/// a time; compiled times one at a time, while other processes compile. What candidates hold at a
/// time stays within the device's memory by their estimates.
class Filter {
  public:
    struct Options {
        std::vector<device::Info> devices;
        int perDevice = 1;
        std::filesystem::path scratch; ///< for caches of compilers; emptied by whom it belongs to
    };
    Filter(const Recipe &recipe, Options options);
    ~Filter();

    /// Hears of each candidate that a stage has ended for; false: begin with no further one. One
    /// call at a time; an error ends run().
    using Done = std::function<Result<bool>(Checked)>;

    /// Takes all candidates through one stage, begun in their order. What a candidate does to its
    /// process, crash, hang, flood, allocate, is its rejection, after a second try where the
    /// process had served others. Blocks. Processes stay for the next call. Errors: machine
    /// (processes do not start: after several in a row), stopped, those of `done`.
    Result<void> run(Stage stage, const std::vector<const Candidate *> &candidates, Rigour rigour,
                     const Done &done, std::stop_token stop);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace cuda_agent::synthesis
