// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/tokenizer/merges.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <queue>

namespace cuda_agent::learn {

namespace {

constexpr std::uint64_t unused = ~std::uint64_t{0};
constexpr std::int32_t never = std::numeric_limits<std::int32_t>::max();
/// Up to here looking at all pairs again is faster than a queue.
constexpr std::size_t shortWord = 48;

std::uint64_t pairOf(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
           static_cast<std::uint32_t>(right);
}

} // namespace

Merges::Merges(std::size_t count) : slots_(std::bit_ceil(2 * count + 2), Slot{unused, {}}) {}

std::size_t Merges::slotOf(std::uint64_t pair) const {
    const auto mask = slots_.size() - 1;
    auto slot = static_cast<std::size_t>(pair * 0x9e3779b97f4a7c15U >> 20) & mask;
    while (slots_[slot].pair != pair && slots_[slot].pair != unused)
        slot = (slot + 1) & mask;
    return slot;
}

void Merges::insert(std::int32_t left, std::int32_t right, Merge merge) {
    const auto pair = pairOf(left, right);
    slots_[slotOf(pair)] = {pair, merge};
}

const Merges::Merge *Merges::find(std::int32_t left, std::int32_t right) const {
    const auto &slot = slots_[slotOf(pairOf(left, right))];
    return slot.pair == unused ? nullptr : &slot.merge;
}

void Merges::apply(std::vector<std::int32_t> &word) const {
    if (word.size() > shortWord)
        applyLong(word);
    else if (word.size() > 1)
        applyShort(word);
}

void Merges::applyShort(std::vector<std::int32_t> &word) const {
    std::array<Merge, shortWord> pairs; // pairs[i]: what word[i] and word[i + 1] become
    const auto look = [&](std::size_t i) {
        const auto *merge = find(word[i], word[i + 1]);
        pairs[i] = merge ? *merge : Merge{never, 0};
    };
    auto count = word.size();
    for (std::size_t i = 0; i + 1 < count; ++i)
        look(i);
    while (count > 1) {
        std::size_t best = 0;
        for (std::size_t i = 1; i + 1 < count; ++i)
            if (pairs[i].rank < pairs[best].rank)
                best = i;
        if (pairs[best].rank == never)
            break;
        word[best] = pairs[best].id;
        --count;
        for (auto i = best + 1; i < count; ++i) {
            word[i] = word[i + 1];
            pairs[i - 1] = pairs[i];
        }
        if (best + 1 < count)
            look(best);
        if (best > 0)
            look(best - 1);
    }
    word.resize(count);
}

void Merges::applyLong(std::vector<std::int32_t> &word) const {
    struct Candidate {
        std::int32_t rank;
        std::size_t at;
        std::int32_t id;
    };
    const auto later = [](const Candidate &one, const Candidate &two) {
        return one.rank != two.rank ? one.rank > two.rank : one.at > two.at;
    };
    std::priority_queue<Candidate, std::vector<Candidate>, decltype(later)> queue(later);
    const auto end = word.size();
    std::vector<std::size_t> next(end);
    std::vector<std::size_t> previous(end);
    std::vector<bool> gone(end);
    const auto look = [&](std::size_t left, std::size_t right) {
        if (const auto *merge = find(word[left], word[right]))
            queue.push({merge->rank, left, merge->id});
    };
    for (std::size_t i = 0; i < end; ++i) {
        next[i] = i + 1;
        previous[i] = i - 1; // of the first: beyond `end`
        if (i + 1 < end)
            look(i, i + 1);
    }
    while (!queue.empty()) {
        const auto top = queue.top();
        queue.pop();
        const auto right = next[top.at];
        if (gone[top.at] || right >= end)
            continue;
        const auto *merge = find(word[top.at], word[right]);
        if (!merge || merge->id != top.id)
            continue; // one of the two has merged meanwhile
        word[top.at] = top.id;
        gone[right] = true;
        next[top.at] = next[right];
        if (next[top.at] < end) {
            previous[next[top.at]] = top.at;
            look(top.at, next[top.at]);
        }
        if (previous[top.at] < end)
            look(previous[top.at], top.at);
    }
    std::size_t count = 0;
    for (std::size_t i = 0; i < end; ++i)
        if (!gone[i])
            word[count++] = word[i];
    word.resize(count);
}

} // namespace cuda_agent::learn
