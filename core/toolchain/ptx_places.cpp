// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/ptx_places.h"

#include <charconv>

namespace cuda_agent::toolchain {

namespace {

/// Deepest chain of functions inlined into one another that is followed.
constexpr int deepestInlining = 64;

bool takePlace(std::string_view &rest, PtxPlace &place) {
    return takeNumber(rest, place.file) && takeNumber(rest, place.line) &&
           takeNumber(rest, place.column);
}

} // namespace

std::string_view withoutSpace(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t\r");
    if (begin == text.npos)
        return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

bool takeWord(std::string_view &text, std::string_view what) {
    if (!text.starts_with(what))
        return false;
    text = withoutSpace(text.substr(what.size()));
    return true;
}

bool takeNumber(std::string_view &text, int &number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number < 0)
        return false;
    text = withoutSpace(text.substr(static_cast<std::size_t>(end - text.data())));
    return true;
}

bool PtxPlaces::read(std::string_view line) {
    auto rest = line;
    if (takeWord(rest, ".loc"))
        readPlace(rest);
    else if (takeWord(rest, ".file"))
        readFile(rest);
    else if (line.starts_with(".visible") || line.starts_with(".entry") ||
             line.starts_with(".func") || line.starts_with(".weak"))
        now_.reset();
    else
        return false;
    return true;
}

std::vector<PtxPlace> PtxPlaces::chain() const {
    std::vector<PtxPlace> chain;
    std::optional<PtxPlace> place = now_;
    for (int depth = 0; place && depth < deepestInlining; ++depth) {
        chain.push_back(*place);
        const auto outer = inlinedAt_.find(*place);
        place = outer == inlinedAt_.end() ? std::nullopt : std::optional(outer->second);
    }
    return chain;
}

std::string_view PtxPlaces::file(int number) const {
    const auto found = files_.find(number);
    return found == files_.end() ? std::string_view() : found->second;
}

void PtxPlaces::readPlace(std::string_view rest) {
    PtxPlace place;
    now_.reset();
    if (!takePlace(rest, place))
        return;
    now_ = place;
    constexpr std::string_view inlined = "inlined_at";
    if (const auto at = rest.find(inlined); at != rest.npos) {
        auto numbers = withoutSpace(rest.substr(at + inlined.size()));
        PtxPlace outer;
        if (takePlace(numbers, outer)) {
            inlinedAt_[place] = outer;
            return;
        }
    }
    inlinedAt_.erase(place);
}

void PtxPlaces::readFile(std::string_view rest) {
    int number = 0;
    if (takeNumber(rest, number) && takeWord(rest, "\""))
        files_.emplace(number, rest.substr(0, rest.find('"')));
}

} // namespace cuda_agent::toolchain
