// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/grammar/turn_grammar.h"
#include "core/policy/chat/chat.h"
#include "core/tools/schema.h"
#include "core/tools/toolbox.h"

#include <algorithm>

namespace cuda_agent::learn {

inline TurnGrammar grammarOfTools() {
    auto grammar = TurnGrammar::make(tools::toolSchemas());
    if (!grammar)
        throw std::runtime_error(grammar.error().message);
    return std::move(*grammar);
}

/// Why a turn is none that the chat's parser and the tools' schemas take, or empty.
inline std::string whyNot(std::string_view turn) {
    const auto step = chat::stepOf(turn, 1);
    if (!step)
        return step.error().message;
    for (const auto &call : step->calls) {
        const auto tool = std::ranges::find(tools::allTools(), call.tool, &tools::Tool::name);
        if (auto why = tools::schemaProblems(call.arguments, tool->parameters, call.tool);
            !why.empty())
            return why;
    }
    return {};
}

/// A call as the template writes it, `parameters` as they stand between its tags.
inline std::string callText(std::string_view tool, std::string_view parameters) {
    return fmt::format("<tool_call>\n<function={}>\n{}</function>\n</tool_call>", tool, parameters);
}
inline std::string parameterText(std::string_view name, std::string_view value) {
    return fmt::format("<parameter={}>\n{}\n</parameter>\n", name, value);
}
inline std::string ended(std::string text) {
    return std::move(text) + std::string(chat::imEnd);
}

} // namespace cuda_agent::learn
