// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/kernels/fused.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <functional>

// The fused functions beside ATen's in double precision on the CPU, on any device.

namespace cuda_agent::learn::cases {

/// What is looked at: kernels, and where they run.
struct Subject {
    fused::KernelsPointer kernels;
    at::Device device;
    const KernelSizes &sizes() const { return kernels->sizes(); }
};

inline KernelSizes sizesOf(at::ScalarType type, std::int64_t hidden, std::int64_t heads,
                           std::int64_t kvHeads, std::int64_t headSize, std::int64_t inner,
                           std::int64_t vocabulary) {
    return {type, hidden, heads, kvHeads, headSize, inner, vocabulary, 1e-6};
}

/// Sizes whose rows take one lane, some and all of a warp, evenly and not; shared keys; rows of
/// logits that are whole accesses and that are not.
inline std::vector<KernelSizes> manySizes(at::ScalarType type) {
    return {sizesOf(type, 48, 4, 2, 16, 24, 50), sizesOf(type, 384, 6, 6, 64, 1024, 4096),
            sizesOf(type, 200, 3, 1, 32, 40, 1031), sizesOf(type, 1024, 2, 1, 128, 64, 264)};
}

/// Drawn on the CPU, the same for every device: in the subject's type and place, a leaf.
inline at::Tensor drawn(const Subject &subject, at::IntArrayRef shape, std::uint64_t seed,
                        double scale = 1, double shift = 0) {
    auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
    return (at::randn(shape, generator, at::kDouble) * scale + shift)
        .to(subject.device, subject.sizes().type)
        .requires_grad_(true);
}

/// A leaf of the same numbers in double precision on the CPU.
inline at::Tensor exact(const at::Tensor &tensor) {
    return tensor.detach().to(at::kCPU, at::kDouble).clone().requires_grad_(tensor.requires_grad());
}

/// The largest error over the largest number is within some roundings of the type.
inline void expectNear(const at::Tensor &got, const at::Tensor &wanted, const std::string &what,
                       double roundings = 4) {
    ASSERT_TRUE(got.defined()) << what;
    ASSERT_EQ(got.sizes(), wanted.sizes()) << what;
    const double unit = got.scalar_type() == at::kBFloat16 ? 1.0 / 256 : 1e-6;
    const auto error = (got.detach().to(at::kCPU, at::kDouble) - wanted.detach()).abs().max();
    EXPECT_LE(error.item<double>(), roundings * unit * wanted.abs().max().item<double>() + 1e-30)
        << what;
}

using Inputs = std::vector<at::Tensor>;
using Outputs = std::vector<at::Tensor>;
using Arrangement = std::function<at::Tensor(const at::Tensor &)>;
using Operation = std::function<Outputs(const Inputs &)>;

/// Values and gradients of both, for drawn gradients of the outputs that lie as `arranged` leaves
/// them.
inline void compare(const Subject &subject, const Inputs &inputs, const Operation &ours,
                    const Operation &wanted, double roundings = 4,
                    const Arrangement &arranged = {}) {
    Inputs exactInputs;
    for (const auto &input : inputs)
        exactInputs.push_back(input.defined() ? exact(input) : input);
    const auto mine = ours(inputs), theirs = wanted(exactInputs);
    ASSERT_EQ(mine.size(), theirs.size());
    at::Tensor sum = at::zeros({}, at::TensorOptions(subject.device)),
               exactSum = at::zeros({}, at::kDouble);
    std::vector<at::Tensor> slopes;
    for (std::size_t i = 0; i < mine.size(); ++i) {
        expectNear(mine[i], theirs[i], fmt::format("output {}", i), roundings);
        auto generator = at::make_generator<at::CPUGeneratorImpl>(77 + i);
        auto slope = at::randn(theirs[i].sizes(), generator, at::kDouble)
                         .to(subject.device, mine[i].scalar_type());
        exactSum = exactSum + (theirs[i] * slope.to(at::kCPU, at::kDouble)).sum();
        slopes.push_back(arranged ? arranged(slope) : slope);
    }
    exactSum.backward();
    // Given as they are, so that their strides arrive; all at once, or each alone, so that the
    // gradients of the others are undefined.
    if (arranged)
        torch::autograd::backward(mine, slopes);
    else
        for (std::size_t i = 0; i < mine.size(); ++i)
            mine[i].backward(slopes[i], i + 1 < mine.size());
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (inputs[i].defined() && inputs[i].requires_grad())
            expectNear(inputs[i].grad(), exactInputs[i].grad(), fmt::format("gradient {}", i),
                       roundings);
}

inline at::Tensor normed(const at::Tensor &x, const at::Tensor &weight, double epsilon) {
    return x * at::rsqrt(x.square().mean(-1, true) + epsilon) * weight;
}

inline void rmsNorm(const Subject &subject) {
    const auto &s = subject.sizes();
    for (const std::int64_t rows : {1, 7, 130})
        compare(
            subject,
            {drawn(subject, {rows, s.hidden}, 1, 2), drawn(subject, {s.hidden}, 2, 0.3, 1)},
            [&](const Inputs &in) {
                return Outputs{fused::rmsNorm(subject.kernels, in[0], in[1])};
            },
            [&](const Inputs &in) { return Outputs{normed(in[0], in[1], s.epsilon)}; });
}

/// The sum is rounded before it is normed: so is the one of the yardstick.
inline void addRmsNorm(const Subject &subject) {
    const auto &s = subject.sizes();
    for (const std::int64_t rows : {1, 33, 130, 3000}) {
        const auto x = drawn(subject, {rows, s.hidden}, 3), r = drawn(subject, {rows, s.hidden}, 4);
        const auto rounding =
            (x + r).detach().to(at::kCPU, at::kDouble) - (exact(x) + exact(r)).detach();
        compare(
            subject, {x, r, drawn(subject, {s.hidden}, 5, 0.3, 1)},
            [&](const Inputs &in) {
                const auto both = fused::addRmsNorm(subject.kernels, in[0], in[1], in[2]);
                return Outputs{both.sum, both.normed};
            },
            [&](const Inputs &in) {
                const auto sum = in[0] + in[1] + rounding;
                return Outputs{sum, normed(sum, in[2], s.epsilon)};
            },
            4,
            rows == 1 ? Arrangement() : Arrangement([](const at::Tensor &slope) { return slope; }));
    }
}

struct Tables {
    at::Tensor cos, sin;
};
inline Tables tablesOf(const Subject &subject, std::int64_t positions) {
    const auto half = subject.sizes().headSize / 2;
    const auto angles = at::outer(at::arange(positions, at::kDouble),
                                  at::pow(10000.0, at::arange(half, at::kDouble) / -half));
    const auto placed = [&](const at::Tensor &table) {
        return table.to(subject.device, subject.sizes().type);
    };
    return {placed(at::cos(angles)), placed(at::sin(angles))};
}

inline void qkvRope(const Subject &subject, bool withPositions, const Arrangement &arranged) {
    const auto &s = subject.sizes();
    const std::int64_t batch = 3, length = 13;
    const auto tables = tablesOf(subject, 40);
    at::Tensor positions;
    if (withPositions) {
        auto generator = at::make_generator<at::CPUGeneratorImpl>(9);
        positions = at::randint(40, {batch, length}, generator, at::kLong).to(subject.device);
    }
    const auto places = withPositions ? positions.to(at::kCPU)
                                      : at::arange(length, at::kLong).expand({batch, length});
    const auto turns = [&](const at::Tensor &table) {
        return exact(table).index_select(0, places.reshape({-1})).view({batch, length, 1, -1});
    };
    const auto cos = turns(tables.cos), sin = turns(tables.sin);
    compare(
        subject,
        {drawn(subject, {batch, length, (s.heads + 2 * s.kvHeads) * s.headSize}, 6, 2),
         drawn(subject, {s.headSize}, 7, 0.3, 1), drawn(subject, {s.headSize}, 8, 0.3, 1)},
        [&](const Inputs &in) {
            const auto made = fused::qkvRope(subject.kernels, in[0],
                                             {in[1], in[2], tables.cos, tables.sin, positions});
            return Outputs{made[0], made[1], made[2]};
        },
        [&](const Inputs &in) {
            const auto parts = in[0]
                                   .view({batch, length, -1, s.headSize})
                                   .split_with_sizes({s.heads, s.kvHeads, s.kvHeads}, 2);
            const auto rotated = [&](const at::Tensor &states, const at::Tensor &weight) {
                const auto halves = normed(states, weight, s.epsilon).chunk(2, -1);
                return at::cat(
                           {halves[0] * cos - halves[1] * sin, halves[1] * cos + halves[0] * sin},
                           -1)
                    .transpose(1, 2);
            };
            return Outputs{rotated(parts[0], in[1]), rotated(parts[1], in[2]),
                           parts[2].transpose(1, 2)};
        },
        4, arranged);
}

/// Gradients that lie as flash attention leaves them, as they would by themselves, and so that they
/// have to be copied.
inline void qkvRope(const Subject &subject) {
    qkvRope(subject, false, {});
    qkvRope(subject, true, [](const at::Tensor &slope) {
        return slope.transpose(1, 2).contiguous().transpose(1, 2);
    });
    qkvRope(subject, false, [](const at::Tensor &slope) {
        return slope.transpose(2, 3).contiguous().transpose(2, 3);
    });
}

/// Rows that hold nothing, a little and all but the last places, in an order of their own, one that
/// is none, two with several new tokens, and some that nobody asks for, which stay as they are.
inline void attendStep(const Subject &subject) {
    const auto &s = subject.sizes();
    const at::NoGradGuard noGradients;
    for (const std::int64_t context : {5, 300}) {
        const std::vector<std::int64_t> rows{3, 3, 3, 0, -1, 5, 2, 2},
            places{context - 3, context - 2, context - 1, 0, 0, context / 2, 1, 2};
        const std::int64_t tokens = 8, allRows = 6;
        const auto numbers = [&](at::IntArrayRef shape, std::uint64_t seed) {
            return drawn(subject, shape, seed, 1.5).detach();
        };
        const auto query = numbers({tokens, s.heads, s.headSize}, 20),
                   key = numbers({tokens, s.kvHeads, s.headSize}, 21),
                   value = numbers({tokens, s.kvHeads, s.headSize}, 22);
        const Kernels::Kept kept{numbers({allRows, s.kvHeads, context, s.headSize}, 23),
                                 numbers({allRows, s.kvHeads, context, s.headSize}, 24)};
        auto keys = exact(kept.keys), values = exact(kept.values);
        // What nobody may look at: what a row holds where its new tokens come, and behind.
        for (std::size_t i = 0; i < rows.size(); ++i)
            for (const auto &all : {kept.keys, kept.values})
                if (rows[i] >= 0)
                    all[rows[i]]
                        .narrow(1, places[i], context - places[i])
                        .fill_(std::numeric_limits<double>::quiet_NaN());
        const auto placed = [&](const std::vector<std::int64_t> &list) {
            return at::tensor(list, at::kLong).to(subject.device);
        };
        const auto got =
            subject.kernels->attendStep(query, key, value, kept, placed(rows), placed(places));
        auto wanted = at::zeros({tokens, s.heads, s.headSize}, at::kDouble);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (rows[i] < 0)
                continue;
            const auto at = static_cast<std::int64_t>(i);
            keys[rows[i]].select(1, places[i]).copy_(exact(key)[at]);
            values[rows[i]].select(1, places[i]).copy_(exact(value)[at]);
            const auto seen = [&](const at::Tensor &all) {
                return all[rows[i]]
                    .narrow(1, 0, places[i] + 1)
                    .repeat_interleave(s.heads / s.kvHeads, 0);
            };
            const auto scores = at::matmul(seen(keys), exact(query)[at].unsqueeze(-1)).squeeze(-1) /
                                std::sqrt(static_cast<double>(s.headSize));
            wanted[at] = at::matmul(at::softmax(scores, -1).unsqueeze(1), seen(values)).squeeze(1);
        }
        expectNear(got, wanted, "attended", 8);
        EXPECT_EQ(got[4].abs().max().item<double>(), 0);
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (rows[i] >= 0) {
                const auto at = static_cast<std::int64_t>(i);
                EXPECT_TRUE(at::equal(kept.keys[rows[i]].select(1, places[i]), key[at]));
                EXPECT_TRUE(at::equal(kept.values[rows[i]].select(1, places[i]), value[at]));
            }
        for (const std::int64_t untouched : {1, 4})
            EXPECT_TRUE(at::equal(exact(kept.keys[untouched]), keys[untouched]));
    }
}

