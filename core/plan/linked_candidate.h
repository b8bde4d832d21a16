// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/candidate_process.h"
#include "core/plan/plan.h"

#include <chrono>
#include <memory>
#include <optional>
#include <span>

namespace cuda_agent::plan {

/// A tensor that a candidate's process is lent with each bind, in the order it expects.
struct Slot {
    std::string name; ///< for messages
    Role role = Role::input;
    int index = -1;              ///< input, output: position
    std::string key;             ///< parameter: its name in the task description
    std::vector<int> order = {}; ///< of its dimensions for the candidate; empty: as they are
};

/// A plan's, in the order of its buffers.
std::vector<Slot> slotsOf(const Plan &plan);
/// How the outputs lie that a candidate with these slots writes without a copy: without gaps, in
/// the orders of their slots.
std::vector<TensorType> outputTypes(const Signature &signature, const std::vector<Slot> &slots);

struct LinkOptions {
    std::string what = "plan runner";              ///< for messages about the process itself
    std::chrono::milliseconds callTimeout{10'000}; ///< one call; a hang is killed
    double callOverhead = 0;                       ///< see CandidateProcess::callOverhead()
    /// Given to a process that failed before it is killed: who started it may have more to say.
    std::chrono::milliseconds linger{0};
    /// What the process needs as long as it lives, such as a folder that it sees.
    std::shared_ptr<const void> keeps = {};
};

/// The linger of a process under a launcher such as compute-sanitizer.
inline constexpr std::chrono::milliseconds launcherLinger{30'000};

/// The engine's end of a candidate's process: the messages that the plan runner and the module
/// worker understand (core/plan/README.md), their time limits, and what it means when one ends.
/// Nothing that comes back is believed beyond its form.
class LinkedCandidate : public CandidateProcess {
  public:
    LinkedCandidate(sandbox::Process process, std::vector<Slot> slots, Signature signature,
                    LinkOptions options, std::stop_token stop);

    /// Sends one request under a fresh random number and takes its answer: what a candidate put on
    /// the channel ahead of time answers nothing. After the first failure the process is ended and
    /// the same error comes back. `doing` completes "... during".
    /// Errors: failed, machine, stopped.
    Result<Json> ask(const Json &body, std::chrono::milliseconds timeout, std::string_view doing,
                     std::span<const int> fds = {});

    /// From now on it executes something with these slots for that signature, for somebody who
    /// stops it by `stop`.
    void become(std::vector<Slot> slots, Signature signature, std::stop_token stop);
    /// As outputTypes() above, of what it executes.
    std::vector<TensorType> outputTypes() const { return plan::outputTypes(signature_, slots_); }
    /// Nothing went wrong so far.
    bool sound() const { return !failure_; }

    Result<void> bind(int set, const CallBuffers &buffers) override;
    Result<void> unbind(int set) override;
    Result<void> call(int set) override;
    Result<void> publish(int set) override;
    Result<KnockOut> callWithout(int set, int place) override;
    Result<std::vector<Sample>> time(const SampleRequest &request) override;
    double callOverhead() const override { return options_.callOverhead; }
    sandbox::Record finish() override;
    /// The same for a process that may take that long to end by itself.
    sandbox::Record finish(std::chrono::milliseconds quitTimeout);
    std::optional<Fault> fault() const override;

  private:
    tl::unexpected<Error> fail(Error error);
    tl::unexpected<Error> gone(std::string_view doing);
    void endedWithin(std::chrono::milliseconds timeout);
    Result<const device::TensorView *> viewOf(const Slot &slot, const CallBuffers &buffers) const;
    std::chrono::milliseconds timeoutOf(const SampleRequest &request) const;

    LinkOptions options_; // before the process, which ends first
    sandbox::Process process_;
    std::vector<Slot> slots_;
    Signature signature_;
    std::stop_token stop_;
    std::optional<Error> failure_; ///< after the first one the process is not asked again
    std::optional<sandbox::Record> record_;
    double slowestCall_ = 0; ///< seconds, seen from here
};

/// Text from an untrusted process, made fit for a message: at most 1000 characters, no control
/// characters but line ends.
std::string tamed(std::string text);

} // namespace cuda_agent::plan
