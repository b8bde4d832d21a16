// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/agent/control.h"

namespace cuda_agent::agent {

void Control::run() {
    const std::lock_guard lock(mutex_);
    mode_ = Mode::run;
    changed_.notify_all();
}

void Control::pause() {
    const std::lock_guard lock(mutex_);
    mode_ = Mode::pause;
}

void Control::step() {
    const std::lock_guard lock(mutex_);
    mode_ = Mode::step;
    changed_.notify_all();
}

void Control::post(Order order) {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(order));
    changed_.notify_all();
}

void Control::policyDone() {
    pause();
}

Result<Control::Order> Control::next(std::stop_token stop, const std::function<void()> &resting) {
    std::unique_lock lock(mutex_);
    if (mode_ == Mode::pause && posted_.empty() && !stop.stop_requested() && resting) {
        lock.unlock(); // the callback may call back
        resting();
        lock.lock();
    }
    changed_.wait(lock, stop, [&] { return mode_ != Mode::pause || !posted_.empty(); });
    if (stop.stop_requested())
        return stoppedError();
    Order order;
    if (!posted_.empty()) {
        order = std::move(posted_.front());
        posted_.pop_front();
    } else if (mode_ == Mode::step) {
        mode_ = Mode::pause;
    }
    return order;
}

} // namespace cuda_agent::agent
