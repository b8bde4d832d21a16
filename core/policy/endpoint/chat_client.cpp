// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/endpoint/chat_client.h"

#include "core/base/elapsed.h"
#include "core/base/hash.h"
#include "core/base/untrusted_json.h"
#include "core/policy/endpoint/event_stream.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace cuda_agent::policy {

namespace {

using Clock = std::chrono::steady_clock;
using Problem = HttpExchange::Problem;

constexpr double longestDelay = 30;
constexpr double longestAskedDelay = 300;
constexpr std::size_t longestMessage = 600; ///< of what an endpoint says of an error

std::string shortened(std::string text) {
    std::ranges::replace_if(
        text, [](char c) { return static_cast<unsigned char>(c) < 32; }, ' ');
    if (text.size() > longestMessage)
        text = text.substr(0, longestMessage) + " ...";
    return text;
}

bool saysOverflow(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto has = [&](const char *word) { return text.find(word) != std::string::npos; };
    return has("context_length_exceeded") || has("maximum context length") ||
           has("context window") || has("prompt is too long") ||
           (has("context") && (has("exceed") || has("too long") || has("larger than"))) ||
           (has("tokens") && has("maximum") && has("prompt"));
}

bool worthAnotherTry(int status) {
    return status == 408 || status == 409 || status == 425 || status == 429 || status >= 500;
}

/// Waits, or sees a stop. False: stopped.
bool waitFor(double seconds, const std::stop_token &stop) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, std::chrono::duration<double>(seconds), [] { return false; });
    return !stop.stop_requested();
}

std::optional<double> retryAfter(const HttpExchange &exchange) {
    for (const auto &[name, unit] : {std::pair{"retry-after-ms", 1e-3}, {"retry-after", 1.0}}) {
        const auto found = exchange.headers.find(name);
        if (found == exchange.headers.end())
            continue;
        char *end = nullptr;
        const double value = std::strtod(found->second.c_str(), &end); // a date gives no number
        if (end != found->second.c_str() && value >= 0)
            return std::min(value * unit, longestAskedDelay);
    }
    return std::nullopt;
}

} // namespace

ChatClient::ChatClient(EndpointConfig config, Voice piece, Voice note)
    : config_(std::move(config)), piece_(std::move(piece)), note_(std::move(note)) {}

std::string ChatClient::withoutKey(std::string text) const {
    if (config_.key.size() < 4) // no secret, and every other word would hold it
        return text;
    for (std::size_t at = text.find(config_.key); at != std::string::npos;
         at = text.find(config_.key, at))
        text.replace(at, config_.key.size(), "[key]");
    return text;
}

