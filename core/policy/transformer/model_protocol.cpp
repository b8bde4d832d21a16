// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/transformer/model_protocol.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace cuda_agent::policy {

namespace {

constexpr std::array endNames{"turn", "length", "full", "refused"}; // in the order of Written::End
constexpr std::array kindNames{"request", "machine", "stopped", "failed"}; // of ErrorKind

const Json &member(const Json &json, const char *name) {
    static const Json none;
    const auto found = json.is_object() ? json.find(name) : json.end();
    return json.is_object() && found != json.end() ? *found : none;
}

std::string textOf(const Json &json, const char *name) {
    const auto &value = member(json, name);
    return value.is_string() ? value.get<std::string>() : std::string();
}

/// A whole number that is not negative, or -1.
std::int64_t countOf(const Json &json, const char *name) {
    const auto &value = member(json, name);
    return value.is_number_integer() ? std::max<std::int64_t>(value.get<std::int64_t>(), -1) : -1;
}

/// A whole number of 31 bits, as tokens, places and offsets are.
bool isToken(const Json &value) {
    return value.is_number_integer() && value >= Json(0) && value <= Json(INT32_MAX);
}

/// None where the field is absent; nothing where it is no list of tokens.
std::optional<std::vector<std::int32_t>> tokensOf(const Json &json, const char *name) {
    const auto &value = member(json, name);
    if (value.is_null())
        return std::vector<std::int32_t>();
    if (!value.is_array() || !std::ranges::all_of(value, isToken))
        return std::nullopt;
    return value.get<std::vector<std::int32_t>>();
}

bool isCost(const Json &value) {
    return value.is_number() && value.get<double>() >= 0;
}

/// Likewise, of [place, token, cost, offset, earlier].
std::optional<std::vector<Alternative>> alternativesOf(const Json &value) {
    std::vector<Alternative> alternatives;
    if (value.is_null())
        return alternatives;
    if (!value.is_array())
        return std::nullopt;
    for (const auto &each : value) {
        if (!each.is_array() || each.size() != 5 || !isToken(each[0]) || !isToken(each[1]) ||
            !isCost(each[2]) || !isToken(each[3]) || !isCost(each[4]))
            return std::nullopt;
        alternatives.push_back({each[0].get<std::int64_t>(), each[1].get<std::int32_t>(),
                                each[2].get<double>(), each[3].get<std::int64_t>(),
                                each[4].get<double>()});
    }
    return alternatives;
}

} // namespace

Json toJson(const ModelFacts &facts) {
    return {{"name", facts.name},
            {"sha256", facts.sha256},
            {"device", facts.device},
            {"index", facts.index},
            {"parameters", facts.parameters},
            {"context", facts.context},
            {"vocabulary", facts.vocabulary},
            {"rows", facts.rows},
            {"grammar", facts.grammar},
            {"program", facts.program}};
}

Result<ModelFacts> factsFrom(const Json &json) {
    ModelFacts facts;
    for (auto [name, value] : {std::pair{"name", &facts.name},
                               {"sha256", &facts.sha256},
                               {"device", &facts.device},
                               {"program", &facts.program}}) {
        *value = textOf(json, name);
        if (value->empty())
            return machineError("the model's process does not tell its {}", name);
    }
    if (facts.device != "cpu" && facts.device != "cuda")
        return machineError("the model's process names the device {}", facts.device);
    for (auto [name, value] : {std::pair{"parameters", &facts.parameters},
                               {"context", &facts.context},
                               {"vocabulary", &facts.vocabulary},
                               {"rows", &facts.rows}})
        if ((*value = countOf(json, name)) < 1)
            return machineError("the model's process does not tell its {}", name);
    facts.grammar = member(json, "grammar") == Json(true);
    facts.index = static_cast<int>(std::clamp<std::int64_t>(countOf(json, "index"), 0, 1024));
    return facts;
}

Json toJson(const Drawing &drawing) {
    return {{"temperature", drawing.temperature},
            {"top_p", drawing.topP},
            {"longest_turn", drawing.longestTurn},
            {"grammar", drawing.grammar}};
}

