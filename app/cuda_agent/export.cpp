// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/commands.h"
#include "app/cuda_agent/common.h"
#include "app/cuda_agent/printer.h"

#include "core/export/extension.h"
#include "core/export/from_session.h"
#include "core/reference/worker.h"
#include "core/session/chrome_trace.h"
#include "core/session/log.h"

namespace cuda_agent::app {

namespace fs = std::filesystem;

namespace {

struct Options {
    std::string from; ///< a session, or with `task` a candidate
    std::string task;
    std::string device = "auto";
    std::string numerics = "default";
    std::vector<std::string> sets;
    std::string to;
    std::string trace; ///< a file to write; nothing else is exported then
    int turn = 0;
    bool unverified = false;
    bool force = false;
    bool json = false;
};

/// What the judge or, unverified, the reference worker finds out about a candidate and its task.
Result<void> examine(const Options &options, const task::Spec &spec,
                     const plan::Candidate &candidate, std::unique_ptr<device::Device> device,
                     Printer &printer, exporter::Source &source, std::stop_token stop) {
    if (options.unverified) {
        printer.progress("loading the task");
        reference::Options wanted;
        wanted.numerics = source.numerics;
        CUDA_AGENT_ASSIGN(worker, reference::Worker::start(spec, *device, wanted, stop));
        CUDA_AGENT_ASSIGN(description, worker->describe(stop));
        source.description = std::move(description);
        return {};
    }
    judge::Options wanted;
    wanted.numerics = source.numerics;
    CUDA_AGENT_ASSIGN(judge, judge::Judge::prepare(
                                 spec, std::move(device), wanted,
                                 [&](const std::string &what) { printer.progress(what); }, stop));
    printer.progress("verifying and timing");
    CUDA_AGENT_ASSIGN(verdict, judge->judge(candidate, verify::Strength::full, stop));
    if (!verdict.correct)
        return failedError("the candidate is not correct, so it is not exported: {}",
                           verdict.problem);
    source.verdict = judge::toJson(verdict);
    source.description = judge->description();
    return {};
}

Result<exporter::Source> sourceFromCandidate(const Options &options, Printer &printer,
                                             std::stop_token stop) {
    CUDA_AGENT_ASSIGN(candidate, plan::readCandidate(options.from));
    CUDA_AGENT_ASSIGN(spec, task::openSpec(options.task, options.sets));
    exporter::Source source;
    CUDA_AGENT_ASSIGN(numerics, task::numericsFromName(options.numerics));
    source.numerics = numerics;
    CUDA_AGENT_ASSIGN(text, readTextFile(spec.file));
    source.text = std::move(text);
    source.task = spec.name();
    source.overrides = spec.overrides;
    source.plan = candidate.plan;
    source.kernels = candidate.files;
    CUDA_AGENT_ASSIGN(device, device::openNamed(options.device));
    source.device = device->info().kind;
    source.deviceName = device->info().name;
    source.architecture = device->info().architecture;
    CUDA_AGENT_TRY(
        examine(options, spec, candidate, std::move(device), printer, source, std::move(stop)));
    return source;
}

/// A session, or each of several attempts at one task.
Result<std::vector<session::TraceSession>> sessionsIn(const fs::path &folder, Printer &printer) {
    std::vector<std::pair<std::string, fs::path>> folders;
    std::error_code error;
    if (!fs::exists(folder / "session.jsonl", error) && fs::exists(folder / "attempts.json", error))
        for (int i = 1; fs::exists(folder / fmt::format("attempt-{}", i), error); ++i)
            folders.emplace_back(fmt::format(", attempt {}", i),
                                 folder / fmt::format("attempt-{}", i));
    if (folders.empty())
        folders.emplace_back("", folder);
    std::vector<session::TraceSession> sessions;
    for (const auto &[suffix, path] : folders) {
        CUDA_AGENT_ASSIGN(contents, session::readLog(path));
        if (!contents.problem.empty())
            printer.line("note: " + contents.problem);
        std::string name = path.filename().string();
        if (!contents.events.empty()) {
            const auto &start = contents.events.front().data;
            const auto task = start.find("task");
            if (task != start.end() && task->is_object() && task->contains("name") &&
                task->at("name").is_string())
                name = task->at("name").get<std::string>();
        }
        sessions.push_back({name + suffix, std::move(contents.events)});
    }
    return sessions;
}

Result<int> writeTrace(const Options &options) {
    Printer printer(options.json);
    CUDA_AGENT_ASSIGN(sessions, sessionsIn(options.from, printer));
    const auto trace = session::chromeTrace(sessions);
    const auto count = trace["traceEvents"].size();
    // A viewer finds one line an event as quickly, and a person finds something at all.
    std::string text = "{\"displayTimeUnit\": \"ms\",\n\"otherData\": " +
                       trace["otherData"].dump(-1, ' ', false, Json::error_handler_t::replace) +
                       ",\n\"traceEvents\": [\n";
    for (std::size_t i = 0; i < count; ++i)
        text += trace["traceEvents"][i].dump(-1, ' ', false, Json::error_handler_t::replace) +
                (i + 1 < count ? ",\n" : "\n");
    CUDA_AGENT_TRY(writeFileAtomically(options.trace, text + "]}\n"));
    if (options.json)
        fmt::print(
            "{}\n",
            Json{{"trace", options.trace}, {"sessions", sessions.size()}, {"events", count}}.dump(
                2, ' ', false, Json::error_handler_t::replace));
    else
        printer.line(fmt::format("wrote {} events of {} session{} to {}; open it in "
                                 "ui.perfetto.dev or chrome://tracing",
                                 count, sessions.size(), sessions.size() == 1 ? "" : "s",
                                 options.trace));
    return 0;
}

Result<int> run(const Options &options, std::stop_token stop) {
    if (!options.trace.empty())
        return writeTrace(options);
    if (!options.task.empty() && options.turn > 0)
        return requestError("--turn is for a session; with --task a candidate's folder is given");
    if (options.task.empty() && (options.unverified || !options.sets.empty()))
        return requestError("--unverified and --set go with --task; a session has its own verdict "
                            "and constants");
    Printer printer(options.json);
    auto made = options.task.empty() ? exporter::sourceFromSession(options.from, options.turn)
                                     : sourceFromCandidate(options, printer, std::move(stop));
    if (!made)
        return tl::unexpected(std::move(made).error());
    const exporter::Source &source = *made;
    CUDA_AGENT_ASSIGN(extension, exporter::makeExtension(source));
    const fs::path folder =
        options.to.empty() ? fs::path(source.task + "-extension") : fs::path(options.to);
    CUDA_AGENT_TRY(exporter::writeExtension(extension, folder, options.force));
    if (options.json) {
        Json files = Json::array();
        for (const auto &[path, text] : extension.files)
            files.push_back(path);
        fmt::print("{}\n", Json{{"folder", folder.string()},
                                {"package", extension.package},
                                {"operator", "torch.ops." + extension.package + ".forward"},
                                {"task", source.task},
                                {"device", device::nameOf(source.device)},
                                {"verified", source.verdict.is_object()},
                                {"differentiable", extension.differentiable},
                                {"builds_for_cpu", extension.hostProblem.empty()},
                                {"cpu_problem", extension.hostProblem},
                                {"files", files}}
                               .dump(2, ' ', false, Json::error_handler_t::replace));
        return 0;
    }
    printer.line(fmt::format("wrote {} files to {}", extension.files.size(), folder.string()));
    printer.line(fmt::format("  pip install --no-build-isolation {}", folder.string()));
    printer.line(fmt::format("  from {} import Model", extension.package));
    if (source.device == device::Kind::cuda && !extension.hostProblem.empty())
        printer.line("note: it cannot be built for a CPU: " + extension.hostProblem);
    if (!source.verdict.is_object())
        printer.line("note: the candidate was not verified");
    else if (source.verdict.value("strength", "") != "full")
        printer.line("note: verified in training strength only; 'cuda-agent check' does the rest");
    return 0;
}

} // namespace

Run addExport(CLI::App &app) {
    auto options = std::make_shared<Options>();
    app.add_option("SESSION", options->from,
                   "Folder of a recorded session; with --task, a candidate's folder")
        ->required();
    app.add_option("--task", options->task,
                   "The task of a candidate: SESSION is then a folder with plan.json");
    app.add_option("--turn", options->turn, "The candidate of this turn (default: the best)")
        ->check(CLI::PositiveNumber);
    app.add_option("--to", options->to, "Folder to write (default: TASK-extension)");
    app.add_flag("--force", options->force, "Write over an earlier export in that folder");
    app.add_option("--device", options->device, "With --task: where the candidate is verified")
        ->check(CLI::IsMember({"auto", "cuda", "cpu"}))
        ->capture_default_str();
    app.add_option("--numerics", options->numerics,
                   "With --task: precision that both sides declare")
        ->check(CLI::IsMember({"default", "tf32", "published"}))
        ->capture_default_str();
    app.add_option("--set", options->sets,
                   "With --task: NAME=VALUE, override a module-level constant")
        ->allow_extra_args(false);
    app.add_flag("--unverified", options->unverified,
                 "With --task: export without verifying; the README says so");
    auto *trace = app.add_option(
        "--trace", options->trace,
        "In place of an extension, write the session to this file as a trace for Perfetto or "
        "chrome://tracing: turns, tool calls, answers, compiling, verdicts and profiled kernels on "
        "one time axis");
    for (const char *other : {"--task", "--turn", "--to", "--force", "--set", "--unverified"})
        trace->excludes(other);
    app.add_flag("--json", options->json, "Print JSON");
    return [options](std::stop_token stop) { return run(*options, std::move(stop)); };
}

} // namespace cuda_agent::app
