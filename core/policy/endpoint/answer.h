// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <optional>
#include <string>
#include <vector>

namespace cuda_agent::policy {

/// A tool call as the model wrote it: the arguments are text that may or may not be JSON.
struct WrittenCall {
    std::string tool;
    std::string arguments;
};

/// One answer of a chat endpoint, whole or cut.
struct ChatAnswer {
    std::string text;
    std::string reasoning; ///< of models that show it
    std::string refusal;
    std::vector<WrittenCall> calls;
    std::string
        finish; ///< "stop", "tool_calls", "length", "content_filter", ...; empty: never said
    std::string model;
    bool counted = false; ///< the endpoint counted the tokens
    std::int64_t promptTokens = 0;
    std::int64_t cachedTokens = 0;
    std::int64_t answerTokens = 0;
    double firstSeconds = 0; ///< until the first piece
};

/// Puts an answer together from the chunks of a stream, or takes it from one whole object.
/// Fields that are missing or of another type than OpenAI's are taken as absent. One thread.
class AnswerBuilder {
  public:
    /// A `chat.completion.chunk`. Returns what it adds to what people read: content, or reasoning.
    std::string addChunk(const Json &chunk);
    /// A `chat.completion`.
    void setWhole(const Json &completion);

    /// The message of an `error` object that came instead of, or within, an answer.
    const std::optional<std::string> &error() const { return error_; }
    /// Nothing but blanks.
    bool empty() const {
        return answer_.text.find_first_not_of(" \t\r\n") == std::string::npos &&
               answer_.reasoning.empty() && answer_.calls.empty() && answer_.refusal.empty();
    }
    ChatAnswer take() { return std::move(answer_); }
    const ChatAnswer &answer() const { return answer_; }

  private:
    void readCommon(const Json &object);
    void addCall(const Json &call, std::size_t position);

    ChatAnswer answer_;
    std::vector<long long> indices_; ///< of the calls, as the endpoint numbers them
    std::optional<std::string> error_;
};

/// The message of an endpoint's error body, whatever its form ({"error": {"message"}},
/// {"error": "..."}, {"detail": ...}, {"message"}), or empty.
std::string errorMessage(const Json &body);

} // namespace cuda_agent::policy
