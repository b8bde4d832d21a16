// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/environment/episode.h"

#include "core/agent/loop.h"
#include "core/base/deadline.h"
#include "core/base/elapsed.h"
#include "core/base/hash.h"
#include "core/policy/transformer/transformer.h"

#include <chrono>
#include <span>

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
        const auto read = readCandidates(recorder.state(), episode);
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
        options.enough = request_.enough;
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

    using Turns = std::span<const session::Turn>;

    /// All but the files.
    Episode scored(const session::State &state) const {
        auto episode = scored(Turns(state.turns), state);
        const auto begins = policy::conversationsOf(state.turns);
        if (begins.size() == 1)
            return episode;
        for (std::size_t i = 0; i < begins.size(); ++i) {
            const auto end = i + 1 < begins.size() ? begins[i + 1] : state.turns.size();
            const Turns own(state.turns.data() + begins[i], end - begins[i]);
            episode.conversations.push_back(scored(own, state));
        }
        return episode;
    }

    /// Of turns one behind the other. Their best candidate is the state's, where it is theirs.
    Episode scored(Turns turns, const session::State &state) const {
        Episode episode;
        const session::Turn *best = nullptr;
        const auto better = [&](const session::Turn &turn, const session::Turn &than) {
            if (turn.number == state.bestTurn || than.number == state.bestTurn)
                return turn.number == state.bestTurn;
            return than.seconds() == 0 || turn.seconds() < than.seconds();
        };
        for (const auto &turn : turns) {
            count(turn, episode);
            // The state's best one may have been judged before the turn's last one.
            const bool right = turn.correct() || turn.number == state.bestTurn;
            if (right && (best == nullptr || better(turn, *best)))
                best = &turn;
        }
        episode.waitSeconds = waited_;
        if (best == nullptr)
            return episode;
        const bool ofState = best->number == state.bestTurn;
        episode.verdict = ofState ? state.bestVerdict : *best->verdict; // of several on it
        episode.seconds = ofState ? state.bestSeconds : best->seconds();
        episode.bestTurn = static_cast<int>(best - turns.data()) + 1;
        episode.milestone = episode.verdict.value("reward", -1);
        episode.overEager = speedup(episode.verdict, "eager");
        episode.overCompile = speedup(episode.verdict, "compile");
        episode.ofLimit = episode.verdict.value("fraction_of_limit", 0.0);
        return episode;
    }

    static void count(const session::Turn &turn, Episode &episode) {
        ++episode.turns;
        episode.calls += static_cast<int>(turn.calls.size());
        episode.verdicts += turn.verdict ? 1 : 0;
        const Json phases = turn.verdict ? turn.verdict->value("phases", Json()) : Json();
        for (const auto &[phase, seconds] : phases.items())
            episode.phases[phase] += seconds.get<double>();
        for (const auto &call : turn.calls)
            episode.unreadable += call.tool.empty() ? 1 : 0;
        for (const auto &observation : turn.observations) {
            episode.judgeSeconds += observation.seconds;
            // A verdict on a wrong candidate is an answer, not a call gone wrong.
            if (!observation.ok && !observation.data.contains("verdict"))
                ++episode.refused;
        }
    }

    /// The files that the verdicts are on. Errors: machine.
    Result<void> readCandidates(const session::State &state, Episode &episode) const {
        CUDA_AGENT_TRY(readCandidate(state, 0, episode));
        const auto begins = policy::conversationsOf(state.turns);
        for (std::size_t i = 0; i < episode.conversations.size(); ++i)
            CUDA_AGENT_TRY(readCandidate(state, begins[i], episode.conversations[i]));
        return {};
    }

    Result<void> readCandidate(const session::State &state, std::size_t first,
                               Episode &episode) const {
        if (!episode.correct())
            return {};
        const auto &turn = state.turns.at(first + static_cast<std::size_t>(episode.bestTurn) - 1);
        for (const auto &[path, blob] :
             turn.number == state.bestTurn ? state.bestCandidate : turn.candidate) {
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

void Episode::add(const Episode &next) {
    const bool better = next.correct() && (!correct() || next.seconds < seconds);
    if (better) {
        verdict = next.verdict;
        milestone = next.milestone;
        seconds = next.seconds;
        overEager = next.overEager;
        overCompile = next.overCompile;
        ofLimit = next.ofLimit;
        bestTurn = turns + next.bestTurn;
        candidate = next.candidate;
    }
    turns += next.turns;
    calls += next.calls;
    refused += next.refused;
    unreadable += next.unreadable;
    verdicts += next.verdicts;
    judgeSeconds += next.judgeSeconds;
    for (const auto &[phase, took] : next.phases)
        phases[phase] += took;
    end = next.end;
    reason = next.reason;
    waitSeconds = next.waitSeconds;
}

double rewardOf(const Episode &episode, RewardKind kind) {
    if (!episode.correct())
        return -1;
    return kind == RewardKind::milestone ? episode.milestone : episode.overCompile;
}

} // namespace cuda_agent::learn
