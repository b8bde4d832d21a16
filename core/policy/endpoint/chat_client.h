// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/endpoint/answer.h"
#include "core/policy/endpoint/endpoint.h"
#include "core/policy/endpoint/http.h"

#include <variant>

namespace cuda_agent::policy {

/// The prompt is longer than the model takes.
struct ContextOverflow {
    std::string message; ///< the endpoint's
};

/// An answer and what it took.
struct Asked {
    ChatAnswer answer;
    int attempts = 1;
    double seconds = 0; ///< retries and waits included
    std::string cut;    ///< why the answer is not whole, or empty
};

/// Asks a chat endpoint and tries again where that can help: no connection, no byte for too long, a
/// stream that breaks off, HTTP 408, 409, 425, 429 and 5xx, an answer that is no JSON. Waits
/// between attempts double, with some chance in them, and follow Retry-After. One thread.
class ChatClient {
  public:
    using Voice = std::function<Result<void>(const std::string &)>;
    /// `piece` hears the text as it streams; after a stream that broke off it hears the next
    /// attempt from its beginning. `note` hears why something is tried again.
    ChatClient(EndpointConfig config, Voice piece, Voice note);

    /// `tools` may be empty. Errors: request (the key, the model or the request is refused; not an
    /// API), machine (no answer after all attempts), stopped, and what the voices answer.
    Result<std::variant<Asked, ContextOverflow>> ask(const Json &messages, const Json &tools,
                                                     std::stop_token stop);

  private:
    /// How one attempt ended when it gave no answer.
    struct Failure {
        std::string what;
        bool retry = false;
        bool overflow = false;
        std::optional<double> waitSeconds; ///< as the endpoint asks
    };
    Result<std::variant<Asked, Failure>> attempt(const std::string &body, std::stop_token stop);
    Failure failureOf(const HttpExchange &exchange) const;
    std::string requestBody(const Json &messages, const Json &tools) const;
    std::string withoutKey(std::string text) const;

    EndpointConfig config_;
    Voice piece_;
    Voice note_;
    bool countInStream_ = true; ///< off when the endpoint does not know stream_options
};

} // namespace cuda_agent::policy
