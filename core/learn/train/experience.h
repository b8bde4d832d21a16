// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/ppo/ppo.h"
#include "core/learn/rollout/trajectory.h"
#include "core/learn/train/trajectory_batch.h"

namespace cuda_agent::learn {

/// The trajectories of a step with a table for each of what PPO computes of their own tokens, all
/// [trajectories, most] of float on the model's device, most being the longest's own tokens.
class Experience {
  public:
    /// Borrows the trajectories, which all have own tokens. `masks`: what their turns were drawn
    /// by, where log-probabilities are to be those of that.
    Experience(const std::vector<Trajectory> &trajectories, at::Device device,
               std::int64_t microTokens, const TurnMasks &masks = {});

    std::size_t size() const { return records_.size(); }
    const at::Tensor &mask() const { return mask_; }
    /// The trajectories `chosen` in groups that go through a model at once.
    std::vector<std::vector<std::size_t>> groups(const std::vector<std::size_t> &chosen) const;
    std::vector<std::size_t> all() const; ///< 0 to size() - 1
    /// The part of `chosen` that is process `rank`'s of `size`: about as many tokens as the
    /// others'.
    std::vector<std::size_t> share(const std::vector<std::size_t> &chosen, std::int64_t rank,
                                   std::int64_t size) const;
    TrajectoryBatch batch(const std::vector<std::size_t> &group) const;
    /// A table's rows of the group, as far as the group's longest.
    at::Tensor rows(const at::Tensor &table, const std::vector<std::size_t> &group,
                    const TrajectoryBatch &batch) const;

    /// A table of what `of` says of the trajectories `chosen`, 0 in the rows of the others; without
    /// gradients.
    at::Tensor table(const std::vector<std::size_t> &chosen,
                     const std::function<at::Tensor(const TrajectoryBatch &)> &of) const;
    /// The log-probabilities that were told when the tokens were drawn.
    at::Tensor drawn() const;
    /// Each trajectory's reward at its last own token.
    at::Tensor rewards() const;
    /// The rewards of a group: [group.size()].
    at::Tensor rewards(const std::vector<std::size_t> &group) const;

  private:
    std::vector<const TokenRecord *> records_;
    std::vector<std::int64_t> lengths_;
    std::vector<float> rewards_;
    at::Device device_;
    std::int64_t microTokens_;
    std::vector<PackedMasks> masks_; ///< by trajectory; empty: no grammar
    at::Tensor mask_;
};

} // namespace cuda_agent::learn
