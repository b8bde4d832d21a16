// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/hash.h"
#include "core/timing/rounds.h"
#include "core/timing/timing.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace cuda_agent::timing {

namespace {

using reference::Baseline;
using reference::BaselineSamples;

constexpr std::array allBaselines{Baseline::eager, Baseline::compile, Baseline::eagerTf32,
                                  Baseline::compileTf32, Baseline::compileMaxAutotune};
constexpr double slowCall = 0.1; // seconds from which a baseline is not sampled in reserve
constexpr int reserveSamples = 4;

bool possible(const std::vector<double> &seconds) {
    return !seconds.empty() && std::all_of(seconds.begin(), seconds.end(), [](double each) {
        return std::isfinite(each) && each > 0;
    });
}

/// One baseline while it is being measured.
struct Running {
    Baseline baseline;
    Rounds rounds;
    std::vector<double> first; ///< warm-up and reserve, used when nothing better comes
    std::string problem;
    bool done = false;
};

/// The worker runs task code, so its numbers are checked before they are believed.
Result<BaselineSamples> sample(const BaselineSampler &sampler, Baseline baseline, int samples) {
    auto taken = sampler(baseline, samples);
    if (taken && !possible(taken->seconds))
        return failedError("the worker reported impossible times for {}", nameOf(baseline));
    return taken;
}

Json toJson(const Estimate &estimate, const std::vector<double> &raw) {
    return {{"seconds", estimate.median},
            {"low", estimate.low},
            {"high", estimate.high},
            {"samples", estimate.samples},
            {"raw", raw}};
}

Result<std::vector<double>> rawFromJson(const Json &entry, std::string_view name) {
    std::vector<double> raw;
    if (const auto found = entry.find("raw"); found != entry.end() && found->is_array())
        for (const Json &each : *found)
            raw.push_back(each.is_number() ? each.get<double>() : -1);
    if (!raw.empty() && !possible(raw))
        return requestError("baselines: '{}.raw' must be a list of positive seconds", name);
    return raw;
}

} // namespace

Json toJson(const Baselines &baselines) {
    Json json = Json::object();
    for (const auto &[baseline, estimate] : baselines.estimates) {
        const auto raw = baselines.samples.find(baseline);
        json[std::string(nameOf(baseline))] =
            toJson(estimate, raw == baselines.samples.end() ? std::vector<double>() : raw->second);
    }
    if (baselines.yardstickSeconds > 0)
        json["yardstick_seconds"] = baselines.yardstickSeconds;
    for (const auto &[baseline, problem] : baselines.problems)
        json["problems"][std::string(nameOf(baseline))] = problem;
    if (!baselines.flags.empty())
        json["flags"] = baselines.flags;
    return json;
}

Result<Baselines> baselinesFromJson(const Json &json) {
    if (!json.is_object())
        return requestError("baselines must be a JSON object");
    Baselines result;
    const Json problems = json.value("problems", Json::object());
    for (const Baseline baseline : allBaselines) {
        const std::string name(nameOf(baseline));
        if (problems.is_object() && problems.contains(name) && problems[name].is_string())
            result.problems[baseline] = problems[name].get<std::string>();
        const auto entry = json.find(name);
        if (entry == json.end())
            continue;
        if (!entry->is_object())
            return requestError("baselines: '{}' must be an object", name);
        CUDA_AGENT_ASSIGN(raw, rawFromJson(*entry, name));
        if (!raw.empty()) {
            result.estimates[baseline] = estimate(raw);
            result.samples[baseline] = std::move(raw);
            continue;
        }
        Estimate known;
        for (const auto &[key, value] :
             {std::pair{"seconds", &known.median}, std::pair{"low", &known.low},
              std::pair{"high", &known.high}}) {
            const auto field = entry->find(key);
            if (field == entry->end() || !field->is_number() || !(field->get<double>() > 0))
                return requestError("baselines: '{}.{}' must be a positive number of seconds", name,
                                    key);
            *value = field->get<double>();
        }
        if (const auto count = entry->find("samples");
            count != entry->end() && count->is_number_integer())
            known.samples = count->get<int>();
        result.estimates[baseline] = known;
    }
    if (const auto yardstick = json.find("yardstick_seconds");
        yardstick != json.end() && yardstick->is_number())
        result.yardstickSeconds = yardstick->get<double>();
    if (const auto flags = json.find("flags"); flags != json.end() && flags->is_array())
        for (const Json &flag : *flags)
            if (flag.is_string())
                result.flags.push_back(flag.get<std::string>());
    return result;
}

