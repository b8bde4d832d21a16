// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/commands.h"
#include "app/cuda_agent/common.h"
#include "app/cuda_agent/terminal.h"

#include "core/synthesis/synthesis.h"

#include <chrono>

namespace cuda_agent::app {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto lineEvery = std::chrono::seconds(10); ///< where there is no bar
constexpr std::size_t mostReasons = 12;

struct Options {
    std::string recipe;
    std::string out;
    std::string device;
    std::string against;
    std::string difficulty;
    std::optional<std::uint64_t> seed;
    std::size_t tasks = 0;
    double seconds = 0;
    int gpus = 0, perDevice = 0;
    bool proposeOnly = false, draft = false;
    std::vector<std::string> apart;
    bool json = false;
    EndpointOptions endpoint;
};

Result<synthesis::Request> requestOf(const Options &options) {
    synthesis::Request request;
    CUDA_AGENT_ASSIGN(recipe, synthesis::readRecipe(options.recipe));
    request.recipe = std::move(recipe);
    if (options.seed)
        request.recipe.seed = *options.seed;
    if (options.tasks > 0)
        request.recipe.tasks = options.tasks;
    if (!options.device.empty())
        request.recipe.device = options.device == "cuda" ? device::Kind::cuda : device::Kind::cpu;
    request.folder = options.out.empty() ? request.recipe.name : options.out;
    request.gpus = options.gpus;
    request.perDevice = options.perDevice;
    request.seconds = options.seconds;
    request.proposeOnly = options.proposeOnly;
    request.draft = options.draft;
    request.apart.assign(options.apart.begin(), options.apart.end());
    request.against = options.against;
    request.difficulty = options.difficulty;
    if (request.recipe.sources.contains("endpoint")) {
        CUDA_AGENT_ASSIGN(endpoint, options.endpoint.config());
        request.endpoint = std::move(endpoint);
    }
    return request;
}

std::string textOf(const synthesis::Progress &progress) {
    auto text = fmt::format("{} of {} tasks; {}: {} proposed, {} checked, {} timed, {} compiled",
                            progress.accepted, progress.wanted, progress.stage, progress.proposed,
                            progress.checked, progress.timed, progress.compiled);
    if (const auto rate = progress.rates.find(progress.stage); rate != progress.rates.end())
        text += fmt::format(", {:.1f} a second", rate->second);
    if (progress.left)
        text += ", about " + spanText(*progress.left) + " left";
    return text;
}

void printEnd(Terminal &terminal, const synthesis::Synthesis &outcome,
              const std::filesystem::path &folder) {
    const auto &progress = outcome.progress;
    std::vector<std::pair<std::size_t, std::string>> reasons;
    for (const auto &[reason, count] : progress.rejected)
        reasons.emplace_back(count, reason);
    std::ranges::sort(reasons, std::greater());
    terminal.line(fmt::format("{} of {} tasks from {} candidates in {}", progress.accepted,
                              progress.wanted, progress.proposed, spanText(progress.seconds)));
    for (std::size_t i = 0; i < reasons.size() && i < mostReasons; ++i)
        terminal.line(fmt::format("{:>8} refused: {}", reasons[i].first, reasons[i].second));
    for (const auto &[stage, rate] : progress.rates)
        terminal.line(fmt::format("{:>8.1f} candidates a second through '{}'", rate, stage));
    terminal.line(outcome.whole ? fmt::format("{}", (folder / "card.md").string())
                                : std::string("The set is not whole; the same command goes on."));
}

Result<int> synthesize(const Options &options, const std::stop_token &stop) {
    CUDA_AGENT_ASSIGN(request, requestOf(options));
    Terminal terminal(options.json ? stderr : stdout);
    auto last = Clock::now() - lineEvery;
    std::string stage;
    synthesis::Listener listener;
    listener.progress = [&](const synthesis::Progress &progress) {
        terminal.bar(progress.accepted, progress.wanted, textOf(progress));
        if (terminal.interactive() || (Clock::now() - last < lineEvery && stage == progress.stage))
            return;
        last = Clock::now();
        stage = progress.stage;
        terminal.line(textOf(progress));
    };
    listener.note = [&](const std::string &text) { terminal.line(text); };
    CUDA_AGENT_ASSIGN(outcome, synthesis::synthesize(request, listener, stop));
    if (options.draft)
        terminal.line(fmt::format("{} tasks in {}", outcome.progress.accepted,
                                  (request.folder / "draft.jsonl.gz").string()));
    else if (request.proposeOnly && !stop.stop_requested())
        terminal.line(fmt::format("{} candidates in {}", outcome.progress.proposed,
                                  (request.folder / "proposed.jsonl.gz").string()));
    else
        printEnd(terminal, outcome, request.folder);
    if (options.json)
        fmt::print("{}\n", synthesis::toJson(outcome.progress).dump(2));
    const bool partial = options.draft || request.proposeOnly;
    return outcome.whole || (partial && !stop.stop_requested()) ? 0 : 1;
}

} // namespace

Run addSynthesize(CLI::App &app) {
    auto options = std::make_shared<Options>();
    app.add_option("RECIPE", options->recipe, "Recipe of the set (TOML; training/recipes has some)")
        ->required();
    app.add_option("--out", options->out,
                   "Folder of the set; a synthesis that is there goes on (default: the recipe's "
                   "name)");
    app.add_option("--seed", options->seed, "In place of the recipe's");
    app.add_option("--tasks", options->tasks, "In place of the recipe's")
        ->check(CLI::Range(1, 10'000'000));
    app.add_option("--device", options->device, "In place of the recipe's")
        ->check(CLI::IsMember({"cpu", "cuda"}));
    app.add_option("--seconds", options->seconds,
                   "Stop after this time; the same command goes on (default: no limit)")
        ->check(CLI::PositiveNumber);
    app.add_option("--gpus", options->gpus, "GPUs to use (default: all that CUDA sees)")
        ->check(CLI::Range(1, 64));
    app.add_option("--per-device", options->perDevice,
                   "Filter processes on each device (default: one a core)")
        ->check(CLI::Range(1, 256));
    auto *proposeOnly =
        app.add_flag("--propose-only", options->proposeOnly,
                     "Write candidates and run none of them, and proposed.jsonl.gz, the same as a "
                     "set to make a corpus of; needs no GPU. The same command without this goes on "
                     "with them");
    app.add_option("--apart", options->apart,
                   "Sets whose held-out fusions and outer operators proposed.jsonl.gz is without")
        ->check(CLI::ExistingFile)
        ->needs(proposeOnly);
    app.add_flag("--draft", options->draft,
                 "Write draft.jsonl.gz, the set as it stands: what has passed eager timing and "
                 "failed nothing since. Nothing is run; needs no GPU")
        ->excludes(proposeOnly);
    app.add_option("--against", options->against,
                   "Folder of a benchmark's tasks that the set has to be unlike (default: "
                   "KernelBench, by fingerprints that come with the program)")
        ->check(CLI::ExistingDirectory);
    app.add_option("--difficulty", options->difficulty,
                   "Folder of 'cuda-agent evaluate' on the set that is there: its rewards and "
                   "turns go into the set's levels, and nothing is run again")
        ->check(CLI::ExistingDirectory);
    app.add_flag("--json", options->json,
                 "Print how it ended as JSON on standard output; progress goes to standard error");
    options->endpoint.add(app);
    app.footer(
        "Exit codes: 0 the set is there; 1 --seconds ended it early, or nothing passes; 2 the "
        "recipe or the folder is unusable; 3 the machine failed.");
    return [options](std::stop_token stop) { return synthesize(*options, stop); };
}

} // namespace cuda_agent::app
