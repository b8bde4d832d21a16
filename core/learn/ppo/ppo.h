// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

// The arithmetic of policy optimisation over tokens: functions of tensors, no state, no models. All
// tensors are [trajectories, length]; `mask` is of bool, true where the policy wrote the token;
// what it did not write neither earns nor pays. Metric names are verl's.

namespace cuda_agent::learn {

/// What PPO goes by.
struct PpoOptions {
    double clipLow = 0.2, clipHigh = 0.28; ///< of the ratio (clip-higher, DAPO, arXiv 2503.14476)
    double dualClip = 3;       ///< bound of the loss where the advantage is negative; 0: none
    double logRatioClamp = 20; ///< so that no ratio overflows
    /// DPPO's mask (arXiv 2602.04879, binary total variation) in place of the clip: a token whose
    /// probability has moved by more than this in its advantage's direction has no gradient. 0:
    /// off.
    double divergence = 0;
    double valueClip = 0; ///< how far a value may go from the old one in the loss; 0: anywhere
};

/// Generalised advantage estimation (Schulman et al., arXiv 1506.02438) over the policy's tokens,
/// as if the others were not there: the state behind a token is that of the policy's next one.
struct AdvantageOptions {
    double gamma = 1;
    double lambda = 0.95; ///< the actor's, where it is not adaptive
    /// Of actor and critic apart (VC-PPO, arXiv 2503.01491): 1 is the Monte Carlo return.
    double criticLambda = 1;
    /// The actor's is 1 - 1 / (alpha * length) with so many tokens of the policy's (VAPO,
    /// arXiv 2504.05118); 0: `lambda` for all.
    double alpha = 0.05;
    bool whiten = true; ///< mean 0 and variance 1 over all of the policy's tokens
};

struct Advantages {
    at::Tensor advantages; ///< float, 0 where the mask is false
    at::Tensor returns;    ///< float, the critic's targets, 0 where the mask is false
};

/// `rewards` and `values` are of float, on any device; computed on the CPU, given on theirs.
Advantages estimateAdvantages(const at::Tensor &rewards, const at::Tensor &values,
                              const at::Tensor &mask, const AdvantageOptions &options);

/// The group-relative baseline in the critic's place (GRPO, arXiv 2402.03300): of each trajectory
/// its score less its group's mean, over the group's standard deviation where `scale`, at each of
/// its tokens. `scores` [trajectories] of float, `groups` [trajectories] of int64, any numbers. A
/// group of one has no advantage.
at::Tensor groupAdvantages(const at::Tensor &scores, const at::Tensor &groups,
                           const at::Tensor &mask, bool scale = true);

struct PolicyLoss {
    at::Tensor loss; ///< with gradients; a sum over tokens divided by `tokens`
    // Without gradients, the same way:
    at::Tensor kl;           ///< actor/ppo_kl: mean of old less new log-probability
    at::Tensor clipped;      ///< actor/pg_clipfrac: share of tokens without gradient by the clip
    at::Tensor clippedLower; ///< actor/pg_clipfrac_lower: by the dual clip
};

/// PPO's clipped surrogate (Schulman et al., arXiv 1707.06347), with the dual clip (Ye et al.,
/// arXiv 1912.09729), each token weighing the same: `tokens` is the number of the policy's tokens
/// in the whole batch, of which this may be a part.
PolicyLoss policyLoss(const at::Tensor &logProbabilities, const at::Tensor &oldLogProbabilities,
                      const at::Tensor &advantages, const at::Tensor &mask, double tokens,
                      const PpoOptions &options);

struct ValueLoss {
    at::Tensor loss;    ///< with gradients: half the mean square, over `tokens`
    at::Tensor clipped; ///< critic/vf_clipfrac
};

ValueLoss valueLoss(const at::Tensor &values, const at::Tensor &oldValues,
                    const at::Tensor &returns, const at::Tensor &mask, double tokens,
                    const PpoOptions &options);

/// critic/vf_explained_var: 1 - Var(returns - values) / Var(returns) over the policy's tokens. 0 or
/// less says that the batch's mean would do as well; NaN where all returns are one.
double explainedVariance(const at::Tensor &values, const at::Tensor &returns,
                         const at::Tensor &mask);

/// The coefficient of a KL penalty that holds the divergence near a target (Ziegler et al.,
/// arXiv 1909.08593, section 2.2).
class AdaptiveKl {
  public:
    AdaptiveKl(double coefficient, double target, double horizon)
        : coefficient_(coefficient), target_(target), horizon_(horizon) {}
    double coefficient() const { return coefficient_; }
    /// After `trajectories` more, over which the mean divergence was `kl`.
    void update(double kl, std::int64_t trajectories);

  private:
    double coefficient_, target_, horizon_;
};

} // namespace cuda_agent::learn
