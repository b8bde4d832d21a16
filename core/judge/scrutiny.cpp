// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/judge/scrutiny.h"

#include "core/base/hash.h"

#include <algorithm>
#include <limits>

namespace cuda_agent::judge {

namespace {

constexpr int rounds = 7;
constexpr int roundsOfSlowCalls = 2;
constexpr double slowCall = 0.2;            ///< seconds
constexpr double remembering = 1.5;         ///< fresh over seen inputs
constexpr double rememberingSlack = 100e-6; ///< seconds
/// The same by the process's own clock, where events of a GPU leave messages and launches out.
constexpr double rememberingSlackOfEvents = 10e-6;
constexpr double mostPairs = 0.75; ///< that must show it
/// What may lie between a process's clock and the engine's in the best of some single calls.
constexpr double answerSlack = 2e-3; ///< seconds, and half of the call
/// A single call finds caches and threads cold, and on a busy machine no free core; what is timed
/// in a row does not.
constexpr double coldFactor = 4;
constexpr double coldSlack = 10e-3; ///< seconds
constexpr std::size_t mostPlaces = 8;
constexpr std::uint32_t poisonWord = 0x7fca'fe01u;

/// The quickest of each kind: other programs only ever add.
struct Quickest {
    double seen = std::numeric_limits<double>::infinity();
    double fresh = std::numeric_limits<double>::infinity();
    double message = std::numeric_limits<double>::infinity();
    double unclaimed = std::numeric_limits<double>::infinity(); ///< of a fresh call
    double seenClaimed = std::numeric_limits<double>::infinity();
    double freshClaimed = std::numeric_limits<double>::infinity();
    double slackOfClaims = rememberingSlack;
    int pairs = 0;
    int slower = 0; ///< pairs whose fresh call took much longer
    int slowerClaimed = 0;

    static bool longer(double fresh, double seen, double slack = rememberingSlack) {
        return fresh > remembering * seen + slack;
    }
    /// By the engine's clock, or, where calls are short beside a message, by what a process that
    /// has nothing to hide says itself.
    bool remembers() const { return remembersByEngine() || remembersByClaims(); }
    bool remembersByEngine() const { return longer(fresh, seen) && slower >= mostPairs * pairs; }
    bool remembersByClaims() const {
        return longer(freshClaimed, seenClaimed, slackOfClaims) &&
               slowerClaimed >= mostPairs * pairs;
    }
    /// Seconds of one call by the engine's clock.
    double engine() const { return std::max(fresh - message, 0.0); }
    /// Either the process claims too little for the very call that the engine has seen, or its
    /// calls in a row are too quick for what one takes.
    bool contradicts(double claimed) const {
        return unclaimed > message + answerSlack + 0.5 * (fresh - unclaimed) ||
               engine() > coldFactor * claimed + coldSlack;
    }
};

class FreshInputs {
  public:
    FreshInputs(plan::CandidateProcess &process, verify::GuardedSet &set, const verify::Pool &pool,
                device::Device &device, std::stop_token stop, const timing::HostClock &clock)
        : process_(process), set_(set), pool_(pool), device_(device), stop_(std::move(stop)),
          clock_(clock) {}

    /// The first wrong answer to inputs that have been seen, or null.
    const Json &wrong() const { return wrong_; }

    /// Nothing where no input can be made new, or where an answer was wrong.
    Result<std::optional<Quickest>> measure(int wanted) {
        Quickest quickest;
        if (device_.info().kind == device::Kind::cuda)
            quickest.slackOfClaims = rememberingSlackOfEvents;
        for (int round = 0; round < wanted; ++round) {
            if (stop_.stop_requested())
                return stoppedError();
            const auto &entry = pool_.random[static_cast<std::size_t>(round) % pool_.random.size()];
            if (round < roundsOfSlowCalls) {
                CUDA_AGENT_TRY(verified(entry));
                if (!wrong_.is_null())
                    return std::optional<Quickest>();
            }
            // All three are prepared alike; the second finds what the first has seen.
            const auto known = nextTurn_++;
            CUDA_AGENT_ASSIGN(first, turned(entry, known));
            if (!first)
                return std::optional<Quickest>();
            CUDA_AGENT_ASSIGN(seen, turned(entry, known));
            CUDA_AGENT_ASSIGN(fresh, turned(entry, nextTurn_++));
            const double start = clock_();
            CUDA_AGENT_TRY(process_.publish(0));
            quickest.message = std::min(quickest.message, clock_() - start);
            quickest.seen = std::min(quickest.seen, seen->host);
            quickest.fresh = std::min(quickest.fresh, fresh->host);
            quickest.unclaimed = std::min(quickest.unclaimed, fresh->host - fresh->claimed);
            quickest.seenClaimed = std::min(quickest.seenClaimed, seen->claimed);
            quickest.freshClaimed = std::min(quickest.freshClaimed, fresh->claimed);
            ++quickest.pairs;
            quickest.slowerClaimed +=
                Quickest::longer(fresh->claimed, seen->claimed, quickest.slackOfClaims) ? 1 : 0;
            quickest.slower += Quickest::longer(fresh->host, seen->host) ? 1 : 0;
            if (fresh->host > slowCall)
                wanted = std::min(wanted, roundsOfSlowCalls);
        }
        return std::optional<Quickest>(quickest);
    }

