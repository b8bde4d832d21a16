// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/environment/judge_pool.h"

#include "core/base/elapsed.h"
#include "core/base/parallel.h"

#include <algorithm>
#include <chrono>

namespace cuda_agent::learn {

using Clock = std::chrono::steady_clock;

/// One of a task's judges, which are each other's twins.
struct JudgePool::Seat::Lane {
    std::unique_ptr<judge::Judge> judge; ///< null: a twin that is being made
    bool taken = false;
    int seats = 0;
};

struct JudgePool::Seat::Entry {
    std::vector<std::unique_ptr<Lane>> lanes; ///< empty: not prepared, or gone
    std::optional<Error> unusable;            ///< the task is
    bool preparing = false;
    int gpu = 0;            ///< of its judges
    std::uint64_t used = 0; ///< the pool's clock when it was prepared or a seat was left
    bool isKnown() const { return !lanes.empty() || unusable; }
    bool isIdle() const {
        return !lanes.empty() &&
               std::ranges::all_of(lanes, [](const auto &lane) { return lane->seats == 0; });
    }
};

namespace {

/// Share of a GPU's memory that is free before a judge is prepared beside others.
constexpr double roomShare = 0.2;
/// The same before a verdict begins beside others.
constexpr double verdictShare = 0.15;
/// Share that one being prepared may still come to take, beside what it has by then.
constexpr double preparingShare = 0.04;
/// Of preparing a judge, where memory was short.
constexpr int mostAttempts = 3;

} // namespace

JudgePool::JudgePool(Options options) : options_(std::move(options)) {
    options_.atOnce = std::max(options_.atOnce, 1);
    if (options_.judge.threads == 0)
        options_.judge.threads = judge::threadsOfEach(static_cast<std::size_t>(options_.atOnce));
    if (options_.judge.timing && options_.judge.interleaveBaselines)
        options_.perTask = 1;
    if (options_.gpus.empty())
        options_.gpus = {0};
    if (!options_.judge.runners)
        for (const int gpu : options_.gpus)
            runners_[gpu] =
                std::make_shared<judge::IdleRunners>(static_cast<std::size_t>(options_.atOnce));
    if (!options_.judge.stock)
        for (const int gpu : options_.gpus)
            stocks_[gpu] = std::make_shared<reference::Stock>(
                static_cast<std::size_t>(options_.atOnce) / options_.gpus.size() + 1);
    if (options_.device == "cpu" || options_.freeShare)
        return;
    std::map<int, std::shared_ptr<device::Device>> devices;
    for (const int gpu : options_.gpus)
        if (auto device = openDevice(gpu); device && (*device)->info().kind == device::Kind::cuda)
            devices.emplace(gpu, std::move(*device));
    if (devices.empty())
        return;
    options_.freeShare = [devices = std::move(devices)](int gpu) {
        const auto found = devices.find(gpu);
        if (found == devices.end())
            return 1.0;
        const auto free = found->second->freeBytes();
        const auto all = static_cast<double>(found->second->info().memoryBytes);
        return free ? static_cast<double>(*free) / all : 1.0;
    };
}

JudgePool::~JudgePool() = default;

JudgePool::Seat::Seat(Seat &&other) noexcept
    : pool_(other.pool_), entry_(std::exchange(other.entry_, nullptr)), lane_(other.lane_),
      taken_(std::exchange(other.taken_, false)) {}

JudgePool::Seat::~Seat() {
    if (!entry_)
        return;
    leave();
    bool last = false;
    {
        const std::lock_guard lock(pool_->mutex_);
        last = lane_->seats == 1;
        if (last)
            lane_->taken = true; // nobody else may use it while it is put to rest
    }
    if (last)
        lane_->judge->rest();
    Gone gone; // their processes end without the lock
    const std::lock_guard lock(pool_->mutex_);
    if (last)
        lane_->taken = false;
    --lane_->seats;
    entry_->used = ++pool_->clock_;
    pool_->makeRoom(gone);
    pool_->changed_.notify_all();
}

judge::Judge &JudgePool::Seat::judge() const {
    return *lane_->judge;
}

Result<void> JudgePool::Seat::take(const std::stop_token &stop) {
    if (taken_)
        return {};
    Lock lock(pool_->mutex_);
    const auto isFree = [&] { return !lane_->taken && pool_->busy_ < pool_->options_.atOnce; };
    const int gpu = entry_->gpu;
    for (;;) {
        CUDA_AGENT_TRY(pool_->waitFor(lock, isFree, Wants::now, stop));
        if (pool_->hasRoom(gpu, verdictShare) || !pool_->isJudging(gpu))
            break;
        if (!pool_->letOneGo(lock, gpu))
            CUDA_AGENT_TRY(pool_->pause(lock, stop));
    }
    lane_->taken = taken_ = true;
    ++pool_->busy_;
    return {};
}

void JudgePool::Seat::leave() {
    if (!taken_)
        return;
    const std::lock_guard lock(pool_->mutex_);
    lane_->taken = taken_ = false;
    --pool_->busy_;
    pool_->changed_.notify_all();
}

Result<JudgePool::Seat> JudgePool::sit(const task::Spec &spec, const std::stop_token &stop) {
    Lock lock(mutex_);
    auto &entry = entryOf(spec);
    CUDA_AGENT_TRY(know(lock, entry, spec, Wants::now, stop));
    CUDA_AGENT_ASSIGN(lane, laneOf(lock, entry));
    return Seat(*this, entry, *lane);
}

void JudgePool::prepareAhead(std::vector<task::Spec> specs) {
    const std::lock_guard starting(aheadMutex_);
    ahead_ = {}; // waits for the one before
    ahead_ = std::jthread([this, specs = std::move(specs)](const std::stop_token &stop) {
        const auto threads = static_cast<unsigned>(mostAhead());
        const auto one = [&](std::size_t i) -> Result<bool> {
            Lock lock(mutex_);
            const auto done = know(lock, entryOf(specs[i]), specs[i], Wants::ahead, stop);
            if (!done && done.error().kind == ErrorKind::stopped)
                return tl::unexpected(done.error());
            return true; // whoever sits down there is told
        };
        (void)parallelResults<bool>(specs.size(), threads, one);
    });
}

JudgePool::Entry &JudgePool::entryOf(const task::Spec &spec) {
    auto &place = entries_[fmt::format("{}\n{}", spec.file.string(), Json(spec.overrides).dump())];
    if (!place)
        place = std::make_unique<Entry>();
    return *place;
}

Result<void> JudgePool::know(Lock &lock, Entry &entry, const task::Spec &spec, Wants wants,
                             const std::stop_token &stop) {
    for (int attempt = 1; !entry.isKnown(); ++attempt) {
        CUDA_AGENT_TRY(waitForRoom(lock, entry, wants, stop));
        if (entry.isKnown())
            break;
        entry.gpu = emptiestGpu(entry);
        entry.preparing = true;
        ++busy_;
        lock.unlock();
        const auto begin = Clock::now();
        auto judge = prepare(spec, entry.gpu, stop);
        lock.lock();
        counts_.seconds += secondsSince(begin);
        entry.preparing = false;
        --busy_;
        changed_.notify_all();
        if (judge) {
            entry.lanes.push_back(std::make_unique<Seat::Lane>());
            entry.lanes.back()->judge = std::move(*judge);
            entry.used = ++clock_;
            ++counts_.prepared;
            break;
        }
        const auto &error = judge.error();
        if (error.kind != ErrorKind::request)
            return tl::unexpected(error);
        // What fails while others hold the memory may do when they do not. What they had for a
        // moment may be free by now.
        const bool room = hasRoom(entry.gpu, roomShare);
        const bool memory = error.message.find("memory") != std::string::npos;
        if (others(entry, entry.gpu) > 0 && (memory || !room)) {
            if (attempt < mostAttempts)
                continue;
            if (!room)
                return machineError("the GPU's memory is short: {}", error.message);
        }
        entry.unusable = error;
        if (options_.unusable)
            options_.unusable(spec.name(), error.message);
    }
    return entry.unusable ? Result<void>(tl::unexpected(*entry.unusable)) : Result<void>();
}

Result<JudgePool::Seat::Lane *> JudgePool::laneOf(Lock &lock, Entry &entry) {
    auto &lanes = entry.lanes;
    Seat::Lane *emptiest = nullptr;
    for (const auto &lane : lanes)
        if (lane->judge && (!emptiest || lane->seats < emptiest->seats))
            emptiest = lane.get();
    ++emptiest->seats; // it stays while a twin is made
    if (emptiest->seats == 1 || static_cast<int>(lanes.size()) >= options_.perTask)
        return emptiest;
    auto *const added = lanes.emplace_back(std::make_unique<Seat::Lane>()).get();
    lock.unlock();
    auto device = openDevice(entry.gpu);
    auto twin = device ? emptiest->judge->twin(std::move(*device))
                       : Result<std::unique_ptr<judge::Judge>>(tl::unexpected(device.error()));
    lock.lock();
    if (!twin) {
        std::erase_if(lanes, [&](const auto &lane) { return lane.get() == added; });
        --emptiest->seats;
        changed_.notify_all();
        return tl::unexpected(twin.error());
    }
    added->judge = std::move(*twin);
    ++added->seats;
    --emptiest->seats;
    return added;
}

Result<void> JudgePool::waitForRoom(Lock &lock, const Entry &entry, Wants wants,
                                    const std::stop_token &stop) {
    const auto mayGo = [&] {
        return entry.isKnown() || (!entry.preparing && busy_ < options_.atOnce);
    };
    for (;;) {
        CUDA_AGENT_TRY(waitFor(lock, mayGo, wants, stop));
        const int gpu = emptiestGpu(entry);
        if (entry.isKnown() || others(entry, gpu) == 0 || mayPrepare(gpu))
            return {};
        if (wants == Wants::ahead || !letOneGo(lock, gpu))
            CUDA_AGENT_TRY(pause(lock, stop));
    }
}

bool JudgePool::letOneGo(Lock &lock, int gpu) {
    const auto unused = idle();
    const auto oldest = std::ranges::find(unused, gpu, &Entry::gpu);
    if (oldest == unused.end())
        return false;
    Gone gone;
    remove(**oldest, gone);
    lock.unlock();
    gone.clear();
    lock.lock();
    return true;
}

Result<void> JudgePool::pause(Lock &lock, const std::stop_token &stop) {
    changed_.wait_for(lock, stop, std::chrono::milliseconds(200), [] { return false; });
    return stop.stop_requested() ? stoppedError() : Result<void>();
}

Result<void> JudgePool::waitFor(Lock &lock, const std::function<bool()> &ready, Wants wants,
                                const std::stop_token &stop) {
    if (wants == Wants::ahead) {
        const auto mayGo = [&] { return waiting_ == 0 && busy_ < mostAhead() && ready(); };
        return changed_.wait(lock, stop, mayGo) ? Result<void>() : stoppedError();
    }
    ++waiting_;
    const bool is = changed_.wait(lock, stop, ready);
    if (--waiting_ == 0)
        changed_.notify_all();
    return is ? Result<void>() : stoppedError();
}

JudgePool::Counts JudgePool::counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
}