inline void swiGlu(const Subject &subject) {
    const auto &s = subject.sizes();
    for (const std::int64_t rows : {1, 5, 67})
        compare(
            subject, {drawn(subject, {rows, 2 * s.inner}, 10, 3)},
            [&](const Inputs &in) { return Outputs{fused::swiGlu(subject.kernels, in[0])}; },
            [&](const Inputs &in) {
                const auto both = in[0].chunk(2, -1);
                return Outputs{at::silu(both[0]) * both[1]};
            });
}

/// Targets from 3 on, of which the first is none.
inline at::Tensor targetsOf(const Subject &subject, std::int64_t count) {
    auto generator = at::make_generator<at::CPUGeneratorImpl>(11);
    auto targets = at::randint(3, subject.sizes().vocabulary, {count}, generator, at::kLong);
    targets[0] = -100;
    return targets.to(subject.device);
}

inline at::Tensor exactLoss(const at::Tensor &logits, const at::Tensor &targets) {
    return at::cross_entropy_loss(logits, targets.to(at::kCPU), {}, at::Reduction::None);
}

/// Logits whose exponentials are no floats, and three tokens that are forbidden.
inline void crossEntropy(const Subject &subject) {
    const auto &s = subject.sizes();
    for (const std::int64_t rows : {1, 9, 40}) {
        const auto targets = targetsOf(subject, rows);
        auto logits = drawn(subject, {rows, s.vocabulary}, 12, 4, 300);
        {
            const at::NoGradGuard noGradients;
            logits.narrow(1, 0, 3).fill_(-std::numeric_limits<double>::infinity());
        }
        const auto numbers = exact(logits);
        const auto wanted = exactLoss(numbers, targets);
        const auto written = logits.clone(); // over which the backward pass writes
        const auto loss = fused::crossEntropy(subject.kernels, written, targets);
        EXPECT_EQ(loss.scalar_type(), at::kFloat);
        EXPECT_LE((loss.to(at::kCPU, at::kDouble) - wanted).abs().max().item<double>(), 1e-4);
        auto generator = at::make_generator<at::CPUGeneratorImpl>(16);
        const auto weights = at::rand({rows}, generator, at::kDouble);
        (wanted * weights).sum().backward();
        const auto sum = (loss * weights.to(subject.device, at::kFloat)).sum();
        sum.backward({}, true);
        expectNear(logits.grad(), numbers.grad(), "gradient", s.type == at::kFloat ? 100 : 4);
        EXPECT_THROW(sum.backward(), c10::Error) << "the logits are not there any more";
    }
}

