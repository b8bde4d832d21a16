// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/folder_lock.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace cuda_agent {

Result<FileLock> lockFolder(const std::filesystem::path &folder, std::string_view writer,
                            std::chrono::milliseconds patience) {
    constexpr std::chrono::milliseconds pause{10};
    const auto path = folder / "lock";
    FileLock lock(UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)));
    if (!lock)
        return machineError("cannot open {}: {}", path.string(),
                            std::generic_category().message(errno));
    for (; ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0; patience -= pause) {
        if (errno != EWOULDBLOCK)
            return machineError("cannot lock {}: {}", path.string(),
                                std::generic_category().message(errno));
        if (patience >= pause) {
            std::this_thread::sleep_for(pause);
            continue;
        }
        char owner[32] = {};
        const ssize_t got = ::pread(lock.get(), owner, sizeof owner - 1, 0);
        const std::string pid(owner, got > 0 ? static_cast<std::size_t>(got) : 0);
        return requestError("{} is being written by another {}{}; wait for it or stop it",
                            folder.string(), writer,
                            pid.empty() ? "" : " (process " + pid.substr(0, pid.find('\n')) + ")");
    }
    // Only a hint for the message above, so a full disk does not matter here.
    const std::string pid = std::to_string(::getpid()) + "\n";
    if (::ftruncate(lock.get(), 0) == 0)
        std::ignore = ::pwrite(lock.get(), pid.data(), pid.size(), 0);
    return lock;
}

} // namespace cuda_agent