Result<std::unique_ptr<device::Device>> JudgePool::openDevice(int gpu) const {
    return options_.device == "cuda" ? device::openCuda(gpu) : device::openNamed(options_.device);
}

std::size_t JudgePool::judgesOfAGpu() const {
    const auto all = std::max(options_.kept, static_cast<std::size_t>(options_.atOnce));
    return (all + options_.gpus.size() - 1) / options_.gpus.size();
}

Result<std::unique_ptr<judge::Judge>> JudgePool::prepare(const task::Spec &spec, int gpu,
                                                         const std::stop_token &stop) const {
    CUDA_AGENT_ASSIGN(device, openDevice(gpu));
    auto own = options_.judge;
    if (own.caseBytes == 0 && device->info().kind == device::Kind::cuda)
        own.caseBytes = judge::caseBytesOfEach(device->info().memoryBytes, judgesOfAGpu());
    if (const auto found = runners_.find(gpu); found != runners_.end())
        own.runners = found->second;
    if (const auto found = stocks_.find(gpu); found != stocks_.end())
        own.stock = found->second;
    return judge::Judge::prepare(spec, std::move(device), own, {}, stop);
}

std::vector<JudgePool::Entry *> JudgePool::idle() const {
    std::vector<Entry *> idle;
    for (const auto &[name, entry] : entries_)
        if (entry->isIdle())
            idle.push_back(entry.get());
    std::ranges::sort(idle, {}, &Entry::used);
    return idle;
}

