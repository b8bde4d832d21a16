// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/environment/episode.h"
#include "core/learn/rollout/model_conversation.h"

namespace cuda_agent::learn {

/// A conversation with its tokens and what it is worth: an episode, or the part of one between two
/// fresh starts, which knows nothing of the others.
struct Trajectory {
    std::string task, level; ///< id in its set; level may be empty
    std::int64_t place = 0;  ///< of its episode among all that were asked for
    std::int64_t group = 0;  ///< tries of one task in one collection have the same
    std::string session;     ///< name of its folder; may be empty
    TokenRecord record;
    Episode episode;            ///< of one that was read from a file: without the verdict's fields
    std::int64_t exemplars = 0; ///< earlier candidates that its prompt showed
    double reward = -1;
};

/// An episode with all of its conversations.
struct WholeEpisode {
    const Trajectory *last = nullptr; ///< of its conversations
    Episode episode;
    double reward = -1; ///< the greatest of theirs
};
/// Of trajectories that are in the order of their places; borrows them.
std::vector<WholeEpisode> wholeEpisodes(const std::vector<Trajectory> &trajectories);

/// A safetensors file: "tokens" [n] of int32, "by_policy" [n] of uint8, "log_probabilities" and
/// "entropy" [n] of float, all one trajectory after another; "begins" [count + 1] of int64,
/// "rewards" [count] of double; the rest as JSON in the metadata's "trajectories".
/// Errors: machine.
Result<void> writeTrajectories(const std::filesystem::path &file,
                               const std::vector<Trajectory> &trajectories);
/// Errors: request: no such file, or not of that form.
Result<std::vector<Trajectory>> readTrajectories(const std::filesystem::path &file);

} // namespace cuda_agent::learn
