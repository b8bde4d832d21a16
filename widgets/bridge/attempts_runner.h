// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agent/best_of.h"

#include <QObject>
#include <QString>

#include <memory>
#include <thread>

namespace cuda_agent::widgets {

/// Runs several attempts at one task on threads of the engine and queues what happens to the GUI
/// thread. Owns them; the destructor stops all and waits, at most as long as the engine needs to
/// end its processes. All members: GUI thread.
class AttemptsRunner : public QObject {
    Q_OBJECT
  public:
    enum class State { idle, running, stopping, ended };
    Q_ENUM(State)

    explicit AttemptsRunner(QObject *parent = nullptr);
    ~AttemptsRunner() override;

    State state() const { return state_; }
    bool busy() const { return state_ == State::running || state_ == State::stopping; }

    /// Begins the attempts or goes on with them; does nothing while busy. Errors arrive as
    /// `failed`.
    void start(agent::BestOfRequest request);
    /// Ends them all; their logs are whole and can be resumed.
    void stop();
    /// Stops and waits. For closing.
    void shutDown();

  signals:
    void stateChanged();
    /// How many run at once, on how many GPUs; 0: on the CPU.
    void placed(int atOnce, int gpus);
    void eventsArrived(int attempt, const std::vector<session::Event> &events);
    /// What is going on in an attempt, in words; 0: in the comparison at the end.
    void progress(int attempt, const QString &what);
    /// They could not go on; `text` says why and what to do.
    void failed(const QString &text);
    /// All are over and compared. Neither after `failed` nor after a stop.
    void finished(const agent::BestOf &outcome);

  private:
    struct Shared;
    void setState(State state);
    void deliver();

    State state_ = State::idle;
    std::shared_ptr<Shared> shared_;
    std::jthread thread_;
};

} // namespace cuda_agent::widgets
