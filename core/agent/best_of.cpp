// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/best_of.h"

#include "core/device/cuda_driver.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace cuda_agent::agent {

namespace fs = std::filesystem;
using session::State;

namespace {

constexpr int threadsOfAttempt = 4; ///< hardware threads that an attempt on a CPU may count on

int gpusOf(const std::string &device) {
    if (device == "cpu")
        return 0;
    const auto driver = device::cuda::Driver::load();
    return driver ? (*driver)->deviceCount : 0;
}

void setOutcome(Attempt &attempt, const State &state) {
    attempt.begun = true;
    attempt.turns = static_cast<int>(state.endedTurns().size());
    attempt.bestTurn = state.bestTurn;
    attempt.verdict = state.bestVerdict;
    if (attempt.reason.empty() && state.end)
        attempt.reason = state.end->value("reason", std::string());
}

/// The attempts on their threads.
class Crowd {
  public:
    Crowd(const BestOfRequest &request, const BestOfListener &listener, Lanes lanes,
          std::stop_token stop)
        : request_(request), listener_(listener), lanes_(lanes), stop_(std::move(stop)),
          offer_(std::make_shared<SharedOffer>()),
          attempts_(static_cast<std::size_t>(request.attempts)) {
        for (std::size_t i = 0; i < attempts_.size(); ++i) {
            attempts_[i].number = static_cast<int>(i) + 1;
            attempts_[i].folder = request_.one.session / fmt::format("attempt-{}", i + 1);
        }
    }

    /// Blocks until all are over.
    std::vector<Attempt> run() {
        {
            std::vector<std::jthread> threads;
            const int count = std::min(lanes_.atOnce, request_.attempts);
            for (int lane = 0; lane < count; ++lane)
                threads.emplace_back([this, lane] { work(lane); });
        }
        return std::move(attempts_);
    }

  private:
    void work(int lane) {
        for (;;) {
            const int at = next_.fetch_add(1);
            if (at >= request_.attempts || stop_.stop_requested() || unusable_)
                return;
            Attempt &attempt = attempts_[static_cast<std::size_t>(at)];
            if (const auto done = runOne(attempt, lane); !done) {
                attempt.error = done.error();
                attempt.reason = done.error().message;
                // What is wrong with the request is wrong for all: those that wait do not begin.
                if (done.error().kind == ErrorKind::request)
                    unusable_ = true;
            }
        }
    }

    Result<void> runOne(Attempt &attempt, int lane) {
        RunRequest one = request_.one;
        one.session = attempt.folder;
        one.attempt = attempt.number;
        one.attempts = request_.attempts;
        one.sharedOffer = offer_;
        if (lanes_.gpus > 0) {
            one.device = "cuda";
            one.gpu = lane % lanes_.gpus;
        }
        CUDA_AGENT_ASSIGN(ended, Run::ended(one));
        if (ended) {
            setOutcome(attempt, *ended);
            say(attempt.number, "has ended before: " + attempt.reason);
            return {};
        }
        RunListener listener;
        listener.event = [&](const session::Event &event) {
            const std::lock_guard lock(mutex_);
            if (listener_.event)
                listener_.event(attempt.number, event);
        };
        listener.progress = [&](const std::string &what) { say(attempt.number, what); };
        CUDA_AGENT_ASSIGN(run, Run::open(std::move(one), std::move(listener)));
        attempt.begun = true;
        const auto done = run.go(nullptr, stop_);
        setOutcome(attempt, run.state());
        // A policy that cannot do the task has ended like any other, without a candidate.
        if (!done && done.error().kind != ErrorKind::failed)
            return tl::unexpected(done.error());
        return {};
    }

    void say(int attempt, const std::string &what) {
        const std::lock_guard lock(mutex_);
        if (listener_.progress)
            listener_.progress(attempt, what);
    }

