// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/rollout/generator.h"
#include "core/learn/tokenizer/tokenizer.h"
#include "core/policy/transformer/transformer.h"

namespace cuda_agent::learn {

/// A conversation of the server's: as a rollout's (ModelConversation) it begins with an end of text
/// and goes on in tokens; besides, each turn can be heard while it is written. One thread.
class ToldConversation {
  public:
    struct Options {
        std::int64_t longestTurn = 1024; ///< tokens
        std::int32_t endOfText = 0;      ///< what a conversation begins with
    };
    /// Hears the next characters of a turn, whole ones.
    using Tell = std::function<void(const std::string &piece)>;

    /// Borrows the generator, whose end token is chat::imEnd; waits for a row of it.
    /// Errors: stopped.
    static Result<std::unique_ptr<ToldConversation>>
    open(Generator &generator, Tokenizer tokenizer, Options options, const std::stop_token &stop);

    /// As policy::Conversation::write(). `tell`, which may be null, is called about five times a
    /// second by a thread of its own, never after this has returned; it does not hear the last
    /// characters.
    Result<policy::Written> write(const std::vector<chat::Segment> &segments, std::uint64_t seed,
                                  const Tell &tell, const std::stop_token &stop);

  private:
    ToldConversation(Generator &generator, Generator::Conversation conversation,
                     Tokenizer tokenizer, Options options);
    void follow(std::size_t begin, const Tell &tell, const std::stop_token &over) const;

    Generator &generator_;
    Generator::Conversation conversation_;
    Tokenizer tokenizer_;
    Options options_;
};

} // namespace cuda_agent::learn
