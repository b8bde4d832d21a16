// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The trainer, and the process of a trained model: the one program that links LibTorch.
#include "app/interrupt.h"
#include "app/learn/mistakes.h"
#include "app/learn/serve.h"
#include "app/usage_error.h"
#include "core/learn/train/trainer.h"

#include <CLI/CLI.hpp>

#include <cstdio>

using namespace cuda_agent;

namespace {

struct Options {
    std::string recipe, folder, replay;
    bool resume = false, json = false;
    double seconds = 0;
    int threads = 0;
};

Result<int> train(const Options &options, const std::stop_token &stop) {
    CUDA_AGENT_ASSIGN(recipe, learn::readTrainRecipe(options.recipe));
    learn::TrainRequest request;
    request.folder = options.folder.empty() ? recipe.name : options.folder;
    request.recipe = std::move(recipe);
    request.resume = options.resume;
    request.seconds = options.seconds;
    request.replay = options.replay;
    request.threads = options.threads;
    const auto note = [](const std::string &line) { fmt::print(stderr, "{}\n", line); };
    CUDA_AGENT_ASSIGN(result, learn::train(request, note, stop));
    if (!result.first)
        return result.done ? 0 : stop.stop_requested() ? 130 : 1;
    if (options.json)
        fmt::print("{}\n", Json{{"done", result.done},
                                {"step", result.step},
                                {"folder", request.folder.string()},
                                {"checkpoint", result.checkpoint.string()}}
                               .dump());
    else
        fmt::print("{} after step {}; the last checkpoint is {}\n",
                   result.done ? "Done" : "Stopped", result.step, result.checkpoint.string());
    if (!result.done && !options.json)
        fmt::print("The same command with --resume goes on.\n");
    return result.done ? 0 : stop.stop_requested() ? 130 : 1;
}

} // namespace

int main(int argc, char **argv) {
    CLI::App app("Train the policy that writes CUDA kernels, stage by stage.", "cuda-agent-learn");
    app.require_subcommand(1);
    app.set_version_flag("--version", CUDA_AGENT_VERSION);
    Options options;
    auto *command = app.add_subcommand("train", "Run the stages of a recipe");
    command->add_option("RECIPE", options.recipe, "TOML file; training/recipes has some")
        ->required();
    command->add_option("--out", options.folder,
                        "Folder of the run (default: the recipe's name); the window opens it");
    command->add_flag("--resume", options.resume, "Go on from the folder's last checkpoint");
    command
        ->add_option("--seconds", options.seconds,
                     "Stop after this time, with a checkpoint (default: no limit)")
        ->check(CLI::PositiveNumber);
    command->add_option("--replay", options.replay,
                        "Learn from the trajectories that this run's folder has kept "
                        "(keep_trajectories) in place of new tries");
    command->add_option("--threads", options.threads, "Threads of PyTorch on a CPU")
        ->check(CLI::Range(1, 1024));
    command->add_flag("--json", options.json, "Print how it ended as JSON on standard output");
    auto *serving = app.add_subcommand(
        "serve", "Write conversations for another program, which starts this one");
    const auto serve = app::addServe(*serving);
    auto *reading = app.add_subcommand(
        "mistakes", "Tell where a model would not have written what documents hold");
    const auto mistakes = app::addMistakes(*reading);
    app.footer("Exit codes: 0 done; 1 --seconds ended it, or training diverged; "
               "2 the recipe or the folder is unusable; 3 the machine failed; 130 stopped.");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        if (error.get_exit_code() == 0)
            return app.exit(error); // prints help or version
        fmt::print(stderr, "{}\n", app::usageError(app, error));
        return 2;
    }
    const auto stop = app::stopOnInterrupt();
    const auto result = serving->parsed()   ? serve(stop)
                        : reading->parsed() ? mistakes(stop)
                                            : train(options, stop);
    if (result)
        return *result;
    const auto *asked = app.get_subcommands().front();
    fmt::print(stderr, "cuda-agent-learn {}: {}\n", asked->get_name(), result.error().message);
    return exitCode(result.error().kind);
}
