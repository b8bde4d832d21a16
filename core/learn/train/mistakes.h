// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/corpus/document.h"
#include "core/learn/model/transformer.h"
#include "core/learn/tokenizer/tokenizer.h"

namespace cuda_agent::learn {

/// What a turn's text belongs to.
enum class TurnPart : std::uint8_t {
    thought,
    source, ///< a file of kernels, by its path's ending
    plan,   ///< a file of JSON
    call    ///< the rest: calls, other files
};
inline constexpr TurnPart turnParts[] = {TurnPart::thought, TurnPart::source, TurnPart::plan,
                                         TurnPart::call};
std::string_view nameOf(TurnPart part);
/// The part of each byte of a turn in the chat's template.
std::vector<TurnPart> partsOf(std::string_view turn);

/// A token of a document that is not the likeliest one behind all that stands before it.
struct Mistake {
    std::int64_t token = 0; ///< its place in the document, from 0
    TurnPart part = TurnPart::call;
    std::string before;     ///< what stands before it in its line, at most the last 80 bytes
    std::string written;    ///< the document's token
    std::string likeliest;  ///< the model's
    double probability = 0; ///< of the document's
};

/// Over some of the tokens that the policy writes.
struct Reading {
    std::int64_t tokens = 0, mistakes = 0;
    double nats = 0; ///< negative log-likelihood, all tokens together
    Reading &operator+=(const Reading &other);
};

struct DocumentReading {
    std::string task, split, candidate;
    std::map<TurnPart, Reading> parts;
    std::vector<Mistake> mistakes; ///< in the order of the document
    Reading all() const;
};
/// {"task", "split", "candidate", "tokens", "nats", "parts": {NAME: {"tokens", "nats",
/// "mistakes"}}, "mistakes": [{"token", "part", "before", "written", "likeliest", "probability"}]}
Json toJson(const DocumentReading &reading);

/// Reads a document by teacher forcing: each token behind the document's own ones before it,
/// whatever the model would have written there. Only what the policy writes counts. Tokens are
/// those of pretraining, a segment at a time. Errors: request: it is longer than the model's
/// context, or has tokens that the model has not.
Result<DocumentReading> readDocument(const Document &document, const Transformer &model,
                                     const Tokenizer &tokenizer);

} // namespace cuda_agent::learn