    const BestOfRequest &request_;
    const BestOfListener &listener_;
    Lanes lanes_;
    std::stop_token stop_;
    std::shared_ptr<SharedOffer> offer_;
    std::vector<Attempt> attempts_; ///< each touched by one thread only
    std::atomic<int> next_{0};
    std::atomic<bool> unusable_{false};
    std::mutex mutex_; ///< of the listener
};

/// A candidate that is judged once more.
struct Finalist {
    int attempt = 0;
    fs::path folder;
    std::map<std::string, std::string> files;
    judge::Candidate candidate;
    Json verdict;
    double seconds = 0;
};

Result<std::map<std::string, std::string>> filesIn(const fs::path &folder) {
    std::map<std::string, std::string> files;
    std::error_code error;
    for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error)) {
        if (!at->is_regular_file())
            continue;
        CUDA_AGENT_ASSIGN(text, readTextFile(at->path()));
        files[fs::relative(at->path(), folder, error).string()] = std::move(text);
    }
    if (error)
        return machineError("cannot read {}: {}", folder.string(), error.message());
    return files;
}

/// The attempts' best candidates, each once however many attempts found it.
Result<std::vector<Finalist>> finalists(const std::vector<Attempt> &attempts) {
    std::vector<Finalist> found;
    for (const Attempt &attempt : attempts) {
        if (!attempt.correct())
            continue;
        Finalist one;
        one.attempt = attempt.number;
        one.folder = attempt.folder / "best";
        CUDA_AGENT_ASSIGN(files, filesIn(one.folder));
        one.files = std::move(files);
        if (std::ranges::any_of(found, [&](const auto &other) { return other.files == one.files; }))
            continue;
        CUDA_AGENT_ASSIGN(candidate, judge::readCandidate(one.folder));
        one.candidate = std::move(candidate);
        found.push_back(std::move(one));
    }
    return found;
}

Result<void> copyBest(const fs::path &to, const std::map<std::string, std::string> &files) {
    std::error_code error;
    fs::remove_all(to, error);
    for (const auto &[path, text] : files)
        CUDA_AGENT_TRY(writeFileAtomically(to / path, text));
    return {};
}

/// Judges the finalists in full and lets the two fastest run in turns. Sets the winner.
Result<void> decide(const BestOfRequest &request, const Lanes &lanes,
                    const BestOfListener &listener, std::vector<Finalist> all, BestOf &outcome,
                    const std::stop_token &stop) {
    const auto say = [&](const std::string &what) {
        if (listener.progress)
            listener.progress(0, what);
    };
    say(all.size() > 1 ? fmt::format("comparing the best candidates of {} attempts", all.size())
                       : "judging the best candidate once more");
    CUDA_AGENT_ASSIGN(device,
                      lanes.gpus > 0 ? device::openCuda(0) : device::openNamed(request.one.device));
    CUDA_AGENT_ASSIGN(judge, judge::Judge::prepare(request.one.spec, std::move(device),
                                                   request.one.judge, say, stop));
    for (Finalist &one : all) {
        say(fmt::format("verifying and timing the best of attempt {}", one.attempt));
        CUDA_AGENT_ASSIGN(verdict, judge->judge(one.candidate, verify::Strength::full, stop));
        one.verdict = judge::toJson(verdict);
        if (verdict.correct && verdict.times)
            one.seconds = verdict.times->estimate.median;
        else
            say(fmt::format("the best of attempt {} does not hold: {}", one.attempt,
                            verdict.problem));
    }
    std::erase_if(all, [](const Finalist &one) { return one.seconds <= 0; });
    if (all.empty())
        return {};
    std::ranges::stable_sort(all, {}, &Finalist::seconds);
    std::size_t winner = 0;
    if (all.size() > 1) {
        say(fmt::format("timing attempts {} and {} in turns", all[0].attempt, all[1].attempt));
        CUDA_AGENT_ASSIGN(compared, judge->compare(all[0].candidate, all[1].candidate, stop));
        if (compared.times) {
            outcome.comparison = {{"a", all[0].attempt},
                                  {"b", all[1].attempt},
                                  {"difference", judge::toJson(compared)["difference"]}};
            const auto &difference = compared.times->difference;
            winner = difference.significant() && difference.relative > 0 ? 1 : 0;
        }
    }
    outcome.best = all[winner].attempt;
    outcome.verdict = all[winner].verdict;
    return copyBest(request.one.session / "best", all[winner].files);
}

} // namespace

