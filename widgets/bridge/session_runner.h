// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agent/run.h"

#include <QObject>
#include <QString>

#include <memory>
#include <optional>
#include <set>
#include <thread>

namespace cuda_agent::widgets {

/// The one bridge from the engine's threads to the GUI: runs one session on a thread of its own and
/// queues what happens to the GUI thread. Owns the thread; the destructor stops it and waits, at
/// most as long as the engine needs to end its processes. All members: GUI thread.
class SessionRunner : public QObject {
    Q_OBJECT
  public:
    enum class State {
        idle,      ///< nothing has been started
        preparing, ///< task, oracle and baselines
        running,
        pausing, ///< asked for; the turn under way is finished first
        paused,  ///< the engineer may edit and check
        stopping,
        ended,
    };
    Q_ENUM(State)

    explicit SessionRunner(QObject *parent = nullptr);
    ~SessionRunner() override;

    State state() const { return state_; }
    bool busy() const { return state_ != State::idle && state_ != State::ended; }

    /// Opens or resumes the session and lets the policy run (or only `step`, or only rest, ready
    /// for the engineer's checks). Errors arrive as `failed`.
    enum class First { run, step, rest };
    void start(agent::RunRequest request, First first);
    void resume();
    void pause();
    void step();
    /// Ends the run; the log is whole and can be resumed.
    void stop();
    /// A turn of the engineer's: writes the files and, if asked, verifies. While the policy is at
    /// work it comes after the turn under way.
    void check(const std::map<std::string, std::string> &files, bool full);
    /// A turn of the engineer's: writes `before`, profiles what the workspace holds then, and
    /// writes `after`, so that the workspace is as it was. Comes after the turn under way.
    void profile(const std::map<std::string, std::string> &before,
                 const std::map<std::string, std::string> &after);
    /// A turn of the engineer's that only writes files.
    void write(const std::map<std::string, std::string> &files);
    /// A turn of the engineer's that is a message to the agent; comes after the turn under way.
    void tell(const QString &message);

    /// Tools whose calls by the policy wait for `answer`. Takes effect at once, also on a call that
    /// waits; holds for later runs too.
    void setAsking(std::set<std::string> tools);
    const std::set<std::string> &asking() const { return asking_; }
    /// The call that waits now.
    const std::optional<session::ToolCall> &waiting() const { return waiting_; }
    /// Lets the call of that id go on; `refusal`, when not empty, is why it may not, as the agent
    /// reads it. An id that does not wait (any more) is left alone.
    void answer(const std::string &id, const std::string &refusal);
    /// Stops and waits. For closing.
    void shutDown();

  signals:
    void stateChanged();
    void eventsArrived(const std::vector<session::Event> &events);
    /// What is going on, in words; empty when nothing is.
    void progress(const QString &what);
    /// `waiting` is another.
    void waitingChanged();
    /// The run could not go on; `text` says why and what to do. The log is whole.
    void failed(const QString &text);
    /// The run is over: `reason` in words, empty after `failed`.
    void ended(const QString &reason);

  private:
    struct Shared;
    std::string newCallId();
    void addWrites(std::vector<session::ToolCall> &calls,
                   const std::map<std::string, std::string> &files);
    void setState(State state);
    void setWaiting(std::optional<session::ToolCall> call);
    void deliver();

    State state_ = State::idle;
    bool prepared_ = false;
    int checks_ = 0;
    std::set<std::string> asking_;
    std::optional<session::ToolCall> waiting_;
    std::shared_ptr<Shared> shared_;
    std::jthread thread_;
};

} // namespace cuda_agent::widgets
