// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/commands.h"

#include "core/knowledge/offer.h"
#include "core/reference/worker.h"
#include "core/tools/judge_summary.h"

#include <ctime>

namespace cuda_agent::app {

namespace {

namespace fs = std::filesystem;

struct Options {
    std::string file;
    std::string task;
    std::string device = "auto";
    std::string numerics = "default";
    std::vector<std::string> sets;
    knowledge::Store::Filter filter;
    bool forget = false;
    bool yes = false;
    bool json = false;
};

void print(const Json &json) {
    fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

std::string dateOf(double time) {
    const auto seconds = static_cast<std::time_t>(time);
    std::tm local{};
    ::localtime_r(&seconds, &local);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%d", &local);
    return text;
}

void printRecord(const knowledge::Record &record) {
    std::string figures = "failed: " + record.problem;
    if (record.correct)
        figures = fmt::format("{}, {:.2f}x eager, {:.2f}x torch.compile, {:.0f} % of the limit",
                              tools::formatSeconds(record.seconds), record.againstEager,
                              record.againstCompile, 100 * record.fractionOfLimit);
    fmt::print("{}  {} ({}), {} numerics\n  {}\n  {}\n  {}{}: {}\n  {}, turn {}\n",
               dateOf(record.time), record.task.operators, record.task.dtype, record.numerics,
               record.device, figures, record.policy,
               record.schedule.empty() ? "" : " " + record.schedule, record.note, record.session,
               record.turn);
}

/// What a session on the task would be told.
Result<int> showOffer(const Options &options, knowledge::Store &store, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(spec, task::openSpec(options.task, options.sets));
    CUDA_AGENT_ASSIGN(numerics, task::numericsFromName(options.numerics));
    CUDA_AGENT_ASSIGN(device, device::openNamed(options.device));
    CUDA_AGENT_ASSIGN(worker, reference::Worker::start(spec, *device, {}, stop));
    CUDA_AGENT_ASSIGN(task, worker->describe(stop));
    CUDA_AGENT_ASSIGN(
        offer, knowledge::offerFor(store, knowledge::queryFor(task, device->info(), numerics)));
    if (options.json)
        print(knowledge::toJson(offer));
    else
        fmt::print("{}\n", offer.text);
    return 0;
}

Result<int> forget(const Options &options, knowledge::Store &store) {
    CUDA_AGENT_ASSIGN(count, store.count(options.filter));
    if (!options.yes)
        return requestError("{} record{} would be forgotten; add --yes to do it", count,
                            count == 1 ? "" : "s");
    CUDA_AGENT_ASSIGN(gone, store.forget(options.filter));
    if (options.json)
        print({{"forgotten", gone}});
    else
        fmt::print("forgot {} record{}\n", gone, gone == 1 ? "" : "s");
    return 0;
}

Result<int> knowledgeCommand(const Options &options, std::stop_token stop) {
    const fs::path file = options.file.empty() ? knowledge::defaultFile() : fs::path(options.file);
    std::error_code error;
    if (!options.file.empty() && !fs::exists(file, error))
        return requestError("there is no file {}", file.string());
    CUDA_AGENT_ASSIGN(store, knowledge::Store::open(file));
    if (!options.task.empty())
        return showOffer(options, store, std::move(stop));
    if (options.forget)
        return forget(options, store);
    CUDA_AGENT_ASSIGN(records, store.list(options.filter));
    if (options.json) {
        Json list = Json::array();
        for (const auto &record : records)
            list.push_back(knowledge::toJson(record));
        print({{"file", file.string()}, {"records", std::move(list)}});
        return 0;
    }
    for (const auto &record : records)
        printRecord(record);
    fmt::print("{} record{} in {}\n", records.size(), records.size() == 1 ? "" : "s",
               file.string());
    return 0;
}

} // namespace

Run addKnowledge(CLI::App &app) {
    auto options = std::make_shared<Options>();
    app.add_option("--memory", options->file,
                   "File of the record (default: " + knowledge::defaultFile().string() + ")");
    auto *task =
        app.add_option("--task", options->task, "Show what a session on this task would be told");
    app.add_option("--device", options->device, "With --task: where it would run")
        ->check(CLI::IsMember({"auto", "cuda", "cpu"}))
        ->capture_default_str();
    app.add_option("--numerics", options->numerics, "With --task: precision it would declare")
        ->check(CLI::IsMember({"default", "tf32", "published"}))
        ->capture_default_str();
    app.add_option("--set", options->sets, "With --task: NAME=VALUE overrides a constant of it")
        ->allow_extra_args(false);
    app.add_option("--operators", options->filter.operators,
                   "Only records of this class, such as gemm+pointwise");
    app.add_option("--on", options->filter.device, "Only records of the device of this name");
    auto *forget =
        app.add_flag("--forget", options->forget, "Forget the records, for good")->excludes(task);
    app.add_flag("--yes", options->yes, "With --forget: really do it")->needs(forget);
    app.add_flag("--json", options->json, "Print JSON on standard output");
    return [options](std::stop_token stop) { return knowledgeCommand(*options, std::move(stop)); };
}

} // namespace cuda_agent::app
