// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tools/schema.h"
#include "core/tools/workspace_sandbox.h"

#include <fmt/ranges.h>

namespace cuda_agent::tools {

namespace {

using session::Observation;

constexpr int usualMilliseconds = 120'000;
constexpr int mostMilliseconds = 600'000;
constexpr std::size_t longestCommand = 100'000; // one argument of a program has 128 KiB

/// What a person would want to know besides the output.
std::string ending(const sandbox::Record &record) {
    if (record.clean())
        return {};
    const auto hit = [&](std::string_view limit) {
        return std::ranges::find(record.limitsHit, limit) != record.limitsHit.end();
    };
    if (record.exitCode != 0 && record.signal == 0 && record.limitsHit.empty())
        return fmt::format("[exit {}]", record.exitCode);
    if (hit("output") && record.limitsHit.size() == 1 && record.signal == 0)
        return fmt::format("[output was cut; exit {}]", record.exitCode);
    return fmt::format("[{}]", record.summary());
}

Result<Observation> bash(Workspace &workspace, const Json &arguments, std::stop_token stop) {
    const auto command = arguments.at("command").get<std::string>();
    if (command.size() > longestCommand)
        return refuse(fmt::format("the command has {} bytes; at most {} are taken: write a script "
                                  "with Write and run that",
                                  command.size(), longestCommand));
    const std::chrono::milliseconds wall(arguments.value("timeout", usualMilliseconds));
    // One stream, so that errors stand where they happened.
    CUDA_AGENT_ASSIGN(record, sandbox::run(workspacePolicy(workspace, true, wall),
                                           {"/bin/bash", "-c", "exec 2>&1\n" + command}, {}, stop));
    CUDA_AGENT_ASSIGN(changes, workspace.pickUp());
    std::string text = clipped(record.standardOutput);
    const auto addLine = [&](const std::string &line) {
        if (!text.empty() && text.back() != '\n')
            text += '\n';
        text += line;
    };
    if (const auto how = ending(record); !how.empty())
        addLine(how);
    if (!changes.empty())
        addLine(fmt::format("[files: {}]", fmt::join(changes, "; ")));
    if (text.empty())
        text = "[no output]";
    Observation observation;
    observation.ok = record.exitCode == 0 && record.signal == 0 && !record.killed;
    observation.text = std::move(text);
    observation.data["exit_code"] = record.exitCode;
    observation.data["signal"] = record.signal;
    observation.data["limits_hit"] = record.limitsHit;
    return observation;
}

} // namespace

std::vector<Tool> shellTools() {
    Json command = textField("the command, in bash; each one starts in /workspace");
    command["minLength"] = 1;
    return {
        {"Bash",
         "Runs a command in a sandbox: the workspace is /workspace, the rest of the system can "
         "be read only, there is no network and no GPU. Files that it changes in the workspace "
         "stay (text up to 1 MiB each). To compile, run or time a candidate use Compile, Verify "
         "and Profile.",
         objectOf({{"command", command},
                   {"timeout", wholeField("milliseconds after which it is killed (default "
                                          "120000)",
                                          1, mostMilliseconds)},
                   {"description", textField("what it does, in a few words")}},
                  {"command"}),
         bash, true}};
}

} // namespace cuda_agent::tools
