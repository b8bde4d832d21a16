// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/commands.h"
#include "app/cuda_agent/printer.h"

#include "core/session/log.h"
#include "core/session/state.h"

namespace cuda_agent::app {

namespace {

struct Options {
    std::string session;
    int turn = 0;
    bool json = false;
};

Result<int> replay(const Options &options) {
    CUDA_AGENT_ASSIGN(contents, session::readLog(options.session));
    const auto state = session::fold(contents.events);
    if (options.turn > static_cast<int>(state.turns.size()))
        return requestError("the session has {} turns, not {}", state.turns.size(), options.turn);
    if (options.json) {
        for (const auto &event : contents.events)
            if (options.turn == 0 || event.turn == options.turn)
                fmt::print("{}\n", Json{{"seq", event.sequence},
                                        {"t", event.time},
                                        {"type", session::nameOf(event.type)},
                                        {"turn", event.turn},
                                        {"data", event.data}}
                                       .dump(-1, ' ', false, Json::error_handler_t::replace));
        return 0;
    }
    Printer printer(false);
    if (!contents.problem.empty())
        printer.line("note: " + contents.problem);
    if (contents.unknownEvents > 0)
        printer.line(fmt::format("note: {} events are of a newer program and not shown",
                                 contents.unknownEvents));
    for (const auto &event : contents.events)
        if (options.turn == 0 || event.turn == options.turn)
            printer.event(event);
    if (state.bestTurn > 0) {
        printer.line(fmt::format("\nbest: turn {}", state.bestTurn));
        printer.verdict(state.bestVerdict);
    } else {
        printer.line("\nno correct candidate");
    }
    return 0;
}

} // namespace

Run addReplay(CLI::App &app) {
    auto options = std::make_shared<Options>();
    app.add_option("SESSION", options->session, "Folder of a recorded session")->required();
    app.add_option("--turn", options->turn, "Only this turn")->check(CLI::PositiveNumber);
    app.add_flag("--json", options->json, "One event a line, as JSON");
    return [options](std::stop_token) { return replay(*options); };
}

} // namespace cuda_agent::app
