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

namespace {

/// Share of a GPU's memory that is free before a judge is prepared beside others.
constexpr double roomShare = 0.3;
/// Share that a judge's sealed cases take at most.
constexpr double caseShare = 0.05;
/// Of preparing a judge, where memory was short.
constexpr int mostAttempts = 3;

} // namespace

JudgePool::JudgePool(Options options) : options_(std::move(options)) {
    if (options_.device == "cpu" || options_.freeShare)
        return;
    auto device = options_.device == "cuda" ? device::openCuda(options_.gpu)
                                            : device::openNamed(options_.device);
    if (!device || (*device)->info().kind != device::Kind::cuda)
        return;
    options_.freeShare = [gpu = std::shared_ptr(std::move(*device))] {
        const auto free = gpu->freeBytes();
        return free ? static_cast<double>(*free) / static_cast<double>(gpu->info().memoryBytes)
                    : 1.0;
    };
}

JudgePool::~JudgePool() = default;

JudgePool::Seat::Seat(Seat &&other) noexcept
    : pool_(other.pool_), entry_(std::exchange(other.entry_, nullptr)),
      taken_(std::exchange(other.taken_, false)) {}

JudgePool::Seat::~Seat() {
    if (!entry_)
        return;
    leave();
    bool last = false;
    {
        const std::lock_guard lock(pool_->mutex_);
        last = entry_->seats == 1;
        if (last)
            entry_->taken = true; // nobody else may use it while it is put to rest
    }
    if (last)
        entry_->judge->rest();
    Gone gone; // their processes end without the lock
    const std::lock_guard lock(pool_->mutex_);
    if (last)
        entry_->taken = false;
    --entry_->seats;
    entry_->used = ++pool_->clock_;
    pool_->makeRoom(gone);
    pool_->changed_.notify_all();
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
    for (int attempt = 1; !entry.judge && !entry.unusable; ++attempt) {
        CUDA_AGENT_TRY(waitForRoom(lock, entry, stop));
        if (entry.judge || entry.unusable)
            break;
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
            break;
        }
        const auto &error = judge.error();
        if (error.kind != ErrorKind::request)
            return tl::unexpected(error);
        // What fails while others hold the memory may do when they do not.
        if (hasOthers(entry) && !hasRoom()) {
            if (attempt < mostAttempts)
                continue;
            return machineError("the GPU's memory is short: {}", error.message);
        }
        entry.unusable = error;
        if (options_.unusable)
            options_.unusable(spec.name(), error.message);
    }
    if (entry.unusable)
        return tl::unexpected(*entry.unusable);
    ++entry.seats;
    return Seat(*this, entry);
}

Result<void> JudgePool::waitForRoom(std::unique_lock<std::mutex> &lock, const Seat::Entry &entry,
                                    const std::stop_token &stop) {
    const auto isKnown = [&] { return entry.judge || entry.unusable; };
    for (;;) {
        if (!changed_.wait(lock, stop, [&] {
                return isKnown() || (!entry.preparing && busy_ < std::max(options_.atOnce, 1));
            }))
            return stoppedError();
        if (isKnown() || !hasOthers(entry) || hasRoom())
            return {};
        if (const auto unused = idle(); !unused.empty()) {
            auto gone = std::move(unused.front()->judge);
            lock.unlock();
            gone.reset();
            lock.lock();
        } else { // until somebody leaves
            changed_.wait_for(lock, stop, std::chrono::milliseconds(200), [] { return false; });
            if (stop.stop_requested())
                return stoppedError();
        }
    }
}

JudgePool::Counts JudgePool::counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
}

Result<std::unique_ptr<judge::Judge>> JudgePool::prepare(const task::Spec &spec,
                                                         const std::stop_token &stop) const {
    CUDA_AGENT_ASSIGN(device, options_.device == "cuda" ? device::openCuda(options_.gpu)
                                                        : device::openNamed(options_.device));
    auto own = options_.judge;
    if (own.caseBytes == 0 && device->info().kind == device::Kind::cuda)
        own.caseBytes =
            static_cast<std::uint64_t>(caseShare * static_cast<double>(device->info().memoryBytes));
    return judge::Judge::prepare(spec, std::move(device), own, {}, stop);
}

std::vector<JudgePool::Seat::Entry *> JudgePool::idle() const {
    std::vector<Seat::Entry *> idle;
    for (const auto &[name, entry] : entries_)
        if (entry->judge && entry->seats == 0)
            idle.push_back(entry.get());
    std::ranges::sort(idle, {}, &Seat::Entry::used);
    return idle;
}

void JudgePool::makeRoom(Gone &gone) {
    const auto unused = idle();
    for (std::size_t i = 0; i + options_.kept < unused.size(); ++i)
        gone.push_back(std::move(unused[i]->judge));
}

bool JudgePool::hasRoom() const {
    return !options_.freeShare || options_.freeShare() >= roomShare;
}

bool JudgePool::hasOthers(const Seat::Entry &but) const {
    return std::ranges::any_of(entries_, [&](const auto &named) {
        const auto &entry = *named.second;
        return &entry != &but && (entry.judge || entry.preparing);
    });
}

} // namespace cuda_agent::learn
