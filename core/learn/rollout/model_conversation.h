// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/rollout/generator.h"
#include "core/learn/tokenizer/tokenizer.h"
#include "core/policy/transformer/transformer.h"

#include <algorithm>

namespace cuda_agent::learn {

/// A conversation as an update needs it: everything that was read and written, one entry a token.
struct TokenRecord {
    std::vector<std::int32_t> tokens;
    std::vector<std::uint8_t> byPolicy;  ///< 1 where it is of a turn of the model's
    std::vector<float> logProbabilities; ///< of the drawn, when they were drawn; else 0
    std::vector<float> entropy;          ///< in nats, likewise
    std::int64_t turns = 0;              ///< that the model wrote
    bool cut = false;                    ///< one of them was as long as may be, or the context full
    bool again = false;                  ///< in place of the conversation before, given up
    /// How many are of turns of the model's.
    std::int64_t ownTokens() const { return std::ranges::count(byPolicy, 1); }
};

/// A conversation that a generator of this process writes. It begins with an end of text, as the
/// documents of pretraining do.
class ModelConversation : public policy::Conversation {
  public:
    struct Options {
        std::int64_t longestTurn = 1024;          ///< tokens
        std::int32_t endOfText = 0;               ///< what a conversation begins with
        std::shared_ptr<TokenRecord> record = {}; ///< is filled; may be null
        bool likeliest = false;                   ///< as Generator::open()
    };
    /// Borrows the generator, whose end token is chat::imEnd; waits for a row of it.
    /// Errors: stopped.
    static Result<std::unique_ptr<ModelConversation>>
    open(Generator &generator, Tokenizer tokenizer, Options options, const std::stop_token &stop);

    /// Of a turn's alternatives those of policy::cheapestOf() with `mostAlternatives`.
    Result<policy::Written> write(const std::vector<chat::Segment> &segments,
                                  const policy::TurnRequest &turn, std::stop_token stop) override;
    static constexpr std::size_t mostAlternatives = 64;

    /// What write() has the model read for these segments.
    std::vector<std::int32_t> encoded(const std::vector<chat::Segment> &segments) const;
    /// All that was read and written so far. While write() runs, between two tokens alone.
    const std::vector<std::int32_t> &tokens() const { return conversation_.tokens(); }

  private:
    ModelConversation(Generator &generator, Generator::Conversation conversation,
                      Tokenizer tokenizer, Options options);
    std::vector<policy::Alternative> withOffsets(std::vector<policy::Alternative> alternatives,
                                                 const std::vector<std::int32_t> &tokens) const;
    void note(const std::vector<std::int32_t> &read, const Generated &written);

    Generator &generator_;
    Generator::Conversation conversation_;
    Tokenizer tokenizer_;
    Options options_;
};

} // namespace cuda_agent::learn
