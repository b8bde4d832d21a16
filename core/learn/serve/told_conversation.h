// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/rollout/model_conversation.h"

namespace cuda_agent::learn {

/// A conversation of the server's: each turn can be heard while it is written. One thread.
class ToldConversation {
  public:
    /// Hears the next characters of a turn, whole ones.
    using Tell = std::function<void(const std::string &piece)>;

    /// As ModelConversation::open().
    static Result<std::unique_ptr<ToldConversation>> open(Generator &generator, Tokenizer tokenizer,
                                                          ModelConversation::Options options,
                                                          const std::stop_token &stop);

    /// As policy::Conversation::write(). `tell`, which may be null, is called about five times a
    /// second by a thread of its own, never after this has returned; it does not hear the last
    /// characters.
    Result<policy::Written> write(const std::vector<chat::Segment> &segments,
                                  const policy::TurnRequest &turn, const Tell &tell,
                                  const std::stop_token &stop);

  private:
    ToldConversation(Generator &generator, Tokenizer tokenizer,
                     std::unique_ptr<ModelConversation> conversation)
        : generator_(generator), tokenizer_(std::move(tokenizer)),
          conversation_(std::move(conversation)) {}
    void follow(std::size_t begin, const Tell &tell, const std::stop_token &over) const;

    Generator &generator_;
    Tokenizer tokenizer_;
    std::unique_ptr<ModelConversation> conversation_;
};

} // namespace cuda_agent::learn
