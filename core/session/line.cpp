// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/line.h"

#include <algorithm>

namespace cuda_agent::session {

namespace {

bool deeperThan(const Json &value, int levels) {
    if (!value.is_structured())
        return false;
    if (levels == 0)
        return true;
    return std::any_of(value.begin(), value.end(),
                       [&](const Json &each) { return deeperThan(each, levels - 1); });
}

} // namespace

bool nestsTooDeep(const Json &value) {
    return deeperThan(value, deepest - 1);
}

Line parseLine(std::string_view text) {
    Line line;
    Json json;
    if (!parseFast(text, json) || !json.is_object()) {
        line.problem = "is not a JSON object";
        return line;
    }
    const auto sequence = json.find("seq");
    const auto time = json.find("t");
    const auto type = json.find("type");
    const auto turn = json.find("turn");
    const auto data = json.find("data");
    if (sequence == json.end() || !sequence->is_number_integer())
        line.problem = "has no integer 'seq'";
    else if (time == json.end() || !time->is_number())
        line.problem = "has no number 't'";
    else if (type == json.end() || !type->is_string())
        line.problem = "has no string 'type'";
    else if (turn != json.end() && !turn->is_number_integer())
        line.problem = "has a 'turn' that is not an integer";
    else if (data != json.end() && !data->is_object())
        line.problem = "has 'data' that is not an object";
    if (!line.problem.empty())
        return line;
    line.whole = true;
    line.event.sequence = sequence->get<std::int64_t>();
    line.event.time = time->get<double>();
    const auto known = eventTypeFromName(type->get_ref<const std::string &>());
    if (!known)
        return line;
    line.known = true;
    line.event.type = *known;
    if (turn != json.end())
        line.event.turn = turn->get<int>();
    if (data != json.end())
        line.event.data = std::move(*data);
    return line;
}

std::string formatLine(const Event &event) {
    return fmt::format(R"({{"seq":{},"t":{:.6f},"type":"{}","turn":{},"data":{}}})", event.sequence,
                       event.time, nameOf(event.type), event.turn,
                       event.data.dump(-1, ' ', false, Json::error_handler_t::replace));
}

} // namespace cuda_agent::session
