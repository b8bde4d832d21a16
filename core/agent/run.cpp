// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/agent/run.h"

#include "core/base/hash.h"
#include "core/device/quarantine.h"

#include <algorithm>
#include <array>
#include <ctime>

namespace cuda_agent::agent {

namespace fs = std::filesystem;
using session::EventType;

namespace {

Json budgetJson(const Budget &budget) {
    return {{"turns", budget.turns},
            {"budget",
             {{"seconds", budget.seconds}, {"tokens", budget.tokens}, {"cost", budget.cost}}}};
}

/// The session that a replay follows: where it is, and the hash of how its log begins, by which it
/// is known again wherever it is moved to.
Result<Json> recordedOf(const fs::path &folder) {
    CUDA_AGENT_ASSIGN(contents, session::readLog(folder));
    if (contents.events.empty())
        return requestError("the session in {} has no events to replay", folder.string());
    const auto &first = contents.events.front();
    std::error_code error;
    const auto path = fs::weakly_canonical(folder, error);
    return Json{{"path", (error ? folder : path).string()},
                {"id", sha256Hex(fmt::format("{:.6f} {}", first.time, first.data.dump()))}};
}

/// What makes two runs the same session: a resume must not mix tasks, devices or numerics.
Result<Json> identityOf(const RunRequest &request, const device::Info &device,
                        const std::string &taskText) {
    Json identity{{"task",
                   {{"name", request.spec.name()},
                    {"file", request.spec.file.string()},
                    {"sha256", sha256Hex(taskText)}}},
                  {"overrides", request.spec.overrides},
                  {"device", device::toJson(device)},
                  {"numerics", task::nameOf(request.judge.numerics)},
                  {"rules", modules::nameOf(request.judge.rules)},
                  {"policy", request.policy},
                  {"program_version", CUDA_AGENT_VERSION}};
    identity.update(budgetJson(request.budget));
    if (request.attempts > 1)
        identity["attempt"] = {{"number", request.attempt}, {"of", request.attempts}};
    if (request.policy == "transformer") {
        CUDA_AGENT_ASSIGN(model, describeModel(request.transformer));
        model.update(policy::toJson(drawingOf(request.transformer, request.attempt)));
        model["fresh_starts"] = nameOf(freshStartsOf(request.transformer));
        identity["transformer"] = std::move(model);
    }
    return identity;
}

Result<std::unique_ptr<device::Device>> openDevice(const RunRequest &request) {
    return request.device == "cuda" ? device::openCuda(request.gpu)
                                    : device::openNamed(request.device);
}

Result<void> checkResumable(const session::State &state, const Json &identity) {
    for (const auto *key : {"overrides", "numerics", "policy"})
        if (state.start.value(key, Json()) != identity.at(key))
            return requestError("the session was started with {} {}, not {}; use another --session "
                                "folder",
                                key, state.start.value(key, Json()).dump(),
                                identity.at(key).dump());
    if (const Json rules = state.start.value("rules", Json()); // older logs do not say
        !rules.is_null() && rules != identity.at("rules"))
        return requestError("the session is held to the rules {}, not {}; use another --session "
                            "folder",
                            rules.dump(), identity.at("rules").dump());
    if (const Json model = identity.value("transformer", Json::object()),
        before = state.start.value("transformer", Json::object());
        !model.empty() && before.value("sha256", Json()) != model.at("sha256"))
        return requestError("the session was started with the weights {} (SHA-256 {}), not {} "
                            "({}); name those with --weights, or use another --session folder",
                            before.value("name", "?"), before.value("sha256", "?"),
                            model.at("name").get<std::string>(),
                            model.at("sha256").get<std::string>());
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

} // namespace

policy::EndpointVoice endpointVoice(session::Recorder &recorder, TurnWriter &writer,
                                    std::function<void(const std::string &)> progress) {
    policy::EndpointVoice voice;
    voice.streamed = [&writer](const std::string &piece) {
        return writer.say(EventType::textStreamed, {{"text", piece}});
    };
    voice.answered = [&writer](Json answer) {
        return writer.say(EventType::modelAnswered, std::move(answer));
    };
    voice.note = [&recorder, progress = std::move(progress)](const std::string &text) {
        if (progress)
            progress(text);
        return recorder.append(EventType::note, 0, {{"text", text}});
    };
    voice.state = [&recorder]() -> const session::State & { return recorder.state(); };
    voice.blob = [&recorder](const std::string &name) {
        return session::readBlob(recorder.folder(), name);
    };
    return voice;
}

policy::EndpointConfig endpointOf(const RunRequest &request) {
    auto config = request.endpoint;
    if (request.attempts <= 1)
        return config;
    const Json seed = config.extra.is_object() ? config.extra.value("seed", Json(0)) : Json(0);
    if (seed.is_number_integer())
        config.extra["seed"] = seed.get<std::int64_t>() + request.attempt;
    return config;
}

Budget resumedBudget(const RunRequest &request, const Json &start) {
    if (request.wholeBudget)
        return request.budget;
    const auto logged = [](const Json &of, const char *name) {
        const auto found = of.is_object() ? of.find(name) : of.end();
        return of.is_object() && found != of.end() && found->is_number()
                   ? std::clamp(found->get<double>(), 0.0, 1e15)
                   : 0.0;
    };
    const Json before = start.value("budget", Json::object());
    Budget budget = request.budget;
    if (budget.turns <= 0)
        budget.turns = static_cast<int>(std::min(logged(start, "turns"), 1e6));
    if (budget.turns <= 0)
        budget.turns = usualTurns(request.policy);
    if (budget.seconds <= 0)
        budget.seconds = logged(before, "seconds");
    if (budget.tokens <= 0)
        budget.tokens = static_cast<std::int64_t>(logged(before, "tokens"));
    if (budget.cost <= 0)
        budget.cost = logged(before, "cost");
    return budget;
}

int usualTurns(const std::string &policy) {
    return policy == "endpoint" ? 200 : 20;
}

fs::path defaultSessionFolder(const task::Spec &spec) {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    ::localtime_r(&now, &local);
    char stamp[32];
    std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
    return fs::path("cuda-agent-sessions") / fmt::format("{}-{}", spec.name(), stamp);
}

Result<void> writeBest(const fs::path &session, const session::State &state) {
    const auto folder = session / "best";
    std::error_code error;
    fs::remove_all(folder, error);
    for (const auto &[path, blob] : state.bestCandidate) {
        CUDA_AGENT_ASSIGN(text, session::readBlob(session, blob));
        CUDA_AGENT_TRY(writeFileAtomically(folder / path, text));
    }
    return {};
}

Run::Run(RunRequest request, RunListener listener)
    : request_(std::move(request)), listener_(std::move(listener)) {}

Result<std::optional<session::State>> Run::ended(const RunRequest &request) {
    std::error_code error;
    if (!fs::exists(request.session / "session.jsonl", error))
        return std::nullopt;
    CUDA_AGENT_ASSIGN(contents, session::readLog(request.session));
    auto state = session::fold(contents.events);
    if (!state.end || !state.end->value("complete", false))
        return std::nullopt;
    CUDA_AGENT_ASSIGN(text, readTextFile(request.spec.file));
    CUDA_AGENT_ASSIGN(device, openDevice(request));
    CUDA_AGENT_ASSIGN(identity, identityOf(request, device->info(), text));
    CUDA_AGENT_TRY(checkResumable(state, identity));
    return state;
}

Result<Run> Run::open(RunRequest request, RunListener listener, bool reopen) {
    constexpr std::array policies{"planner", "transformer", "endpoint", "replay"};
    if (std::ranges::find(policies, request.policy) == policies.end())
        return requestError("there is no policy '{}'; use planner, transformer, endpoint or replay",
                            request.policy);
    if (request.policy == "endpoint")
        CUDA_AGENT_TRY(policy::checkEndpoint(request.endpoint));
    if (request.session.empty())
        request.session = defaultSessionFolder(request.spec);
    std::error_code error;
    const bool resumed = fs::exists(request.session / "session.jsonl", error);
    if (request.budget.turns <= 0 && !resumed)
        request.budget.turns = usualTurns(request.policy);
    Json recorded;
    if (request.policy == "replay" && !request.recorded.empty()) {
        CUDA_AGENT_ASSIGN(source, recordedOf(request.recorded));
        recorded = std::move(source);
    } else if (request.policy == "replay" && !resumed) {
        return requestError("the replay policy needs a recorded session (--recorded SESSION)");
    }
    CUDA_AGENT_ASSIGN(text, readTextFile(request.spec.file));
    CUDA_AGENT_ASSIGN(device, openDevice(request));
    // Before there is a session: it could only end.
    CUDA_AGENT_TRY(device::checkNotQuarantined(device::quarantineName(device->info())));
    if (request.policy == "transformer")
        CUDA_AGENT_TRY(startModel(request.transformer, request.device, 1));
    CUDA_AGENT_ASSIGN(identity, identityOf(request, device->info(), text));
    const fs::path folder = request.session;
    Run run(std::move(request), std::move(listener));
    run.device_ = std::move(device);
    const auto record = [&](session::Log log, session::State state) {
        run.recorder_ = std::make_unique<session::Recorder>(std::move(log), std::move(state));
        run.recorder_->log().setListener(run.listener_.event);
    };
    run.resumed_ = resumed;
    if (run.resumed_) {
        CUDA_AGENT_ASSIGN(log, session::Log::open(folder));
        CUDA_AGENT_ASSIGN(contents, session::readLog(folder));
        auto state = session::fold(contents.events);
        CUDA_AGENT_TRY(checkResumable(state, identity));
        run.ended_ = state.end && state.end->value("complete", false);
        // Which part of the work is its own was settled when it began.
        const Json attempt = state.start.value("attempt", Json::object());
        run.request_.attempt = attempt.value("number", 1);
        run.request_.attempts = attempt.value("of", 1);
        run.keepDrawing(state.start.value("transformer", Json::object()));
        // More of a budget is a reason to go on with what had ended.
        const Budget &given = run.request_.budget;
        const bool extends = !run.request_.wholeBudget && (given.turns > 0 || given.seconds > 0 ||
                                                           given.tokens > 0 || given.cost > 0);
        if (run.ended_ && !reopen && !extends)
            return requestError("the session in {} has ended ({}); look at it with 'cuda-agent "
                                "replay', give it another budget (--turns), or use another "
                                "--session folder",
                                folder.string(), state.end->value("reason", ""));
        if (run.request_.policy == "replay")
            CUDA_AGENT_TRY(run.followRecorded(state, recorded));
        record(std::move(log), std::move(state));
        run.request_.budget = resumedBudget(run.request_, run.state().start);
        CUDA_AGENT_TRY(run.recorder_->append(
            EventType::note, 0,
            {{"text", fmt::format("resumed after {} turns", run.state().endedTurns().size())}}));
        Json budget = budgetJson(run.request_.budget);
        for (const auto &[key, value] : budget.items())
            if (run.state().start.value(key, Json()) != value) {
                CUDA_AGENT_TRY(run.recorder_->append(EventType::budgetSet, 0, std::move(budget)));
                break;
            }
        return run;
    }
    CUDA_AGENT_ASSIGN(log, session::Log::create(folder));
    record(std::move(log), {});
    CUDA_AGENT_ASSIGN(blob, run.recorder_->putBlob(text));
    Json start = identity;
    if (run.request_.policy == "endpoint")
        start["endpoint"] = policy::describeEndpoint(run.request_.endpoint);
    if (!recorded.is_null())
        start["recorded"] = std::move(recorded);
    start["task"]["blob"] = blob;
    CUDA_AGENT_TRY(run.recorder_->append(EventType::sessionStarted, 0, std::move(start)));
    return run;
}

Result<void> Run::followRecorded(const session::State &state, const Json &given) {
    const Json logged = state.start.value("recorded", Json::object());
    if (given.is_null()) {
        request_.recorded = logged.value("path", std::string());
        if (request_.recorded.empty())
            return requestError("the log does not say which session it follows; give --recorded");
        return {};
    }
    if (logged.contains("id") && logged.at("id") != given.at("id"))
        return requestError("the session follows the one recorded in {}, not {}; use another "
                            "--session folder",
                            logged.value("path", std::string()), request_.recorded.string());
    return {};
}

void Run::keepDrawing(const Json &logged) {
    auto &config = request_.transformer;
    const auto before = policy::drawingFrom(logged, drawingOf(config, request_.attempt));
    if (!before)
        return;
    config.temperature = config.temperature.value_or(before->temperature);
    config.topP = config.topP.value_or(before->topP);
    config.longestTurn = config.longestTurn.value_or(before->longestTurn);
    config.grammar = config.grammar.value_or(before->grammar);
    // Older logs say yes or no, or nothing.
    const Json fresh = logged.value("fresh_starts", Json(false));
    auto starts = fresh == Json(true) ? policy::FreshStarts::onFailure : policy::FreshStarts::never;
    if (fresh.is_string())
        starts = policy::freshStartsFrom(fresh.get<std::string>()).value_or(starts);
    config.freshStarts = config.freshStarts.value_or(starts);
}

Result<void> Run::prepare(std::stop_token stop) {
    CUDA_AGENT_ASSIGN(judge, judge::Judge::prepare(request_.spec, std::move(device_),
                                                   request_.judge, listener_.progress, stop));
    judge_ = std::move(judge);
    if (state().description.empty())
        CUDA_AGENT_TRY(
            recorder_->append(EventType::taskDescribed, 0, judge_->description().toJson()));
    for (const auto &note : judge_->notes())
        CUDA_AGENT_TRY(recorder_->append(EventType::note, 0, {{"text", note}}));
    // A resumed session has new baselines: the machine may be another hour's machine.
    Json baselines = timing::toJson(judge_->baselines());
    baselines["ceilings"] = device::toJson(judge_->ceilings());
    CUDA_AGENT_TRY(recorder_->append(EventType::baselinesMeasured, 0, std::move(baselines)));

    tools::Workspace::Parts parts;
    parts.folder = candidateFolder(folder());
    parts.recorder = recorder_.get();
    parts.judge = judge_.get();
    CUDA_AGENT_ASSIGN(
        task,
        session::readBlob(
            folder(), state().start.value("task", Json::object()).value("blob", std::string())));
    if (request_.policy == "endpoint") { // may write modules, whose bindings include these
        CUDA_AGENT_ASSIGN(fixed, modules::fixedFiles());
        parts.protectedFiles = std::move(fixed);
    }
    parts.protectedFiles["model.py"] = task;
    parts.skills = request_.skills;
    CUDA_AGENT_ASSIGN(workspace, tools::Workspace::open(std::move(parts)));
    workspace_ = std::make_unique<tools::Workspace>(std::move(workspace));
    writer_ = std::make_unique<TurnWriter>(*recorder_);
    if (!request_.memory.empty() && request_.policy != "replay") {
        memory_ = std::make_unique<Memory>(request_.memory, request_.sharedOffer, *recorder_);
        CUDA_AGENT_TRY(memory_->offer(judge_->description(), judge_->deviceInfo(),
                                      judge_->options().numerics));
    }
    CUDA_AGENT_ASSIGN(policy, makePolicy());
    policy_ = std::move(policy);
    return {};
}

Result<std::unique_ptr<policy::Policy>> Run::makePolicy() {
    if (request_.policy == "replay")
        return policy::makeReplay(request_.recorded);
    policy::Context context;
    context.task = judge_->description();
    context.device = judge_->deviceInfo();
    context.ceilings = judge_->ceilings();
    context.baselines = timing::toJson(judge_->baselines());
    context.numerics = judge_->options().numerics;
    context.turnLimit = request_.budget.turns;
    context.attempt = request_.attempt;
    context.attempts = request_.attempts;
    // What the log says was offered, so that a resumed session goes on as it would have.
    if (const Json &offered = state().knowledge; offered.is_object()) {
        context.knowledge = offered.value("text", std::string());
        for (const Json &schedule : offered.value("schedules", Json::array()))
            if (schedule.is_string())
                context.preferred.push_back(schedule.get<std::string>());
    }
    if (request_.policy == "planner")
        return policy::makePlanner(std::move(context));
    auto voice = endpointVoice(*recorder_, *writer_, listener_.progress);
    if (request_.policy == "endpoint")
        return policy::makeEndpoint(endpointOf(request_), context, request_.skills,
                                    std::move(voice));
    CUDA_AGENT_ASSIGN(
        source,
        voice.blob(state().start.value("task", Json::object()).value("blob", std::string())));
    const auto &model = request_.transformer;
    policy::TransformerOptions options;
    options.seed = static_cast<std::uint64_t>(request_.attempt);
    options.freshStarts = freshStartsOf(model);
    return policy::makeTransformer(std::move(context), std::move(source),
                                   conversationOpener(model, drawingOf(model, request_.attempt),
                                                      {voice.streamed, voice.answered}),
                                   options);
}

Result<std::string> Run::work(Control *control, std::stop_token stop) {
    LoopOptions options;
    options.budget = request_.budget;
    options.enough = request_.enough;
    options.control = control;
    options.resting = listener_.resting;
    options.approve = listener_.approve;
    options.turnDone = [this] { return memory_ ? memory_->turnDone(*policy_) : Result<void>(); };
    return runLoop(*workspace_, *writer_, *policy_, options, stop);
}

Result<void> Run::finish(const Result<std::string> &ended) {
    // A session that was stopped or lost its machine can be resumed; one that is done cannot.
    const bool complete = ended.has_value() || ended.error().kind == ErrorKind::failed;
    if (memory_ && policy_)
        CUDA_AGENT_TRY(memory_->ended(*policy_));
    CUDA_AGENT_TRY(recorder_->append(EventType::sessionEnded, 0,
                                     {{"reason", ended ? *ended : ended.error().message},
                                      {"best_turn", state().bestTurn},
                                      {"complete", complete}}));
    return writeBest(folder(), state());
}

Result<std::string> Run::go(Control *control, std::stop_token stop) {
    if (ended_ && control)
        control->policyDone();
    const auto ready = prepare(stop);
    if (!ready) {
        const Result<std::string> ended = tl::unexpected(ready.error());
        static_cast<void>(finish(ended)); // the first error says more
        return ended;
    }
    for (;;) {
        const auto ended = work(control, stop);
        const bool stopped = !ended && ended.error().kind == ErrorKind::stopped;
        // Stopped while it rested after its end: the log says already how it ended.
        if (!stopped || !state().end) {
            const auto written = finish(ended);
            if (ended)
                CUDA_AGENT_TRY(written);
        }
        const bool policyIsDone = ended || ended.error().kind == ErrorKind::failed;
        if (!control || !policyIsDone)
            return ended;
        control->policyDone();
    }
}

} // namespace cuda_agent::agent
