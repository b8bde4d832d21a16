// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/commands.h"
#include "app/interrupt.h"
#include "app/usage_error.h"

#include "core/base/json.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

using namespace cuda_agent;

namespace {

/// As every command with --json does.
void printError(const std::string &message, int code) {
    fmt::print("{}\n", Json{{"error", {{"message", message}, {"exit_code", code}}}}.dump());
}

} // namespace

int main(int argc, char **argv) {
    CLI::App app("Hand over a PyTorch module, get back a CUDA kernel that is verified and faster.",
                 "cuda-agent");
    app.require_subcommand(1);
    app.set_version_flag("--version", CUDA_AGENT_VERSION);
    app.footer("Exit codes: 0 the asked-for thing holds; 1 it does not; 2 the request is unusable; "
               "3 the machine or a dependency failed.");
    std::vector<std::pair<CLI::App *, app::Run>> commands;
    const auto add = [&](app::Run (*make)(CLI::App &), const char *name, const char *what) {
        auto *command = app.add_subcommand(name, what);
        commands.emplace_back(command, make(*command));
    };
    add(app::addDoctor, "doctor", "What this machine offers, what is missing and how to get it");
    add(app::addOptimize, "optimize", "Run the agent loop on one task");
    add(app::addCheck, "check", "Compile, verify and time a candidate");
    add(app::addProfile, "profile",
        "What the kernels of a candidate need and where their time goes");
    add(app::addNcu, "ncu", "Read a table of Nsight Compute, or compare it with a profile");
    add(app::addEvaluate, "evaluate", "Score a policy or stored candidates on a suite of tasks");
    add(app::addSynthesize, "synthesize", "Make a set of tasks from a recipe and a seed");
    add(app::addCorpus, "corpus", "Make a corpus to pretrain a policy on from a set of tasks");
    add(app::addTrain, "train", "Train the policy that writes kernels, by a recipe");
    add(app::addEndpoint, "endpoint", "Test the language model that --policy endpoint asks");
    add(app::addExport, "export", "Write a candidate as a plain PyTorch extension");
    add(app::addReplay, "replay", "Show a recorded session");
    add(app::addKnowledge, "knowledge", "Show what earlier sessions found, or forget it");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        if (error.get_exit_code() == 0)
            return app.exit(error); // prints help or version
        const std::string problem = app::usageError(app, error);
        fmt::print(stderr, "{}\n", problem);
        if (std::find(argv, argv + argc, std::string_view("--json")) != argv + argc)
            printError(problem, 2);
        return 2;
    }
    const auto stop = app::stopOnInterrupt();
    for (const auto &[command, run] : commands) {
        if (!command->parsed())
            continue;
        const auto result = run(stop);
        if (result)
            return *result;
        const auto &error = result.error();
        if (command->get_option("--json")->count() > 0)
            printError(error.message, exitCode(error.kind));
        fmt::print(stderr, "cuda-agent {}: {}\n", command->get_name(), error.message);
        return exitCode(error.kind);
    }
    return 2;
}
