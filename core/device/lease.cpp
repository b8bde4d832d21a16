// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/lease.h"

#include "core/base/paths.h"
#include "core/device/quarantine.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>
#include <vector>

namespace cuda_agent::device {

namespace {

/// While one is in the driver's lock, the other is not.
constexpr int openingAtOnce = 3;

constexpr std::chrono::milliseconds stepPause{1}; ///< between two looks whether a step may be

Result<FileLock> openLock(const std::filesystem::path &file) {
    FileLock lock(UniqueFd(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)));
    if (!lock)
        return machineError("cannot open {}: {}; set CUDA_AGENT_CACHE to a writable folder",
                            file.string(), std::strerror(errno));
    return lock;
}

/// False where somebody else has it. Errors: machine.
Result<bool> tryLock(const FileLock &lock, int operation) {
    if (flock(lock.get(), operation | LOCK_NB) == 0)
        return true;
    if (errno != EWOULDBLOCK && errno != EINTR)
        return machineError("cannot lock the device: {}", std::strerror(errno));
    return false;
}

/// Short polls instead of a blocking call, so that a stop is noticed.
template <typename Try>
Result<void> poll(const Try &attempt, const std::stop_token &stop,
                  std::chrono::milliseconds pause = std::chrono::milliseconds(5)) {
    for (;;) {
        CUDA_AGENT_ASSIGN(done, attempt());
        if (done)
            return {};
        if (stop.stop_requested())
            return stoppedError();
        std::this_thread::sleep_for(pause);
    }
}

/// The device's lock, and the claims to it: held together by all who have it alone or wait to.
struct Locks {
    FileLock device;
    FileLock claim;
};

std::filesystem::path lockFile(const Info &info) {
    return cacheDir() / fmt::format("lease-{}{}", nameOf(info.kind), info.index);
}

Result<FileLock> openClaim(const Info &info) {
    return openLock(lockFile(info).string() + "-claims");
}

/// The lock of those who work on the device in steps: whoever has it alone takes that, too, after
/// the device's.
Result<FileLock> openSteps(const Info &info) {
    return openLock(lockFile(info).string() + "-steps");
}

/// At this moment. One who asks may be taken for a claim by another who does: both ask again.
Result<bool> isClaimed(const FileLock &claim) {
    CUDA_AGENT_ASSIGN(mine, tryLock(claim, LOCK_EX));
    if (mine)
        flock(claim.get(), LOCK_UN);
    return !mine;
}

Result<Locks> openLocks(const Info &info) {
    CUDA_AGENT_TRY(checkNotQuarantined(quarantineName(info)));
    std::error_code error;
    std::filesystem::create_directories(cacheDir(), error);
    CUDA_AGENT_ASSIGN(lock, openLock(lockFile(info)));
    CUDA_AGENT_ASSIGN(claim, openClaim(info));
    return Locks{std::move(lock), std::move(claim)};
}

} // namespace

Result<Lease> Lease::take(const Info &info, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(locks, openLocks(info));
    CUDA_AGENT_TRY(poll([&] { return tryLock(locks.claim, LOCK_SH); }, stop));
    CUDA_AGENT_TRY(poll([&] { return tryLock(locks.device, LOCK_EX); }, stop));
    CUDA_AGENT_ASSIGN(steps, openSteps(info));
    CUDA_AGENT_TRY(poll([&] { return tryLock(steps, LOCK_EX); }, stop, stepPause));
    return Lease(std::move(locks.device), std::move(locks.claim), std::move(steps));
}

Result<std::optional<Lease>> Lease::tryTake(const Info &info) {
    CUDA_AGENT_ASSIGN(locks, openLocks(info));
    CUDA_AGENT_ASSIGN(mine, tryLock(locks.device, LOCK_EX));
    if (!mine)
        return std::optional<Lease>();
    CUDA_AGENT_TRY(poll([&] { return tryLock(locks.claim, LOCK_SH); }, {}));
    CUDA_AGENT_ASSIGN(steps, openSteps(info));
    CUDA_AGENT_ASSIGN(noStep, tryLock(steps, LOCK_EX));
    if (!noStep)
        return std::optional<Lease>();
    return std::optional(Lease(std::move(locks.device), std::move(locks.claim), std::move(steps)));
}

Result<Lease> Lease::share(const Info &info, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(locks, openLocks(info));
    const auto attempt = [&]() -> Result<bool> {
        CUDA_AGENT_ASSIGN(claimed, isClaimed(locks.claim));
        return claimed ? Result<bool>(false) : tryLock(locks.device, LOCK_SH);
    };
    CUDA_AGENT_TRY(poll(attempt, stop));
    return Lease(std::move(locks.device), {}, {});
}

Result<bool> Lease::awaited(const Info &info) {
    CUDA_AGENT_ASSIGN(claim, openClaim(info)); // asked between two tokens: no more than it takes
    return isClaimed(claim);
}

Result<OpeningTurn> OpeningTurn::take(std::stop_token stop) {
    std::error_code error;
    std::filesystem::create_directories(cacheDir(), error);
    std::vector<FileLock> places;
    for (int place = 0; place < openingAtOnce; ++place) {
        CUDA_AGENT_ASSIGN(lock, openLock(cacheDir() / fmt::format("opening-{}", place)));
        places.push_back(std::move(lock));
    }
    FileLock *taken = nullptr;
    const auto attempt = [&]() -> Result<bool> {
        for (auto &place : places) {
            CUDA_AGENT_ASSIGN(mine, tryLock(place, LOCK_EX));
            if (mine) {
                taken = &place;
                return true;
            }
        }
        return false;
    };
    CUDA_AGENT_TRY(poll(attempt, stop));
    return OpeningTurn(std::move(*taken));
}

Result<void> Steps::next() {
    if (!device_) {
        CUDA_AGENT_ASSIGN(locks, openLocks(info_));
        CUDA_AGENT_ASSIGN(steps, openSteps(info_));
        device_ = std::move(locks.device);
        steps_ = std::move(steps);
    } else if (!held_) {
        CUDA_AGENT_TRY(checkNotQuarantined(quarantineName(info_)));
    }
    const auto attempt = [&]() -> Result<bool> {
        if (!held_) {
            CUDA_AGENT_ASSIGN(mine, tryLock(steps_, LOCK_SH));
            held_ = mine;
        }
        // Whoever has the device alone waits for the steps' lock, or has it.
        CUDA_AGENT_ASSIGN(shared, tryLock(device_, LOCK_SH));
        if (shared)
            flock(device_.get(), LOCK_UN);
        if (!shared)
            leave();
        return held_;
    };
    return poll(attempt, stop_, stepPause);
}

void Steps::leave() {
    if (std::exchange(held_, false))
        flock(steps_.get(), LOCK_UN);
}

Result<void> Share::take() {
    if (!lease_) {
        CUDA_AGENT_ASSIGN(lease, Lease::share(info_, stop_));
        lease_.emplace(std::move(lease));
        taken_ = std::chrono::steady_clock::now();
    }
    return {};
}

Result<void> Share::step() {
    if (lease_ && std::chrono::steady_clock::now() - taken_ >= brief) {
        CUDA_AGENT_ASSIGN(awaited, Lease::awaited(info_));
        if (awaited)
            leave();
    }
    return take();
}

} // namespace cuda_agent::device
