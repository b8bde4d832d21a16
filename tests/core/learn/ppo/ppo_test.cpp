// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/ppo/ppo.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace cuda_agent::learn {
namespace {

at::Tensor row(const std::vector<float> &numbers) {
    return at::tensor(numbers).unsqueeze(0);
}

at::Tensor flags(const std::vector<float> &numbers) {
    return row(numbers) > 0;
}

TEST(Advantages, WithLambdaOneAreReturnsLessValues) {
    AdvantageOptions options;
    options.alpha = 0;
    options.lambda = 1;
    options.whiten = false;
    const auto values = row({0.5f, 0.25f, 1.0f, -0.5f});
    const auto found = estimateAdvantages(row({0, 0, 0, 3}), values, flags({1, 1, 1, 1}), options);
    EXPECT_TRUE(at::allclose(found.returns, row({3, 3, 3, 3})));
    EXPECT_TRUE(at::allclose(found.advantages, 3 - values));
}

TEST(Advantages, FollowTheirDefinition) {
    AdvantageOptions options;
    options.alpha = 0;
    options.lambda = 0.9;
    options.criticLambda = 0.5;
    options.gamma = 0.8;
    options.whiten = false;
    const std::vector<float> rewards{1, -1, 0.5f}, values{0.3f, 0.6f, -0.2f};
    const auto found = estimateAdvantages(row(rewards), row(values), flags({1, 1, 1}), options);
    const double d2 = 0.5 - -0.2, d1 = -1 + 0.8 * -0.2 - 0.6, d0 = 1 + 0.8 * 0.6 - 0.3;
    const auto sum = [&](double step) { return d0 + step * (d1 + step * d2); };
    EXPECT_NEAR(found.advantages[0][0].item<double>(), sum(0.8 * 0.9), 1e-6);
    EXPECT_NEAR(found.returns[0][0].item<double>(), sum(0.8 * 0.5) + 0.3, 1e-6);
}

TEST(Advantages, ObservationsAreNotThere) {
    AdvantageOptions options;
    options.whiten = false;
    const auto with =
        estimateAdvantages(row({9, 0, 7, 7, 0, 2, 9}), row({9, 0.5f, 8, 8, 0.25f, 1, 9}),
                           flags({0, 1, 0, 0, 1, 1, 0}), options);
    const auto without =
        estimateAdvantages(row({0, 0, 2}), row({0.5f, 0.25f, 1}), flags({1, 1, 1}), options);
    const auto places = at::tensor({1, 4, 5}, at::kLong);
    EXPECT_TRUE(at::allclose(with.advantages.index_select(1, places), without.advantages));
    EXPECT_TRUE(at::allclose(with.returns.index_select(1, places), without.returns));
    EXPECT_EQ(with.advantages[0][2].item<double>(), 0);
    EXPECT_EQ(with.returns[0][6].item<double>(), 0);
}

TEST(Advantages, TheActorsLambdaGrowsWithTheLength) {
    AdvantageOptions options;
    options.whiten = false;
    options.alpha = 0.5;
    // 4 tokens: 1 - 1 / (0.5 * 4) = 0.5; 2 tokens: 0, which is one step ahead only.
    const auto zeros = at::zeros({1, 4});
    const auto four = estimateAdvantages(row({0, 0, 0, 1}), zeros, flags({1, 1, 1, 1}), options);
    EXPECT_TRUE(at::allclose(four.advantages, row({0.125f, 0.25f, 0.5f, 1})));
    const auto two = estimateAdvantages(row({0, 1, 0, 0}), zeros, flags({1, 1, 0, 0}), options);
    EXPECT_TRUE(at::allclose(two.advantages, row({0, 1, 0, 0})));
}

TEST(Advantages, AreWhitenedOverThePolicysTokens) {
    const auto mask = at::rand({6, 20}) < 0.6;
    const auto found =
        estimateAdvantages(at::randn({6, 20}), at::randn({6, 20}), mask, AdvantageOptions());
    const auto chosen = found.advantages.masked_select(mask);
    EXPECT_NEAR(chosen.mean().item<double>(), 0, 1e-5);
    EXPECT_NEAR(chosen.std(false).item<double>(), 1, 1e-4);
    EXPECT_EQ(found.advantages.masked_select(~mask).abs().max().item<double>(), 0);
}

TEST(GroupAdvantages, CompareWithTheirGroupOnly) {
    const auto scores = at::tensor({1.0f, 3.0f, -1.0f, -1.0f, 2.0f});
    const auto groups = at::tensor({7, 7, 4, 4, 1}, at::kLong);
    const auto mask = at::ones({5, 2}, at::kBool);
    const auto plain = groupAdvantages(scores, groups, mask, false);
    EXPECT_TRUE(at::allclose(plain.select(1, 0), at::tensor({-1.0f, 1.0f, 0.0f, 0.0f, 0.0f})));
    const auto scaled = groupAdvantages(scores, groups, mask, true);
    EXPECT_NEAR(scaled[1][1].item<double>(), 1 / std::sqrt(2.0), 1e-5);
}

/// Loss and gradient of one token.
std::pair<double, double> ofToken(double logNew, double logOld, double advantage,
                                  const PpoOptions &options, double *clipped = nullptr) {
    auto fresh = at::tensor({static_cast<float>(logNew)}).unsqueeze(0).requires_grad_(true);
    const auto result = policyLoss(fresh, row({static_cast<float>(logOld)}),
                                   row({static_cast<float>(advantage)}), flags({1}), 1, options);
    result.loss.backward();
    if (clipped)
        *clipped = result.clipped.item<double>() + 10 * result.clippedLower.item<double>();
    return {result.loss.item<double>(), fresh.grad().item<double>()};
}

TEST(PolicyLoss, HasNoGradientWhereItWouldGoFurtherOutOfTheClip) {
    const PpoOptions options;
    double clipped = 0;
    auto [loss, slope] = ofToken(std::log(0.5), std::log(0.5), 2, options, &clipped);
    EXPECT_NEAR(loss, -2, 1e-5);
    EXPECT_NEAR(slope, -2, 1e-5);
    EXPECT_EQ(clipped, 0);
    std::tie(loss, slope) = ofToken(std::log(0.65), std::log(0.5), 2, options, &clipped); // 1.3
    EXPECT_NEAR(loss, -2 * 1.28, 1e-5);
    EXPECT_EQ(slope, 0);
    EXPECT_EQ(clipped, 1);
    std::tie(loss, slope) = ofToken(std::log(0.35), std::log(0.5), -1, options); // 0.7
    EXPECT_NEAR(loss, 0.8, 1e-5);
    EXPECT_EQ(slope, 0);
    std::tie(loss, slope) = ofToken(std::log(0.35), std::log(0.5), 1, options); // it may come back
    EXPECT_NEAR(slope, -0.7, 1e-5);
}

TEST(PolicyLoss, IsBoundedForBadTokensThatGotLikely) {
    PpoOptions options;
    double clipped = 0;
    auto [loss, slope] = ofToken(std::log(0.8), std::log(0.1), -1, options, &clipped); // 8
    EXPECT_NEAR(loss, 3, 1e-5);
    EXPECT_EQ(slope, 0);
    EXPECT_EQ(clipped, 10);
    options.dualClip = 0;
    std::tie(loss, slope) = ofToken(std::log(0.8), std::log(0.1), -1, options);
    EXPECT_NEAR(loss, 8, 1e-4);
    EXPECT_NEAR(slope, 8, 1e-4);
}

TEST(PolicyLoss, SurvivesRareTokens) {
    const auto [loss, slope] = ofToken(-1, -200, -1, PpoOptions());
    EXPECT_TRUE(std::isfinite(loss));
    EXPECT_TRUE(std::isfinite(slope));
}

TEST(PolicyLoss, ByDivergenceLetsRareTokensGrowAndHoldsLikelyOnes) {
    PpoOptions options;
    options.divergence = 0.1;
    double clipped = 0;
    // A hundred times as likely, and still rare: PPO would stop it.
    EXPECT_NE(ofToken(std::log(1e-3), std::log(1e-5), 1, options, &clipped).second, 0);
    EXPECT_EQ(clipped, 0);
    EXPECT_EQ(ofToken(std::log(1e-3), std::log(1e-5), 1, PpoOptions()).second, 0);
    // 0.8 to 0.95 is a ratio of 1.19, within PPO's clip.
    EXPECT_EQ(ofToken(std::log(0.95), std::log(0.8), 1, options, &clipped).second, 0);
    EXPECT_EQ(clipped, 1);
    EXPECT_NE(ofToken(std::log(0.95), std::log(0.8), 1, PpoOptions()).second, 0);
    // The other way is open.
    EXPECT_NE(ofToken(std::log(0.95), std::log(0.8), -1, options).second, 0);
}

TEST(PolicyLoss, IsAMeanOverTokensHoweverItIsCut) {
    const auto fresh = at::randn({4, 9}), old = at::randn({4, 9}), advantages = at::randn({4, 9});
    const auto mask = at::rand({4, 9}) < 0.5;
    const auto tokens = mask.sum().item<double>();
    const auto whole = policyLoss(fresh, old, advantages, mask, tokens, {});
    at::Tensor loss = at::zeros({}), kl = at::zeros({});
    for (std::int64_t i = 0; i < 4; ++i) {
        const auto cut = [&](const at::Tensor &all) { return all.narrow(0, i, 1); };
        const auto part = policyLoss(cut(fresh), cut(old), cut(advantages), cut(mask), tokens, {});
        loss += part.loss;
        kl += part.kl;
    }
    EXPECT_TRUE(at::allclose(loss, whole.loss));
    EXPECT_TRUE(at::allclose(kl, whole.kl));
    EXPECT_NEAR(whole.kl.item<double>(), (old - fresh).masked_select(mask).mean().item<double>(),
                1e-5);
}

TEST(ValueLoss, IsHalfTheMeanSquareAndCanBeClipped) {
    const auto values = row({1, 2, 9}), returns = row({0, 0, 0}), old = row({0.5f, 2, 0});
    const auto mask = flags({1, 1, 0});
    EXPECT_NEAR(valueLoss(values, old, returns, mask, 2, {}).loss.item<double>(), 0.5 * 5 / 2,
                1e-6);
    PpoOptions options;
    options.valueClip = 0.1;
    const auto clipped = valueLoss(row({0.1f, 2, 9}), row({1, 2, 0}), returns, mask, 2, options);
    EXPECT_NEAR(clipped.loss.item<double>(), 0.5 * (0.81 + 4) / 2, 1e-6);
    EXPECT_NEAR(clipped.clipped.item<double>(), 0.5, 1e-6);
}

TEST(ExplainedVariance, IsOneForAnOracleAndNothingForAConstant) {
    const auto returns = row({1, 2, 3, 100}), mask = flags({1, 1, 1, 0});
    EXPECT_DOUBLE_EQ(explainedVariance(returns, returns, mask), 1);
    EXPECT_NEAR(explainedVariance(row({5, 5, 5, 0}), returns, mask), 0, 1e-12);
    EXPECT_LT(explainedVariance(-returns, returns, mask), 0);
    EXPECT_TRUE(std::isnan(explainedVariance(returns, row({2, 2, 2, 0}), mask)));
}

TEST(AdaptiveKl, HoldsItsTarget) {
    AdaptiveKl kl(0.1, 0.02, 1000);
    kl.update(1, 100);
    EXPECT_NEAR(kl.coefficient(), 0.1 * 1.02, 1e-12);
    kl.update(0, 100);
    EXPECT_NEAR(kl.coefficient(), 0.1 * 1.02 * 0.98, 1e-12);
}

} // namespace
} // namespace cuda_agent::learn
