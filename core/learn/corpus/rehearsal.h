// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/temporary_folder.h"
#include "core/learn/corpus/document.h"
#include "core/learn/corpus/observations.h"
#include "core/tools/toolbox.h"

namespace cuda_agent::learn {

/// A task whose candidates are judged in training strength. Its judge is prepared when a candidate
/// comes that `known` does not know. One thread.
class TaskJudge {
  public:
    struct Setting {
        task::Spec spec;
        std::string code; ///< of the task, as sessions show it
        device::Info device;
        judge::Options judge;
        /// Of the judge's own. Errors: machine.
        std::function<Result<std::unique_ptr<device::Device>>()> open;
        Observations *known = nullptr; ///< borrowed
        std::function<void()>
            judged; ///< called after each verdict that was not known; may be empty
    };
    explicit TaskJudge(Setting setting) : setting_(std::move(setting)) {}

    const Setting &setting() const { return setting_; }
    /// What the tool Verify answers in that session; out of memory is the machine's failure here.
    /// Blocks. Errors: request (the task cannot be judged by), machine, stopped.
    Result<session::Observation> verify(tools::Workspace::Parts parts, int turn,
                                        const session::ToolCall &call, const std::stop_token &stop);
    /// time(a) / time(b), both timed in turns: the low end of its 95 % interval, so that drift of
    /// the machine between two verdicts is not taken for a gain; 0 where one is not correct.
    /// Errors: as verify().
    Result<double> gain(const CandidateText &a, const CandidateText &b,
                        const std::stop_token &stop);

  private:
    Result<judge::Judge *> judge(const std::stop_token &stop);
    tl::unexpected<Error> failed(const Error &error);

    Setting setting_;
    std::unique_ptr<judge::Judge> judge_;
    std::optional<Error> failure_; ///< of preparing it: not tried again
    int failures_ = 0;             ///< of the machine, while it judged
};

/// What a turn led to.
struct Observed {
    chat::Segment observations;         ///< as chat::observationsOf() shows them to a model
    std::optional<TurnVerdict> verdict; ///< of the last Verify
    bool refused = false;               ///< a call but Verify was not done
};

/// A session whose turns are written beforehand and really played, each in what the one before left
/// in the workspace, with the tools that an agent has. The judge outlives it. One thread.
class Rehearsal {
  public:
    /// Errors: machine.
    static Result<Rehearsal> begin(TaskJudge &judge);

    /// Reads the turn as what a model wrote and does its calls. Blocks. Errors: request (it cannot
    /// be read, or the task cannot be judged by), machine, stopped.
    Result<Observed> play(const chat::Segment &turn, const std::stop_token &stop);
    /// A file of the workspace as it is now. Errors: request.
    Result<std::string> read(const std::string &path) const { return workspace_->read(path); }

  private:
    Rehearsal(TaskJudge &judge, TemporaryFolder folder)
        : judge_(&judge), folder_(std::move(folder)) {}

    tools::Workspace::Parts parts() const;

    TaskJudge *judge_;
    TemporaryFolder folder_;
    std::unique_ptr<session::Recorder> recorder_;
    std::optional<tools::Workspace> workspace_;
    int turns_ = 0;
};

} // namespace cuda_agent::learn
