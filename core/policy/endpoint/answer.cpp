// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/endpoint/answer.h"

#include <algorithm>

namespace cuda_agent::policy {

namespace {

constexpr std::size_t mostCalls = 32; ///< of one answer

std::string text(const Json &object, const char *name) {
    if (!object.is_object())
        return {};
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::int64_t count(const Json &object, const char *name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_number() && found->get<double>() >= 0 &&
                   found->get<double>() < 1e12
               ? found->get<std::int64_t>()
               : 0;
}

const Json &member(const Json &object, const char *name) {
    static const Json none;
    if (!object.is_object())
        return none;
    const auto found = object.find(name);
    return found == object.end() ? none : *found;
}

const Json &firstChoice(const Json &object) {
    static const Json none;
    const Json &choices = member(object, "choices");
    return choices.is_array() && !choices.empty() ? choices[0] : none;
}

/// Content is a text, or a list of parts of which those of type text count.
std::string content(const Json &message) {
    const Json &value = member(message, "content");
    if (value.is_string())
        return value.get<std::string>();
    std::string result;
    if (value.is_array())
        for (const Json &part : value)
            result += text(part, "text");
    return result;
}

std::string reasoning(const Json &message) {
    const std::string value = text(message, "reasoning_content");
    return value.empty() ? text(message, "reasoning") : value;
}

} // namespace

void AnswerBuilder::readCommon(const Json &object) {
    if (const Json &error = member(object, "error"); !error.is_null())
        error_ = errorMessage(object);
    if (answer_.model.empty())
        answer_.model = text(object, "model");
    if (const Json &usage = member(object, "usage"); usage.is_object()) {
        answer_.counted = true;
        answer_.promptTokens = count(usage, "prompt_tokens");
        answer_.answerTokens = count(usage, "completion_tokens");
        const Json &details = member(usage, "prompt_tokens_details");
        answer_.cachedTokens = details.is_object() ? count(details, "cached_tokens") : 0;
    }
    if (const std::string finish = text(firstChoice(object), "finish_reason"); !finish.empty())
        answer_.finish = finish;
}

void AnswerBuilder::addCall(const Json &call, std::size_t position) {
    // Some servers leave the index out; then the place in the list is it.
    const Json &given = member(call, "index");
    const long long index =
        given.is_number_integer() ? given.get<long long>() : static_cast<long long>(position);
    auto at = std::ranges::find(indices_, index) - indices_.begin();
    const Json &function = member(call, "function");
    if (at == static_cast<std::ptrdiff_t>(indices_.size())) {
        if (indices_.size() >= mostCalls)
            return;
        indices_.push_back(index);
        answer_.calls.emplace_back();
    }
    WrittenCall &written = answer_.calls[static_cast<std::size_t>(at)];
    written.tool += text(function, "name");
    const Json &arguments = member(function, "arguments");
    if (arguments.is_string())
        written.arguments += arguments.get<std::string>();
    else if (arguments.is_object()) // not OpenAI's form, but what is meant is clear
        written.arguments += arguments.dump();
}

std::string AnswerBuilder::addChunk(const Json &chunk) {
    readCommon(chunk);
    const Json &delta = member(firstChoice(chunk), "delta");
    std::string added = reasoning(delta);
    answer_.reasoning += added;
    const std::string more = content(delta);
    answer_.text += more;
    added += more;
    answer_.refusal += text(delta, "refusal");
    if (const Json &calls = member(delta, "tool_calls"); calls.is_array())
        for (std::size_t i = 0; i < calls.size(); ++i)
            addCall(calls[i], i);
    return added;
}

void AnswerBuilder::setWhole(const Json &completion) {
    readCommon(completion);
    const Json &message = member(firstChoice(completion), "message");
    answer_.text = content(message);
    answer_.reasoning = reasoning(message);
    answer_.refusal = text(message, "refusal");
    if (const Json &calls = member(message, "tool_calls"); calls.is_array())
        for (std::size_t i = 0; i < calls.size(); ++i)
            addCall(calls[i], i);
}

std::string errorMessage(const Json &body) {
    const Json &error = member(body, "error");
    if (error.is_string())
        return error.get<std::string>();
    for (const Json *object : {&error, &body})
        for (const char *name : {"message", "detail"}) {
            if (const std::string found = text(*object, name); !found.empty())
                return found;
            if (const Json &value = member(*object, name); value.is_structured())
                return value.dump(-1, ' ', false, Json::error_handler_t::replace);
        }
    return {};
}

} // namespace cuda_agent::policy
