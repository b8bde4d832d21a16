// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/bridge/attempts_runner.h"

#include <map>
#include <mutex>

namespace cuda_agent::widgets {

/// What both sides touch.
struct AttemptsRunner::Shared {
    std::mutex mutex;
    std::map<int, std::vector<session::Event>> events; ///< not yet delivered, by attempt
    bool deliveryQueued = false;
};

AttemptsRunner::AttemptsRunner(QObject *parent) : QObject(parent) {}

AttemptsRunner::~AttemptsRunner() {
    shutDown();
}

void AttemptsRunner::setState(State state) {
    if (state_ == state)
        return;
    state_ = state;
    Q_EMIT stateChanged();
}

void AttemptsRunner::start(agent::BestOfRequest request) {
    if (busy())
        return;
    shutDown();
    shared_ = std::make_shared<Shared>();
    setState(State::running);
    // As in SessionRunner: the thread ends before this object does, what is queued dies with it.
    const auto shared = shared_;
    const auto post = [this, shared](auto work) {
        QMetaObject::invokeMethod(
            this,
            [this, shared, work] {
                if (shared == shared_)
                    work();
            },
            Qt::QueuedConnection);
    };
    thread_ =
        std::jthread([this, shared, post, request = std::move(request)](std::stop_token stop) {
            agent::BestOfListener listener;
            listener.event = [&](int attempt, const session::Event &event) {
                const std::lock_guard lock(shared->mutex);
                shared->events[attempt].push_back(event);
                if (!std::exchange(shared->deliveryQueued, true))
                    post([this] { deliver(); });
            };
            listener.progress = [&](int attempt, const std::string &what) {
                post([this, attempt, text = QString::fromStdString(what)] {
                    Q_EMIT progress(attempt, text);
                });
            };
            if (const auto lanes = agent::lanesFor(request))
                post([this, lanes = *lanes] { Q_EMIT placed(lanes.atOnce, lanes.gpus); });
            const auto outcome = agent::runBestOf(request, listener, stop);
            post([this, outcome] {
                deliver();
                setState(State::ended);
                if (outcome)
                    Q_EMIT finished(*outcome);
                else if (outcome.error().kind != ErrorKind::stopped)
                    Q_EMIT failed(QString::fromStdString(outcome.error().message));
            });
        });
}

void AttemptsRunner::deliver() {
    std::map<int, std::vector<session::Event>> events;
    {
        const std::lock_guard lock(shared_->mutex);
        events.swap(shared_->events);
        shared_->deliveryQueued = false;
    }
    for (const auto &[attempt, some] : events)
        Q_EMIT eventsArrived(attempt, some);
}

void AttemptsRunner::stop() {
    if (!busy())
        return;
    setState(State::stopping);
    thread_.request_stop();
}

void AttemptsRunner::shutDown() {
    if (!thread_.joinable())
        return;
    thread_.request_stop();
    thread_.join();
    if (shared_)
        deliver();
    setState(State::ended);
}

} // namespace cuda_agent::widgets
