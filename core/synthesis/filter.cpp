// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synthesis/filter.h"

#include "core/base/elapsed.h"
#include "core/base/hash.h"
#include "core/base/plain_text.h"
#include "core/device/lease.h"
#include "core/synthesis/criterion.h"
#include "core/synthesis/maker_process.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace cuda_agent::synthesis {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::seconds startPatience{300};
constexpr std::chrono::seconds dropPatience{60};
constexpr int mostStartFailures = 3;
constexpr int seedsOfALook = 3;                  ///< inputs of one check
constexpr double memoryShare = 0.85;             ///< of a device, for candidates
constexpr std::uint64_t overhead = 768ull << 20; ///< of a process on a GPU: its context
constexpr std::uint64_t hostBytes = 12ull << 30; ///< of a process
/// What a stage holds over what was estimated for the task: a check holds other inputs and a second
/// result, a compiled task may be tuned. Of 11,847 tasks on an H200 a call held 0.67 times the
/// estimate in the median and 1.5 times in one of twenty, beside inputs, parameters and results.
double heldAt(Stage stage) {
    return stage == Stage::time ? 1.5 : 2;
}
/// What a check or a time leaves in a process beside what a compilation does; a start takes as long
/// as dozens of checks.
constexpr double wearOfOthers = 0.2;

