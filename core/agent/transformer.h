// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/transformer/model_process.h"
#include "core/policy/transformer/weights.h"

#include <functional>
#include <optional>

namespace cuda_agent::agent {

/// The trained model of a session with the policy "transformer".
struct TransformerConfig {
    std::filesystem::path weights; ///< empty: policy::defaultWeights()
    /// Absent: 0 for the first attempt at a task, 1, as in training, for those after it. A resumed
    /// session keeps what its log says.
    std::optional<double> temperature;
    std::optional<double> topP; ///< absent: 1, or what a resumed session's log says
    /// Tokens of a turn at most; absent: 10,500, or what a resumed session's log says.
    std::optional<std::int64_t> longestTurn;
    /// Whether only tokens come that keep a turn readable; absent: no, or what a resumed session's
    /// log says.
    std::optional<bool> grammar;
    /// Absent: on failure, or what a resumed session's log says.
    std::optional<policy::FreshStarts> freshStarts;
    int threads = 0; ///< of PyTorch on a CPU; 0: its default
    /// Holds the weights, for any number of sessions; null: the session starts one of its own.
    std::shared_ptr<policy::ModelProcess> process;
};

/// The weights that a session would have, without their hash. Errors: as policy::readWeights(),
/// with words of how to get some where nobody named any.
Result<policy::Weights> findWeights(const TransformerConfig &config);

/// Starts the model's process if there is none yet, on a GPU where `device` ("auto", "cuda" or
/// "cpu") allows it and there is one, with room for so many sessions at once. Blocks for seconds.
/// Errors: as policy::readWeights() and ModelProcess::start(); machine: the weights changed while
/// they were loaded.
Result<void> startModel(TransformerConfig &config, const std::string &device, int sessions);

/// For the log and for settings: name and hash of the weights, and of a process, what it tells of
/// the model. Errors: as policy::readWeights(), where there is no process.
Result<Json> describeModel(const TransformerConfig &config);

/// How the turns of the attempt of that number are drawn.
/// With a grammar where nobody says and the process has one.
policy::Drawing drawingOf(const TransformerConfig &config, int attempt);

/// The config's, or the default.
policy::FreshStarts freshStartsOf(const TransformerConfig &config);

/// How a model's turns reach the log. Both are called on the thread that waits for the turn, either
/// may be null, and an error ends the turn.
struct TransformerVoice {
    /// A piece of what is being written, readable (policy::StreamedTurn); of a very long turn the
    /// first 64 KiB.
    std::function<Result<void>(const std::string &piece)> streamed;
    /// Payload of `modelAnswered`: the prompt is all that the model has read and written before the
    /// turn, of which it had kept (`cached_tokens`) what it need not read anew.
    std::function<Result<void>(Json answer)> answered;
};

/// Conversations of the process, whose errors are those of ModelProcess::open(). Where the
/// likeliest tokens are taken, one that has to be drawn has a temperature of 1.
policy::OpenConversation conversationOpener(const TransformerConfig &config,
                                            const policy::Drawing &drawing, TransformerVoice voice);

} // namespace cuda_agent::agent
