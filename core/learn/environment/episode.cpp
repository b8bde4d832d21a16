// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/environment/episode.h"

#include "core/agent/loop.h"
#include "core/base/deadline.h"
#include "core/base/elapsed.h"
#include "core/base/hash.h"

#include <chrono>

namespace cuda_agent::learn {

namespace {

using Clock = std::chrono::steady_clock;
using session::EventType;

/// Over a stock time of the declared mode; 0 where there is none.
double speedup(const Json &verdict, const char *over) {
    const Json all = verdict.value("speedup", Json::object());
    const auto found = all.find(over);
    return found != all.end() && found->is_number() ? found->get<double>() : 0.0;
}

class Playing {
  public:
    Playing(JudgePool::Seat &seat, const EpisodeRequest &request)
        : seat_(seat), request_(request) {}

    Result<Episode> play(const MakePolicy &make, const std::stop_token &stop) {
        CUDA_AGENT_ASSIGN(source, readTextFile(request_.spec.file));
        CUDA_AGENT_ASSIGN(log, session::Log::create(request_.session));
        session::Recorder recorder(std::move(log), {});
        CUDA_AGENT_TRY(begin(recorder, source));
        Deadline deadline(stop, request_.seconds);
        auto ended = go(recorder, source, make, deadline.token());
        seat_.leave();
        if (!ended && ended.error().kind == ErrorKind::stopped && !deadline.passed())
            return tl::unexpected(ended.error());
        auto episode = scored(recorder.state());
        const auto read = readCandidate(recorder.state(), episode);
        if (!read) {
            episode.end = Episode::End::machine;
            episode.reason = read.error().message;
        } else if (!ended) {
            episode.end = ended.error().kind == ErrorKind::stopped   ? Episode::End::straggler
                          : ended.error().kind == ErrorKind::machine ? Episode::End::machine
                                                                     : Episode::End::done;
            episode.reason = deadline.passed()
                                 ? fmt::format("took longer than {:.0f} s", request_.seconds)
                                 : ended.error().message;
        } else {
            episode.reason = *ended;
        }
        const auto written = recorder.append(EventType::sessionEnded, 0,
                                             {{"reason", episode.reason},
                                              {"best_turn", recorder.state().bestTurn},
                                              {"complete", true}});
        if (!written) {
            episode.end = Episode::End::machine;
            episode.reason = written.error().message;
        }
        return episode;
    }

  private:
    Result<void> begin(session::Recorder &recorder, const std::string &source) {
        const auto &judge = seat_.judge();
        CUDA_AGENT_ASSIGN(blob, recorder.putBlob(source));
        CUDA_AGENT_TRY(recorder.append(EventType::sessionStarted, 0,
                                       {{"task",
                                         {{"name", request_.spec.name()},
                                          {"file", request_.spec.file.string()},
                                          {"sha256", sha256Hex(source)},
                                          {"blob", blob}}},
                                        {"overrides", request_.spec.overrides},
                                        {"device", device::toJson(judge.deviceInfo())},
                                        {"numerics", task::nameOf(judge.options().numerics)},
                                        {"rules", modules::nameOf(judge.options().rules)},
                                        {"policy", "transformer"},
                                        {"turns", request_.turns},
                                        {"program_version", CUDA_AGENT_VERSION}}));
        CUDA_AGENT_TRY(recorder.append(EventType::taskDescribed, 0, judge.description().toJson()));
        Json baselines = timing::toJson(judge.baselines());
        baselines["ceilings"] = device::toJson(judge.ceilings());
        return recorder.append(EventType::baselinesMeasured, 0, std::move(baselines));
    }

