// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/transformer/deviations.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace cuda_agent::policy {

namespace {

/// Nats that a departure costs besides its token: two that are both likely come behind one that is
/// 400 times less so.
constexpr double eachCosts = 6;

/// Of what was uncertain before.
constexpr double earlierShare = 0.5;

/// Nats that a departure costs for each byte before the place where a mistake shows, and at most.
constexpr double byteCosts = 0.01, distanceCosts = 2;

} // namespace

std::vector<Alternative> cheapestOf(std::vector<Alternative> alternatives, std::size_t most) {
    std::ranges::stable_sort(alternatives, {}, &Alternative::place);
    double before = 0, here = 0; // of the places before, and of those of this one so far
    for (std::size_t i = 0; i < alternatives.size(); ++i) {
        auto &one = alternatives[i];
        if (i > 0 && one.place != alternatives[i - 1].place)
            before += std::exchange(here, 0);
        here += std::exp(-one.cost);
        one.earlier = earlierShare * before;
        one.cost += one.earlier;
    }
    std::ranges::stable_sort(alternatives, {}, &Alternative::cost);
    if (alternatives.size() > most) {
        const auto others = alternatives.begin() + static_cast<std::ptrdiff_t>(most);
        std::ranges::stable_sort(others, alternatives.end(), {},
                                 [](const Alternative &one) { return one.cost - one.earlier; });
        alternatives.resize(std::min(alternatives.size(), 2 * most));
        std::ranges::stable_sort(others, alternatives.end(), {}, &Alternative::cost);
    }
    return alternatives;
}

void Deviations::add(std::vector<std::int32_t> tokens, std::vector<Alternative> alternatives) {
    std::erase_if(alternatives, [&](const Alternative &one) {
        return one.place < 0 || one.place >= static_cast<std::int64_t>(tokens.size());
    });
    turns_.push_back({std::move(tokens), std::move(alternatives), std::exchange(given_, 0)});
}

void Deviations::prefer() {
    if (!turns_.empty())
        turns_.back().cost = 0;
}

void Deviations::drop(std::int64_t begin, std::int64_t end) {
    if (!turns_.empty())
        std::erase_if(turns_.back().alternatives, [&](const Alternative &one) {
            return one.offset >= begin && one.offset < end;
        });
}

void Deviations::suspect(std::int64_t offset, std::int64_t begin) {
    if (turns_.empty())
        return;
    auto &alternatives = turns_.back().alternatives;
    double innocent = std::numeric_limits<double>::infinity(); // what was uncertain before `begin`
    for (const auto &one : alternatives)
        if (one.offset >= begin)
            innocent = std::min(innocent, one.earlier);
    for (auto &one : alternatives) {
        one.cost +=
            std::min(distanceCosts, byteCosts * std::abs(static_cast<double>(offset - one.offset)));
        if (begin > 0)
            one.cost += one.offset >= begin ? -innocent : eachCosts;
    }
}

std::optional<Deviations::Departure> Deviations::next() {
    std::size_t from = 0, which = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t turn = 0; turn < turns_.size(); ++turn)
        for (std::size_t i = 0; i < turns_[turn].alternatives.size(); ++i)
            if (const auto cost = turns_[turn].cost + eachCosts + turns_[turn].alternatives[i].cost;
                cost < least) {
                from = turn;
                which = i;
                least = cost;
            }
    if (!std::isfinite(least))
        return std::nullopt;
    auto &turn = turns_[from];
    const auto chosen = turn.alternatives[which];
    turn.alternatives.erase(turn.alternatives.begin() + static_cast<std::ptrdiff_t>(which));
    Departure departure{from, chosen, {}};
    departure.begin.assign(turn.tokens.begin(), turn.tokens.begin() + chosen.place);
    departure.begin.push_back(chosen.token);
    given_ = least;
    return departure;
}

} // namespace cuda_agent::policy