void JudgePool::remove(Entry &entry, Gone &gone) {
    for (auto &lane : entry.lanes)
        gone.push_back(std::move(lane->judge));
    entry.lanes.clear();
}

void JudgePool::makeRoom(Gone &gone) {
    const auto unused = idle();
    for (std::size_t i = 0; i + options_.kept < unused.size(); ++i)
        remove(*unused[i], gone);
}

bool JudgePool::hasRoom(int gpu, double share) const {
    return !options_.freeShare || options_.freeShare(gpu) >= share;
}

bool JudgePool::mayPrepare(int gpu) const {
    const auto preparing = std::ranges::count_if(entries_, [&](const auto &named) {
        return named.second->gpu == gpu && named.second->preparing;
    });
    return hasRoom(gpu, roomShare + preparingShare * static_cast<double>(preparing));
}

bool JudgePool::isJudging(int gpu) const {
    return std::ranges::any_of(entries_, [&](const auto &named) {
        return named.second->gpu == gpu &&
               std::ranges::any_of(named.second->lanes,
                                   [](const auto &lane) { return lane->taken; });
    });
}

std::size_t JudgePool::others(const Entry &but, int gpu) const {
    return static_cast<std::size_t>(std::ranges::count_if(entries_, [&](const auto &named) {
        const auto &entry = *named.second;
        return &entry != &but && entry.gpu == gpu && (!entry.lanes.empty() || entry.preparing);
    }));
}

int JudgePool::emptiestGpu(const Entry &but) const {
    if (options_.gpus.size() == 1)
        return options_.gpus.front();
    return *std::ranges::min_element(
        options_.gpus, {}, [&](int gpu) { return std::pair(!mayPrepare(gpu), others(but, gpu)); });
}

} // namespace cuda_agent::learn
