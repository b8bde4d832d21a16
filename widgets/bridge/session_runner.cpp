// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/bridge/session_runner.h"

#include <QDateTime>

#include <condition_variable>

namespace cuda_agent::widgets {

/// What both threads touch.
struct SessionRunner::Shared {
    agent::Control control;
    std::mutex mutex;
    std::vector<session::Event> events; ///< not yet delivered
    bool deliveryQueued = false;

    // Of calls that wait for the engineer.
    std::condition_variable_any answered;
    std::set<std::string> asking;
    std::map<std::string, std::string> answers; ///< id of a call -> refusal, empty to allow

    /// Whether the engineer has to be asked. Any thread.
    bool asks(const session::ToolCall &call) {
        const std::lock_guard lock(mutex);
        return asking.contains(call.tool);
    }
    /// The engine's thread: blocks until the engineer answers or does not want to be asked any
    /// more. Errors: stopped.
    Result<std::string> wait(const session::ToolCall &call, const std::stop_token &stop) {
        std::unique_lock lock(mutex);
        answered.wait(lock, stop,
                      [&] { return answers.contains(call.id) || !asking.contains(call.tool); });
        if (stop.stop_requested())
            return stoppedError();
        std::string refusal;
        if (const auto found = answers.find(call.id); found != answers.end())
            refusal = found->second;
        answers.clear();
        return refusal;
    }
};

SessionRunner::SessionRunner(QObject *parent) : QObject(parent) {}

SessionRunner::~SessionRunner() {
    shutDown();
}

void SessionRunner::setState(State state) {
    if (state_ == state)
        return;
    state_ = state;
    Q_EMIT stateChanged();
}

void SessionRunner::start(agent::RunRequest request, First first) {
    if (busy())
        return;
    shutDown();
    prepared_ = false;
    shared_ = std::make_shared<Shared>();
    shared_->asking = asking_;
    if (first == First::step)
        shared_->control.step();
    else if (first == First::rest)
        shared_->control.pause();
    setState(State::preparing);
    // The thread ends before this object does (shutDown), so that `this` is there to post to; what
    // is still queued then dies with it.
    const auto shared = shared_;
    const bool reopen = first == First::rest;
    const auto post = [this, shared](auto work) {
        QMetaObject::invokeMethod(
            this,
            [this, shared, work] {
                if (shared == shared_) // else a later run has begun
                    work();
            },
            Qt::QueuedConnection);
    };
    thread_ = std::jthread(
        [this, shared, reopen, post, request = std::move(request)](std::stop_token stop) mutable {
            agent::RunListener listener;
            listener.event = [&](const session::Event &event) {
                const std::lock_guard lock(shared->mutex);
                shared->events.push_back(event);
                if (!std::exchange(shared->deliveryQueued, true))
                    post([this] { deliver(); });
            };
            listener.progress = [&](const std::string &what) {
                post([this, text = QString::fromStdString(what)] { Q_EMIT progress(text); });
            };
            listener.resting = [&](bool resting) {
                post([this, resting] {
                    prepared_ = true;
                    Q_EMIT progress(QString());
                    if (state_ != State::stopping)
                        setState(resting                    ? State::paused
                                 : state_ == State::pausing ? State::pausing
                                                            : State::running);
                });
            };
            listener.approve = [&](const session::ToolCall &call,
                                   std::stop_token stopped) -> Result<std::string> {
                if (!shared->asks(call))
                    return std::string();
                post([this, call] { setWaiting(call); });
                auto answer = shared->wait(call, stopped);
                post([this] { setWaiting({}); });
                return answer;
            };
            auto run = agent::Run::open(std::move(request), listener, reopen);
            const auto ended = run ? run->go(&shared->control, stop)
                                   : Result<std::string>(tl::unexpected(run.error()));
            post([this, ended] {
                deliver();
                setWaiting({});
                setState(State::ended);
                Q_EMIT progress(QString());
                const bool stopped = !ended && ended.error().kind == ErrorKind::stopped;
                if (!ended && !stopped)
                    Q_EMIT failed(QString::fromStdString(ended.error().message));
                Q_EMIT this->ended(ended     ? QString::fromStdString(*ended)
                                   : stopped ? tr("stopped")
                                             : QString());
            });
        });
}

void SessionRunner::deliver() {
    std::vector<session::Event> events;
    {
        const std::lock_guard lock(shared_->mutex);
        events.swap(shared_->events);
        shared_->deliveryQueued = false;
    }
    if (!events.empty())
        Q_EMIT eventsArrived(events);
}

void SessionRunner::resume() {
    if (!busy() || state_ == State::stopping)
        return;
    shared_->control.run();
    if (prepared_)
        setState(State::running);
}

void SessionRunner::pause() {
    if (!busy() || state_ == State::stopping)
        return;
    shared_->control.pause();
    if (state_ == State::running)
        setState(State::pausing);
}

void SessionRunner::step() {
    if (!busy() || state_ == State::stopping)
        return;
    shared_->control.step();
    if (prepared_)
        setState(State::running);
}

void SessionRunner::stop() {
    if (!busy())
        return;
    setState(State::stopping);
    thread_.request_stop();
}

/// Unique in the session also when it is opened again.
std::string SessionRunner::newCallId() {
    return QStringLiteral("engineer-%1-%2")
        .arg(QDateTime::currentMSecsSinceEpoch())
        .arg(++checks_)
        .toStdString();
}

void SessionRunner::addWrites(std::vector<session::ToolCall> &calls,
                              const std::map<std::string, std::string> &files) {
    for (const auto &[path, text] : files)
        calls.push_back({newCallId(), "Write", {{"path", path}, {"content", text}}});
}

void SessionRunner::check(const std::map<std::string, std::string> &files, bool full) {
    if (!busy())
        return;
    std::vector<session::ToolCall> calls;
    addWrites(calls, files);
    calls.push_back({newCallId(), "Verify", {{"strength", full ? "full" : "training"}}});
    shared_->control.post({{}, std::move(calls)});
}

void SessionRunner::profile(const std::map<std::string, std::string> &before,
                            const std::map<std::string, std::string> &after) {
    if (!busy())
        return;
    std::vector<session::ToolCall> calls;
    addWrites(calls, before);
    calls.push_back({newCallId(), "Profile", Json::object()});
    addWrites(calls, after);
    shared_->control.post({{}, std::move(calls)});
}

void SessionRunner::write(const std::map<std::string, std::string> &files) {
    if (!busy() || files.empty())
        return;
    std::vector<session::ToolCall> calls;
    addWrites(calls, files);
    shared_->control.post({{}, std::move(calls)});
}

void SessionRunner::tell(const QString &message) {
    const std::string text = message.trimmed().toStdString();
    if (busy() && state_ != State::stopping && !text.empty())
        shared_->control.post({text, {}});
}

void SessionRunner::setAsking(std::set<std::string> tools) {
    asking_ = std::move(tools);
    if (!shared_)
        return;
    const std::lock_guard lock(shared_->mutex);
    shared_->asking = asking_;
    shared_->answered.notify_all();
}

void SessionRunner::setWaiting(std::optional<session::ToolCall> call) {
    if (!call && !waiting_)
        return;
    waiting_ = std::move(call);
    Q_EMIT waitingChanged();
}

void SessionRunner::answer(const std::string &id, const std::string &refusal) {
    if (!shared_ || !waiting_ || waiting_->id != id)
        return;
    {
        const std::lock_guard lock(shared_->mutex);
        shared_->answers[id] = refusal;
        shared_->answered.notify_all();
    }
    setWaiting({});
}

void SessionRunner::shutDown() {
    if (!thread_.joinable())
        return;
    thread_.request_stop();
    thread_.join();
    if (shared_)
        deliver();
    setWaiting({});
    setState(State::ended);
}

} // namespace cuda_agent::widgets
