// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/sandbox/mount_watch.h"

#include "core/base/unique_fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace cuda_agent::sandbox {

namespace {

using namespace std::chrono_literals;

constexpr auto period = 250ms;
constexpr std::uint64_t mostEntries = 1'000'000;
constexpr std::uint64_t mostNewEntries = 100'000;
constexpr int mostDepth = 100;
/// A disk with less than this left stops a run that made it so; files that are open but have no
/// name any more show up only there.
constexpr std::uint64_t reserveBytes = 256ull << 20;

void add(TreeSize &size, int parent, const char *name, int depth) {
    struct stat info {};
    if (::fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    size.bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
    if (++size.entries > mostEntries || depth > mostDepth) {
        size.tooMany = true;
        return;
    }
    if (!S_ISDIR(info.st_mode))
        return;
    const int fd = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd < 0 ? nullptr : ::fdopendir(fd);
    if (!folder) {
        UniqueFd(fd).reset();
        return;
    }
    while (const dirent *entry = ::readdir(folder)) {
        if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
            add(size, fd, entry->d_name, depth + 1);
        if (size.tooMany)
            break;
    }
    ::closedir(folder);
}

} // namespace

TreeSize treeSize(const std::vector<std::filesystem::path> &folders) {
    TreeSize size;
    for (const auto &folder : folders)
        add(size, AT_FDCWD, folder.c_str(), 0);
    return size;
}

MountWatch::MountWatch(std::vector<std::filesystem::path> folders, std::uint64_t mostBytes)
    : folders_(std::move(folders)), mostBytes_(mostBytes), next_(Clock::now() + period) {
    for (auto &folder : folders_) {
        std::error_code failed;
        if (auto real = std::filesystem::canonical(folder, failed); !failed)
            folder = std::move(real);
    }
    before_ = treeSize(folders_);
    freeBefore_ = freeBytes();
}

std::uint64_t MountWatch::freeBytes() const {
    auto least = std::numeric_limits<std::uint64_t>::max();
    for (const auto &folder : folders_) {
        struct statvfs info {};
        if (::statvfs(folder.c_str(), &info) == 0)
            least = std::min<std::uint64_t>(least, info.f_bavail * info.f_frsize);
    }
    return least;
}

bool MountWatch::exceeded() {
    const auto begin = Clock::now();
    if (folders_.empty() || mostBytes_ == 0 || begin < next_)
        return false;
    const auto now = treeSize(folders_);
    const auto end = Clock::now();
    next_ = end + std::max<Clock::duration>(period, (end - begin) * 20);

    const auto freeNow = freeBytes();
    return now.bytes > before_.bytes + mostBytes_ ||
           now.entries > before_.entries + mostNewEntries || (now.tooMany && !before_.tooMany) ||
           (freeNow < reserveBytes && freeNow + reserveBytes < freeBefore_);
}

} // namespace cuda_agent::sandbox
