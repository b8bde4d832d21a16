// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/descriptor_io.h"

#include <algorithm>
#include <cerrno>
#include <unistd.h>

namespace cuda_agent {

std::optional<std::string> readUpTo(int fd, std::size_t bytes) {
    // As much as was read is made room for: most files are far smaller than what they may be.
    constexpr std::size_t first = 64u << 10;
    std::string text;
    std::size_t have = 0;
    while (have < bytes) {
        if (have == text.size())
            text.resize(std::min(bytes, std::max(first, 2 * have)));
        const ssize_t count = ::read(fd, text.data() + have, text.size() - have);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return std::nullopt;
        if (count == 0)
            break;
        have += static_cast<std::size_t>(count);
    }
    text.resize(have);
    return text;
}

bool writeWhole(int fd, std::string_view content) {
    while (!content.empty()) {
        const ssize_t count = ::write(fd, content.data(), content.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count == 0)
            errno = ENOSPC;
        if (count <= 0)
            return false;
        content.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

} // namespace cuda_agent
