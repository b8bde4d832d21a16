// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tools/toolbox.h"

#include "core/base/elapsed.h"
#include "core/tools/schema.h"

#include <fmt/ranges.h>

namespace cuda_agent::tools {

using Clock = std::chrono::steady_clock;

namespace {

/// The first byte at or after `at` that starts a UTF-8 character.
std::size_t characterStart(const std::string &text, std::size_t at) {
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80)
        ++at;
    return at;
}

/// Recorded sessions and many models say `path` where a tool takes `file_path`.
Json withUsualNames(const Json &arguments, const Tool &tool) {
    const auto &properties = tool.parameters["properties"];
    if (!arguments.contains("path") || arguments.contains("file_path") ||
        properties.contains("path") || !properties.contains("file_path"))
        return arguments;
    Json renamed = arguments;
    renamed["file_path"] = renamed["path"];
    renamed.erase("path");
    return renamed;
}

} // namespace

session::Observation answer(std::string text) {
    session::Observation observation;
    observation.ok = true;
    observation.text = std::move(text);
    return observation;
}

session::Observation refuse(std::string text) {
    session::Observation observation;
    observation.text = std::move(text);
    return observation;
}

std::string clipped(std::string text, std::size_t most) {
    if (text.size() <= most)
        return text;
    const std::size_t head = characterStart(text, most * 2 / 3);
    const std::size_t tail = characterStart(text, text.size() - most / 3);
    return fmt::format("{}\n[... {} of {} bytes left out ...]\n{}", text.substr(0, head),
                       tail - head, text.size(), text.substr(tail));
}

const std::vector<Tool> &allTools() {
    static const std::vector<Tool> tools = [] {
        std::vector<Tool> all;
        for (auto part : {fileTools(), searchTools(), shellTools(), planningTools(), judgeTools()})
            for (auto &tool : part)
                all.push_back(std::move(tool));
        return all;
    }();
    return tools;
}

Json toolSchemas() {
    Json list = Json::array();
    for (const auto &tool : allTools())
        list.push_back({{"type", "function"},
                        {"function",
                         {{"name", tool.name},
                          {"description", tool.description},
                          {"parameters", tool.parameters}}}});
    return list;
}

Result<session::Observation> callTool(Workspace &workspace, const session::ToolCall &call,
                                      std::stop_token stop) {
    const auto start = Clock::now();
    const auto act = [&]() -> Result<session::Observation> {
        if (call.tool.empty() && call.arguments.contains(unreadableCall))
            return refuse("the turn cannot be read: " + call.arguments.value(unreadableCall, ""));
        const auto &tools = allTools();
        const auto tool = std::ranges::find(tools, call.tool, &Tool::name);
        if (tool == tools.end()) {
            std::vector<std::string> names;
            for (const auto &each : tools)
                names.push_back(each.name);
            return refuse(fmt::format("there is no tool '{}'; there are {}", call.tool,
                                      fmt::join(names, ", ")));
        }
        if (call.arguments.contains(unparsedArguments))
            return refuse(fmt::format(
                "the arguments of {} were no JSON object{}; send the call again with one. They "
                "were: "
                "{}",
                call.tool,
                call.arguments.value("cut", false)
                    ? " because the answer was cut at its greatest length (send less at once)"
                    : "",
                clipped(call.arguments.value(unparsedArguments, ""), 500)));
        const Json arguments = withUsualNames(call.arguments, *tool);
        if (const auto problems = schemaProblems(arguments, tool->parameters, tool->name);
            !problems.empty())
            return refuse(problems);
        auto observation = tool->act(workspace, arguments, stop);
        if (!observation && observation.error().kind == ErrorKind::request)
            return refuse(observation.error().message);
        return observation;
    };
    auto observation = act();
    if (observation) {
        observation->id = call.id;
        observation->seconds = secondsSince(start);
    }
    return observation;
}

} // namespace cuda_agent::tools