Result<Baselines> measureBaselines(reference::Worker &worker, device::Device &device,
                                   const std::vector<Baseline> &wanted, std::uint64_t taskBytes,
                                   const Protocol &protocol, std::stop_token stop) {
    // One seed for all, so that every baseline works on the same numbers and the worker draws once.
    const std::uint64_t seed = randomSeed();
    const double span = minimumSampleSeconds(device.info().kind);
    const auto sampler = [&](Baseline baseline, int samples) {
        return worker.time(baseline, seed, samples, span, stop);
    };
    return measureBaselines(BaselineSampler(sampler), device, wanted, taskBytes, protocol, stop);
}

Result<Baselines> measureBaselines(const BaselineSampler &sampler, device::Device &device,
                                   const std::vector<Baseline> &wanted, std::uint64_t taskBytes,
                                   const Protocol &protocol, std::stop_token stop) {
    std::vector<Running> running;
    for (const Baseline baseline : wanted)
        if (std::none_of(running.begin(), running.end(),
                         [&](const Running &each) { return each.baseline == baseline; }))
            running.push_back(
                {baseline, Rounds(throttleFactor(device.info().kind)), {}, {}, false});

    std::optional<Error> last;
    const auto fail = [&](Running &at, Error error) {
        at.problem = error.message;
        at.done = true;
        last = std::move(error);
    };
    // A compiled baseline may take the worker down with it. What the others gave before is kept in
    // reserve, so that the task is not left without any.
    for (Running &at : running) {
        for (const int samples : {1, reserveSamples}) {
            if (stop.stop_requested())
                return stoppedError();
            if (samples > 1 && (at.done || median(at.first) > slowCall))
                break;
            auto first = sample(sampler, at.baseline, samples);
            if (first)
                at.first = std::move(first->seconds);
            else if (first.error().kind == ErrorKind::stopped)
                return tl::unexpected(std::move(first).error());
            else
                fail(at, std::move(first).error());
        }
    }

    Yardstick yardstick(device, taskBytes);
    double before = yardstick.measure();
    const auto anyLeft = [&] {
        return std::any_of(running.begin(), running.end(), [](auto &each) { return !each.done; });
    };
    while (anyLeft()) {
        std::vector<std::pair<Running *, BaselineSamples>> round;
        for (Running &at : running) {
            if (at.done)
                continue;
            if (stop.stop_requested())
                return stoppedError();
            const double perSample =
                at.rounds.count() == 0
                    ? median(at.first)
                    : at.rounds.hostSeconds() / static_cast<double>(at.rounds.samples());
            auto taken = sample(sampler, at.baseline, nextBatch(protocol, at.rounds, perSample));
            if (taken)
                round.emplace_back(&at, std::move(*taken));
            else if (taken.error().kind == ErrorKind::stopped)
                return tl::unexpected(std::move(taken).error());
            else
                fail(at, std::move(taken).error());
        }
        const double after = yardstick.measure();
        for (auto &[at, taken] : round) {
            const double host = std::max(0.0, taken.hostSeconds - taken.compileSeconds);
            at->rounds.add(std::move(taken.seconds), before, after, host);
            at->done = at->rounds.enough(protocol);
        }
        before = after;
    }

    Baselines result;
    bool throttled = false;
    std::vector<double> yardsticks;
    for (Running &at : running) {
        auto outcome = at.rounds.outcome();
        if (at.rounds.count() == 0)
            outcome = {std::move(at.first), false};
        if (!at.problem.empty())
            result.problems[at.baseline] = at.problem;
        if (outcome.samples.empty())
            continue;
        throttled = throttled || outcome.throttled;
        if (at.rounds.medianYardstick() > 0)
            yardsticks.push_back(at.rounds.medianYardstick());
        result.estimates[at.baseline] = estimate(outcome.samples);
        result.samples[at.baseline] = std::move(outcome.samples);
    }
    if (result.estimates.empty() && last && last->kind == ErrorKind::machine)
        return tl::unexpected(std::move(*last));
    result.yardstickSeconds = median(yardsticks);
    if (throttled)
        result.flags.push_back("throttled");
    if (!yardstick.problem().empty())
        result.flags.push_back("throttling could not be watched: " + yardstick.problem());
    return result;
}

} // namespace cuda_agent::timing