    Result<std::string> go(session::Recorder &recorder, const std::string &source,
                           const MakePolicy &make, const std::stop_token &stop) {
        auto &judge = seat_.judge();
        policy::Context context;
        context.task = judge.description();
        context.device = judge.deviceInfo();
        context.ceilings = judge.ceilings();
        context.baselines = timing::toJson(judge.baselines());
        context.numerics = judge.options().numerics;
        context.turnLimit = request_.turns;
        CUDA_AGENT_ASSIGN(policy, make(context, source, stop));
        tools::Workspace::Parts parts;
        parts.folder = agent::candidateFolder(request_.session);
        parts.recorder = &recorder;
        parts.judge = &judge;
        parts.protectedFiles["model.py"] = source;
        CUDA_AGENT_ASSIGN(workspace, tools::Workspace::open(std::move(parts)));
        agent::TurnWriter writer(recorder);
        agent::LoopOptions options;
        options.budget.turns = request_.turns;
        // The judge is one of several episodes': it is had from the first call that needs it to
        // the end of the turn.
        options.approve = [&](const session::ToolCall &call,
                              const std::stop_token &token) -> Result<std::string> {
            if (!needsJudge(call.tool))
                return std::string();
            const auto begin = Clock::now();
            CUDA_AGENT_TRY(seat_.take(token));
            waited_ += secondsSince(begin);
            return std::string();
        };
        options.turnDone = [&]() -> Result<void> {
            seat_.leave();
            return {};
        };
        return agent::runLoop(workspace, writer, *policy, options, stop);
    }

    static bool needsJudge(std::string_view tool) {
        static const auto names = [] {
            std::vector<std::string> all;
            for (const auto &each : tools::judgeTools())
                all.push_back(each.name);
            return all;
        }();
        return std::ranges::find(names, tool) != names.end();
    }

    Episode scored(const session::State &state) const {
        Episode episode;
        for (const auto &turn : state.turns) {
            ++episode.turns;
            episode.calls += static_cast<int>(turn.calls.size());
            episode.verdicts += turn.verdict ? 1 : 0;
            const Json phases = turn.verdict ? turn.verdict->value("phases", Json()) : Json();
            for (const auto &[phase, seconds] : phases.items())
                episode.phases[phase] += seconds.get<double>();
            if (turn.verdict && turn.verdict->value("correct", false)) {
                episode.verdict = *turn.verdict; // the state's best one is a timed one
                episode.bestTurn = turn.number;
            }
            for (const auto &call : turn.calls)
                episode.unreadable += call.tool.empty() ? 1 : 0;
            for (const auto &observation : turn.observations) {
                episode.judgeSeconds += observation.seconds;
                // A verdict on a wrong candidate is an answer, not a call gone wrong.
                if (!observation.ok && !observation.data.contains("verdict"))
                    ++episode.refused;
            }
        }
        episode.waitSeconds = waited_;
        if (state.bestVerdict.is_object()) {
            episode.verdict = state.bestVerdict;
            episode.bestTurn = state.bestTurn;
        }
        if (!episode.correct())
            return episode;
        episode.milestone = episode.verdict.value("reward", -1);
        episode.seconds = state.bestSeconds;
        episode.overEager = speedup(episode.verdict, "eager");
        episode.overCompile = speedup(episode.verdict, "compile");
        episode.ofLimit = episode.verdict.value("fraction_of_limit", 0.0);
        return episode;
    }

    /// The files that the verdict is on. Errors: machine.
    Result<void> readCandidate(const session::State &state, Episode &episode) const {
        const auto turn = std::ranges::find(state.turns, episode.bestTurn, &session::Turn::number);
        if (!episode.correct() || turn == state.turns.end())
            return {};
        const auto &files = state.bestVerdict.is_object() ? state.bestCandidate : turn->candidate;
        for (const auto &[path, blob] : files) {
            CUDA_AGENT_ASSIGN(text, session::readBlob(request_.session, blob));
            episode.candidate[path] = std::move(text);
        }
        return {};
    }

    JudgePool::Seat &seat_;
    const EpisodeRequest &request_;
    double waited_ = 0;
};

} // namespace

Result<Episode> runEpisode(JudgePool &judges, const EpisodeRequest &request, const MakePolicy &make,
                           const std::stop_token &stop) {
    auto seat = judges.sit(request.spec, stop);
    auto episode = seat ? Playing(*seat, request).play(make, stop)
                        : Result<Episode>(tl::unexpected(seat.error()));
    if (!episode && episode.error().kind == ErrorKind::machine) {
        Episode failed;
        failed.end = Episode::End::machine;
        failed.reason = episode.error().message;
        return failed;
    }
    return episode;
}

double rewardOf(const Episode &episode, RewardKind kind) {
    if (!episode.correct())
        return -1;
    return kind == RewardKind::milestone ? episode.milestone : episode.overCompile;
}

} // namespace cuda_agent::learn
