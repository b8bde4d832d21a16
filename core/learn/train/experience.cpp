// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/experience.h"

#include "core/base/parallel.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace cuda_agent::learn {

Experience::Experience(const std::vector<Trajectory> &trajectories, at::Device device,
                       std::int64_t microTokens, const TurnMasks &masks)
    : device_(device), microTokens_(microTokens) {
    std::int64_t most = 1;
    for (const auto &one : trajectories) {
        records_.push_back(&one.record);
        lengths_.push_back(static_cast<std::int64_t>(one.record.tokens.size()));
        rewards_.push_back(static_cast<float>(one.reward));
        most = std::max(most, one.record.ownTokens());
    }
    auto mask = at::zeros({static_cast<std::int64_t>(records_.size()), most}, at::kBool);
    for (std::size_t i = 0; i < records_.size(); ++i)
        mask[static_cast<std::int64_t>(i)].narrow(0, 0, records_[i]->ownTokens()).fill_(true);
    mask_ = mask.to(device);
    if (masks.tokens) // once for all passes
        masks_ = parallelResults<PackedMasks>(records_.size(), 0, [&](std::size_t i) {
                     return Result<PackedMasks>(PackedMasks(masksOf(*records_[i], masks)));
                 }).value();
}

std::vector<std::vector<std::size_t>>
Experience::groups(const std::vector<std::size_t> &chosen) const {
    std::vector<std::int64_t> lengths;
    for (const auto i : chosen)
        lengths.push_back(lengths_[i]);
    auto groups = microBatches(lengths, microTokens_);
    for (auto &group : groups)
        for (auto &i : group)
            i = chosen[i];
    return groups;
}

TrajectoryBatch Experience::batch(const std::vector<std::size_t> &group) const {
    std::vector<const TokenRecord *> records;
    std::vector<std::vector<TokenMasks::Mask>> masks;
    for (const auto i : group) {
        records.push_back(records_[i]);
        if (!masks_.empty())
            masks.push_back(masks_[i].masks());
    }
    return TrajectoryBatch(records, device_, masks);
}

at::Tensor Experience::rows(const at::Tensor &table, const std::vector<std::size_t> &group,
                            const TrajectoryBatch &batch) const {
    std::vector<std::int64_t> numbers(group.begin(), group.end());
    return table.index_select(0, at::tensor(numbers, at::kLong).to(device_))
        .narrow(1, 0, batch.most());
}

std::vector<std::size_t> Experience::all() const {
    std::vector<std::size_t> everybody(size());
    std::iota(everybody.begin(), everybody.end(), std::size_t{0});
    return everybody;
}

std::vector<std::size_t> Experience::share(const std::vector<std::size_t> &chosen,
                                           std::int64_t rank, std::int64_t size) const {
    auto byLength = chosen;
    std::ranges::stable_sort(byLength, std::greater(), [&](std::size_t i) { return lengths_[i]; });
    std::set<std::size_t> dealt; // there and back again, so that nobody always has the longer one
    for (std::size_t i = 0; i < byLength.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        const auto turn = at / size % 2 == 0 ? at % size : size - 1 - at % size;
        if (turn == rank)
            dealt.insert(byLength[i]);
    }
    std::vector<std::size_t> mine;
    for (const auto i : chosen)
        if (dealt.contains(i))
            mine.push_back(i);
    return mine;
}

at::Tensor Experience::table(const std::vector<std::size_t> &chosen,
                             const std::function<at::Tensor(const TrajectoryBatch &)> &of) const {
    const at::NoGradGuard noGradients;
    auto all = at::zeros(mask_.sizes(), at::TensorOptions(device_).dtype(at::kFloat));
    for (const auto &group : groups(chosen)) {
        const auto part = batch(group);
        const auto said = of(part);
        for (std::size_t i = 0; i < group.size(); ++i)
            all[static_cast<std::int64_t>(group[i])]
                .narrow(0, 0, part.most())
                .copy_(said[static_cast<std::int64_t>(i)]);
    }
    return all;
}

at::Tensor Experience::drawn() const {
    auto all = at::zeros(mask_.sizes(), at::kFloat);
    for (std::size_t row = 0; row < records_.size(); ++row) {
        auto *to = all.data_ptr<float>() + static_cast<std::int64_t>(row) * all.size(1);
        for (std::size_t i = 0; i < records_[row]->tokens.size(); ++i)
            if (records_[row]->byPolicy[i] != 0)
                *to++ = records_[row]->logProbabilities[i];
    }
    return all.to(device_);
}

at::Tensor Experience::rewards() const {
    auto all = at::zeros(mask_.sizes(), at::kFloat);
    for (std::size_t row = 0; row < records_.size(); ++row)
        if (const auto own = records_[row]->ownTokens(); own > 0)
            all.data_ptr<float>()[static_cast<std::int64_t>(row) * all.size(1) + own - 1] =
                rewards_[row];
    return all.to(device_);
}

at::Tensor Experience::rewards(const std::vector<std::size_t> &group) const {
    std::vector<float> some;
    for (const auto i : group)
        some.push_back(rewards_[i]);
    return at::tensor(some, at::kFloat).to(device_);
}

} // namespace cuda_agent::learn
