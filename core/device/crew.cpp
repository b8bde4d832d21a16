// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/crew.h"

#include <algorithm>

namespace cuda_agent::device {

Crew::Crew() : size_(static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))) {}

Crew::~Crew() {
    {
        std::lock_guard lock(mutex_);
        quit_ = true;
    }
    wake_.notify_all();
    for (auto &thread : threads_)
        thread.join();
}

void Crew::start() {
    for (int i = 1; i < size_; ++i)
        threads_.emplace_back([this] { serve(); });
}

void Crew::run(std::int64_t parts, const std::function<void(std::int64_t)> &part) {
    if (parts <= 1 || size_ == 1) {
        for (std::int64_t i = 0; i < parts; ++i)
            part(i);
        return;
    }
    if (threads_.empty())
        start();
    // No more threads than parts: waking many costs more than a small job takes.
    const auto helpers = std::min<std::int64_t>(parts - 1, size_ - 1);
    {
        std::lock_guard lock(mutex_);
        part_ = &part;
        parts_ = parts;
        next_ = 0;
        wanted_ = static_cast<int>(helpers);
    }
    for (std::int64_t i = 0; i < helpers; ++i)
        wake_.notify_one();
    work();
    // All parts are taken; who has not joined by now need not.
    std::unique_lock lock(mutex_);
    wanted_ = 0;
    done_.wait(lock, [this] { return busy_ == 0; });
}

void Crew::work() {
    for (auto i = next_.fetch_add(1); i < parts_; i = next_.fetch_add(1))
        (*part_)(i);
}

void Crew::serve() {
    std::unique_lock lock(mutex_);
    while (true) {
        wake_.wait(lock, [this] { return quit_ || wanted_ > 0; });
        if (quit_)
            return;
        --wanted_;
        ++busy_;
        lock.unlock();
        work();
        lock.lock();
        if (--busy_ == 0)
            done_.notify_one();
    }
}

} // namespace cuda_agent::device