Result<Lanes> lanesFor(const BestOfRequest &request) {
    Lanes lanes;
    lanes.gpus = gpusOf(request.one.device);
    if (lanes.gpus == 0 && request.one.device == "cuda") {
        CUDA_AGENT_TRY(device::openCuda(0)); // says what is missing
        return machineError("CUDA sees no GPU");
    }
    const auto threads = static_cast<int>(std::thread::hardware_concurrency());
    const int usual = lanes.gpus > 0 ? lanes.gpus : std::max(1, threads / threadsOfAttempt);
    lanes.atOnce = std::clamp(request.atOnce > 0 ? request.atOnce : usual, 1, request.attempts);
    return lanes;
}

Json toJson(const BestOf &outcome) {
    Json list = Json::array();
    for (const Attempt &attempt : outcome.attempts) {
        Json json{{"number", attempt.number},
                  {"session", attempt.folder.string()},
                  {"turns", attempt.turns},
                  {"correct", attempt.correct()},
                  {"reason", attempt.reason}};
        if (attempt.error)
            json["error"] = {{"message", attempt.error->message},
                             {"exit_code", exitCode(attempt.error->kind)}};
        if (attempt.correct()) {
            json["best_turn"] = attempt.bestTurn;
            json["reward"] = attempt.verdict.value("reward", 1);
            json["strength"] = attempt.verdict.value("strength", "");
            json["seconds"] = attempt.verdict.value("/times/candidate/seconds"_json_pointer, 0.0);
            json["speedup"] = attempt.verdict.value("speedup", Json::object());
        }
        list.push_back(std::move(json));
    }
    Json json{{"best_attempt", outcome.best}, {"attempts", std::move(list)}};
    if (!outcome.comparison.is_null())
        json["comparison"] = outcome.comparison;
    return json;
}

Result<BestOf> runBestOf(const BestOfRequest &given, const BestOfListener &listener,
                         std::stop_token stop) {
    BestOfRequest request = given;
    const fs::path &folder = request.one.session;
    std::error_code error;
    if (request.attempts < 1 || request.attempts > mostAttempts)
        return requestError("{} attempts are none or too many; 1 to {} can be made",
                            request.attempts, mostAttempts);
    if (request.one.policy == "replay")
        return requestError("a replayed session is the same each time; several attempts need "
                            "another policy");
    if (fs::exists(folder / "session.jsonl", error))
        return requestError("{} holds a single session; use another --session folder for several "
                            "attempts",
                            folder.string());
    CUDA_AGENT_ASSIGN(lanes, lanesFor(request));
    if (request.one.policy == "transformer") // one process for all of them
        CUDA_AGENT_TRY(startModel(request.one.transformer, request.one.device, lanes.atOnce));
    BestOf outcome;
    outcome.attempts = Crowd(request, listener, lanes, stop).run();
    if (stop.stop_requested())
        return stoppedError();
    const auto failedAs = [&](ErrorKind kind) {
        return std::ranges::find_if(outcome.attempts, [&](const Attempt &attempt) {
            return attempt.error && attempt.error->kind == kind;
        });
    };
    CUDA_AGENT_ASSIGN(all, finalists(outcome.attempts));
    if (all.empty()) {
        if (const auto found = failedAs(ErrorKind::request); found != outcome.attempts.end())
            return tl::unexpected(*found->error);
        const bool everyone = std::ranges::all_of(
            outcome.attempts, [](const Attempt &attempt) { return attempt.error.has_value(); });
        if (everyone)
            return tl::unexpected(*failedAs(ErrorKind::machine)->error);
    } else {
        CUDA_AGENT_TRY(decide(request, lanes, listener, std::move(all), outcome, stop));
    }
    Json json = toJson(outcome);
    json["verdict"] = outcome.verdict;
    CUDA_AGENT_TRY(writeFileAtomically(
        folder / "attempts.json", json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"));
    return outcome;
}

} // namespace cuda_agent::agent
