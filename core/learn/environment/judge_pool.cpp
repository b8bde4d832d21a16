// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/environment/judge_pool.h"

#include <algorithm>
#include <chrono>

namespace cuda_agent::learn {

using Clock = std::chrono::steady_clock;

struct JudgePool::Seat::Entry {
    std::unique_ptr<judge::Judge> judge; ///< null: not prepared, or gone
    std::optional<Error> unusable;       ///< the task is
    bool preparing = false, taken = false;
    int seats = 0;
    std::uint64_t used = 0; ///< the pool's clock when the last seat was left
};

JudgePool::JudgePool(Options options) : options_(std::move(options)) {}

JudgePool::~JudgePool() = default;

JudgePool::Seat::Seat(Seat &&other) noexcept
    : pool_(other.pool_), entry_(std::exchange(other.entry_, nullptr)),
      taken_(std::exchange(other.taken_, false)) {}

JudgePool::Seat::~Seat() {
    if (!entry_)
        return;
    leave();
    std::vector<std::unique_ptr<judge::Judge>> gone; // their processes end without the lock
    const std::lock_guard lock(pool_->mutex_);
    --entry_->seats;
    entry_->used = ++pool_->clock_;
    pool_->makeRoom(gone);
}

judge::Judge &JudgePool::Seat::judge() const {
    return *entry_->judge;
}

Result<void> JudgePool::Seat::take(const std::stop_token &stop) {
    if (taken_)
        return {};
    std::unique_lock lock(pool_->mutex_);
    if (!pool_->changed_.wait(
            lock, stop, [&] { return !entry_->taken && pool_->busy_ < pool_->options_.atOnce; }))
        return stoppedError();
    entry_->taken = taken_ = true;
    ++pool_->busy_;
    return {};
}

void JudgePool::Seat::leave() {
    if (!taken_)
        return;
    const std::lock_guard lock(pool_->mutex_);
    entry_->taken = taken_ = false;
    --pool_->busy_;
    pool_->changed_.notify_all();
}

Result<JudgePool::Seat> JudgePool::sit(const task::Spec &spec, const std::stop_token &stop) {
    std::unique_lock lock(mutex_);
    auto &place = entries_[fmt::format("{}\n{}", spec.file.string(), Json(spec.overrides).dump())];
    if (!place)
        place = std::make_unique<Seat::Entry>();
    auto &entry = *place;
    const auto mayGo = [&] {
        return entry.judge || entry.unusable ||
               (!entry.preparing && busy_ < std::max(options_.atOnce, 1));
    };
    if (!changed_.wait(lock, stop, mayGo))
        return stoppedError();
    if (!entry.judge && !entry.unusable) {
        entry.preparing = true;
        ++busy_;
        lock.unlock();
        const auto begin = Clock::now();
        auto judge = prepare(spec, stop);
        lock.lock();
        counts_.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
        entry.preparing = false;
        --busy_;
        changed_.notify_all();
        if (judge) {
            entry.judge = std::move(*judge);
            ++counts_.prepared;
        } else if (judge.error().kind == ErrorKind::request) {
            entry.unusable = judge.error();
        } else {
            return tl::unexpected(judge.error());
        }
    }
    if (entry.unusable)
        return tl::unexpected(*entry.unusable);
    ++entry.seats;
    return Seat(*this, entry);
}

JudgePool::Counts JudgePool::counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
}

Result<std::unique_ptr<judge::Judge>> JudgePool::prepare(const task::Spec &spec,
                                                         const std::stop_token &stop) const {
    CUDA_AGENT_ASSIGN(device, options_.device == "cuda" ? device::openCuda(options_.gpu)
                                                        : device::openNamed(options_.device));
    return judge::Judge::prepare(spec, std::move(device), options_.judge, {}, stop);
}

void JudgePool::makeRoom(std::vector<std::unique_ptr<judge::Judge>> &gone) {
    std::vector<Seat::Entry *> idle;
    for (const auto &[name, entry] : entries_)
        if (entry->judge && entry->seats == 0)
            idle.push_back(entry.get());
    std::ranges::sort(idle, {}, &Seat::Entry::used);
    for (std::size_t i = 0; i + options_.kept < idle.size(); ++i)
        gone.push_back(std::move(idle[i]->judge));
}

} // namespace cuda_agent::learn