  private:
    /// Seconds of one call by the engine's clock and by the process's.
    struct Call {
        double host = 0;
        double claimed = 0;
    };
    Result<Call> call() {
        plan::SampleRequest request;
        request.sets = {0};
        request.warmup = 0;
        request.samples = 1;
        request.flushCache = false;
        const double start = clock_();
        CUDA_AGENT_ASSIGN(samples, process_.time(request));
        const double host = clock_() - start;
        return Call{host, samples.empty() ? 0 : samples.front().seconds};
    }
    /// The same on inputs turned by `random`; nothing where there is none to turn.
    Result<std::optional<Call>> turned(const reference::Case &entry, std::uint64_t random) {
        CUDA_AGENT_ASSIGN(some, set_.loadTurned(entry.inputs.tensors, random));
        if (!some)
            return std::optional<Call>();
        CUDA_AGENT_ASSIGN(seconds, call());
        return std::optional<Call>(seconds);
    }
    /// What a timed call leaves must be right when it is answered.
    Result<void> verified(const reference::Case &entry) {
        CUDA_AGENT_TRY(set_.load(entry.inputs.tensors));
        CUDA_AGENT_TRY(set_.poison(poisonWord));
        CUDA_AGENT_TRY(call());
        CUDA_AGENT_ASSIGN(evidence, verify::compareOutputs(device_, set_.buffers(), entry, pool_));
        wrong_ = std::move(evidence);
        return {};
    }

    plan::CandidateProcess &process_;
    verify::GuardedSet &set_;
    const verify::Pool &pool_;
    device::Device &device_;
    /// Counted on from a random one: two of a thousand drawn alike would be an input seen before.
    std::uint64_t nextTurn_ = randomSeed() >> 8;
    std::stop_token stop_;
    const timing::HostClock &clock_;
    Json wrong_;
};

} // namespace

std::optional<verify::Check> checkSources(const modules::Compiled &built, modules::Rules rules,
                                          std::vector<std::string> &flags) {
    std::string refused;
    for (const auto &each : built.suspicions) {
        if (rules == modules::Rules::published)
            refused += (refused.empty() ? "" : "; ") + each.what;
        else if (!each.published)
            flags.push_back(each.what);
    }
    if (refused.empty())
        return std::nullopt;
    constexpr std::size_t most = 500;
    if (refused.size() > most) {
        refused.resize(most);
        refused += " ...";
    }
    return verify::Check{"sources",
                         false,
                         false,
                         refused + "; under --rules published a candidate has no use for that",
                         {}};
}

void letEngineDecide(timing::CandidateTimes &times) {
    const bool disagrees = std::find(times.flags.begin(), times.flags.end(),
                                     "host clock disagrees") != times.flags.end();
    if (!disagrees || times.hostSecondsPerCall <= times.estimate.median)
        return;
    const double factor = times.hostSecondsPerCall / times.estimate.median;
    for (auto *value : {&times.estimate.median, &times.estimate.low, &times.estimate.high})
        *value *= factor;
    for (auto &sample : times.samples)
        sample *= factor;
    times.flags.push_back("the engine's clock decides");
}

Result<verify::Check> lookAtFreshInputs(plan::CandidateProcess &process, verify::GuardedSet &set,
                                        const verify::Pool &pool, device::Device &device,
                                        timing::CandidateTimes &times, std::stop_token stop,
                                        const timing::HostClock &clock) {
    verify::Check check{"fresh inputs", true, false, {}, {}};
    FreshInputs look(process, set, pool, device, std::move(stop), clock);
    auto found = look.measure(rounds);
    // One unlucky moment is no proof.
    if (found && *found && ((*found)->remembers() || (*found)->contradicts(times.estimate.median)))
        found = look.measure(2 * rounds);
    if (!found) {
        if (found.error().kind != ErrorKind::failed)
            return tl::unexpected(found.error());
        check.passed = false;
        check.detail = found.error().message;
        return check;
    }
    if (!look.wrong().is_null()) {
        check.passed = false;
        check.detail = "the outputs are wrong when a timed call is answered";
        check.evidence = look.wrong();
        return check;
    }
    if (!*found) {
        check.skipped = true;
        check.detail = "no floating input whose elements could change places";
        return check;
    }
    const auto &quickest = **found;
    check.evidence = {{"seen_seconds", quickest.seen},
                      {"fresh_seconds", quickest.fresh},
                      {"message_seconds", quickest.message},
                      {"seen_claimed_seconds", quickest.seenClaimed},
                      {"fresh_claimed_seconds", quickest.freshClaimed},
                      {"unclaimed_seconds", quickest.unclaimed}};
    if (quickest.remembers()) {
        const bool engine = quickest.remembersByEngine();
        check.passed = false;
        check.detail = fmt::format("a call on inputs that it has never seen takes {:.3g} ms, on "
                                   "inputs that it has just seen {:.3g} ms: it remembers answers",
                                   1e3 * (engine ? quickest.fresh : quickest.freshClaimed),
                                   1e3 * (engine ? quickest.seen : quickest.seenClaimed));
        return check;
    }
    check.detail = "calls on new inputs take no longer than on known ones";
    if (quickest.contradicts(times.estimate.median)) {
        times.hostSecondsPerCall = std::max(times.hostSecondsPerCall, quickest.engine());
        if (std::find(times.flags.begin(), times.flags.end(), "host clock disagrees") ==
            times.flags.end())
            times.flags.emplace_back("host clock disagrees");
    }
    return check;
}

namespace {

/// Calls with launches left out, and whether what comes is right all the same.
class KnockingOut {
  public:
    KnockingOut(plan::CandidateProcess &process, verify::GuardedSet &set, const verify::Pool &pool,
                device::Device &device)
        : process_(process), set_(set), pool_(pool), device_(device) {}

