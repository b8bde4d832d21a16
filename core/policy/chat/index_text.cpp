// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/chat/index_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace cuda_agent::chat {

namespace {

/// "16", "(4 * 16)": elements of the dimensions from `from` to `to`.
std::string countText(const Shape &shape, std::size_t from, std::size_t to) {
    Texts sizes;
    for (std::size_t d = from; d < to; ++d)
        if (shape[d] != 1)
            sizes.push_back(std::to_string(shape[d]));
    if (sizes.empty())
        return "1";
    return sizes.size() == 1 ? sizes[0] : fmt::format("({})", fmt::join(sizes, " * "));
}

std::size_t without1(const Shape &shape, std::size_t from, std::size_t to) {
    return static_cast<std::size_t>(std::count_if(shape.begin() + static_cast<long>(from),
                                                  shape.begin() + static_cast<long>(to),
                                                  [](std::int64_t size) { return size != 1; }));
}

/// Where the last sign of a sum is; npos of what is none.
std::size_t lastSign(std::string_view place) {
    int depth = 0;
    for (std::size_t i = place.size(); i-- > 1;) {
        const char c = place[i];
        depth += c == ')' || c == ']' ? 1 : c == '(' || c == '[' ? -1 : 0;
        if (depth == 0 && (c == '+' || c == '-') && place[i - 1] == ' ')
            return i;
    }
    return place.npos;
}

} // namespace

std::optional<std::int64_t> wholeOf(std::string_view place) {
    std::int64_t number = 0;
    const auto end = place.data() + place.size();
    const auto [stopped, error] = std::from_chars(place.data(), end, number);
    return error == std::errc() && stopped == end ? std::optional(number) : std::nullopt;
}

Texts lettersOf(const Shape &shape) {
    Texts letters;
    for (std::size_t d = 0; d < shape.size(); ++d)
        letters.push_back(shape[d] == 1 ? "0" : std::string(1, static_cast<char>('a' + d)));
    return letters;
}

std::string accessOf(const std::string &name, const Texts &places) {
    return places.empty() ? name : fmt::format("{}[{}]", name, fmt::join(places, ", "));
}

Texts ordered(const Texts &places, const std::vector<int> &order) {
    Texts result;
    for (const int d : order)
        result.push_back(places[static_cast<std::size_t>(d)]);
    return result;
}

std::string factor(const std::string &place) {
    return lastSign(place) == place.npos ? place : "(" + place + ")";
}

std::string plus(const std::string &place, std::int64_t by) {
    const auto text = [](const std::string &before, std::int64_t number) {
        if (number == 0)
            return before;
        return number > 0 ? fmt::format("{} + {}", before, number)
                          : fmt::format("{} - {}", before, -number);
    };
    if (const auto number = wholeOf(place))
        return std::to_string(*number + by);
    const auto sign = lastSign(place);
    if (sign != place.npos)
        if (const auto number = wholeOf(std::string_view(place).substr(sign + 2)))
            return text(place.substr(0, sign - 1),
                        place[sign] == '+' ? *number + by : by - *number);
    return text(place, by);
}

std::string sum(const std::string &place, const std::string &other) {
    return place == "0" ? other : other == "0" ? place : fmt::format("{} + {}", place, other);
}

std::string times(const std::string &place, const std::string &by) {
    return by == "1" || place == "0" ? place : fmt::format("{} * {}", factor(place), by);
}

std::string within(const std::string &place, std::int64_t first, std::int64_t count,
                   std::int64_t size) {
    Texts conditions;
    if (first > 0)
        conditions.push_back(fmt::format("{} >= {}", place, first));
    if (first + count < size)
        conditions.push_back(first > 0 ? fmt::format("{} < ({} + {})", place, count, first)
                                       : fmt::format("{} < {}", place, count));
    return fmt::format("{}", fmt::join(conditions, " and "));
}

std::optional<Texts> reshaped(const Shape &shape, const Texts &places, const Shape &of) {
    // Dimensions are matched in the smallest pieces that have as many elements on both sides.
    Texts result(of.size(), "0");
    std::size_t at = 0;
    std::size_t in = 0;
    while (at < shape.size() || in < of.size()) {
        const std::size_t outFrom = at;
        const std::size_t inFrom = in;
        std::int64_t out = at < shape.size() ? shape[at++] : 1;
        std::int64_t source = in < of.size() ? of[in++] : 1;
        while (out != source) {
            const bool more = out < source; // of the result's dimensions
            if (more ? at == shape.size() : in == of.size())
                return {};
            auto &count = more ? out : source;
            if (__builtin_mul_overflow(count, more ? shape[at++] : of[in++], &count))
                return {};
        }
        // The place among all elements of this piece.
        Texts terms;
        for (std::size_t d = outFrom; d < at; ++d)
            if (shape[d] != 1)
                terms.push_back(times(places[d], countText(shape, d + 1, at)));
        std::string place = terms.empty() ? "0" : fmt::format("{}", fmt::join(terms, " + "));
        if (without1(of, inFrom, in) > 1)
            place = factor(place);
        bool first = true;
        for (std::size_t d = inFrom; d < in; ++d) {
            if (of[d] == 1)
                continue;
            std::string text = place;
            const auto inner = countText(of, d + 1, in);
            if (inner != "1")
                text = fmt::format("{} / {}", text, inner);
            if (!first)
                text = fmt::format("{} % {}", inner == "1" ? text : "(" + text + ")", of[d]);
            result[d] = text;
            first = false;
        }
    }
    return result;
}

} // namespace cuda_agent::chat
