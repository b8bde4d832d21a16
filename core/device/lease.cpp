// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/lease.h"

#include "core/base/paths.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>

namespace cuda_agent::device {

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
    const auto folder = cacheDir();
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    const auto file = folder / fmt::format("lease-{}{}", nameOf(info.kind), info.index);
    UniqueFd held(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!held)
        return machineError("cannot open {}: {}; set CUDA_AGENT_CACHE to a writable folder",
                            file.string(), std::strerror(errno));
    // Short polls instead of a blocking call, so that a stop is noticed.
    while (flock(held.get(), operation | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return machineError("cannot lock {}: {}", file.string(), std::strerror(errno));
        if (stop.stop_requested())
            return stoppedError();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return Lease(std::move(held));
}

} // namespace cuda_agent::device
