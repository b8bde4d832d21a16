// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/rollout/turn_masks.h"

#include "core/learn/rollout/model_conversation.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>

namespace cuda_agent::learn {

namespace {

/// Masks that are not one another, and of each that was given which it is.
struct Distinct {
    std::vector<TokenMasks::Mask> different;
    std::vector<std::size_t> rows;
};

Distinct distinct(const std::vector<TokenMasks::Mask> &masks) {
    Distinct result;
    std::map<const void *, std::size_t> known;
    for (const auto &mask : masks) {
        const auto [at, fresh] = known.emplace(mask.get(), result.different.size());
        if (fresh)
            result.different.push_back(mask);
        result.rows.push_back(at->second);
    }
    return result;
}

} // namespace

std::vector<TokenMasks::Mask> masksOf(const TokenRecord &record, const TurnMasks &masks) {
    std::vector<TokenMasks::Mask> all;
    std::optional<Writing> turn;
    std::size_t written = 0;
    for (std::size_t i = 0; i < record.tokens.size(); ++i) {
        if (record.byPolicy[i] == 0) {
            if (i + 1 < record.byPolicy.size() && record.byPolicy[i + 1] != 0)
                turn = masks.tokens->behind(std::span(record.tokens).first(i + 1));
            written = 0;
            continue;
        }
        TokenMasks::Mask mask;
        if (turn)
            mask = masks.tokens->allowed(*turn,
                                         roomOf(masks.longestTurn, masks.context, i, written++));
        if (refuses(mask, record.tokens[i]))
            mask = nullptr;
        if (!mask || !masks.tokens->take(*turn, record.tokens[i]))
            turn.reset();
        all.push_back(std::move(mask));
    }
    return all;
}

PackedMasks::PackedMasks(const std::vector<TokenMasks::Mask> &masks) {
    auto [different, rows] = distinct(masks);
    rows_ = std::move(rows);
    for (const auto &mask : different)
        different_.push_back(mask ? Bits{std::vector<bool>(mask->begin(), mask->end()), false}
                                  : Bits{{}, true});
}

std::vector<TokenMasks::Mask> PackedMasks::masks() const {
    std::vector<TokenMasks::Mask> different, all;
    for (const auto &one : different_)
        different.push_back(one.any ? nullptr
                                    : std::make_shared<const std::vector<std::uint8_t>>(
                                          one.bits.begin(), one.bits.end()));
    for (const auto row : rows_)
        all.push_back(different[row]);
    return all;
}

MaskRows::MaskRows(const std::vector<TokenMasks::Mask> &masks, std::int64_t vocabulary,
                   at::Device device) {
    const auto [different, places] = distinct(masks);
    const std::vector<std::int64_t> rows(places.begin(), places.end());
    const auto count = static_cast<std::int64_t>(different.size());
    auto table = at::ones({count, vocabulary}, at::kBool);
    for (std::int64_t i = 0; i < count; ++i)
        if (const auto &mask = different[static_cast<std::size_t>(i)])
            std::ranges::transform(*mask, table.data_ptr<bool>() + i * vocabulary,
                                   [](std::uint8_t each) { return each != 0; });
    different_ = table.to(device);
    rows_ = at::tensor(rows, at::kLong).to(device);
}

at::Tensor MaskRows::all() const {
    return different_.index_select(0, rows_);
}

} // namespace cuda_agent::learn
