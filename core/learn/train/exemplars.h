// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/rollout/trajectory.h"

namespace cuda_agent::learn {

/// The best candidates that a run's tries made, by task: what contrastive prompts show (CUDA-L1,
/// arXiv 2507.14111). What it holds follows from the trajectories that it was given, and their
/// order, alone; giving the same ones again changes nothing. One thread.
class Exemplars {
  public:
    /// Keeps `most` of a task; 0: none at all.
    explicit Exemplars(std::int64_t most) : most_(most) {}

    /// Takes the correct candidates of a step. One whose kernel sources are known already is left
    /// out, with the score that it had first.
    void add(const std::vector<Trajectory> &trajectories);
    /// Up to `most` of a task, the best first: by reward, then by speed-up over torch.compile and
    /// over eager; of equals the earlier one.
    std::vector<chat::Exemplar> of(const std::string &task, std::int64_t most) const;

    /// As "exemplars.json" of a checkpoint; nothing where none are kept. Errors: machine.
    Result<void> save(const std::filesystem::path &folder) const;
    /// Takes those of a checkpoint in place of its own; a checkpoint without them has none. Errors:
    /// request.
    Result<void> restore(const std::filesystem::path &folder);

  private:
    struct Variant {
        std::string key; ///< see sourcesKey()
        std::map<std::string, std::string> files;
        double reward = 0, seconds = 0, overEager = 0, overCompile = 0;
        int milestone = 0;
    };
    static Json toJson(const Variant &variant);
    static Variant variantFrom(const Json &json);

    std::int64_t most_;
    std::map<std::string, std::vector<Variant>> variants_; ///< by task, the best first
};

} // namespace cuda_agent::learn
