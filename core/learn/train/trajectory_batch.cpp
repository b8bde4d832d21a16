// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/trajectory_batch.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

namespace cuda_agent::learn {

TrajectoryBatch::TrajectoryBatch(const std::vector<const TokenRecord *> &records, at::Device device,
                                 const std::vector<std::vector<TokenMasks::Mask>> &masks) {
    const auto rows = static_cast<std::int64_t>(records.size());
    std::int64_t length = 0, most = 1;
    for (const auto *record : records) {
        length = std::max(length, static_cast<std::int64_t>(record->tokens.size()));
        most = std::max(most, record->ownTokens());
    }
    auto tokens = at::zeros({rows, length}, at::kLong);
    std::vector<std::int64_t> places, targets, slots;
    for (std::int64_t row = 0; row < rows; ++row) {
        const auto &record = *records[static_cast<std::size_t>(row)];
        auto *const to = tokens.data_ptr<std::int64_t>() + row * length;
        std::int64_t own = 0;
        for (std::size_t i = 0; i < record.tokens.size(); ++i) {
            to[i] = record.tokens[i];
            if (i == 0 || record.byPolicy[i] == 0)
                continue;
            places.push_back(row * length + static_cast<std::int64_t>(i) - 1);
            targets.push_back(record.tokens[i]);
            slots.push_back(row * most + own++);
        }
        if (!masks.empty())
            std::ranges::copy(masks[static_cast<std::size_t>(row)], std::back_inserter(allowed_));
    }
    const auto moved = [&](const std::vector<std::int64_t> &values) {
        return at::tensor(values, at::kLong).to(device);
    };
    tokens_ = tokens.to(device);
    places_ = moved(places);
    targets_ = moved(targets);
    slots_ = moved(slots);
    mask_ = at::zeros({rows * most}, at::TensorOptions(device).dtype(at::kBool))
                .index_fill(0, slots_, 1)
                .view({rows, most});
}

at::Tensor TrajectoryBatch::states(const Transformer &model) const {
    const auto hidden = model.hidden(tokens_);
    return hidden.reshape({-1, hidden.size(-1)}).index_select(0, places_);
}

at::Tensor TrajectoryBatch::compressed(const at::Tensor &flat) const {
    return at::zeros({mask_.numel()}, flat.options())
        .index_copy(0, slots_, flat)
        .view(mask_.sizes());
}

at::Tensor TrajectoryBatch::logProbabilities(const Transformer &actor,
                                             const Sampling &sampling) const {
    const auto logits = actor.logits(states(actor));
    const auto allowed = allowed_.empty()
                             ? at::Tensor()
                             : MaskRows(allowed_, logits.size(-1), logits.device()).all();
    return compressed(logProbabilityOf(logits, targets_, sampling, allowed).to(at::kFloat));
}

at::Tensor TrajectoryBatch::values(const Transformer &critic) const {
    return compressed(critic.value(states(critic)));
}

std::vector<std::vector<std::size_t>> microBatches(const std::vector<std::int64_t> &lengths,
                                                   std::int64_t most) {
    std::vector<std::size_t> order(lengths.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return lengths[i]; });
    std::vector<std::vector<std::size_t>> groups;
    for (const auto i : order) {
        const auto longest = groups.empty() ? 0 : lengths[groups.back().front()];
        const auto after = groups.empty() ? 0 : static_cast<std::int64_t>(groups.back().size()) + 1;
        if (groups.empty() || longest * after > most)
            groups.emplace_back();
        groups.back().push_back(i);
    }
    return groups;
}

} // namespace cuda_agent::learn
