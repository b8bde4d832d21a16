// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/agent/loop.h"
#include "core/agent/memory.h"
#include "core/agent/transformer.h"
#include "core/policy/endpoint/endpoint.h"

#include <filesystem>
#include <functional>
#include <memory>

namespace cuda_agent::agent {

/// What a session is asked to be.
struct RunRequest {
    task::Spec spec;
    judge::Options judge;
    std::string device = "auto";     ///< "auto", "cuda" or "cpu"
    int gpu = 0;                     ///< with "cuda": which one, of those that CUDA sees
    std::string policy = "planner";  ///< "planner", "transformer", "endpoint" or "replay"
    std::filesystem::path recorded;  ///< session that the replay policy follows
    policy::EndpointConfig endpoint; ///< for the endpoint policy
    TransformerConfig transformer;   ///< for the transformer policy
    skills::SkillSet skills;         ///< for the policy and its tools
    /// Parts that are 0 are not given: a new session takes the policy's usual number of turns and
    /// no limit else, a resumed one keeps what its log says.
    Budget budget{0, 0, 0, 0};
    bool wholeBudget = false; ///< every part of the budget is given, 0 means no limit
    int enough = 0;           ///< as LoopOptions::enough
    /// The session folder; empty: `defaultSessionFolder`. One that holds an unfinished session of
    /// the same task is resumed.
    std::filesystem::path session;
    /// File of what earlier sessions found; empty: nothing is offered or kept. Replay has no use
    /// for it.
    std::filesystem::path memory;
    std::shared_ptr<SharedOffer> sharedOffer; ///< with other attempts at the task; may be null
    int attempt = 1;  ///< of several at the task, which differ in what they try
    int attempts = 1; ///< how many there are
};

/// Turns that a policy gets when nobody says how many: 200 for an endpoint's model, as in the
/// published evaluation; 20 for the rest, of which the transformer's context holds fewer.
int usualTurns(const std::string &policy);

/// What a session that is resumed may take: the logged budget where the request does not say.
Budget resumedBudget(const RunRequest &request, const Json &start);

/// The endpoint of the request; each of several attempts samples with a seed of its own.
policy::EndpointConfig endpointOf(const RunRequest &request);

/// "cuda-agent-sessions/TASK-YYYYmmdd-HHMMSS" below the current folder.
std::filesystem::path defaultSessionFolder(const task::Spec &spec);

/// What a run says besides its events. Called on the thread that calls `Run`.
struct RunListener {
    std::function<void(const session::Event &)> event;     ///< after it is in the log
    std::function<void(const std::string &what)> progress; ///< what is going on, for people
    std::function<void(bool resting)> resting;             ///< waits for the control, or goes on
    /// As LoopOptions::approve.
    std::function<Result<std::string>(const session::ToolCall &, std::stop_token)> approve;
};

/// One session being worked on: log, device, judge and policy. Owns them; one thread.
class Run {
  public:
    /// Opens the device and creates the session folder, or opens the one that is there. Starts the
    /// transformer's model first where the request has none.
    /// `reopen`: a session that has ended may be opened too; the policy then rests until asked.
    /// A request that gives a part of a budget goes on with one that has ended.
    /// Errors: request (bad task, another task's session, a session that has ended), machine.
    static Result<Run> open(RunRequest request, RunListener listener, bool reopen = false);

    const session::State &state() const { return recorder_->state(); }
    const std::filesystem::path &folder() const { return recorder_->folder(); }
    bool resumed() const { return resumed_; }

    /// The state of the session in `request.session` if it has ended; nothing when there is none or
    /// it can go on. Starts nothing. Errors: as open().
    static Result<std::optional<session::State>> ended(const RunRequest &request);

    /// From the description of the task to `sessionEnded`: prepares the judge, lets the policy take
    /// its turns, writes the best candidate to `<session>/best`. Returns why it ended. With a
    /// control the engineer goes on having turns after that, until a stop: the judge stays warm.
    /// The log is whole in any case. Blocks. Errors: failed, machine, stopped.
    Result<std::string> go(Control *control, std::stop_token stop);

  private:
    Run(RunRequest request, RunListener listener);
    /// Which recorded session a resumed replay goes on with. `given`: null when none was named.
    Result<void> followRecorded(const session::State &state, const Json &given);
    /// A resumed session's turns are drawn as its log says, where the request does not.
    void keepDrawing(const Json &logged);
    Result<void> prepare(std::stop_token stop);
    Result<std::unique_ptr<policy::Policy>> makePolicy();
    Result<std::string> work(Control *control, std::stop_token stop);
    Result<void> finish(const Result<std::string> &ended);

    RunRequest request_;
    RunListener listener_;
    std::unique_ptr<device::Device> device_;
    std::unique_ptr<session::Recorder> recorder_;
    std::unique_ptr<judge::Judge> judge_;
    std::unique_ptr<tools::Workspace> workspace_;
    std::unique_ptr<TurnWriter> writer_;
    std::unique_ptr<policy::Policy> policy_;
    std::unique_ptr<Memory> memory_; ///< null: none is wanted
    bool resumed_ = false;
    bool ended_ = false; ///< was opened after its end
};

/// A language model's way into a session's log; `progress` hears notes too, and may be null.
/// Borrows both, which must outlive the policy.
policy::EndpointVoice endpointVoice(session::Recorder &recorder, TurnWriter &writer,
                                    std::function<void(const std::string &)> progress);

/// Copies the best candidate's files to `<session>/best` for people and `check`.
Result<void> writeBest(const std::filesystem::path &session, const session::State &state);

} // namespace cuda_agent::agent
