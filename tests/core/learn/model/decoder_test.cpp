// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/model/decoder.h"
#include "core/learn/model/sampler.h"
#include "tests/core/learn/model/tiny_model.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace cuda_agent::learn {
namespace {

Transformer model(std::int64_t kvHeads) {
    auto config = tinyConfig();
    config.kvHeads = kvHeads;
    config.initialRange = 0.3; // far from uniform
    return Transformer::drawn(config, Transformer::Head::logits, 1, at::kCPU, at::kFloat);
}

/// What the whole model says behind `tokens`.
at::Tensor behind(const Transformer &model, const std::vector<std::int32_t> &tokens) {
    const at::NoGradGuard noGradients;
    const auto ids = at::tensor(tokens).to(at::kLong).unsqueeze(0);
    return model.logits(model.hidden(ids))[0][-1];
}

std::vector<std::int32_t> drawn(std::mt19937 &random, std::size_t count) {
    std::vector<std::int32_t> tokens;
    for (std::size_t i = 0; i < count; ++i)
        tokens.push_back(static_cast<std::int32_t>(random() % 50));
    return tokens;
}

TEST(Decoder, RowsThatBeginAndEndIndependentlySayWhatTheWholeModelSays) {
    for (const std::int64_t kvHeads : {4, 2, 1}) {
        const auto actor = model(kvHeads);
        Decoder decoder(actor, 3, 24);
        std::vector<std::vector<std::int32_t>> texts(3);
        std::mt19937 random(5);
        for (int round = 0; round < 60; ++round) {
            const auto kind = random() % 4;
            const auto row = static_cast<std::int64_t>(random() % 3);
            auto &text = texts[static_cast<std::size_t>(row)];
            if (kind == 0) {
                decoder.clear(row);
                text.clear();
            } else if (kind == 1 && text.size() > 2) {
                text.resize(text.size() / 2);
                decoder.cut(row, static_cast<std::int64_t>(text.size()));
            } else if (kind == 2 && text.size() + 5 <= 24) {
                const auto more = drawn(random, 1 + random() % 5);
                text.insert(text.end(), more.begin(), more.end());
                EXPECT_TRUE(at::allclose(decoder.read(row, more), behind(actor, text), 1e-4, 1e-4));
            } else {
                std::vector<std::int64_t> rows; // some with several tokens
                for (std::size_t i = 0; i < 3; ++i)
                    if (!texts[i].empty() && texts[i].size() < 24 && random() % 4 > 0)
                        rows.insert(rows.end(),
                                    1 + random() % std::min<std::size_t>(4, 24 - texts[i].size()),
                                    static_cast<std::int64_t>(i));
                if (rows.empty())
                    continue;
                const auto next = drawn(random, rows.size());
                const auto logits = decoder.step(rows, next);
                for (std::size_t i = 0; i < rows.size(); ++i) {
                    auto &grown = texts[static_cast<std::size_t>(rows[i])];
                    grown.push_back(next[i]);
                    EXPECT_TRUE(at::allclose(logits[static_cast<std::int64_t>(i)],
                                             behind(actor, grown), 1e-4, 1e-4));
                }
            }
            EXPECT_EQ(decoder.length(row), static_cast<std::int64_t>(text.size()));
        }
    }
}

TEST(Decoder, AFullRowIsRefused) {
    const auto actor = model(4);
    Decoder decoder(actor, 1, 4);
    decoder.read(0, {1, 2, 3, 4});
    EXPECT_THROW(decoder.step({0}, {5}), std::length_error);
    EXPECT_THROW(decoder.read(0, {5}), std::length_error);
    EXPECT_THROW(Decoder(actor, 1, 33), std::length_error);
}

TEST(Sampler, DrawsAsOftenAsItSays) {
    const auto logits = at::tensor({0.0f, 1.0f, 2.0f, -1.0f}).expand({20000, 4});
    auto generator = at::make_generator<at::CPUGeneratorImpl>(3);
    for (const double temperature : {1.0, 0.5}) {
        const auto sampled =
            sample(logits, {temperature, 1}, {}, at::rand({20000}, generator, at::kDouble));
        const auto wanted = at::softmax(logits[0] / temperature, -1);
        const auto counts = at::bincount(sampled.tokens, {}, 4) / 20000.0;
        EXPECT_TRUE(at::allclose(counts.to(at::kFloat), wanted, 0, 0.015));
        EXPECT_TRUE(at::allclose(sampled.logProbabilities,
                                 wanted.log().index_select(0, sampled.tokens), 1e-5, 1e-5));
        EXPECT_NEAR(sampled.entropy[0].item<double>(),
                    -(wanted * wanted.log()).sum().item<double>(), 1e-5);
    }
}

TEST(Sampler, MasksAndNucleusAreTheSameInTheUpdate) {
    auto generator = at::make_generator<at::CPUGeneratorImpl>(3);
    const auto logits = at::randn({500, 7}, generator);
    auto allowed = at::rand({500, 7}, generator) < 0.5;
    allowed.select(1, 2).fill_(true);
    const Sampling sampling{0.8, 0.7};
    const auto sampled = sample(logits, sampling, allowed, at::rand({500}, generator, at::kDouble));
    EXPECT_TRUE(allowed.gather(1, sampled.tokens.unsqueeze(1)).all().item<bool>());
    EXPECT_TRUE(at::isfinite(sampled.entropy).all().item<bool>());
    EXPECT_TRUE(at::equal(logProbabilityOf(logits, sampled.tokens, sampling, allowed),
                          sampled.logProbabilities));
    const auto likeliest = sample(logits, {0, 1}, allowed, {}).tokens;
    EXPECT_TRUE(at::equal(
        likeliest,
        logits.masked_fill(~allowed, -std::numeric_limits<double>::infinity()).argmax(-1)));
    // Of a certain token nothing is left to draw.
    const auto certain = sample(at::tensor({9.0f, 0.0f}).view({1, 2}), {1, 0.5}, {},
                                at::tensor({0.9999999}, at::kDouble));
    EXPECT_EQ(certain.tokens.item<std::int64_t>(), 0);
    EXPECT_EQ(certain.logProbabilities.item<double>(), 0);
    EXPECT_EQ(certain.entropy.item<double>(), 0);
}

TEST(Sampler, WhatIsUnlikelyBesideTheLikeliestDoesNotComeHoweverHotItIs) {
    const auto logits = at::tensor({0.9f, 0.0f, 0.06f, 0.04f}).log().expand({20000, 4});
    auto generator = at::make_generator<at::CPUGeneratorImpl>(3);
    const Sampling sampling{3, 1, 0.05};
    const auto sampled = sample(logits, sampling, {}, at::rand({20000}, generator, at::kDouble));
    const auto counts = at::bincount(sampled.tokens, {}, 4) / 20000.0;
    const double first = std::cbrt(0.9), third = std::cbrt(0.06);
    EXPECT_NEAR(counts[0].item<double>(), first / (first + third), 0.015);
    EXPECT_NEAR(counts[2].item<double>(), third / (first + third), 0.015);
    EXPECT_EQ(counts[1].item<double>() + counts[3].item<double>(), 0);
    EXPECT_TRUE(at::equal(logProbabilityOf(logits, sampled.tokens, sampling, {}),
                          sampled.logProbabilities));
    // The likeliest of those that may come counts, not of all.
    const auto allowed = at::tensor({0, 1, 1, 1}).to(at::kBool).view({1, 4});
    const auto rest =
        sample(logits.slice(0, 0, 1), sampling, allowed, at::tensor({0.9999999}, at::kDouble));
    EXPECT_EQ(rest.tokens.item<std::int64_t>(), 3);
}

TEST(Sampler, TheEndsOfTheUnitIntervalAreTokensThatMayCome) {
    const auto logits = at::zeros({2, 1000});
    auto allowed = at::zeros({2, 1000}, at::kBool);
    allowed.slice(1, 5, 995).fill_(true);
    const auto sampled =
        sample(logits, {1, 1}, allowed, at::tensor({0.0, std::nextafter(1.0, 0.0)}, at::kDouble));
    EXPECT_EQ(sampled.tokens[0].item<std::int64_t>(), 5);
    EXPECT_EQ(sampled.tokens[1].item<std::int64_t>(), 994);
}

TEST(Sampler, GradientsAreThoseOfTheLogProbability) {
    auto logits = at::tensor({1.0f, 2.0f, 0.5f}).view({1, 3}).requires_grad_(true);
    logProbabilityOf(logits, at::tensor({1}, at::kLong), {1, 1}, {}).sum().backward();
    const auto wanted =
        at::tensor({0.0f, 1.0f, 0.0f}).view({1, 3}) - at::softmax(logits.detach(), -1);
    EXPECT_TRUE(at::allclose(logits.grad(), wanted, 1e-5, 1e-6));
}

} // namespace
} // namespace cuda_agent::learn