Result<Drawing> drawingFrom(const Json &json, const Drawing &usual) {
    auto drawing = usual;
    const auto take = [&](const char *name, double least, double most, auto &value) {
        const auto &given = member(json, name);
        if (given.is_null())
            return true;
        const double number = given.is_number() ? given.get<double>() : NAN;
        if (!(number >= least && number <= most))
            return false;
        value = static_cast<std::remove_reference_t<decltype(value)>>(number);
        return true;
    };
    if (!take("temperature", 0, 10, drawing.temperature))
        return requestError("temperature must be a number from 0 to 10");
    if (!take("top_p", 0.01, 1, drawing.topP))
        return requestError("top_p must be a number from 0.01 to 1");
    if (!take("longest_turn", 1, 1e6, drawing.longestTurn))
        return requestError("longest_turn must be a number of tokens from 1 to 1000000");
    if (const auto &given = member(json, "grammar"); !given.is_null()) {
        if (!given.is_boolean())
            return requestError("grammar must be true or false");
        drawing.grammar = given.get<bool>();
    }
    return drawing;
}

Json toJson(const std::vector<chat::Segment> &segments) {
    Json list = Json::array();
    for (const auto &segment : segments)
        list.push_back({{"by", chat::nameOf(segment.by)}, {"text", segment.text}});
    return list;
}

Result<std::vector<chat::Segment>> segmentsFrom(const Json &json) {
    std::vector<chat::Segment> segments;
    if (json.is_array())
        for (const auto &each : json) {
            const auto by = textOf(each, "by");
            if (!member(each, "text").is_string() || (by != "context" && by != "policy"))
                return requestError("a segment needs its text, and context or policy for by");
            segments.push_back({by == "policy" ? chat::Author::policy : chat::Author::context,
                                textOf(each, "text")});
        }
    if (segments.empty())
        return requestError("segments must be a list of at least one");
    return segments;
}

Json toJson(const TurnRequest &turn) {
    Json json{{"seed", turn.seed}};
    if (!turn.begin.empty())
        json["begin"] = turn.begin;
    if (turn.leastAllowed > 0)
        json["least_allowed"] = turn.leastAllowed;
    return json;
}

Result<TurnRequest> turnRequestFrom(const Json &json) {
    TurnRequest turn;
    const auto &seed = member(json, "seed");
    if (!seed.is_number_integer())
        return requestError("seed must be a whole number");
    turn.seed = seed.get<std::uint64_t>();
    auto begin = tokensOf(json, "begin");
    if (!begin)
        return requestError("begin must be a list of tokens");
    turn.begin = std::move(*begin);
    if (const auto &least = member(json, "least_allowed"); !least.is_null()) {
        const double share = least.is_number() ? least.get<double>() : NAN;
        if (!(share >= 0 && share <= 1))
            return requestError("least_allowed must be a number from 0 to 1");
        turn.leastAllowed = share;
    }
    return turn;
}

Json toJson(const Written &written) {
    Json json{{"text", written.text},
              {"end", endNames.at(static_cast<std::size_t>(written.end))},
              {"read", written.readTokens},
              {"written", written.writtenTokens}};
    if (written.tokens.empty())
        return json;
    json["tokens"] = written.tokens;
    auto &alternatives = json["alternatives"] = Json::array();
    for (const auto &each : written.alternatives)
        alternatives.push_back({each.place, each.token, each.cost, each.offset, each.earlier});
    return json;
}

Result<Written> writtenFrom(const Json &json) {
    Written written;
    if (!member(json, "text").is_string())
        return machineError("the model's process answered without a text");
    written.text = textOf(json, "text");
    const auto end = std::ranges::find(endNames, textOf(json, "end"));
    if (end == endNames.end())
        return machineError("the model's process does not say how its turn ended");
    written.end = static_cast<Written::End>(end - endNames.begin());
    written.readTokens = countOf(json, "read");
    written.writtenTokens = countOf(json, "written");
    if (written.readTokens < 0 || written.writtenTokens < 0)
        return machineError("the model's process does not count its tokens");
    auto tokens = tokensOf(json, "tokens");
    auto alternatives = alternativesOf(member(json, "alternatives"));
    if (!tokens || !alternatives)
        return machineError("the model's process does not name its tokens");
    written.tokens = std::move(*tokens);
    written.alternatives = std::move(*alternatives);
    return written;
}

Json toJson(const Error &error) {
    return {{"kind", kindNames.at(static_cast<std::size_t>(error.kind))},
            {"message", error.message}};
}

Error errorFrom(const Json &json) {
    Error error;
    const auto kind = std::ranges::find(kindNames, textOf(json, "kind"));
    error.kind = kind == kindNames.end() ? ErrorKind::machine
                                         : static_cast<ErrorKind>(kind - kindNames.begin());
    error.message = textOf(json, "message");
    if (error.message.empty())
        error.message = "the model's process failed without saying why";
    return error;
}

} // namespace cuda_agent::policy
