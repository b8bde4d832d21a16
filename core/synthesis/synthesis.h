// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/endpoint/endpoint.h"
#include "core/synthesis/candidate.h"
#include "core/synthesis/checked.h"
#include "core/synthesis/recipe.h"

#include <functional>
#include <map>
#include <stop_token>

namespace cuda_agent::synthesis {

struct Request {
    Recipe recipe;
    std::filesystem::path folder;
    int gpus = 0;       ///< 0: all that CUDA sees
    int perDevice = 0;  ///< filter processes on each; 0: by cores
    double seconds = 0; ///< nothing is begun after that time; 0: no limit
    /// Stop after proposing, which needs no device, and write proposed.jsonl.gz: the candidates as
    /// a set, without what the sets `apart` keep from training.
    bool proposeOnly = false;
    std::vector<std::filesystem::path> apart;
    /// Write draft.jsonl.gz of what has passed eager timing so far and failed nothing since, and
    /// run nothing; needs no device.
    bool draft = false;
    /// Folder of a benchmark's tasks that the set has to be unlike; empty: KernelBench, by its
    /// fingerprints.
    std::filesystem::path against;
    /// Folder of an evaluation of the set that is in `folder`: what it says of difficulty goes into
    /// difficulty.json and the set, of which nothing is run again. Empty: none.
    std::filesystem::path difficulty;
    std::optional<policy::EndpointConfig> endpoint; ///< where `sources` has "endpoint"
};

/// How far a synthesis is; what progress.json holds.
struct Progress {
    std::string state = "running"; ///< "running", "done", "stopped"
    std::string stage;             ///< "crawl", "propose", "endpoint", "check", "time", "compile",
                                   ///< "again", "third", "audit", "write"
    /// `accepted`: of those that were compiled; some may fail "again" or "third".
    std::size_t wanted = 0, proposed = 0, checked = 0, timed = 0, compiled = 0, accepted = 0;
    std::map<std::string, std::size_t> rejected; ///< by reason, all stages together
    double seconds = 0;                          ///< of this run
    std::optional<double> left;                  ///< estimate
    /// Candidates a second of this run: "check", "time", "compile", "again", "third".
    std::map<std::string, double> rates;
};
Json toJson(const Progress &progress);

/// Called on several threads, never two at a time.
struct Listener {
    std::function<void(const Progress &)> progress;
    std::function<void(const std::string &)> note; ///< something a person should know
};

/// The outcome of one run.
struct Synthesis {
    Progress progress;
    bool whole = false; ///< the set has its size, and its files are written
};

/// Makes a set in `folder` (README.md tells its files), going on where an earlier run has ended.
/// Blocks. A stop, or the end of `seconds`, leaves everything that was found out.
/// A set that is whole is audited once, as long as its tasks and the versions stay.
/// Errors: request (another recipe's folder, unusable settings, an evaluation of another set),
/// machine (no Python, no GPU, nothing can be filtered), stopped.
Result<Synthesis> synthesize(const Request &request, const Listener &listener,
                             std::stop_token stop);

} // namespace cuda_agent::synthesis
