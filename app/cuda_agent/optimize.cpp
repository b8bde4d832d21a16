// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/commands.h"
#include "app/cuda_agent/common.h"
#include "app/cuda_agent/printer.h"

#include "core/agent/loop.h"
#include "core/agent/tools.h"
#include "core/base/hash.h"

#include <ctime>

namespace cuda_agent::app {

namespace fs = std::filesystem;
using session::EventType;

namespace {

struct Options {
    TaskOptions task;
    std::string policy = "planner";
    std::string recorded; ///< for the replay policy
    std::string session;
    int turns = 20;
};

fs::path defaultSessionFolder(const task::Spec &spec) {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    ::localtime_r(&now, &local);
    char stamp[32];
    std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
    return fs::path("cuda-agent-sessions") / fmt::format("{}-{}", spec.name(), stamp);
}

/// What makes two runs the same session: a resume must not mix tasks, devices or numerics.
Json identityOf(const TaskRequest &request, const std::string &taskText, const Options &options) {
    return {{"task",
             {{"name", request.spec.name()},
              {"file", request.spec.file.string()},
              {"sha256", sha256Hex(taskText)}}},
            {"overrides", request.spec.overrides},
            {"device", device::toJson(request.device->info())},
            {"numerics", options.task.numerics},
            {"rules", "published"},
            {"policy", options.policy},
            {"turns", options.turns},
            {"program_version", CUDA_AGENT_VERSION}};
}

Result<void> checkResumable(const session::State &state, const Json &identity) {
    for (const auto *key : {"overrides", "numerics", "policy"})
        if (state.start.value(key, Json()) != identity.at(key))
            return requestError("the session was started with {} {}, not {}; use another --session "
                                "folder",
                                key, state.start.value(key, Json()).dump(),
                                identity.at(key).dump());
    if (state.start.value("task", Json::object()).value("sha256", "") !=
        identity.at("task").at("sha256"))
        return requestError("the session belongs to another task or another version of the file; "
                            "use another --session folder");
    if (state.start.value("device", Json::object()).value("name", "") !=
        identity.at("device").at("name"))
        return requestError("the session was started on {}; use another --session folder",
                            state.start.value("device", Json::object()).value("name", "?"));
    return {};
}

/// Opens the session folder for a new run or a resume. `resumed` tells which.
Result<agent::Recorder> openRecorder(const fs::path &folder, const Json &identity,
                                     const std::string &taskText, bool &resumed) {
    std::error_code error;
    resumed = fs::exists(folder / "session.jsonl", error);
    if (resumed) {
        CUDA_AGENT_ASSIGN(log, session::Log::open(folder));
        CUDA_AGENT_ASSIGN(contents, session::readLog(folder));
        auto state = session::fold(contents.events);
        CUDA_AGENT_TRY(checkResumable(state, identity));
        if (state.end && state.end->value("complete", false))
            return requestError("the session in {} has ended ({}); look at it with 'cuda-agent "
                                "replay', or use another --session folder",
                                folder.string(), state.end->value("reason", ""));
        return agent::Recorder(std::move(log), std::move(state));
    }
    CUDA_AGENT_ASSIGN(log, session::Log::create(folder));
    agent::Recorder recorder(std::move(log), {});
    CUDA_AGENT_ASSIGN(blob, recorder.putBlob(taskText));
    Json start = identity;
    start["task"]["blob"] = blob;
    CUDA_AGENT_TRY(recorder.append(EventType::sessionStarted, 0, std::move(start)));
    return recorder;
}

Result<std::unique_ptr<policy::Policy>> openPolicy(const Options &options,
                                                   const judge::Judge &judge) {
    if (options.policy == "replay")
        return policy::makeReplay(options.recorded);
    policy::Context context;
    context.task = judge.description();
    context.device = judge.deviceInfo();
    context.ceilings = judge.ceilings();
    context.baselines = timing::toJson(judge.baselines());
    context.numerics = judge.options().numerics;
    context.turnLimit = options.turns;
    return policy::makePlanner(std::move(context));
}

/// Copies the best candidate's files to `<session>/best` for people and `check`.
Result<void> writeBest(const agent::Recorder &recorder) {
    const auto folder = recorder.folder() / "best";
    std::error_code error;
    fs::remove_all(folder, error);
    for (const auto &[path, blob] : recorder.state().bestCandidate) {
        CUDA_AGENT_ASSIGN(text, session::readBlob(recorder.folder(), blob));
        CUDA_AGENT_TRY(writeFileAtomically(folder / path, text));
    }
    return {};
}

/// Everything between the first and the last event. Returns why the loop ended.
Result<std::string> runSession(agent::Recorder &recorder, TaskRequest &request,
                               const Options &options, Printer &printer, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(judge, judge::Judge::prepare(
                                 request.spec, std::move(request.device), request.judge,
                                 [&](const std::string &what) { printer.progress(what); }, stop));
    if (recorder.state().description.empty())
        CUDA_AGENT_TRY(recorder.append(EventType::taskDescribed, 0, judge->description().toJson()));
    for (const auto &note : judge->notes())
        CUDA_AGENT_TRY(recorder.append(EventType::note, 0, {{"text", note}}));
    // A resumed session has new baselines: the machine may be another hour's machine.
    CUDA_AGENT_TRY(
        recorder.append(EventType::baselinesMeasured, 0, timing::toJson(judge->baselines())));
    CUDA_AGENT_ASSIGN(policy, openPolicy(options, *judge));
    return agent::runLoop(recorder, *judge, *policy, {options.turns}, stop);
}

Result<int> optimize(const Options &options, std::stop_token stop) {
    if (options.policy != "planner" && options.policy != "replay")
        return requestError("policy '{}' is not there yet; use planner or replay", options.policy);
    if (options.policy == "replay" && options.recorded.empty())
        return requestError("--policy replay needs --recorded SESSION");
    CUDA_AGENT_ASSIGN(request, openTask(options.task));
    CUDA_AGENT_ASSIGN(taskText, readTextFile(request.spec.file));
    const auto identity = identityOf(request, taskText, options);
    const auto folder =
        options.session.empty() ? defaultSessionFolder(request.spec) : fs::path(options.session);
    bool resumed = false;
    CUDA_AGENT_ASSIGN(recorder, openRecorder(folder, identity, taskText, resumed));
    Printer printer(options.task.json);
    recorder.log().setListener([&](const session::Event &event) { printer.event(event); });
    printer.line("session " + folder.string());
    if (resumed)
        CUDA_AGENT_TRY(recorder.append(
            EventType::note, 0,
            {{"text", fmt::format("resumed after {} turns", recorder.state().turns.size())}}));

    const auto ended = runSession(recorder, request, options, printer, stop);
    // A session that was stopped or lost its machine can be resumed; one that is done cannot.
    const bool complete = ended.has_value() || ended.error().kind == ErrorKind::failed;
    const auto written = recorder.append(EventType::sessionEnded, 0,
                                         {{"reason", ended ? *ended : ended.error().message},
                                          {"best_turn", recorder.state().bestTurn},
                                          {"complete", complete}});
    if (!ended)
        return tl::unexpected(ended.error());
    CUDA_AGENT_TRY(written);
    const auto &state = recorder.state();
    if (state.bestTurn == 0) {
        if (options.task.json)
            fmt::print("{}\n", Json{{"correct", false}, {"session", folder.string()}}.dump(2));
        printer.line("no correct candidate was found");
        return 1;
    }
    CUDA_AGENT_TRY(writeBest(recorder));
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
    app.add_option("--turns", options->turns, "Turns at most")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_option("--session", options->session,
                   "Folder of the session log; one that was stopped or killed is resumed "
                   "(default: cuda-agent-sessions/TASK-TIME)");
    return [options](std::stop_token stop) { return optimize(*options, std::move(stop)); };
}

} // namespace cuda_agent::app
