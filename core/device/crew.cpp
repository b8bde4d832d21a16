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
    {
        std::lock_guard lock(mutex_);
        part_ = &part;
        parts_ = parts;
        next_ = 0;
        busy_ = static_cast<int>(threads_.size());
        ++round_;
    }
    wake_.notify_all();
    work();
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
}

void Crew::work() {
    for (auto i = next_.fetch_add(1); i < parts_; i = next_.fetch_add(1))
        (*part_)(i);
}

void Crew::serve() {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    while (true) {
        wake_.wait(lock, [&] { return quit_ || round_ != seen; });
        if (quit_)
            return;
        seen = round_;
        lock.unlock();
        work();
        lock.lock();
        if (--busy_ == 0)
            done_.notify_one();
    }
}

} // namespace cuda_agent::device
