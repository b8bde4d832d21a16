// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"
#include "core/policy/transformer/transformer.h"

namespace cuda_agent::policy {

// What the engine and `cuda-agent-learn serve` say to each other, over a Channel on descriptor 3;
// core/learn/serve/README.md has the messages. Whoever reads trusts nothing that it gets.

/// How a conversation is written.
struct Drawing {
    double temperature = 0; ///< 0: always the likeliest token
    double topP = 1;        ///< nucleus: the likeliest tokens that make this probability together
    /// Tokens, within what the context has room for. A row's kernel and its plan are 3000, products
    /// on tensor cores bring up to 9000: what a model has read of is that long.
    std::int64_t longestTurn = 10'500;
    /// Only tokens that keep a turn readable, which ends within the longest turn.
    bool grammar = false;
};

/// What a model's process says when it is ready.
struct ModelFacts {
    std::string name, sha256;    ///< as in Weights
    std::string device;          ///< "cpu" or "cuda"
    int index = 0;               ///< of the GPU, as CUDA counts those that the process sees
    std::int64_t parameters = 0; ///< numbers
    std::int64_t context = 0;    ///< tokens of a conversation
    std::int64_t vocabulary = 0; ///< tokens
    std::int64_t rows = 0;       ///< conversations at once
    std::string program;         ///< its version
    bool grammar = false;        ///< whether it has what Drawing::grammar needs
    bool operator==(const ModelFacts &) const = default;
};
Json toJson(const ModelFacts &facts);
/// Errors: machine, naming the field.
Result<ModelFacts> factsFrom(const Json &json);

Json toJson(const Drawing &drawing);
/// What is absent is `usual`. Errors: request, naming the field.
Result<Drawing> drawingFrom(const Json &json, const Drawing &usual);

Json toJson(const std::vector<chat::Segment> &segments);
/// Errors: request: no list of segments, or an empty one.
Result<std::vector<chat::Segment>> segmentsFrom(const Json &json);

Json toJson(const TurnRequest &turn);
/// Errors: request, naming the field.
Result<TurnRequest> turnRequestFrom(const Json &json);

Json toJson(const Written &written);
/// Errors: machine, naming the field.
Result<Written> writtenFrom(const Json &json);

/// {"kind", "message"}.
Json toJson(const Error &error);
/// Of an object like that; whatever else it is gives an error of kind machine.
Error errorFrom(const Json &json);

} // namespace cuda_agent::policy
