// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/commands.h"
#include "app/cuda_agent/common.h"
#include "app/cuda_agent/evaluation_progress.h"
#include "app/cuda_agent/memory_options.h"

#include "core/bench/evaluation.h"

namespace cuda_agent::app {

namespace fs = std::filesystem;

namespace {

struct Options {
    std::string suite;
    std::string candidates;
    std::vector<std::string> levels, splits, only;
    std::string device = "auto";
    std::vector<std::string> numerics{"default"};
    std::string rules = "published";
    std::string policy = "planner";
    std::string strength = "full";
    bool maxAutotune = false;
    int timedCalls = 0;
    bool json = false, sharedWorkers = false, timing = true;
    int enough = 0;
    agent::Budget budget{0, 0, 0, 0};
    TransformerOptions transformer;
    EndpointOptions endpoint;
    std::vector<std::string> skills;
    MemoryOptions memory;
    double longest = 0, seconds = 0, taskGigabytes = 0;
    int gpus = 0, perDevice = 0;
    std::string baselines;
    std::string out = "cuda-agent-evaluation";
};

Result<bench::Request> requestOf(const Options &options) {
    bench::Request request;
    CUDA_AGENT_ASSIGN(suite,
                      bench::openSuite(options.suite, {options.levels, options.only, options.splits,
                                                       bench::bytesOf(options.taskGigabytes)}));
    request.suite = std::move(suite);
    if (!options.candidates.empty()) {
        CUDA_AGENT_ASSIGN(samples, bench::matchSamples(options.candidates, request.suite));
        request.samples = std::move(samples);
        request.samplesFolder = options.candidates;
    }
    request.numerics.clear();
    for (const auto &name : options.numerics) {
        CUDA_AGENT_ASSIGN(numerics, task::numericsFromName(name));
        if (std::ranges::find(request.numerics, numerics) == request.numerics.end())
            request.numerics.push_back(numerics);
    }
    CUDA_AGENT_ASSIGN(rules, modules::rulesFromName(options.rules));
    request.one.judge.rules = rules;
    request.one.judge.maxAutotune = options.maxAutotune;
    request.one.judge.timedCalls = options.timedCalls;
    request.one.judge.timing = options.timing;
    request.one.enough = options.timing ? options.enough : 1; // there is no more to be had
    request.one.judge.baselines = options.baselines;
    request.one.device = options.device;
    request.one.policy = options.policy;
    request.one.budget = options.budget;
    request.one.transformer = options.transformer.config();
    if (options.policy == "endpoint") {
        CUDA_AGENT_ASSIGN(endpoint, options.endpoint.config());
        request.one.endpoint = std::move(endpoint);
        const std::vector<fs::path> named(options.skills.begin(), options.skills.end());
        CUDA_AGENT_ASSIGN(set, skills::SkillSet::load(skills::standardFolders(named)));
        request.one.skills = std::move(set);
    }
    CUDA_AGENT_ASSIGN(memory, options.memory.file());
    request.one.memory = std::move(memory);
    request.one.judge.strongest =
        options.strength == "full" ? verify::Strength::full : verify::Strength::training;
    request.gpus = options.gpus;
    request.perDevice = options.perDevice;
    request.sharedWorkers = options.sharedWorkers;
    request.longest = options.longest;
    request.seconds = options.seconds;
    request.folder = options.out;
    return request;
}

Result<int> evaluate(const Options &options, const std::stop_token &stop) {
    CUDA_AGENT_ASSIGN(request, requestOf(options));
    EvaluationProgress progress(options.json);
    CUDA_AGENT_ASSIGN(outcome, bench::evaluate(request, progress.listener(), stop));
    progress.summary(outcome, request.folder);
    if (options.json) {
        CUDA_AGENT_ASSIGN(summary, readJsonFile(request.folder / "summary.json"));
        fmt::print("{}\n", summary.dump(2));
    }
    if (stop.stop_requested())
        return stoppedError();
    if (outcome.machineFailures > 0)
        return machineError("{} of the tasks failed for the machine's sake, see {}; the same "
                            "command tries them again",
                            outcome.machineFailures, (request.folder / "report.md").string());
    return outcome.whole ? 0 : 1;
}

} // namespace

Run addEvaluate(CLI::App &app) {
    auto options = std::make_shared<Options>();
    app.add_option("SUITE", options->suite,
                   "Folder of tasks, also below level1, level2, ... (KernelBench's), a set of them "
                   "(.jsonl, .jsonl.gz), or a file that lists them")
        ->required();
    app.add_option("--out", options->out,
                   "Folder for results.jsonl, report.html, report.md, summary.json and sessions; "
                   "an evaluation that is there goes on")
        ->capture_default_str();
    auto *candidates = app.add_option(
        "--candidates", options->candidates,
        "Judge what is in this folder in place of asking a policy: folders or files named as the "
        "tasks (19_ReLU, 19_ReLU.py) or as KernelBench's runs store them "
        "(level_1_problem_19_sample_0_kernel.py)");
    app.add_option("--levels", options->levels, "Only these levels, such as 1,2")->delimiter(',');
    app.add_option("--splits", options->splits,
                   "Only these parts of a set that has splits, such as held_out,outer")
        ->delimiter(',');
    app.add_option("--only", options->only, "Only these tasks, such as 1/19,2/3 or file names")
        ->delimiter(',');
    app.add_option("--task-gigabytes", options->taskGigabytes,
                   "Cut the batch of a set's tasks that take more memory beside inputs and "
                   "parameters down to this much (default: as they are)")
        ->check(CLI::PositiveNumber);
    app.add_option("--device", options->device, "Where to run")
        ->check(CLI::IsMember({"auto", "cuda", "cpu"}))
        ->capture_default_str();
    app.add_option("--numerics", options->numerics,
                   "Precision that both sides declare; several are evaluated one after the other")
        ->delimiter(',')
        ->check(CLI::IsMember({"default", "tf32", "published"}))
        ->capture_default_str();
    app.add_option("--rules", options->rules, "What a module candidate may use")
        ->check(CLI::IsMember({"published", "kernelbench"}))
        ->capture_default_str();
    app.add_flag("--max-autotune", options->maxAutotune,
                 "Also time torch.compile with max-autotune; it counts as stock");
    app.add_option("--strength", options->strength,
                   "Strength of verification and timing at most; with training the baselines, too, "
                   "are timed briefly")
        ->check(CLI::IsMember({"full", "training"}))
        ->capture_default_str();
    app.add_option(
           "--timed-calls", options->timedCalls,
           "Timed calls of each of --candidates (default: as many as its strength asks for)")
        ->check(CLI::Range(5, 10000))
        ->needs(candidates);
    auto *untimed = app.add_flag(
        "!--untimed", options->timing,
        "Verify only: nothing is timed, what is correct has the reward 1, and a task's "
        "session ends with it");
    app.add_option("--policy", options->policy, "Who writes the kernels")
        ->check(CLI::IsMember({"planner", "transformer", "endpoint"}))
        ->excludes(candidates)
        ->capture_default_str();
    app.add_option("--turns", options->budget.turns,
                   "Turns for each task at most (default: 20, with an endpoint 200)")
        ->check(CLI::Range(1, 1000));
    app.add_option("--until-reward", options->enough,
                   "End a task's session once a candidate has this reward: 1 correct, 2 and 3 "
                   "faster than eager and than torch.compile, too (default: never)")
        ->check(CLI::Range(1, 3))
        ->excludes(candidates)
        ->excludes(untimed);
    app.add_option("--tokens", options->budget.tokens, "Tokens for each task at most")
        ->check(CLI::PositiveNumber);
    options->transformer.add(app);
    options->endpoint.add(app);
    app.add_option("--skills", options->skills,
                   "Folder of skills for the endpoint's model, besides the built-in ones");
    app.add_option("--longest", options->longest,
                   "Seconds for one task; what was found until then counts (default: no limit)")
        ->check(CLI::PositiveNumber);
    app.add_option("--seconds", options->seconds,
                   "Stop after this time; the same command goes on (default: no limit)")
        ->check(CLI::PositiveNumber);
    addBaselines(app, options->baselines);
    app.add_option("--gpus", options->gpus, "GPUs to use (default: all that CUDA sees)")
        ->check(CLI::Range(1, 64));
    app.add_option(
           "--per-device", options->perDevice,
           "Tasks at a time on each device at most, as many as fit into its memory beside each "
           "other: one measures while the others prepare. Each has this share of the memory "
           "for its cases (default: 3 on a GPU, 1 on the cpu)")
        ->check(CLI::Range(1, 64));
    app.add_flag("--shared-workers", options->sharedWorkers,
                 "Let tasks have PyTorch's processes one after the other, which are started but "
                 "once: for a suite whose tasks trust each other");
    app.add_flag("--json", options->json,
                 "Print the summary as JSON on standard output; progress goes to standard error");
    options->memory.add(app);
    app.footer(
        "Exit codes: 0 everything was judged, right or wrong; 1 --seconds ended it early; "
        "2 the request is unusable; 3 something could not be judged for the machine's sake.");
    return [options, &app](std::stop_token stop) -> Result<int> {
        CUDA_AGENT_TRY(checkPolicyOptions(app, options->policy));
        return evaluate(*options, stop);
    };
}

} // namespace cuda_agent::app