    struct Outcome {
        plan::KnockOut said;
        bool right = false;
    };
    /// Errors: failed, when the call goes wrong altogether; machine, stopped.
    Result<Outcome> call(const reference::Case &entry, int place) {
        CUDA_AGENT_TRY(set_.load(entry.inputs.tensors));
        CUDA_AGENT_TRY(set_.poison(poisonWord));
        Outcome outcome;
        CUDA_AGENT_ASSIGN(said, process_.callWithout(0, place));
        outcome.said = std::move(said);
        if (!outcome.said.possible)
            return outcome;
        CUDA_AGENT_ASSIGN(evidence, verify::compareOutputs(device_, set_.buffers(), entry, pool_));
        outcome.right = evidence.is_null();
        return outcome;
    }
    /// Whether the outputs of every case are right without that place.
    Result<bool> changesNothing(int place) {
        for (const auto *cases : {&pool_.random, &pool_.adversarial})
            for (const auto &entry : *cases) {
                CUDA_AGENT_ASSIGN(outcome, call(entry, place));
                if (!outcome.right)
                    return false;
            }
        return true;
    }

  private:
    plan::CandidateProcess &process_;
    verify::GuardedSet &set_;
    const verify::Pool &pool_;
    device::Device &device_;
};

} // namespace

Result<Contribution> knockOut(plan::CandidateProcess &process, verify::GuardedSet &set,
                              const verify::Pool &pool, device::Device &device, bool others,
                              std::stop_token stop) {
    Contribution result;
    auto &check = result.check;
    check = {"knock-out", true, false, "without its kernels the outputs are wrong", {}};
    KnockingOut out(process, set, pool, device);
    const auto depends = [&](const Error &error) -> Result<Contribution> {
        if (error.kind != ErrorKind::failed)
            return tl::unexpected(error);
        // It cannot even finish without its kernels.
        check.detail = "without its kernels a call fails";
        return result;
    };
    auto without = out.call(pool.random.back(), -1);
    if (!without)
        return depends(without.error());
    if (!without->said.possible) {
        check.skipped = true;
        check.detail = "launches cannot be left out here";
        return result;
    }
    if (without->right) {
        auto nothing = out.changesNothing(-1);
        if (!nothing)
            return depends(nothing.error());
        without->right = *nothing;
    }
    const auto &places = without->said.places;
    if (without->right) {
        const std::string what = places.empty()
                                     ? "the outputs are right and no kernel of its own was launched"
                                     : "the outputs are right when none of its own kernels runs";
        if (!others) {
            check.passed = false;
            check.detail = what;
            check.evidence = {{"launches", places}};
            return result;
        }
        check.detail = what + "; a library does the work";
    }
    if (places.size() < 2) {
        if (without->right && !places.empty())
            result.flags.push_back("a launch changes nothing in the outputs: " + places.front());
        return result;
    }
    for (std::size_t i = 0; i < std::min(places.size(), mostPlaces); ++i) {
        if (stop.stop_requested())
            return stoppedError();
        auto nothing = out.changesNothing(static_cast<int>(i));
        if (!nothing)
            return depends(nothing.error());
        if (*nothing)
            result.flags.push_back("a launch changes nothing in the outputs: " + places[i]);
    }
    return result;
}

} // namespace cuda_agent::judge
