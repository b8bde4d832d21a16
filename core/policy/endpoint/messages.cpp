// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/endpoint/messages.h"

#include "core/tools/judge_summary.h"
#include "core/tools/toolbox.h"

#include <algorithm>

namespace cuda_agent::policy {

namespace {

using session::Turn;

constexpr std::size_t shortText = 300; ///< bytes of a text that is told in short
constexpr int hintAfter = 3;           ///< equal turns in a row

std::string dump(const Json &json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string inShort(const std::string &text) {
    return text.size() <= shortText ? text : tools::clipped(text, shortText);
}

/// Arguments without the texts of files.
Json argumentsInShort(const Json &arguments) {
    Json result = arguments;
    for (auto &[name, value] : result.items()) {
        if (value.is_string() && value.get_ref<const std::string &>().size() > shortText)
            value = fmt::format("[{} bytes left out]", value.get_ref<const std::string &>().size());
        else if (value.is_structured() && dump(value).size() > shortText)
            value = Json::array(); // edits; the type stays what the tool takes
    }
    return result;
}

const session::Observation *observationOf(const Turn &turn, const std::string &id) {
    for (const auto &observation : turn.observations)
        if (observation.id == id)
            return &observation;
    return nullptr;
}

/// Both make the same calls, and some at all.
bool sameCalls(const Turn &a, const Turn &b) {
    return !a.calls.empty() &&
           std::ranges::equal(a.calls, b.calls, [](const auto &one, const auto &other) {
               return one.tool == other.tool && one.arguments == other.arguments;
           });
}

void addEngineer(Json &messages, const Turn &turn, bool whole) {
    std::string text = "The engineer who watches this session";
    text += turn.thought.empty() ? " acted:\n" : " says: " + turn.thought + "\n";
    for (const auto &call : turn.calls) {
        const auto *observation = observationOf(turn, call.id);
        text += fmt::format("{} {}\n-> {}\n", call.tool,
                            dump(whole ? call.arguments : argumentsInShort(call.arguments)),
                            observation ? (whole ? observation->text : inShort(observation->text))
                                        : "no answer");
    }
    messages.push_back({{"role", "user"}, {"content", text}});
}

/// `equals`: how many turns in a row made the same calls, this one the last.
void addTurn(Json &messages, const Turn &turn, bool whole, int equals) {
    if (turn.author == "engineer")
        return addEngineer(messages, turn, whole);
    Json assistant{{"role", "assistant"},
                   {"content", whole ? turn.thought : inShort(turn.thought)}};
    Json answers = Json::array();
    for (const auto &call : turn.calls) {
        const auto *observation = observationOf(turn, call.id);
        assistant["tool_calls"].push_back(
            {{"id", call.id},
             {"type", "function"},
             {"function",
              {{"name", call.tool},
               {"arguments", dump(whole ? call.arguments : argumentsInShort(call.arguments))}}}});
        std::string text = observation ? observation->text : "the call was cut off";
        if (!whole)
            text = inShort(text);
        if (equals >= hintAfter)
            text += fmt::format("\n[the same call {} turns in a row; its answer will not change: "
                                "try something else]",
                                equals);
        answers.push_back({{"role", "tool"}, {"tool_call_id", call.id}, {"content", text}});
    }
    messages.push_back(std::move(assistant));
    if (turn.calls.empty())
        messages.push_back(
            {{"role", "user"},
             {"content", "No tool was called. Call a tool to go on. When a correct candidate is "
                         "there and nothing more is to be gained, answer without a tool call."}});
    for (auto &each : answers)
        messages.push_back(std::move(each));
}

/// What is kept of turns that are left out altogether.
Result<std::string> digest(const session::State &state, const std::vector<Turn> &turns,
                           std::size_t upTo,
                           const std::function<Result<std::string>(const std::string &)> &blob) {
    std::string text =
        fmt::format("Turns 1 to {} of this session, in short:\n", turns[upTo - 1].number);
    const Json *lastVerdict = nullptr;
    for (std::size_t i = 0; i < upTo; ++i) {
        const Turn &turn = turns[i];
        if (turn.verdict)
            lastVerdict = &*turn.verdict;
        std::string line = inShort(turn.thought.substr(0, turn.thought.find('\n')));
        if (turn.verdict)
            line += (line.empty() ? "" : " => ") + tools::summaryOf(*turn.verdict);
        if (!line.empty())
            text += fmt::format("{}. {}\n", turn.number, line);
    }
    if (state.bestTurn > 0) {
        text += fmt::format("\nThe best candidate so far is that of turn {}: {}\n", state.bestTurn,
                            tools::summaryOf(state.bestVerdict));
        for (const auto &[path, name] : state.bestCandidate) {
            CUDA_AGENT_ASSIGN(content, blob(name));
            text += fmt::format("--- {}\n{}\n", path, content);
        }
    }
    if (lastVerdict)
        text += "\nThe last verdict of those turns:\n" + tools::reportOf(*lastVerdict);
    text += "\nThe files of the workspace now: ";
    for (const auto &[path, name] : state.files)
        text += path + " ";
    return text + "\n";
}

} // namespace

int repeatedTurns(const std::vector<Turn> &turns) {
    int count = 0;
    for (auto turn = turns.rbegin(); turn != turns.rend() && sameCalls(*turn, turns.back()); ++turn)
        ++count;
    return count;
}

Result<BuiltMessages>
buildMessages(const std::string &system, const std::string &task, const session::State &state,
              const std::vector<Turn> &turns, const MessageBudget &budget,
              const std::function<Result<std::string>(const std::string &)> &blob) {
    // How many turns at the beginning are left out, and how many after those told in short.
    const auto build = [&](std::size_t out, std::size_t inShort) -> Result<BuiltMessages> {
        BuiltMessages built;
        built.messages = Json::array(
            {{{"role", "system"}, {"content", system}}, {{"role", "user"}, {"content", task}}});
        if (out > 0) {
            CUDA_AGENT_ASSIGN(text, digest(state, turns, out, blob));
            built.messages.push_back({{"role", "user"}, {"content", text}});
        }
        int equals = 0;
        for (std::size_t i = out; i < turns.size(); ++i) {
            equals = i > out && sameCalls(turns[i - 1], turns[i]) ? equals + 1 : 1;
            addTurn(built.messages, turns[i], i >= out + inShort, equals);
        }
        built.bytes = dump(built.messages).size();
        built.tokens =
            static_cast<std::int64_t>(static_cast<double>(built.bytes) / budget.bytesPerToken);
        if (out + inShort > 0)
            built.shortTurns = turns[out + inShort - 1].number;
        return built;
    };
    CUDA_AGENT_ASSIGN(whole, build(0, 0));
    if (whole.tokens <= budget.tokens || turns.empty())
        return std::move(whole);
    // A quarter more than needed goes, so that the next turns find room and the endpoint's cache of
    // the beginning stays good for a while.
    const auto wanted = budget.tokens * 3 / 4;
    constexpr std::size_t newest = 4;
    const std::size_t old = turns.size() > newest ? turns.size() - newest : 0;
    if (old > 0) {
        CUDA_AGENT_ASSIGN(shorter, build(0, old));
        if (shorter.tokens <= wanted)
            return std::move(shorter);
    }
    BuiltMessages last;
    for (std::size_t keep : {newest, std::size_t{2}, std::size_t{1}, std::size_t{0}}) {
        const std::size_t out = turns.size() > keep ? turns.size() - keep : 0;
        if (out == 0 && keep != 0)
            continue;
        CUDA_AGENT_ASSIGN(built, build(out, 0));
        last = std::move(built);
        if (last.tokens <= wanted)
            break;
    }
    return last;
}

} // namespace cuda_agent::policy
