// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/policy.h"
#include "core/skills/skill_set.h"

#include <functional>

namespace cuda_agent::policy {

/// An OpenAI-compatible chat endpoint: `POST <baseUrl>/chat/completions` with tool calls.
struct EndpointConfig {
    std::string baseUrl; ///< "https://api.openai.com/v1", "http://127.0.0.1:8000/v1"
    std::string model;
    std::string key; ///< sent as bearer token; in no log, no message, no file of ours; may be empty
    std::string keySource; ///< where the key came from, for messages: "$OPENAI_API_KEY"

    std::optional<double> temperature;    ///< the endpoint's default when absent
    int answerTokens = 16'384;            ///< of one answer, at most
    std::int64_t contextTokens = 131'072; ///< prompt and answer together; longer ones are compacted
    bool stream = true;
    Json extra = Json::object(); ///< further fields of the request, as they are

    double promptPrice = 0; ///< per million tokens, in any currency
    double cachedPrice = 0; ///< of prompt tokens that the endpoint had in its cache
    double answerPrice = 0;

    int attempts = 6;                 ///< for one answer
    double connectSeconds = 15;       ///< until a connection stands
    double idleSeconds = 180;         ///< without a byte, after which a request counts as failed
    double firstDelaySeconds = 1;     ///< before the second attempt; doubles up to 30 s
    std::size_t mostBytes = 8u << 20; ///< of one answer; more is cut
};

/// The variable that is looked at for a key when nothing else has one: other programs' keys, too.
inline constexpr const char *lastKeyVariable = "OPENAI_API_KEY";

/// Without slashes at its end: one more or less is the same endpoint.
std::string trimmedBaseUrl(std::string baseUrl);

/// `$CUDA_AGENT_ENDPOINT_CONFIG`, else `$XDG_CONFIG_HOME/cuda-agent/endpoint.toml` or
/// `~/.config/cuda-agent/endpoint.toml`. May not exist.
std::filesystem::path endpointConfigFile();

/// The configuration of that file (absent: all defaults), with the key from, first that is there:
/// the variable that `key_env` names, `CUDA_AGENT_API_KEY`, `key` in the file, `OPENAI_API_KEY`.
/// Errors: request (not TOML, an unknown or unusable field, by its name).
Result<EndpointConfig> readEndpointConfig(const std::filesystem::path &file);
/// Writes all but the key. Errors: machine.
Result<void> writeEndpointConfig(const std::filesystem::path &file, const EndpointConfig &config);

/// Whether a request can be made at all. Errors: request, what is missing and where to set it.
Result<void> checkEndpoint(const EndpointConfig &config);
/// Base URL, model and limits, for the log. Never the key.
Json describeEndpoint(const EndpointConfig &config);

/// What a connection test found out.
struct EndpointTest {
    bool tools = false;      ///< it called the tool that it was asked to call
    bool usage = false;      ///< it counts tokens
    double seconds = 0;      ///< of the whole answer
    double firstSeconds = 0; ///< until its first piece
    std::string model;       ///< as the endpoint names it
    std::string text;        ///< what it said
};
/// One small request with one tool. Blocks. Errors: as the policy's.
Result<EndpointTest> testEndpoint(const EndpointConfig &config, std::stop_token stop);

/// How the policy reaches the session while it thinks. All are called on the thread of `next()`.
struct EndpointVoice {
    /// A piece of the thought that is being written. Errors end the turn.
    std::function<Result<void>(const std::string &piece)> streamed;
    /// Payload of `modelAnswered`. Errors end the turn.
    std::function<Result<void>(Json answer)> answered;
    /// Something a reader should know: a retry, a compaction.
    std::function<Result<void>(const std::string &text)> note;
    std::function<const session::State &()> state; ///< of the session
    std::function<Result<std::string>(const std::string &blob)> blob;
};

/// A language model behind a chat endpoint. The messages are made anew from the turns each time, so
/// that a killed session goes on as it would have.
///
/// It ends when a model that has a correct candidate answers without calling a tool, when it
/// answers so three times in a row without one, or when it makes the same call ten times in a row.
/// next() errors: request (the endpoint refuses the key, the model or the request), machine (no
/// answer after all attempts), stopped.
Result<std::unique_ptr<Policy>> makeEndpoint(EndpointConfig config, const Context &context,
                                             const skills::SkillSet &skills, EndpointVoice voice);

} // namespace cuda_agent::policy