double medianOf(std::vector<double> values) {
    std::ranges::sort(values);
    const auto middle = values.size() / 2;
    return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Memory of a device that candidates have between them. Any thread may call.
class Budget {
  public:
    explicit Budget(std::uint64_t bytes) : left_(bytes), all_(bytes) {}
    Result<void> take(std::uint64_t bytes, const std::stop_token &stop) {
        std::unique_lock lock(mutex_);
        if (!freed_.wait(lock, stop, [&] { return left_ >= std::min(bytes, all_); }))
            return stoppedError();
        left_ -= std::min(bytes, all_);
        return {};
    }
    void give(std::uint64_t bytes) {
        {
            const std::lock_guard lock(mutex_);
            left_ += std::min(bytes, all_);
        }
        freed_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable_any freed_;
    std::uint64_t left_, all_;
};

/// What the processes of one device have between them.
struct Shared {
    explicit Shared(std::uint64_t bytes) : budget(bytes) {}
    Budget budget;
    std::mutex timing; ///< one times at a time
};

struct Slot {
    const device::Info &device;
    Shared &shared;
    fs::path cache;
    std::optional<MakerProcess> process = {};
    int served = 0;
    double worn = 0; ///< candidates compiled, and others by their part
};

/// What a request came to: an answer, or the end of the candidate's way through the stage.
struct Step {
    Json answer;
    std::optional<Rejection> rejection = {};
    bool processLost = false;
    std::string machine = {}; ///< the machine's fault, as a sentence
};

/// What a filter process may say (maker/rejected.py): its words become keys of counts and tables.
constexpr std::array knownReasons{"not python", "imports", "form",       "raises",        "memory",
                                  "dtype",      "empty",   "not finite", "in place",      "random",
                                  "unstable",   "shape",   "double",     "compile raises"};

/// One line of ASCII.
std::string plain(const Json &text) {
    constexpr std::size_t most = 500;
    return text.is_string() ? plainLine(text.get_ref<const std::string &>(), most) : std::string();
}

Rejection rejectionFrom(const Json &answer) {
    const auto reason = plain(answer.at("rejected"));
    if (std::ranges::find(knownReasons, reason) == knownReasons.end())
        return {"disturbs its process", "it gave no reason that there is"};
    const auto detail = answer.find("detail");
    return {reason, detail == answer.end() ? std::string() : plain(*detail)};
}

/// Seconds of a check by part, as far as it told some.
Json partsOf(const Json &answer) {
    constexpr std::size_t most = 32;
    Json parts = Json::object();
    if (const auto found = answer.find("seconds"); found != answer.end() && found->is_object())
        for (const auto &[name, seconds] : found->items())
            if (seconds.is_number() && parts.size() < most)
                parts[plain(name).substr(0, most)] = seconds;
    return parts;
}

std::string reasonOf(Ended::Kind kind) {
    switch (kind) {
    case Ended::Kind::late:
        return "takes too long";
    case Ended::Kind::memory:
        return "memory";
    case Ended::Kind::garbled:
        return "disturbs its process";
    case Ended::Kind::died:
        break;
    }
    return "ends its process";
}

} // namespace

struct Filter::State {
    const Recipe recipe;
    const Options options;
    std::vector<std::unique_ptr<Shared>> shared = {};
    std::vector<std::unique_ptr<Slot>> slots = {};
    std::atomic<int> startFailures = 0;
    Rigour rigour = Rigour::clearly; ///< of the present run()

    Result<void> ready(Slot &slot, bool fresh, const std::stop_token &stop) {
        if (slot.process &&
            (fresh || slot.worn >= recipe.candidatesPerProcess || !slot.process->alive())) {
            slot.process->end();
            slot.process.reset();
        }
        if (slot.process)
            return {};
        std::error_code error;
        fs::remove_all(slot.cache, error); // what was compiled serves nobody again
        MakerProcess::Options start;
        start.program = "filter_main.py";
        start.device = slot.device;
        start.cache = slot.cache;
        start.hostMemoryBytes = hostBytes;
        auto process = MakerProcess::start(start);
        if (!process)
            return tl::unexpected(process.error());
        CUDA_AGENT_ASSIGN(answer, process->ask({{"request", "hello"},
                                                {"device", device::nameOf(slot.device.kind)},
                                                {"memory_bytes", recipe.memoryBytes}},
                                               startPatience, stop));
        if (const auto *refusal = std::get_if<Refusal>(&answer))
            return machineError("{}", refusal->message);
        if (const auto *ended = std::get_if<Ended>(&answer))
            return machineError("a filter process did not start: {}", ended->what);
        slot.process.emplace(std::move(*process));
        slot.served = 0;
        slot.worn = 0;
        return {};
    }

    /// Errors: stopped.
    Result<Step> ask(Slot &slot, const Json &request, double patience,
                     const std::stop_token &stop) {
        CUDA_AGENT_ASSIGN(
            answer, slot.process->ask(request, std::chrono::duration<double>(patience), stop));
        Step step;
        if (auto *json = std::get_if<Json>(&answer)) {
            if (json->contains("rejected")) {
                step.rejection = rejectionFrom(*json);
                step.processLost = json->contains("restart");
            }
            step.answer = std::move(*json);
        } else if (const auto *refusal = std::get_if<Refusal>(&answer)) {
            if (refusal->request)
                step.rejection = {"raises", refusal->message};
            else
                step.machine = refusal->message;
            step.processLost = refusal->restart;
        } else {
            const auto &ended = std::get<Ended>(answer);
            step.rejection = {reasonOf(ended.kind), ended.what};
            step.processLost = true;
        }
        return step;
    }

    /// Of inputs: the same for the same recipe, so that a decision at the edge is, too, and others
    /// when a task is looked at again.
    std::uint64_t seedOf(const Candidate &candidate, int number) const {
        constexpr std::size_t digits = 13; // 52 bits are exact in every reader of JSON
        const auto *when = rigour == Rigour::clearly ? "first" : "again";
        const auto key =
            sha256Hex(fmt::format("{}/{}/inputs/{}/{}", recipe.seed, candidate.id, when, number));
        return std::stoull(key.substr(0, digits), nullptr, 16);
    }

    /// One stage of one candidate in the slot's process.
    Result<Step> check(Slot &slot, const Candidate &candidate, Checked &checked,
                       const std::stop_token &stop) {
        device::Share share(slot.device, stop);
        CUDA_AGENT_TRY(share.take());
        CUDA_AGENT_ASSIGN(loaded, load(slot, candidate, candidate.small, stop));
        if (loaded.rejection || !loaded.machine.empty())
            return std::move(loaded);
        const int look = checked.stage == Stage::check ? 0 : checked.stage == Stage::again ? 1 : 2;
        Json seeds = Json::array();
        for (int i = 0; i < seedsOfALook; ++i)
            seeds.push_back(seedOf(candidate, look * seedsOfALook + i));
        CUDA_AGENT_ASSIGN(
            step, ask(slot, {{"request", "check"}, {"seeds", seeds}}, recipe.checkSeconds, stop));
        share.leave();
        if (step.rejection || !step.machine.empty())
            return std::move(step);
        auto decided = decideCheck(candidate, step.answer, rigour);
        if (!decided) {
            step.rejection = {"disturbs its process", decided.error().message};
            return std::move(step);
        }
        step.rejection = std::move(*decided);
        if (look > 0)
            return std::move(step); // its figures are known
        checked.figures["ops"] = operatorsOf(candidate, step.answer);
        for (const auto *key :
             {"graph", "graph_hash", "memory_bytes", "operations", "counted_bytes", "bitwise"})
            if (const auto found = step.answer.find(key); found != step.answer.end())
                checked.figures[key] = *found;
        checked.figures["parts"] = partsOf(step.answer);
        return std::move(step);
    }

    Result<Step> time(Slot &slot, const Candidate &candidate, Checked &checked,
                      const std::stop_token &stop) {
        CUDA_AGENT_ASSIGN(loaded, load(slot, candidate, {}, stop));
        if (loaded.rejection || !loaded.machine.empty())
            return std::move(loaded);
        // Inputs, and all that a first call does, before anybody waits.
        CUDA_AGENT_ASSIGN(warm, ask(slot, {{"request", "time"}, {"calls", 1}, {"longest", 0}},
                                    recipe.checkSeconds, stop));
        if (warm.rejection || !warm.machine.empty())
            return std::move(warm);
        CUDA_AGENT_ASSIGN(step, timed(slot, {{"request", "time"}, {"warm", true}}, checked, stop));
        if (step.rejection || !step.machine.empty())
            return std::move(step);
        if (checked.seconds < recipe.leastSeconds)
            step.rejection = {"too fast", fmt::format("{:.3g} ms", checked.seconds * 1e3)};
        else if (checked.seconds > recipe.mostSeconds)
            step.rejection = {"too slow", fmt::format("{:.3g} ms", checked.seconds * 1e3)};
        return std::move(step);
    }

    Result<Step> compile(Slot &slot, const Candidate &candidate, Checked &checked,
                         const std::stop_token &stop) {
        CUDA_AGENT_ASSIGN(loaded, load(slot, candidate, candidate.small, stop));
        if (loaded.rejection || !loaded.machine.empty())
            return std::move(loaded);
        CUDA_AGENT_ASSIGN(step, ask(slot, {{"request", "compile"}, {"seed", seedOf(candidate, 0)}},
                                    recipe.compileSeconds, stop));
        if (step.rejection || !step.machine.empty())
            return std::move(step);
        auto decided = decideCompile(step.answer);
        if (!decided) {
            step.rejection = {"disturbs its process", decided.error().message};
            return std::move(step);
        }
        step.rejection = std::move(*decided);
        if (const auto found = step.answer.find("compile_seconds");
            found != step.answer.end() && found->is_number())
            checked.figures["compile_seconds"] = *found;
        if (step.rejection)
            return std::move(step);
        return timed(slot, {{"request", "time"}, {"compiled", true}}, checked, stop);
    }

    Result<Step> load(Slot &slot, const Candidate &candidate,
                      const std::map<std::string, std::string> &small,
                      const std::stop_token &stop) {
        return ask(slot,
                   {{"request", "load"},
                    {"id", candidate.id},
                    {"code", candidate.code},
                    {"small", small},
                    {"backward", candidate.backward}},
                   recipe.loadSeconds, stop);
    }

    /// Times of calls, alone among those who ask for the device.
    Result<Step> timed(Slot &slot, Json request, Checked &checked, const std::stop_token &stop) {
        request["calls"] = recipe.timedCalls;
        request["longest"] = recipe.mostSeconds / 2; // slow ones are sure after fewer calls
        const std::lock_guard turn(slot.shared.timing);
        const auto lease = device::Lease::take(slot.device, stop);
        if (!lease)
            return tl::unexpected(lease.error());
        const auto start = Clock::now();
        CUDA_AGENT_ASSIGN(step, ask(slot, request, recipe.checkSeconds, stop));
        const double took = secondsSince(start);
        if (step.rejection || !step.machine.empty())
            return std::move(step);
        std::vector<double> seconds;
        if (const auto found = step.answer.find("seconds");
            found != step.answer.end() && found->is_array())
            for (const auto &value : *found)
                if (value.is_number() && value.get<double>() > 0 && value.get<double>() <= took)
                    seconds.push_back(value.get<double>());
        if (seconds.empty()) {
            step.rejection = {"disturbs its process", "its process told no times that can be true"};
            return std::move(step);
        }
        checked.seconds = medianOf(std::move(seconds));
        return std::move(step);
    }

    Result<Step> go(Slot &slot, const Candidate &candidate, Checked &checked,
                    const std::stop_token &stop) {
        switch (checked.stage) {
        case Stage::check:
        case Stage::again:
        case Stage::third:
            return check(slot, candidate, checked, stop);
        case Stage::time:
            return time(slot, candidate, checked, stop);
        case Stage::compile:
            break;
        }
        return compile(slot, candidate, checked, stop);
    }

    /// Errors: machine (no process starts), stopped.
    Result<Checked> one(Slot &slot, const Candidate &candidate, Stage stage,
                        const std::stop_token &stop) {
        const auto bytes =
            overhead + static_cast<std::uint64_t>(static_cast<double>(candidate.estimatedBytes) *
                                                  heldAt(stage));
        CUDA_AGENT_TRY(slot.shared.budget.take(bytes, stop));
        auto checked = tried(slot, candidate, stage, stop);
        slot.shared.budget.give(bytes);
        return checked;
    }

    Result<Checked> tried(Slot &slot, const Candidate &candidate, Stage stage,
                          const std::stop_token &stop) {
        Checked checked;
        for (int attempt = 0;; ++attempt) {
            const bool stranger = candidate.source == "endpoint"; // may do anything to its process
            CUDA_AGENT_TRY(ready(slot, attempt > 0 || stranger, stop));
            const bool alone = slot.served++ == 0;
            slot.worn += stage == Stage::compile ? 1 : wearOfOthers;
            const auto start = Clock::now();
            checked = {};
            checked.index = candidate.index;
            checked.stage = stage;
            CUDA_AGENT_ASSIGN(step, go(slot, candidate, checked, stop));
            checked.tookSeconds = secondsSince(start);
            const bool lost = step.processLost || !slot.process->alive();
            if (lost || stranger) {
                slot.process->end();
                slot.process.reset();
            } else {
                CUDA_AGENT_ASSIGN(dropped,
                                  slot.process->ask({{"request", "drop"}}, dropPatience, stop));
                if (!std::holds_alternative<Json>(dropped)) {
                    slot.process->end();
                    slot.process.reset();
                }
            }
            const bool starved = step.rejection && step.rejection->reason == "memory";
            if ((lost || starved || !step.machine.empty()) && !alone && attempt == 0)
                continue; // others may have left the process as it was
            if (!step.machine.empty()) {
                checked.outcome = Outcome::machine;
                checked.detail = step.machine;
            } else if (step.rejection) {
                checked.outcome = Outcome::rejected;
                checked.reason = step.rejection->reason;
                checked.detail = step.rejection->detail;
            }
            return checked;
        }
    }
};

Filter::Filter(const Recipe &recipe, Options options)
    : state_(new State{recipe, std::move(options)}) {
    int number = 0;
    for (const auto &device : state_->options.devices) {
        state_->shared.push_back(std::make_unique<Shared>(
            static_cast<std::uint64_t>(memoryShare * static_cast<double>(device.memoryBytes))));
        for (int i = 0; i < state_->options.perDevice; ++i)
            state_->slots.push_back(std::make_unique<Slot>(
                Slot{device, *state_->shared.back(),
                     state_->options.scratch / fmt::format("filter-{}", number++)}));
    }
}

Filter::~Filter() = default;

Result<void> Filter::run(Stage stage, const std::vector<const Candidate *> &candidates,
                         Rigour rigour, const Done &done, std::stop_token stop) {
    state_->rigour = rigour;
    std::atomic<std::size_t> next = 0;
    std::optional<Error> failure;
    std::mutex mutex;
    std::stop_source ended; // of the other slots, once one has failed
    const std::stop_callback forward(stop, [&] { ended.request_stop(); });
    const auto fail = [&](const Error &error) {
        const std::lock_guard lock(mutex);
        if (!failure)
            failure = error;
        ended.request_stop();
    };
    const auto work = [&](Slot &slot) {
        for (std::size_t at; !ended.stop_requested() && (at = next++) < candidates.size();) {
            auto checked = state_->one(slot, *candidates[at], stage, ended.get_token());
            if (!checked && checked.error().kind == ErrorKind::machine &&
                ++state_->startFailures < mostStartFailures) {
                Checked failed;
                failed.index = candidates[at]->index;
                failed.stage = stage;
                failed.outcome = Outcome::machine;
                failed.detail = checked.error().message;
                checked = std::move(failed);
            } else if (checked) {
                state_->startFailures = 0;
            }
            if (!checked)
                return fail(checked.error());
            const std::lock_guard lock(mutex);
            if (failure)
                return;
            const auto more = done(std::move(*checked));
            if (!more) {
                failure = more.error();
                ended.request_stop();
            } else if (!*more) {
                next = candidates.size();
            }
        }
    };
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < state_->slots.size() && i < candidates.size(); ++i)
            threads.emplace_back([&, i] { work(*state_->slots[i]); });
    }
    if (failure)
        return tl::unexpected(*failure);
    if (stop.stop_requested())
        return stoppedError();
    return {};
}

} // namespace cuda_agent::synthesis
