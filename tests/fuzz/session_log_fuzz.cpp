// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// session.jsonl: a file that anybody may have written, opened by the window, by replay and resume.

#include "core/policy/endpoint/messages.h"
#include "core/session/chrome_trace.h"
#include "core/session/line.h"
#include "core/session/state.h"
#include "tests/fuzz/fuzz.h"

using namespace cuda_agent;

namespace {

/// Both parsers agree wherever the fast one takes a text.
void compareParsers(std::string_view text) {
    Json fast;
    if (!session::parseFast(text, fast))
        return;
    const auto plain = Json::parse(text, nullptr, false);
    fuzz::require(!plain.is_discarded(), "the fast parser takes only JSON");
    fuzz::require(fast.dump(-1, ' ', false, Json::error_handler_t::replace) ==
                      plain.dump(-1, ' ', false, Json::error_handler_t::replace),
                  "both parsers read the same");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    auto text = fuzz::textOf(data, size);
    std::vector<session::Event> events;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto one = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        compareParsers(one);
        const auto line = session::parseLine(one);
        fuzz::require(line.whole == line.problem.empty(), "a line is whole or has a problem");
        if (!line.known)
            continue;
        const auto again = session::parseLine(session::formatLine(line.event));
        fuzz::require(again.known && again.event.type == line.event.type &&
                          again.event.sequence == line.event.sequence &&
                          again.event.turn == line.event.turn,
                      "an event that was read can be written and read");
        events.push_back(line.event);
    }
    const auto state = session::fold(events);
    for (const auto &turn : state.turns)
        fuzz::require(turn.number > 0, "turns count from one");
    const session::TraceSession drawn{"x", std::move(events)};
    const auto trace = session::chromeTrace({&drawn, 1});
    for (const auto &event : trace["traceEvents"])
        fuzz::require(!event.contains("dur") || event["dur"].get<double>() >= 0,
                      "a span does not end before it begins");
    const auto blob = [](const std::string &name) -> Result<std::string> {
        return name.size() % 2 == 0 ? Result<std::string>("text of " + name)
                                    : requestError("no blob {}", name);
    };
    for (const std::int64_t tokens : {200, 100'000}) {
        policy::MessageBudget budget;
        budget.tokens = tokens;
        const auto turns = state.endedTurns();
        (void)policy::buildMessages("system", "task", state, turns, budget, blob);
        (void)policy::repeatedTurns(turns);
    }
    return 0;
}
