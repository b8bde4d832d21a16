// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Verdicts are our own, but they are read back from session logs, which anybody may have written.

#include "core/knowledge/record.h"
#include "core/session/state.h"
#include "core/tools/judge_summary.h"
#include "tests/fuzz/fuzz.h"

using namespace cuda_agent;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    const auto verdict = parseJson(fuzz::textOf(data, size), "verdict");
    if (!verdict)
        return 0;
    (void)tools::summaryOf(*verdict);
    (void)tools::reportOf(*verdict);
    // The texts also come from fields that describe machine and task.
    (void)tools::profileOf(*verdict, *verdict, *verdict);
    knowledge::Record record;
    knowledge::setVerdict(record, *verdict);
    fuzz::require(record.problem.size() <= 300, "a record's problem is short");
    (void)knowledge::toJson(record).dump(-1, ' ', false, Json::error_handler_t::replace);

    session::Event event;
    event.type = session::EventType::verdictGiven;
    session::State state;
    for (const char *candidate : {"a", "b", "a"}) {
        event.turn = candidate[0] - 'a' + 1;
        event.data = {{"verdict", *verdict}, {"candidate", {{"plan.json", candidate}}}};
        state.apply(event);
    }
    fuzz::require((state.bestTurn > 0) == (state.bestSeconds > 0), "the best one has a time");
    return 0;
}
