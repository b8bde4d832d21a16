// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/attempts.h"
#include "app/cuda_agent/commands.h"
#include "app/cuda_agent/common.h"
#include "app/cuda_agent/memory_options.h"
#include "app/cuda_agent/printer.h"

#include "core/agent/run.h"

namespace cuda_agent::app {

namespace fs = std::filesystem;

namespace {

struct Options {
    TaskOptions task;
    std::string policy = "planner";
    std::string recorded; ///< for the replay policy
    std::string session;
    std::string baselines; ///< folder of those measured before
    agent::Budget budget{0, 0, 0, 0};
    TransformerOptions transformer;
    EndpointOptions endpoint;
    std::vector<std::string> skills;
    MemoryOptions memory;
    int attempts = 1;
    int parallel = 0; ///< attempts at once; 0: as many as cores or GPUs allow
};

Result<int> optimize(const Options &options, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(request, openTask(options.task));
    agent::RunRequest wanted;
    wanted.spec = request.spec;
    wanted.judge = request.judge;
    wanted.judge.baselines = options.baselines;
    wanted.device = options.task.device;
    wanted.policy = options.policy;
    wanted.recorded = options.recorded;
    wanted.budget = options.budget;
    wanted.transformer = options.transformer.config();
    if (options.policy == "endpoint") {
        CUDA_AGENT_ASSIGN(endpoint, options.endpoint.config());
        wanted.endpoint = std::move(endpoint);
        const std::vector<fs::path> named(options.skills.begin(), options.skills.end());
        CUDA_AGENT_ASSIGN(set, skills::SkillSet::load(skills::standardFolders(named)));
        wanted.skills = std::move(set);
    }
    wanted.session = options.session.empty() ? agent::defaultSessionFolder(request.spec)
                                             : fs::path(options.session);
    CUDA_AGENT_ASSIGN(memory, options.memory.file());
    wanted.memory = std::move(memory);
    if (options.attempts > 1)
        return runAttempts({std::move(wanted), options.attempts, options.parallel},
                           options.task.json, stop);
    const auto folder = wanted.session;
    Printer printer(options.task.json);
    agent::RunListener listener;
    listener.event = [&](const session::Event &event) { printer.event(event); };
    listener.progress = [&](const std::string &what) { printer.progress(what); };
    CUDA_AGENT_ASSIGN(run, agent::Run::open(std::move(wanted), std::move(listener)));
    printer.line("session " + folder.string());
    CUDA_AGENT_TRY(run.go(nullptr, stop));
    const auto &state = run.state();
    if (state.bestTurn == 0) {
        if (options.task.json)
            fmt::print("{}\n", Json{{"correct", false}, {"session", folder.string()}}.dump(2));
        printer.line("no correct candidate was found");
        return 1;
    }
    if (options.task.json) {
        Json json = state.bestVerdict;
        json["session"] = folder.string();
        json["best_turn"] = state.bestTurn;
        json["turns"] = state.turns.size();
        fmt::print("{}\n", json.dump(2));
    }
    printer.line(fmt::format("\nbest: turn {} of {}, in {}", state.bestTurn, state.turns.size(),
                             (folder / "best").string()));
    printer.verdict(state.bestVerdict);
    if (state.bestVerdict.value("strength", "") != "full")
        printer.line("verified in training strength only; 'cuda-agent check' does the rest");
    return 0;
}

} // namespace

Run addOptimize(CLI::App &app) {
    auto options = std::make_shared<Options>();
    options->task.add(app);
    app.add_option("--policy", options->policy, "Who writes the kernels")
        ->check(CLI::IsMember({"planner", "transformer", "endpoint", "replay"}))
        ->capture_default_str();
    app.add_option("--recorded", options->recorded,
                   "Session folder that the replay policy follows");
    app.add_option("--turns", options->budget.turns,
                   "Turns at most (default: 20, with an endpoint 200)")
        ->check(CLI::Range(1, 1000));
    app.add_option("--seconds", options->budget.seconds,
                   "No further turn after this time (default: no limit)")
        ->check(CLI::PositiveNumber);
    app.add_option("--tokens", options->budget.tokens,
                   "No further turn after this many tokens of a language model (default: no limit)")
        ->check(CLI::PositiveNumber);
    app.add_option("--cost", options->budget.cost,
                   "No further turn after this cost, by the prices in the endpoint's configuration")
        ->check(CLI::PositiveNumber);
    options->transformer.add(app);
    options->endpoint.add(app);
    app.add_option("--skills", options->skills,
                   "Folder of skills for the endpoint's model, besides the built-in ones");
    app.add_option("--session", options->session,
                   "Folder of the session log; one that was stopped or killed is resumed "
                   "(default: cuda-agent-sessions/TASK-TIME)");
    addBaselines(app, options->baselines);
    auto *attempts =
        app.add_option("--attempts", options->attempts,
                       "Attempts at the task that differ in what they try, each a session of its "
                       "own below the session folder (attempt-1, ...); budgets are per attempt. "
                       "The best candidates are compared at the end")
            ->check(CLI::Range(1, agent::mostAttempts))
            ->capture_default_str();
    app.add_option("--parallel", options->parallel,
                   "Attempts at once (default: one on each GPU; on a CPU one for four hardware "
                   "threads); the others wait")
        ->check(CLI::Range(1, agent::mostAttempts))
        ->needs(attempts);
    options->memory.add(app);
    return [options, &app](std::stop_token stop) -> Result<int> {
        CUDA_AGENT_TRY(checkPolicyOptions(app, options->policy));
        return optimize(*options, std::move(stop));
    };
}

} // namespace cuda_agent::app
