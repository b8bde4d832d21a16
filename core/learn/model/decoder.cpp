// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/model/decoder.h"

#include "core/learn/model/recorded.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <stdexcept>

namespace cuda_agent::learn {

Decoder::Decoder(const Transformer &model, std::int64_t rows, std::int64_t context)
    : model_(model), rows_(rows), context_(context), lengths_(static_cast<std::size_t>(rows), 0) {
    const auto &config = model.config();
    if (context > config.positions)
        throw std::length_error("a decoder's context is longer than the model's");
    const auto options = model.parameters().values().options().requires_grad(false);
    keys_ = at::zeros({config.layers, rows, config.kvHeads, context, config.headSize}, options);
    values_ = at::zeros_like(keys_);
}

Decoder::~Decoder() = default;

void Decoder::clear(std::int64_t row) {
    cut(row, 0);
}

void Decoder::cut(std::int64_t row, std::int64_t length) {
    auto &holds = lengths_[static_cast<std::size_t>(row)];
    holds = std::min(holds, length);
}

at::Tensor Decoder::read(std::int64_t row, const std::vector<std::int32_t> &tokens) {
    const at::NoGradGuard noGradients;
    const auto begin = length(row), count = static_cast<std::int64_t>(tokens.size()),
               end = begin + count;
    if (count < 1 || end > context_)
        throw std::length_error("a row of a decoder is full, or was given nothing to read");
    const auto device = model_.device();
    const auto ids = at::tensor(tokens).to(at::kLong).to(device).unsqueeze(0);
    const auto positions = at::arange(begin, end, at::TensorOptions(at::kLong).device(device));
    at::Tensor mask; // with nothing before, the kernel's own causal one
    if (begin > 0)
        mask = at::arange(end, positions.options()).unsqueeze(0) <= positions.unsqueeze(1);
    const auto hidden = model_.hidden(
        ids, positions.unsqueeze(0),
        [&](std::int64_t layer, const at::Tensor &query, const at::Tensor &key,
            const at::Tensor &value) {
            const auto kept = [&](const at::Tensor &all, const at::Tensor &fresh) {
                const auto mine = all[layer].narrow(0, row, 1); // [1, kvHeads, context, headSize]
                mine.narrow(2, begin, count).copy_(fresh);
                return mine.narrow(2, 0, end);
            };
            return model_.attended(query, kept(keys_, key), kept(values_, value), mask, begin == 0);
        });
    lengths_[static_cast<std::size_t>(row)] = end;
    return model_.logits(hidden[0][count - 1]).to(at::kFloat);
}

std::int64_t Decoder::filled(std::int64_t count) const {
    std::int64_t power = 1; // powers of two, and one between two of them
    while (power < count)
        power *= 2;
    const auto between = power / 4 * 3;
    const auto size = power >= 16 && count <= between ? between : power;
    return count <= rows_ ? std::min(size, rows_) : size;
}

at::Tensor Decoder::step(const std::vector<std::int64_t> &rows,
                         const std::vector<std::int32_t> &tokens) {
    const at::NoGradGuard noGradients;
    const auto count = static_cast<std::int64_t>(rows.size());
    const auto size = model_.isFused() ? filled(count) : count;
    auto input = at::zeros({3, size}, at::kLong); // tokens, rows, places
    input[1].fill_(-1);
    auto table = input.accessor<std::int64_t, 2>();
    std::int64_t longest = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const auto row = rows[static_cast<std::size_t>(i)];
        auto &length = lengths_[static_cast<std::size_t>(row)];
        if (length >= context_)
            throw std::length_error("a row of a decoder is full");
        table[0][i] = tokens[static_cast<std::size_t>(i)];
        table[1][i] = row;
        table[2][i] = length++;
        longest = std::max(longest, length);
    }
    at::Tensor logits;
    if (!model_.isFused()) {
        logits = plainStep(rows, input.to(model_.device()), longest);
    } else if (!model_.device().is_cuda()) {
        logits = fusedStep(input);
    } else {
        auto &recorded = recorded_[size];
        if (!recorded)
            recorded = std::make_unique<Recorded>(
                input.to(model_.device()), [this](const at::Tensor &in) { return fusedStep(in); });
        logits = (*recorded)(input);
    }
    return logits.narrow(0, 0, count);
}

at::Tensor Decoder::fusedStep(const at::Tensor &input) {
    const auto hidden = model_.hidden(
        input[0].unsqueeze(1), input[2].unsqueeze(1),
        [&](std::int64_t layer, const at::Tensor &query, const at::Tensor &key,
            const at::Tensor &value) {
            return model_.kernels()
                ->attendStep(query, key, value, {keys_[layer], values_[layer]}, input[1], input[2])
                .unsqueeze(2);
        });
    return model_.logits(hidden.squeeze(1)).to(at::kFloat);
}

at::Tensor Decoder::plainStep(const std::vector<std::int64_t> &rows, const at::Tensor &input,
                              std::int64_t longest) {
    // A table of rows by the most tokens of one, filled up with each row's last token.
    std::vector<std::int64_t> who, counts;
    for (const auto row : rows) {
        if (who.empty() || who.back() != row) {
            who.push_back(row);
            counts.push_back(0);
        }
        ++counts.back();
    }
    const auto size = static_cast<std::int64_t>(who.size()), width = std::ranges::max(counts);
    std::vector<std::int64_t> sources, own; // of each place its token; of each token its place
    std::int64_t first = 0;
    for (std::int64_t i = 0; i < size; ++i) {
        const auto count = counts[static_cast<std::size_t>(i)];
        for (std::int64_t j = 0; j < width; ++j) {
            sources.push_back(first + std::min(j, count - 1));
            if (j < count)
                own.push_back(i * width + j);
        }
        first += count;
    }
    const auto placed = [&](const std::vector<std::int64_t> &list) {
        return at::tensor(list, at::kLong).to(model_.device());
    };
    const auto chosen = placed(who), tokens = placed(own);
    const auto table = input.index_select(1, placed(sources)).view({3, size, width});
    const auto mask = (at::arange(longest, table.options()) <= table[2].unsqueeze(-1))
                          .unsqueeze(1); // [size, 1, width, keys]
    // Rows that lie side by side, the common case, are used where they lie.
    const bool together = std::ranges::is_sorted(who) && who.back() - who.front() + 1 == size;
    const auto hidden = model_.hidden(
        table[0], table[2],
        [&](std::int64_t layer, const at::Tensor &query, const at::Tensor &key,
            const at::Tensor &value) {
            const auto kept = [&](const at::Tensor &all, const at::Tensor &fresh) {
                auto mine = all[layer]; // [rows, kvHeads, context, headSize]
                mine.transpose(1, 2).index_put_(
                    {input[1], input[2]},
                    fresh.transpose(1, 2).flatten(0, 1).index_select(0, tokens));
                const auto seen = mine.narrow(2, 0, longest);
                return together ? seen.narrow(0, who.front(), size) : seen.index_select(0, chosen);
            };
            return model_.attended(query, kept(keys_, key), kept(values_, value), mask, false);
        });
    return model_.logits(hidden.flatten(0, 1).index_select(0, tokens)).to(at::kFloat);
}

} // namespace cuda_agent::learn