/// Whole, in even chunks and in uneven ones, the same numbers.
inline void linearCrossEntropy(const Subject &subject) {
    const auto &s = subject.sizes();
    const std::int64_t tokens = 22;
    const auto targets = targetsOf(subject, tokens);
    auto generator = at::make_generator<at::CPUGeneratorImpl>(13);
    const auto weights = at::rand({tokens}, generator, at::kFloat) / 7;
    for (const std::int64_t chunk : {0, 11, 5, 100}) {
        const auto hidden = drawn(subject, {2, 11, s.hidden}, 14);
        const auto matrix = drawn(subject, {s.vocabulary, s.hidden}, 15, 0.1);
        auto states = exact(hidden), rows = exact(matrix);
        auto logits = at::linear(states.view({tokens, s.hidden}), rows);
        const auto wanted = (exactLoss(logits, targets) * weights).sum();
        const auto loss =
            fused::linearCrossEntropy(subject.kernels, hidden, matrix, targets.view({2, 11}),
                                      weights.to(subject.device).view({2, 11}), chunk);
        const double unit = s.type == at::kFloat ? 1e-5 : 1e-2;
        EXPECT_NEAR(loss.item<double>(), wanted.item<double>(), unit * wanted.item<double>());
        wanted.backward();
        loss.backward();
        expectNear(hidden.grad(), states.grad(), "gradient of hidden", 8);
        expectNear(matrix.grad(), rows.grad(), "gradient of the matrix", 8);
        const at::NoGradGuard noGradients;
        EXPECT_EQ(fused::linearCrossEntropy(subject.kernels, hidden, matrix, targets.view({2, 11}),
                                            weights.to(subject.device).view({2, 11}), chunk)
                      .item<float>(),
                  loss.item<float>());
    }
}

/// The same bits from the same numbers, with rows enough for every block.
inline void repeats(const Subject &subject) {
    const auto &s = subject.sizes();
    const auto run = [&] {
        const auto x = drawn(subject, {3000, s.hidden}, 1), r = drawn(subject, {3000, s.hidden}, 2);
        const auto weight = drawn(subject, {s.hidden}, 3);
        const auto both = fused::addRmsNorm(subject.kernels, x, r, weight);
        (both.normed * both.sum).sum().backward();
        return std::make_pair(x.grad(), weight.grad());
    };
    const auto first = run(), second = run();
    EXPECT_TRUE(at::equal(first.first, second.first));
    EXPECT_TRUE(at::equal(first.second, second.second));
}

} // namespace cuda_agent::learn::cases
