// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/repair.h"

#include "core/learn/corpus/document.h"

#include <algorithm>
#include <array>

namespace cuda_agent::learn {

namespace {

constexpr std::size_t longestQuote = 160; ///< bytes of a text in a thought

/// A piece of one text that another piece of the other stands for: [begin, end) of each.
struct Place {
    std::size_t begin = 0, end = 0; ///< in the first
    std::size_t shift = 0;          ///< end in the second, less `end`, modulo 2^64
    std::string before(const std::string &from) const { return from.substr(begin, end - begin); }
    std::string after(const std::string &to) const { return to.substr(begin, end + shift - begin); }
};

Place placeOf(const std::string &from, const std::string &to) {
    const auto most = std::min(from.size(), to.size());
    std::size_t head = 0, tail = 0;
    while (head < most && from[head] == to[head])
        ++head;
    while (tail < most - head && from[from.size() - 1 - tail] == to[to.size() - 1 - tail])
        ++tail;
    return {head, from.size() - tail, to.size() - from.size()};
}

bool once(const std::string &text, const std::string &piece) {
    const auto first = text.find(piece);
    return !piece.empty() && first != text.npos && text.find(piece, first + 1) == text.npos;
}

/// Makes the place grow to the next of those marks on both sides. It keeps line ends that enclose
/// it out and quotes in.
void grow(Place &place, const std::string &text, char mark) {
    const bool inside = mark == '"';
    if (place.begin > 0) {
        const auto at = place.begin > (inside ? 0u : 1u)
                            ? text.rfind(mark, place.begin - (inside ? 1 : 2))
                            : text.npos;
        place.begin = at == text.npos ? 0 : at + (inside ? 0 : 1);
    }
    if (place.end < text.size()) {
        const auto at = text.find(mark, place.end + (inside ? 0 : 1));
        place.end = at == text.npos ? text.size() : at + (inside ? 1 : 0);
    }
}

/// To whole lines.
void toLines(Place &place, const std::string &text) {
    if (place.begin > 0) {
        const auto at = text.rfind('\n', place.begin - 1);
        place.begin = at == text.npos ? 0 : at + 1;
    }
    const auto at = text.find('\n', place.end);
    place.end = at == text.npos ? text.size() : at;
}

session::ToolCall change(const std::string &path, const std::string &from, const std::string &to,
                         char mark) {
    auto place = placeOf(from, to);
    if (mark == '\n')
        toLines(place, from);
    else
        grow(place, from, mark);
    while (!once(from, place.before(from)) && (place.begin > 0 || place.end < from.size()))
        grow(place, from, mark);
    const auto before = place.before(from), after = place.after(to);
    if (before.size() + after.size() >= to.size())
        return {"", "Write", {{"file_path", path}, {"content", to}}};
    return {"", "Edit", {{"file_path", path}, {"old_string", before}, {"new_string", after}}};
}

std::string quoted(const std::string &text) {
    const std::string_view view(text);
    return fmt::format("{}{}", view.substr(0, longestQuote),
                       view.size() > longestQuote ? "..." : "");
}

} // namespace

std::vector<session::ToolCall> changesOf(const CandidateText &from, const CandidateText &to) {
    std::vector<session::ToolCall> calls;
    if (from.kernels != to.kernels)
        calls.push_back(change(kernelFile, from.kernels, to.kernels, '\n'));
    if (const auto plan = from.plan.dump(), other = to.plan.dump(); plan != other)
        calls.push_back(change("plan.json", plan, other, '"'));
    return calls;
}

std::string thoughtOfRepair(const Mutation &mutation, bool compiled) {
    constexpr std::array names = std::to_array<std::pair<std::string_view, std::string_view>>(
        {{"dropped barrier", "A barrier is missing."},
         {"bound off by one", "A bound is off by one."},
         {"wrong stride", "An index has the wrong stride."},
         {"wrong operator", "An operator is wrong."},
         {"missing requirement", "The plan does not say what it relies on."},
         {"wrong grid", "The grid does not fit the work."},
         {"wrong order of arguments", "Two arguments are in the wrong order."},
         {"syntax slip", "The text has a slip."}});
    const auto found =
        std::ranges::find(names, mutation.kind, [](const auto &each) { return each.first; });
    std::string text = compiled ? "It is wrong. " : "It does not compile. ";
    text += found == names.end() ? std::string_view("It has a mistake.") : found->second;
    if (mutation.became.empty())
        return text + fmt::format(" There must be: {}", quoted(mutation.where));
    return text + fmt::format(" In place of {} there must be: {}", quoted(mutation.became),
                              quoted(mutation.where));
}

} // namespace cuda_agent::learn
