// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/environment/judge_pool.h"
#include "core/policy/policy.h"

namespace cuda_agent::learn {

/// One try of a policy at one task: a session in a folder of its own, as `optimize` makes them.
struct EpisodeRequest {
    task::Spec spec;
    int turns = 1;      ///< of the policy
    int enough = 0;     ///< reward of a candidate that ends it; 0: none does
    double seconds = 0; ///< an episode that takes longer is a straggler; 0: no limit
    std::filesystem::path session;
};

/// How it went. What the policy did wrong is its outcome; what the machine did wrong is not.
struct Episode {
    enum class End {
        done,      ///< the policy ended it, or its turns were up: what it scored counts
        straggler, ///< longer than the limit
        machine,   ///< a worker, compiler or device failed
    } end = End::done;
    std::string reason;       ///< why it ended, in a few words
    Json verdict;             ///< on the best candidate; null when none was correct
    int milestone = -1;       ///< of it: -1, 1, 2, 3; see core/reward
    double seconds = 0;       ///< of it; 0 where nothing was timed
    double overEager = 0;     ///< speed-up; 0 where that was not timed
    double overCompile = 0;   ///< likewise
    double ofLimit = 0;       ///< the machine's least time over its own; 0 where it was not timed
    int turns = 0, calls = 0; ///< of the policy
    int bestTurn = 0;         ///< that the verdict is of; 0: none
    int refused = 0;          ///< calls that could not be done as they were asked for
    int unreadable = 0;       ///< turns that were no calls by the template
    int verdicts = 0;         ///< how often it asked for one
    double judgeSeconds = 0;  ///< of tools, without the wait for a judge
    double waitSeconds = 0;   ///< for a judge, which others had
    /// Seconds that its verdicts took in each of their phases; see judge::Verdict.
    std::map<std::string, double> phases;
    /// The best candidate's files: path -> text; empty where there is none.
    std::map<std::string, std::string> candidate;
    /// Where the policy began anew (policy::conversationsOf), what each of its conversations came
    /// to, its best turn counted from its first; else empty.
    std::vector<Episode> conversations;
    bool correct() const { return verdict.is_object(); }
    /// What `next`, a later conversation of the same episode, adds to this one. What is of the
    /// whole, `end`, `reason`, `waitSeconds`, becomes that of `next`.
    void add(const Episode &next);
};

/// Makes the episode's policy when the task has been described. Errors: machine, stopped.
using MakePolicy = std::function<Result<std::unique_ptr<policy::Policy>>(
    const policy::Context &context, const std::string &source, const std::stop_token &stop)>;

/// Runs an episode to its end in the agent's loop. Blocks; any number of threads.
/// Errors: request (the task cannot be judged by), stopped. Where the machine fails it is the
/// episode's end; the session's log is whole in any case.
Result<Episode> runEpisode(JudgePool &judges, const EpisodeRequest &request, const MakePolicy &make,
                           const std::stop_token &stop);

/// What `milestone` and speed-ups are worth to the update.
enum class RewardKind {
    milestone, ///< -1, 1, 2, 3
    speedup    ///< -1, or the speed-up over torch.compile: the ablation
};
double rewardOf(const Episode &episode, RewardKind kind);

} // namespace cuda_agent::learn
