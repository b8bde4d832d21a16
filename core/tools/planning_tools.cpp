// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tools/schema.h"
#include "core/tools/toolbox.h"

#include <fmt/ranges.h>

namespace cuda_agent::tools {

namespace {

/// The list lives in the log: it is the arguments of the last such call.
Result<session::Observation> todoWrite(Workspace &, const Json &arguments,
                                       const std::stop_token &) {
    const Json &todos = arguments.at("todos");
    int open = 0;
    int underWay = 0;
    for (const auto &todo : todos) {
        open += todo.at("status") != "completed";
        underWay += todo.at("status") == "in_progress";
    }
    std::string text = fmt::format("kept {} entries, {} of them open", todos.size(), open);
    if (underWay > 1)
        text += fmt::format("; {} are in progress, one at a time is better", underWay);
    return answer(std::move(text));
}

Result<session::Observation> skill(Workspace &workspace, const Json &arguments,
                                   const std::stop_token &) {
    const auto name = arguments.at("name").get<std::string>();
    const auto file = arguments.value("file", std::string());
    CUDA_AGENT_ASSIGN(text, workspace.skills().read(name, file));
    if (!file.empty() && file != "SKILL.md")
        return answer(clipped(std::move(text)));
    CUDA_AGENT_ASSIGN(files, workspace.skills().files(name));
    return answer(
        fmt::format("{}\n[files of this skill, for the argument file, or below /skills/{} "
                    "for shells: {}]",
                    clipped(std::move(text)), name, fmt::join(files, ", ")));
}

} // namespace

std::vector<Tool> planningTools() {
    Json content = textField("what is to be done");
    content["minLength"] = 1;
    return {
        {"TodoWrite",
         "Keeps a list of what is to be done, in place of the list before. Worth it for work of "
         "several steps; one entry at a time is in progress.",
         objectOf(
             {{"todos",
               listField("the whole list",
                         objectOf({{"content", content},
                                   {"status", choiceField("how far it is",
                                                          {"pending", "in_progress", "completed"})},
                                   {"activeForm", textField("the same, as it is going on")},
                                   {"id", textField("of the entry")},
                                   {"priority",
                                    choiceField("how urgent it is", {"high", "medium", "low"})}},
                                  {"content", "status"}))}},
             {"todos"}),
         todoWrite, false},
        {"Skill",
         "Loads a skill: what an expert knows about one kind of work, with tested kernels. Load "
         "it when it fits what comes next.",
         objectOf({{"name", textField("of the skill")},
                   {"file", textField("one of the skill's files; default: SKILL.md")}},
                  {"name"}),
         skill, false}};
}

} // namespace cuda_agent::tools
