// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/verify/verify.h"

#include "core/base/hash.h"

#include <cmath>

namespace cuda_agent::verify {

namespace {

/// Poison words: a NaN for floating outputs, two different ones so that an element that is never
/// written cannot agree twice.
constexpr std::uint32_t firstPoison = 0x7fc5'a5a5u;
constexpr std::uint32_t secondPoison = 0xffb3'9c6du;

Json multiIndex(std::int64_t flat, const Shape &shape) {
    Json index = Json::array();
    if (flat < 0)
        return index;
    Shape reversed;
    for (std::size_t i = shape.size(); i-- > 0;) {
        reversed.push_back(flat % shape[i]);
        flat /= shape[i];
    }
    for (std::size_t i = reversed.size(); i-- > 0;)
        index.push_back(reversed[i]);
    return index;
}

/// JSON has no NaN or infinity; evidence often is one.
Json number(double value) {
    if (std::isfinite(value))
        return value;
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

std::string sentence(const Json &evidence) {
    return fmt::format("case '{}', output {}, index {}: expected {}, got {} ({})",
                       evidence.at("case").get<std::string>(), evidence.at("output").dump(),
                       evidence.at("index").dump(), evidence.at("expected").dump(),
                       evidence.at("got").dump(), evidence.at("why").get<std::string>());
}

/// The checks of one verification, in order; stops at the first that fails.
class Verification {
  public:
    Verification(plan::CandidateProcess &candidate, GuardedSet &set, const Pool &pool,
                 device::Device &device, device::Share &share, Demand demand, std::stop_token stop)
        : candidate_(candidate), set_(set), pool_(pool), device_(device), share_(share),
          demand_(demand), stop_(std::move(stop)) {}

    Result<Report> run() {
        CUDA_AGENT_TRY(cases("random inputs", pool_.random));
        if (ok())
            CUDA_AGENT_TRY(repeat());
        if (ok())
            CUDA_AGENT_TRY(cases("adversarial inputs", pool_.adversarial));
        if (ok() && demand_.strength == Strength::full)
            CUDA_AGENT_TRY(misalignedAndAliasing());
        if (ok() && demand_.strength == Strength::full && pool_.whole)
            CUDA_AGENT_TRY(wholeNumbers());
        report_.correct = ok();
        return std::move(report_);
    }

    Result<Check> one(const std::string &name, const reference::Case &entry) {
        CUDA_AGENT_ASSIGN(good, runCase(name, entry, set_, 0, firstPoison));
        if (good)
            pass(name, "right on " + entry.name);
        auto check = std::move(report_.checks.back());
        check.name = name; // whichever of the things that a call may break it was
        return check;
    }

  private:
    bool ok() const { return report_.checks.empty() || report_.checks.back().passed; }

    void pass(std::string name, std::string detail) {
        report_.checks.push_back({std::move(name), true, false, std::move(detail), {}});
    }
    void fail(std::string name, std::string detail, Json evidence = {}) {
        report_.checks.push_back(
            {std::move(name), false, false, std::move(detail), std::move(evidence)});
    }
    void skip(std::string name, std::string detail) {
        report_.checks.push_back({std::move(name), true, true, std::move(detail), {}});
    }

    /// Runs one case on a bound set and looks at everything a call may break.
    /// False when a check failed (and was recorded under `name`).
    Result<bool> runCase(const std::string &name, const reference::Case &entry, GuardedSet &set,
                         int number, std::uint32_t poison) {
        if (stop_.stop_requested())
            return stoppedError();
        CUDA_AGENT_TRY(share_.step());
        CUDA_AGENT_TRY(set.load(entry.inputs.tensors));
        CUDA_AGENT_TRY(set.poison(poison));
        if (auto called = candidate_.call(number); !called) {
            if (called.error().kind != ErrorKind::failed)
                return tl::unexpected(called.error());
            fail(name, fmt::format("case '{}': {}", entry.name, called.error().message));
            return false;
        }
        CUDA_AGENT_ASSIGN(broken, set.brokenGuard());
        if (broken) {
            fail("guard zones", fmt::format("case '{}': the candidate {}", entry.name, *broken),
                 {{"case", entry.name}});
            return false;
        }
        CUDA_AGENT_ASSIGN(changed, set.changedInput());
        if (changed) {
            fail("inputs unchanged",
                 fmt::format("case '{}': the candidate changed {}", entry.name, *changed),
                 {{"case", entry.name}});
            return false;
        }
        CUDA_AGENT_ASSIGN(evidence, compareOutputs(device_, set.buffers(), entry, pool_));
        if (!evidence.is_null() && entry.name == denormalCase && !demand_.denormals) {
            report_.flags.push_back("loses numbers below the normal ones: it adds atomically");
            return true;
        }
        if (!evidence.is_null()) {
            fail(name, sentence(evidence), evidence);
            return false;
        }
        return true;
    }

    Result<void> cases(const std::string &name, const std::vector<reference::Case> &entries) {
        for (const auto &entry : entries) {
            CUDA_AGENT_ASSIGN(good, runCase(name, entry, set_, 0, firstPoison));
            if (!good)
                return {};
        }
        if (entries.empty())
            skip(name, "no such case applies to this task or fits into memory");
        else
            pass(name, fmt::format("{} cases at the same pointers, outputs poisoned, guard zones "
                                   "whole, inputs unchanged",
                                   entries.size()));
        return {};
    }

    Result<void> repeat() {
        const auto &entry = pool_.random.front();
        std::uint64_t digests[2] = {};
        for (int i = 0; i < 2; ++i) {
            CUDA_AGENT_ASSIGN(
                good, runCase("repeat", entry, set_, 0, i == 0 ? firstPoison : secondPoison));
            if (!good)
                return {};
            CUDA_AGENT_ASSIGN(digest, set_.outputDigest());
            digests[i] = digest;
        }
        if (digests[0] != digests[1])
            report_.flags.push_back("not bitwise deterministic");
        pass("repeat", digests[0] == digests[1] ? "two calls agree bit for bit"
                                                : "two calls agree within the allowance");
        return {};
    }

    static constexpr const char *noRoom = "a second set of buffers does not fit into memory";

    /// Buffers of their own for a case, bound under number 1, or nothing where they do not fit. A
    /// plan's runner copies inputs that a `shift` has left misaligned: there is to be room for
    /// those.
    Result<std::optional<GuardedSet>>
    secondSet(const reference::Case &entry, const reference::Parameters &parameters, int shift) {
        std::vector<TensorType> outputs;
        for (const auto &view : set_.buffers().outputs)
            outputs.push_back(view.type);
        CUDA_AGENT_ASSIGN(freeBytes, device_.freeBytes());
        auto needed = GuardedSet::bytesNeeded(entry.inputs.tensors, parameters, outputs);
        if (shift != 0)
            for (const auto &view : entry.inputs.tensors)
                needed += view.type.spanBytes();
        if (needed > freeBytes / 10 * 9)
            return std::optional<GuardedSet>();
        CUDA_AGENT_ASSIGN(
            other, GuardedSet::create(device_, entry.inputs.tensors, parameters, outputs, shift));
        CUDA_AGENT_TRY(candidate_.bind(1, other.buffers()));
        return std::optional(std::move(other));
    }

    /// Other parameters too, so what is built on the values of the task's own shows as well.
    Result<void> wholeNumbers() {
        constexpr const char *name = "whole numbers";
        const auto &entry = *pool_.whole;
        CUDA_AGENT_ASSIGN(made, secondSet(entry, *entry.parameters, 0));
        if (!made) {
            skip(name, noRoom);
            return {};
        }
        auto &other = *made;
        CUDA_AGENT_ASSIGN(good, runCase(name, entry, other, 1, firstPoison));
        if (!good)
            return {};
        pass(name, "exact on small whole numbers as inputs and parameters");
        return candidate_.unbind(1);
    }

    Result<void> misalignedAndAliasing() {
        const auto &entry = pool_.random.back();
        CUDA_AGENT_ASSIGN(made, secondSet(entry, pool_.parameters, 1));
        if (!made) {
            skip("misaligned storage", noRoom);
            skip("no aliasing", noRoom);
            return {};
        }
        auto &other = *made;
        CUDA_AGENT_ASSIGN(before, set_.outputDigest());
        CUDA_AGENT_ASSIGN(good, runCase("misaligned storage", entry, other, 1, secondPoison));
        if (!good)
            return {};
        pass("misaligned storage", "inputs moved by one element give the same answer");
        // A candidate that returns its own tensors may have reused the earlier ones.
        if (auto published = candidate_.publish(0); !published) {
            if (published.error().kind != ErrorKind::failed)
                return tl::unexpected(published.error());
            fail("no aliasing", published.error().message);
            return {};
        }
        CUDA_AGENT_ASSIGN(after, set_.outputDigest());
        CUDA_AGENT_ASSIGN(changed, set_.changedInput());
        CUDA_AGENT_ASSIGN(broken, set_.brokenGuard());
        if (before != after || changed || broken)
            fail("no aliasing", "a call on other buffers changed the results of an earlier call");
        else
            pass("no aliasing", "a call on other buffers leaves earlier results alone");
        return candidate_.unbind(1);
    }

    plan::CandidateProcess &candidate_;
    GuardedSet &set_;
    const Pool &pool_;
    device::Device &device_;
    device::Share &share_;
    Demand demand_;
    std::stop_token stop_;
    Report report_;
};

} // namespace

std::string_view nameOf(Strength strength) {
    return strength == Strength::full ? "full" : "training";
}

bool Check::isWrongAnswer() const {
    return !passed && evidence.is_object() && evidence.contains("expected");
}

const Check *Report::failed() const {
    for (const auto &check : checks)
        if (!check.passed)
            return &check;
    return nullptr;
}

Json toJson(const Check &check) {
    Json json{{"name", check.name}, {"passed", check.passed}, {"detail", check.detail}};
    if (check.skipped)
        json["skipped"] = true;
    if (!check.evidence.is_null())
        json["evidence"] = check.evidence;
    return json;
}

Result<Json> compareOutputs(device::Device &device, const plan::CallBuffers &buffers,
                            const reference::Case &expected, const Pool &pool) {
    for (std::size_t i = 0; i < expected.oracle.size(); ++i) {
        const auto &view = buffers.outputs.at(i);
        CUDA_AGENT_ASSIGN(stats, device.compare(view, expected.oracle[i]));
        Json evidence{{"case", expected.name},
                      {"output", i},
                      {"expected", number(stats.expected)},
                      {"got", number(stats.got)}};
        if (stats.nonFiniteMismatches > 0 || stats.integerMismatches > 0) {
            const bool finite = stats.integerMismatches > 0;
            evidence["index"] = multiIndex(stats.firstMismatch, view.type.shape);
            evidence["mismatches"] = stats.nonFiniteMismatches + stats.integerMismatches;
            evidence["why"] = fmt::format(
                "{} of {} elements {}", stats.nonFiniteMismatches + stats.integerMismatches,
                stats.elements, finite ? "differ" : "are NaN or infinite on one side only");
            return evidence;
        }
        if (!isFloating(view.type.dtype))
            continue;
        const auto &own = expected.errors.at(i);
        const auto allowed = expected.exact ? exactAllowance(own, view.type.dtype)
                                            : allowanceFor(own, pool, i, view.type.dtype);
        const double norm = std::sqrt(stats.errorSquared);
        // Written so that a NaN fails.
        const bool normHolds = norm <= allowed.errorNorm;
        const bool maxHolds = stats.maxError <= allowed.maxError;
        if (normHolds && maxHolds)
            continue;
        evidence["index"] = multiIndex(stats.maxErrorIndex, view.type.shape);
        evidence["error"] = number(maxHolds ? norm : stats.maxError);
        evidence["allowed"] = number(maxHolds ? allowed.errorNorm : allowed.maxError);
        evidence["why"] = fmt::format(
            "{} error {:.3g}, allowed {:.3g}", maxHolds ? "norm of the" : "largest",
            maxHolds ? norm : stats.maxError, maxHolds ? allowed.errorNorm : allowed.maxError);
        return evidence;
    }
    return Json();
}

Result<Report> verify(plan::CandidateProcess &candidate, GuardedSet &set, const Pool &pool,
                      device::Device &device, device::Share &share, Demand demand,
                      std::stop_token stop) {
    return Verification(candidate, set, pool, device, share, demand, std::move(stop)).run();
}

Result<Check> verifyReshaped(plan::CandidateProcess &candidate, GuardedSet &set,
                             const reference::ReshapedCase &reshaped, const Pool &pool,
                             device::Device &device, device::Share &share, std::stop_token stop) {
    return Verification(candidate, set, pool, device, share, {}, std::move(stop))
        .one("hidden shapes", reshaped.entry);
}

Result<Check> verifyAfterTiming(plan::CandidateProcess &candidate, GuardedSet &set,
                                const Pool &pool, device::Device &device) {
    const auto &entry = pool.random.front();
    Check check{"after timing", true, false, "calls after the timed runs are right", {}};
    const auto failWith = [&](std::string detail, Json evidence = {}) {
        check.passed = false;
        check.detail = std::move(detail);
        check.evidence = std::move(evidence);
        return check;
    };
    // Other contents first, with outputs that hold plausible answers to the ones before: what is
    // taken from there is wrong now.
    for (const auto *each : {&pool.random.back(), &entry}) {
        CUDA_AGENT_TRY(set.load(each->inputs.tensors));
        if (each == &entry)
            CUDA_AGENT_TRY(set.poison(secondPoison));
        if (auto called = candidate.call(0); !called) {
            if (called.error().kind != ErrorKind::failed)
                return tl::unexpected(called.error());
            return failWith(called.error().message);
        }
        CUDA_AGENT_ASSIGN(evidence, compareOutputs(device, set.buffers(), *each, pool));
        if (!evidence.is_null())
            return failWith(sentence(evidence), evidence);
    }
    CUDA_AGENT_ASSIGN(broken, set.brokenGuard());
    if (broken)
        return failWith("the candidate " + *broken);
    CUDA_AGENT_ASSIGN(changed, set.changedInput());
    if (changed)
        return failWith("the candidate changed " + *changed);
    return check;
}

} // namespace cuda_agent::verify
