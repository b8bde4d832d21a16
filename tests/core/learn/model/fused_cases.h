// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/model/decoder.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

// The whole Transformer with the fused kernels and without, on any device.

namespace cuda_agent::learn::fused_cases {

/// Has a model use the fused kernels; throws where it cannot.
using Fuse = std::function<void(Transformer &)>;

/// Both types can do these; shared keys, an odd vocabulary.
inline ModelConfig smallConfig() {
    ModelConfig config;
    config.vocabulary = 301;
    config.hidden = 48;
    config.layers = 2;
    config.heads = 4;
    config.kvHeads = 2;
    config.headSize = 16;
    config.inner = 72;
    config.positions = 40;
    config.initialRange = 0.2;
    return config;
}

inline Transformer drawn(const ModelConfig &config, at::Device device, at::ScalarType type,
                         Transformer::Head head = Transformer::Head::logits) {
    auto model = Transformer::drawn(config, head, 5, device, type);
    if (head == Transformer::Head::value) { // else nothing below it would learn
        auto generator = at::make_generator<at::CPUGeneratorImpl>(8);
        model.parameters()
            .at("valueWeight")
            .detach()
            .copy_(at::randn({1, config.hidden}, generator) * 0.1);
    }
    return model;
}

/// A step's loss and all gradients, float on the CPU.
struct Step {
    double loss;
    at::Tensor gradients;
};

/// `documents`: their sizes where a row holds several; none: each row is one.
inline Step stepOf(const Transformer &model, std::int64_t batch, std::int64_t length,
                   const std::vector<std::int64_t> &documents = {}) {
    const auto &config = model.config();
    auto generator = at::make_generator<at::CPUGeneratorImpl>(6);
    const auto ids = at::randint(config.vocabulary, {batch, length + 1}, generator, at::kLong);
    const auto weights = at::rand({batch, length}, generator) / (batch * length);
    const auto placed = [&](const at::Tensor &tensor) {
        return tensor.contiguous().to(model.device());
    };
    model.parameters().gradients().zero_();
    const auto tokens = placed(ids.narrow(1, 0, length));
    const auto hidden =
        documents.empty()
            ? model.hidden(tokens)
            : model.hidden(tokens, Documents(documents, batch, length, model.device()));
    at::Tensor loss;
    if (model.head() == Transformer::Head::value)
        loss = (model.value(hidden).square() * placed(weights)).sum();
    else
        loss =
            model.weightedCrossEntropy(hidden, placed(ids.narrow(1, 1, length)), placed(weights));
    loss.backward();
    return {loss.item<double>(), model.parameters().gradients().to(at::kCPU, at::kFloat).clone()};
}

inline double distance(const at::Tensor &a, const at::Tensor &b) {
    return ((a - b).norm() / b.norm()).item<double>();
}

/// In float the same to rounding; in bfloat16 no further from float than ATen's kernels are, with a
/// little room, as both are mostly the rounding of what lies between.
inline void sameStep(at::Device device, const ModelConfig &config, std::int64_t batch,
                     std::int64_t length, const Fuse &fuse) {
    for (const auto head : {Transformer::Head::logits, Transformer::Head::value}) {
        const auto plain = drawn(config, device, at::kFloat, head);
        const auto wanted = stepOf(plain, batch, length);
        auto model = drawn(config, device, at::kFloat, head);
        fuse(model);
        ASSERT_TRUE(model.isFused());
        const auto got = stepOf(model, batch, length);
        EXPECT_NEAR(got.loss, wanted.loss, 1e-5 * std::abs(wanted.loss));
        EXPECT_GT(wanted.gradients.norm().item<double>(), 1e-3);
        EXPECT_LT(distance(got.gradients, wanted.gradients), 1e-4);
        for (const auto &parameter : model.parameters().all()) {
            const auto &mine = parameter.value.grad();
            const auto &theirs = plain.parameters().at(parameter.name).grad();
            EXPECT_TRUE(
                at::allclose(mine, theirs, 1e-3, 1e-4 * theirs.abs().max().item<double>() + 1e-9))
                << parameter.name;
        }
        const auto rounded = stepOf(drawn(config, device, at::kBFloat16, head), batch, length);
        auto half = drawn(config, device, at::kBFloat16, head);
        fuse(half);
        const auto gotHalf = stepOf(half, batch, length);
        EXPECT_NEAR(gotHalf.loss, wanted.loss, 0.02 * std::abs(wanted.loss));
        const auto ours = distance(gotHalf.gradients, wanted.gradients),
                   theirs = distance(rounded.gradients, wanted.gradients);
        EXPECT_LT(ours, 1.3 * theirs + 1e-3);
        std::fprintf(stderr, "gradients in bfloat16 are %.4f from float's, without fusion %.4f\n",
                     ours, theirs);
    }
}

/// Documents of the same row do not see each other: in bfloat16 no further from float than the loop
/// over documents on the CPU is, with a little room.
inline void sameDocuments(at::Device device, const Fuse &fuse) {
    const auto config = smallConfig();
    const std::vector<std::int64_t> sizes{1, 30, 6, 37, 20, 17};
    const auto step = [&](at::Device where, at::ScalarType type, bool fused,
                          const std::vector<std::int64_t> &documents) {
        auto model = drawn(config, where, type);
        if (fused)
            fuse(model);
        return stepOf(model, 3, 37, documents);
    };
    const auto wanted = step(at::kCPU, at::kFloat, false, sizes);
    const auto theirs =
        distance(step(at::kCPU, at::kBFloat16, false, sizes).gradients, wanted.gradients);
    for (const bool fused : {false, true}) {
        EXPECT_LT(distance(step(device, at::kFloat, fused, sizes).gradients, wanted.gradients),
                  1e-4);
        const auto half = step(device, at::kBFloat16, fused, sizes);
        EXPECT_NEAR(half.loss, wanted.loss, 0.02 * std::abs(wanted.loss));
        EXPECT_LT(distance(half.gradients, wanted.gradients), 1.3 * theirs + 1e-3);
    }
    const auto unmasked = step(device, at::kBFloat16, true, {});
    EXPECT_GT(distance(unmasked.gradients, wanted.gradients), 3 * theirs);
}

/// Reading and stepping, rows of different lengths.
inline void sameDecoding(at::Device device, const Fuse &fuse) {
    const auto plain = drawn(smallConfig(), device, at::kFloat);
    auto model = drawn(smallConfig(), device, at::kFloat);
    fuse(model);
    Decoder one(plain, 2, 20), other(model, 2, 20);
    const auto same = [](const at::Tensor &a, const at::Tensor &b) {
        EXPECT_TRUE(at::allclose(a, b, 1e-4, 1e-4));
    };
    same(one.read(0, {1, 2, 3}), other.read(0, {1, 2, 3}));
    same(one.read(1, {4}), other.read(1, {4}));
    same(one.step({0, 1}, {5, 6}), other.step({0, 1}, {5, 6}));
    same(one.read(0, {7, 8}), other.read(0, {7, 8}));
    same(one.step({1}, {9}), other.step({1}, {9}));
    model.useKernels({});
    EXPECT_FALSE(model.isFused());
    same(one.step({1}, {10}), other.step({1}, {10}));
}

/// Batches of many sizes, again and again with other rows and lengths, and weights that change in
/// place meanwhile.
inline void sameBatches(at::Device device, const Fuse &fuse) {
    const auto plain = drawn(smallConfig(), device, at::kFloat);
    auto model = drawn(smallConfig(), device, at::kFloat);
    fuse(model);
    constexpr std::int64_t rows = 21, context = 40;
    Decoder one(plain, rows, context), other(model, rows, context);
    const at::NoGradGuard noGradients;
    std::mt19937 random(3);
    const auto token = [&] { return static_cast<std::int32_t>(random() % 300); };
    for (std::int64_t row = 0; row < rows; ++row) {
        const std::vector<std::int32_t> text(1 + random() % 10, token());
        EXPECT_TRUE(at::allclose(one.read(row, text), other.read(row, text), 1e-4, 1e-4));
    }
    for (int round = 0; round < 25; ++round) {
        std::vector<std::int64_t> some;
        std::vector<std::int32_t> tokens;
        const auto share = 1 + random() % 10;
        for (std::int64_t row = 0; row < rows; ++row)
            if (random() % 10 < share) {
                some.push_back(row);
                tokens.push_back(token());
            }
        if (some.empty())
            continue;
        const auto wanted = one.step(some, tokens), got = other.step(some, tokens);
        EXPECT_TRUE(at::allclose(wanted, got, 1e-4, 1e-4)) << "round " << round;
        if (round % 5 == 4)
            for (const auto *each : {&plain, &std::as_const(model)})
                for (const auto &parameter : each->parameters().all())
                    parameter.value.detach().mul_(0.97);
    }
}

} // namespace cuda_agent::learn::fused_cases
