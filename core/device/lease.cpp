// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/lease.h"

#include "core/base/paths.h"
#include "core/device/quarantine.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>

namespace cuda_agent::device {

namespace {

Result<UniqueFd> openLock(const std::filesystem::path &file) {
    UniqueFd lock(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock)
        return machineError("cannot open {}: {}; set CUDA_AGENT_CACHE to a writable folder",
                            file.string(), std::strerror(errno));
    return lock;
}

/// Short polls instead of a blocking call, so that a stop is noticed.
Result<void> wait(const UniqueFd &lock, int operation, const std::stop_token &stop) {
    while (flock(lock.get(), operation | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return machineError("cannot lock the device: {}", std::strerror(errno));
        if (stop.stop_requested())
            return stoppedError();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return {};
}

std::filesystem::path lockFile(const Info &info) {
    return cacheDir() / fmt::format("lease-{}{}", nameOf(info.kind), info.index);
}

/// Everybody waits in the gate, alone or together: who waits to have the device alone keeps
/// newcomers out, who share; else one of them after the other would keep the device for ever.
Result<UniqueFd> openGate(const Info &info) {
    return openLock(lockFile(info).string() + "-gate");
}

} // namespace

Result<Lease> Lease::take(const Info &info, std::stop_token stop) {
    return lock(info, LOCK_EX, stop);
}

Result<Lease> Lease::share(const Info &info, std::stop_token stop) {
    return lock(info, LOCK_SH, stop);
}

Result<std::optional<Lease>> Lease::tryTake(const Info &info) {
    std::stop_source once;
    once.request_stop(); // which is asked after the first try
    auto lease = lock(info, LOCK_EX, once.get_token());
    if (lease)
        return std::optional(std::move(*lease));
    if (lease.error().kind == ErrorKind::stopped)
        return std::optional<Lease>();
    return tl::unexpected(lease.error());
}

Result<Lease> Lease::lock(const Info &info, int operation, const std::stop_token &stop) {
    CUDA_AGENT_TRY(checkNotQuarantined(quarantineName(info)));
    std::error_code error;
    std::filesystem::create_directories(cacheDir(), error);
    CUDA_AGENT_ASSIGN(gate, openGate(info));
    CUDA_AGENT_ASSIGN(held, openLock(lockFile(info)));
    CUDA_AGENT_TRY(wait(gate, operation, stop));
    CUDA_AGENT_TRY(wait(held, operation, stop));
    return Lease(std::move(held));
}

Result<bool> Lease::awaited(const Info &info) {
    CUDA_AGENT_ASSIGN(gate, openGate(info));
    return flock(gate.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

Result<void> Share::take() {
    if (!lease_) {
        CUDA_AGENT_ASSIGN(lease, Lease::share(info_, stop_));
        lease_.emplace(std::move(lease));
    }
    return {};
}

Result<void> Share::step() {
    if (lease_) {
        CUDA_AGENT_ASSIGN(awaited, Lease::awaited(info_));
        if (awaited)
            leave();
    }
    return take();
}

} // namespace cuda_agent::device
