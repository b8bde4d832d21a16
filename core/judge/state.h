// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/lease.h"
#include "core/judge/judge.h"
#include "core/modules/standby.h"

#include <algorithm>
#include <chrono>
#include <future>

/// What the parts of the judge share. Internal to core/judge.
namespace cuda_agent::judge {

/// No right answer: shows in outputs what a kernel does not write.
inline constexpr std::uint32_t outputPoison = 0x7fc1'1111u;

/// The baselines that are measured for these options.
std::vector<reference::Baseline> wantedBaselines(const Options &options);

/// Adds what is not there yet.
template <typename T>
void append(std::vector<T> &to, const std::vector<T> &from) {
    for (const auto &item : from)
        if (std::find(to.begin(), to.end(), item) == to.end())
            to.push_back(item);
}

/// How the task's workers are started.
reference::Options workerOptions(const Options &options);

/// Splits a time into its phases.
class Laps {
  public:
    /// What has passed since the last lap, or the start, belongs to that phase.
    void end(const char *phase) {
        const auto now = Clock::now();
        const double seconds = std::chrono::duration<double>(now - since_).count();
        since_ = now;
        const auto same = std::ranges::find(phases_, phase, &Phases::value_type::first);
        if (same != phases_.end())
            same->second += seconds;
        else
            phases_.emplace_back(phase, seconds);
    }
    const Phases &phases() const { return phases_; }

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point since_ = Clock::now();
    Phases phases_;
};

struct Judge::State {
    task::Spec spec;
    std::unique_ptr<device::Device> device;
    Options options;
    device::Ceilings ceilings;
    std::shared_ptr<const verify::Pool> pool; ///< twins have the same one
    timing::Baselines baselines;
    std::string reference;                           ///< as in a verdict
    std::unique_ptr<reference::Worker> timingWorker; ///< null with stored baselines
    std::int64_t baselinesTime = 0;                  ///< as in a verdict
    std::unique_ptr<toolchain::Compiler> compiler;
    std::unique_ptr<modules::Builder> builder; ///< made for the first module
    std::unique_ptr<modules::Standby> standby; ///< made for the first workspace
    std::size_t ahead = 1; ///< processes that wait there: as many as a verdict has needed so far
    std::vector<std::string> unenforced;
    std::string compiledCode;
    Laps laps;          ///< of the verdict at hand
    Phases preparation; ///< of prepare()

    std::shared_ptr<IdleRunners> runners; ///< the options', or one for a process of its own
    /// One that has had no candidate yet; see Options::openRunner.
    std::future<Result<std::unique_ptr<plan::LinkedCandidate>>> opened;
    int served = 0; ///< candidates that the process of the verdict at hand had before

    /// A started candidate with its private buffers bound under number 0.
    struct Started {
        std::unique_ptr<plan::LinkedCandidate> process;
        bool isModule = false;
        verify::GuardedSet set;
        std::vector<std::string> flags;
    };
    using StartOutcome = std::variant<Started, toolchain::Rejection>;
    Result<CompileOutcome> compile(const Candidate &candidate, std::stop_token stop);
    /// Starts the processes that the verdict on a workspace will need, or the next one, where they
    /// do not wait yet.
    void startAhead(const Candidate &candidate, verify::Strength strength);
    /// For the task's own shapes, or for those of one of the pool's reshaped cases. `share` is held
    /// afterwards, and while the device works.
    /// `running`: a plan runner after unload(), taken in place of a new one where it takes the
    /// plan.
    Result<StartOutcome> startCandidate(const Compiled &compiled,
                                        const reference::ReshapedCase *reshaped,
                                        device::Share &share, std::stop_token stop,
                                        std::unique_ptr<plan::LinkedCandidate> &running);
    /// Whether a plan's process can serve again: it is sound, and a GPU's.
    bool canServeAgain(const Started &run) const;
    /// Whether it may, after this verdict.
    bool mayServeAgain(const Verdict &verdict) const;
    /// Keeps the process for the next candidate, or ends it.
    Result<void> finishProcess(Started &run, Verdict &verdict, std::stop_token stop);
    /// Adds the check "hidden shapes": a candidate must be right on other shapes of inputs than the
    /// task's, or refuse them. A plan on cuda gets them in the process of `run`, whose set ends by
    /// that; all others in processes of their own.
    Result<void> checkShapes(const Compiled &compiled, Started &run, Verdict &verdict,
                             device::Share &share, std::stop_token stop);
    Result<verify::Check> checkOrigin(const Compiled &compiled, plan::LinkedCandidate &process,
                                      Verdict &verdict);
    /// What is looked at while the candidate has the device alone: its times, what the timed calls
    /// wrote, fresh inputs. `share` is not held afterwards.
    Result<void> timeCandidate(plan::CandidateProcess &process, verify::GuardedSet &set,
                               Verdict &verdict, device::Share &share, std::stop_token stop);
    Result<void> scrutinize(const Compiled &compiled, plan::CandidateProcess &process,
                            verify::GuardedSet &set, Verdict &verdict, std::stop_token stop);
    /// `fresh`: in no process that has served before.
    Result<Verdict> judge(const Candidate &candidate, verify::Strength strength, bool fresh,
                          std::stop_token stop);
    Result<void> examine(const Compiled &compiled, Started &run, Verdict &verdict,
                         device::Share &share, std::stop_token stop);
    Result<void> finishVerdict(Verdict &verdict, std::stop_token stop);
};

/// How long things are timed in that strength.
inline timing::Protocol protocolOf(verify::Strength strength) {
    return strength == verify::Strength::full ? timing::fullProtocol() : timing::trainingProtocol();
}

} // namespace cuda_agent::judge
