// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/trace/card_parts.h"

#include <algorithm>

namespace cuda_agent::widgets {

namespace {

/// The next line's end below `limit`, or npos. Most lines are short, and texts of millions of them
/// are cut at every paint: a call for each would be most of the work.
std::size_t lineEnd(std::string_view body, std::size_t from, std::size_t limit) {
    constexpr std::size_t nearby = 16;
    const std::size_t close = std::min(from + nearby, limit);
    for (std::size_t at = from; at < close; ++at)
        if (body[at] == '\n')
            return at;
    return body.substr(0, limit).find('\n', close);
}

} // namespace

std::size_t cutAt(std::string_view body, std::size_t from, std::size_t bytes) {
    if (body.size() - from <= bytes)
        return body.size();
    std::size_t at = from + bytes;
    const auto inside = [&] { return (static_cast<unsigned char>(body[at]) & 0xC0u) == 0x80u; };
    for (int back = 0; back < 3 && at > from + 1 && inside(); ++back)
        --at;
    return at;
}

std::vector<std::size_t> bodyParts(std::string_view body) {
    constexpr std::size_t bytes = 64 * 1024;
    constexpr int lines = 1000;
    std::vector<std::size_t> parts{0};
    std::size_t at = 0;
    while (at < body.size()) {
        const std::size_t limit = cutAt(body, at, bytes);
        std::size_t end = at;
        for (int line = 0; line < lines && end < limit; ++line) {
            const std::size_t found = lineEnd(body, end, limit);
            if (found == std::string_view::npos) {
                // A line that does not fit goes to the next part, if it has company here.
                if (line == 0 || limit == body.size())
                    end = limit;
                break;
            }
            end = found + 1;
        }
        parts.push_back(at = end);
    }
    if (parts.size() == 1)
        parts.push_back(0);
    return parts;
}

} // namespace cuda_agent::widgets