std::string ChatClient::requestBody(const Json &messages, const Json &tools) const {
    Json body = config_.extra;
    body["model"] = config_.model;
    body["messages"] = messages;
    body["max_tokens"] = config_.answerTokens;
    if (!tools.empty())
        body["tools"] = tools;
    if (config_.temperature)
        body["temperature"] = *config_.temperature;
    if (config_.stream) {
        body["stream"] = true;
        if (countInStream_)
            body["stream_options"] = {{"include_usage", true}};
    }
    return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

ChatClient::Failure ChatClient::failureOf(const HttpExchange &exchange) const {
    const auto say = [&](const std::string &what) { return shortened(withoutKey(what)); };
    if (exchange.status == 0) {
        const bool badUrl = exchange.problem == Problem::badUrl;
        return {fmt::format("no connection to {}: {}", config_.baseUrl, say(exchange.message)),
                !badUrl,
                false,
                {}};
    }
    const Json body = parseUntrusted(exchange.body);
    const std::string said = body.is_discarded() ? "" : errorMessage(body);
    const auto type = exchange.headers.find("content-type");
    const bool html = type != exchange.headers.end() && type->second.starts_with("text/html");
    std::string what = fmt::format("HTTP {}", exchange.status);
    if (!said.empty())
        what += ": " + say(said);
    else if (!exchange.body.empty() && !html)
        what += ": " + say(exchange.body);
    if (worthAnotherTry(exchange.status))
        return {what, true, false, retryAfter(exchange)};
    if (exchange.status == 401 || exchange.status == 403)
        return {fmt::format("the endpoint refuses the key ({}); it came from {}", what,
                            config_.keySource.empty() ? "nowhere: set CUDA_AGENT_API_KEY"
                                                      : config_.keySource),
                false,
                false,
                {}};
    if (html)
        return {
            fmt::format("{} answers with a web page (HTTP {}), not as a chat endpoint; the base "
                        "URL usually ends in /v1",
                        config_.baseUrl, exchange.status),
            false,
            false,
            {}};
    if (exchange.status == 404)
        return {fmt::format("{}/chat/completions or the model '{}' is not there ({})",
                            config_.baseUrl, config_.model, what),
                false,
                false,
                {}};
    if (exchange.status / 100 == 3)
        return {fmt::format("{} sends elsewhere ({}); give that address as the base URL",
                            config_.baseUrl, what),
                false,
                false,
                {}};
    const bool overflow =
        (exchange.status == 400 || exchange.status == 413 || exchange.status == 422) &&
        saysOverflow(exchange.body);
    return {"the endpoint refuses the request (" + what + ")", false, overflow, {}};
}

Result<std::variant<Asked, ChatClient::Failure>> ChatClient::attempt(const std::string &body,
                                                                     std::stop_token stop) {
    using Outcome = std::variant<Asked, Failure>;
    HttpRequest request;
    request.url = config_.baseUrl + "/chat/completions";
    request.headers = {{"Content-Type", "application/json"},
                       {"Accept", config_.stream ? "text/event-stream" : "application/json"}};
    if (!config_.key.empty())
        request.headers.emplace_back("Authorization", "Bearer " + config_.key);
    request.body = body;
    request.connectSeconds = config_.connectSeconds;
    request.idleSeconds = config_.idleSeconds;
    request.mostBytes = config_.mostBytes;

    const auto start = Clock::now();
    AnswerBuilder builder;
    double firstSeconds = 0;
    std::string broken; // why a chunk cannot be used
    Result<void> heard; // what the voice answered
    std::string whole;  // an answer that is no stream, although one was asked for
    bool streamed = false;
    bool done = false;
    EventStream events([&](std::string_view data) {
        if (data == "[DONE]") {
            done = true;
            return;
        }
        const Json chunk = parseUntrusted(data);
        if (!chunk.is_object()) {
            broken = fmt::format("a chunk that is no JSON object: {}",
                                 shortened(withoutKey(std::string(data.substr(0, 200)))));
            return;
        }
        const std::string added = builder.addChunk(chunk);
        if (firstSeconds == 0 && !builder.empty())
            firstSeconds = secondsSince(start);
        if (!added.empty() && piece_ && heard)
            heard = piece_(withoutKey(added));
    });
    const auto onData = [&](std::string_view bytes) {
        // Some servers do not stream whatever they are asked.
        if (!streamed && whole.empty()) {
            const auto first = bytes.find_first_not_of(" \t\r\n");
            streamed = config_.stream && (first == std::string_view::npos || bytes[first] != '{');
        }
        if (streamed)
            events.feed(bytes);
        else
            whole.append(bytes);
    };
    CUDA_AGENT_ASSIGN(exchange, postHttp(request, onData, std::move(stop)));
    if (streamed)
        events.finish();
    CUDA_AGENT_TRY(heard);
    const auto &said = builder.error();
    if (exchange.status == 0 || exchange.status / 100 != 2)
        return Outcome(failureOf(exchange));
    if (!exchange.body.empty()) // a page with status 200
        return Outcome(
            Failure{fmt::format("{} answers with a web page, not as a chat endpoint; the "
                                "base URL usually ends in /v1",
                                config_.baseUrl),
                    false,
                    false,
                    {}});
    if (!streamed && exchange.problem != Problem::tooLarge) {
        const Json completion = parseUntrusted(whole);
        if (!completion.is_object())
            return Outcome(Failure{whole.empty() ? "an empty answer"
                                                 : "an answer that is no JSON: " +
                                                       shortened(withoutKey(whole.substr(0, 200))),
                                   true,
                                   false,
                                   {}});
        builder.setWhole(completion);
        firstSeconds = secondsSince(start);
    }
    if (said)
        return Outcome(Failure{"the endpoint broke off: " + shortened(withoutKey(*said)),
                               true,
                               saysOverflow(*said),
                               {}});
    Asked asked;
    if (exchange.problem == Problem::tooLarge)
        asked.cut = fmt::format("it was cut at {} bytes", config_.mostBytes);
    else if (exchange.problem != Problem::none)
        return Outcome(Failure{
            "the answer broke off: " + shortened(withoutKey(exchange.message)), true, false, {}});
    else if (!broken.empty())
        return Outcome(Failure{broken, true, false, {}});
    else if (builder.answer().finish.empty() && !done)
        return Outcome(Failure{"the answer broke off before its end", true, false, {}});
    if (builder.empty() && builder.answer().finish != "content_filter" &&
        builder.answer().finish != "length")
        return Outcome(Failure{"an answer without any content", true, false, {}});
    asked.answer = builder.take();
    asked.answer.firstSeconds = firstSeconds;
    asked.answer.text = withoutKey(std::move(asked.answer.text));
    asked.answer.reasoning = withoutKey(std::move(asked.answer.reasoning));
    return Outcome(std::move(asked));
}

Result<std::variant<Asked, ContextOverflow>>
ChatClient::ask(const Json &messages, const Json &tools, std::stop_token stop) {
    using Outcome = std::variant<Asked, ContextOverflow>;
    const auto start = Clock::now();
    double delay = config_.firstDelaySeconds;
    for (int number = 1;; ++number) {
        CUDA_AGENT_ASSIGN(outcome, attempt(requestBody(messages, tools), stop));
        if (auto *asked = std::get_if<Asked>(&outcome)) {
            asked->attempts = number;
            asked->seconds = secondsSince(start);
            return Outcome(std::move(*asked));
        }
        const auto &failure = std::get<Failure>(outcome);
        if (failure.overflow)
            return Outcome(ContextOverflow{failure.what});
        if (!failure.retry && countInStream_ && config_.stream &&
            failure.what.find("stream_options") != std::string::npos) {
            countInStream_ = false; // an older server
            continue;
        }
        if (!failure.retry)
            return requestError("{}", failure.what);
        if (number >= config_.attempts)
            return machineError("the language model did not answer in {} attempts; the last: {}. "
                                "The session can be resumed",
                                number, failure.what);
        // Some chance in it, so that many sessions do not come back at the same moment.
        const double chance = 0.75 + 0.5 * static_cast<double>(randomSeed() % 1000) / 1000;
        const double wait =
            failure.waitSeconds ? *failure.waitSeconds : std::min(delay, longestDelay) * chance;
        delay *= 2;
        if (note_)
            CUDA_AGENT_TRY(note_(fmt::format("{}; trying again in {:.1f} s", failure.what, wait)));
        if (!waitFor(wait, stop))
            return stoppedError();
    }
}

} // namespace cuda_agent::policy
