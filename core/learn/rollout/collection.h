// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/rollout/trajectory.h"

#include <map>

namespace cuda_agent::learn {

/// An episode that is wanted.
struct Ask {
    task::Spec spec;
    std::string task, level;
    std::int64_t group = 0;
    int turns = 1;
    std::uint64_t seed = 1;
    std::filesystem::path session; ///< folder that does not exist yet
    /// Shown by the prompt as far as they fit: beside them there is room for the turns, or half of
    /// the context where these may take more, and always for one turn.
    std::vector<chat::Exemplar> exemplars;
};

struct CollectOptions {
    std::size_t environments = 16; ///< episodes at once, at most the generator's rows
    std::int64_t longestTurn = 1024;
    double seconds = 0; ///< of one episode; 0: no limit
    RewardKind reward = RewardKind::milestone;
    int enough = 0; ///< as EpisodeRequest::enough
    policy::FreshStarts freshStarts = policy::FreshStarts::onFailure;
    bool likeliest = false; ///< takes the likeliest tokens, but where turns have to be drawn
    bool deviates = true;   ///< as policy::TransformerOptions::deviates
};

/// What came of many episodes. Only what the policy is answerable for is among the trajectories.
struct Collected {
    std::vector<Trajectory> trajectories; ///< in the order they were asked for
    std::int64_t asked = 0;
    std::int64_t stragglers = 0;      ///< took too long
    std::int64_t machineFailures = 0; ///< a worker, a compiler or a device failed
    std::int64_t unusable = 0;        ///< of tasks that cannot be judged by
    std::string problem;              ///< of the last one that was left out, one line
    double seconds = 0;               ///< from first to last
    double writing = 0;               ///< seconds that the model computed
    std::int64_t written = 0;         ///< tokens that it drew
    std::int64_t guessed = 0;         ///< of them, those that were guessed before
    double heldUp = 0;                ///< seconds that it waited for the device in between
    double judging = 0;               ///< seconds in tools, over all environments
    double waiting = 0;               ///< for judges that others had, over all environments
    double preparing = 0;             ///< judges, over all threads
    /// Seconds of each phase of a verdict, over all environments.
    std::map<std::string, double> phases;
};

/// Runs the episodes, many at once, with one model. An episode's tokens are drawn by its own seed,
/// whoever is writing beside it. Blocks. Errors: stopped.
Result<Collected> collect(Generator &generator, const Tokenizer &tokenizer, JudgePool &judges,
                          const std::vector<Ask> &asks, const CollectOptions &options,
                          const std::stop_token &stop);

} // namespace cuda_agent::learn
