// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/tokenizer/normalizer.h"

#include "core/learn/tokenizer/utf8.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

namespace cuda_agent::learn {

namespace {

constexpr auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);

/// No character below U+0300, whose first byte is 0xcc, takes part in a composition as the second
/// one.
bool surelyNormal(std::string_view characters) {
    return std::all_of(characters.begin(), characters.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0xcc; });
}

/// utf8proc_map() would do, but sorts the marks of a character in quadratic time.
void appendNormal(std::string &normal, std::string_view characters) {
    std::vector<utf8proc_int32_t> points;
    points.reserve(characters.size());
    for (std::size_t i = 0; i < characters.size();) {
        utf8proc_int32_t point = 0;
        i += static_cast<std::size_t>(
            utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t *>(characters.data()) + i,
                             static_cast<utf8proc_ssize_t>(characters.size() - i), &point));
        std::array<utf8proc_int32_t, 16> parts{}; // a canonical decomposition has at most four
        int boundary = 0;
        const auto count =
            utf8proc_decompose_char(point, parts.data(), parts.size(), options, &boundary);
        if (count < 0 || static_cast<std::size_t>(count) > parts.size())
            throw std::logic_error(utf8proc_errmsg(count));
        points.insert(points.end(), parts.begin(), parts.begin() + count);
    }
    const auto markClass = [](utf8proc_int32_t point) {
        return utf8proc_get_property(point)->combining_class;
    };
    for (auto start = points.begin(); start != points.end();) {
        if (markClass(*start) == 0) {
            ++start;
            continue;
        }
        const auto end =
            std::find_if(start, points.end(), [&](auto point) { return markClass(point) == 0; });
        std::stable_sort(start, end,
                         [&](auto one, auto two) { return markClass(one) < markClass(two); });
        start = end;
    }
    const auto count = utf8proc_normalize_utf32(
        points.data(), static_cast<utf8proc_ssize_t>(points.size()), options);
    if (count < 0)
        throw std::logic_error(utf8proc_errmsg(count));
    points.resize(static_cast<std::size_t>(count));
    for (const auto point : points) {
        std::array<utf8proc_uint8_t, 4> bytes{};
        const auto length = utf8proc_encode_char(point, bytes.data());
        normal.append(reinterpret_cast<const char *>(bytes.data()),
                      static_cast<std::size_t>(length));
    }
}

} // namespace

std::string nfc(std::string_view text) {
    std::string normal;
    normal.reserve(text.size());
    while (!text.empty()) {
        const auto run = firstRun(text);
        if (!run.characters || surelyNormal(run.bytes))
            normal += run.bytes;
        else
            appendNormal(normal, run.bytes);
        text.remove_prefix(run.bytes.size());
    }
    return normal;
}

} // namespace cuda_agent::learn
