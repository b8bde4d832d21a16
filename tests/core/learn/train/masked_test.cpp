// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/experience.h"
#include "tests/core/learn/model/tiny_model.h"
#include "tests/source_dir.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <thread>

namespace cuda_agent::learn {
namespace {

constexpr std::int64_t context = 192, longestTurn = 60;

const Tokenizer &tokenizer() {
    static const auto loaded =
        Tokenizer::load(sourceDir() / "training/results/policy-tiny/actor/tokenizer.json");
    EXPECT_TRUE(loaded) << loaded.error().message;
    return *loaded;
}

/// A model that has learned nothing, with a few tokens more than the tokenizer.
Transformer drawnActor() {
    auto config = tinyConfig();
    config.vocabulary = static_cast<std::int64_t>(tokenizer().size()) + 5;
    config.positions = context;
    config.initialRange = 0.2;
    return Transformer::drawn(config, Transformer::Head::logits, 6, at::kCPU, at::kFloat);
}

TurnMasks turnMasks(const Transformer &actor) {
    auto masks = TokenMasks::ofTools(tokenizer(), actor.config().vocabulary);
    EXPECT_TRUE(masks) << masks.error().message;
    return {*masks, longestTurn, context};
}

struct Drawn {
    std::vector<Trajectory> trajectories;
    std::vector<policy::Written> turns;
};

/// Conversations of three turns, as far as the context lets them, that are written at once.
Drawn conversations(const Transformer &actor, const Sampling &sampling,
                    std::shared_ptr<const TokenMasks> masks, std::size_t count = 6) {
    Generator::Options options;
    options.rows = 4; // fewer than conversations
    options.context = context;
    options.endToken = tokenizer().id(chat::imEnd).value();
    options.sampling = sampling;
    options.masks = std::move(masks);
    Generator generator(actor, options);
    std::vector<Drawn> drawn(count);
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < count; ++i)
            threads.emplace_back([&, i] {
                Trajectory one;
                ModelConversation::Options how;
                how.longestTurn = longestTurn;
                how.record = std::make_shared<TokenRecord>();
                auto conversation = ModelConversation::open(generator, tokenizer(), how, {});
                ASSERT_TRUE(conversation);
                for (std::uint64_t turn = 0; turn < 3; ++turn) {
                    const auto written =
                        (*conversation)
                            ->write({{chat::Author::context, fmt::format("Task {}\n<|im_start|>"
                                                                         "assistant\n",
                                                                         i)}},
                                    {10 * i + turn}, {});
                    ASSERT_TRUE(written) << written.error().message;
                    if (written->writtenTokens > 0)
                        drawn[i].turns.push_back(*written);
                }
                one.record = *how.record;
                one.reward = 1;
                drawn[i].trajectories.push_back(std::move(one));
            });
    }
    Drawn all;
    for (auto &each : drawn) {
        std::ranges::move(each.turns, std::back_inserter(all.turns));
        std::ranges::move(each.trajectories, std::back_inserter(all.trajectories));
    }
    return all;
}

TEST(Masked, TurnsOfAModelThatKnowsNothingCanAllBeRead) {
    const auto actor = drawnActor();
    const auto masks = turnMasks(actor);
    std::size_t readable = 0;
    for (const double temperature : {0.0, 0.7, 1.0}) {
        for (const auto &turn : conversations(actor, {temperature, 1}, masks.tokens).turns) {
            EXPECT_EQ(turn.end, policy::Written::End::turn);
            EXPECT_LE(turn.writtenTokens, longestTurn);
            const auto step = chat::stepOf(turn.text, 1);
            EXPECT_TRUE(step) << step.error().message << "\n" << turn.text;
        }
        for (const auto &turn : conversations(actor, {temperature, 1}, nullptr).turns)
            readable += chat::stepOf(turn.text, 1).has_value();
    }
    EXPECT_EQ(readable, 0u) << "without a grammar";
}

TEST(Masked, LogProbabilitiesOfTheUpdateAreThoseOfSampling) {
    const at::NoGradGuard noGradients;
    const auto actor = drawnActor();
    const auto masks = turnMasks(actor);
    for (const double temperature : {1.0, 0.7, 1.6}) {
        const Sampling sampling{temperature, 1};
        const auto drawn = conversations(actor, sampling, masks.tokens);
        for (const std::int64_t microTokens : {1, 300, 100'000}) {
            const auto tableOf = [&](const TurnMasks &by) {
                const Experience experience(drawn.trajectories, at::kCPU, microTokens, by);
                return experience.table(experience.all(), [&](const TrajectoryBatch &batch) {
                    return batch.logProbabilities(actor, sampling);
                });
            };
            const Experience experience(drawn.trajectories, at::kCPU, microTokens);
            const auto apart = (tableOf(masks) - experience.drawn()).abs().max().item<double>();
            EXPECT_LT(apart, 1e-5) << temperature << " " << microTokens;
            const auto without = (tableOf({}) - experience.drawn()).abs().max().item<double>();
            EXPECT_GT(without, 1) << "the masks are what makes them equal";
        }
    }
}

TEST(Masked, ATurnEndsWhereTheGrammarLeavesTooLittle) {
    const at::NoGradGuard noGradients;
    const auto actor = drawnActor();
    auto masks = turnMasks(actor);
    masks.longestTurn = 150;
    Generator::Options options;
    options.rows = 1;
    options.context = context;
    options.endToken = tokenizer().id(chat::imEnd).value();
    options.sampling.temperature = 0;
    options.masks = masks.tokens;
    Generator generator(actor, options);
    const auto turn = [&](double leastAllowed, TokenRecord &record, bool again = false) {
        ModelConversation::Options how;
        how.longestTurn = masks.longestTurn;
        how.record = std::make_shared<TokenRecord>();
        auto conversation = ModelConversation::open(generator, tokenizer(), how, {});
        auto written = (*conversation)
                           ->write({{chat::Author::context, "Task\n<|im_start|>assistant\n"}},
                                   {1, {}, leastAllowed, again}, {});
        EXPECT_TRUE(written) << written.error().message;
        record = *how.record;
        return *written;
    };
    TokenRecord record, other;
    const auto whole = turn(0, record);
    EXPECT_EQ(whole.end, policy::Written::End::turn);
    EXPECT_FALSE(record.again);
    const auto read = record.tokens.size() - whole.tokens.size();
    const auto logits =
        actor.logits(actor.hidden(at::tensor(record.tokens).to(at::kLong).unsqueeze(0)))[0];
    const auto probabilities = at::softmax(logits, -1);
    const auto allowed = MaskRows(masksOf(record, masks), logits.size(-1), at::kCPU).all();
    std::vector<double> shares; // of places with room
    for (std::size_t i = 0; i < whole.tokens.size(); ++i)
        if (roomOf(masks.longestTurn, context, read + i, i) > 64)
            shares.push_back((probabilities[static_cast<std::int64_t>(read + i) - 1] *
                              allowed[static_cast<std::int64_t>(i)])
                                 .sum()
                                 .item<double>());
    ASSERT_GT(shares.size(), 20u);
    auto sorted = shares;
    std::ranges::sort(sorted);
    const auto least = (sorted[4] + sorted[5]) / 2;
    const auto first = static_cast<std::size_t>(
        std::ranges::find_if(shares, [&](double share) { return share < least; }) - shares.begin());
    const auto refused = turn(least, other, true);
    EXPECT_EQ(refused.end, policy::Written::End::refused);
    EXPECT_TRUE(other.again);
    EXPECT_EQ(refused.tokens, (std::vector<std::int32_t>(whole.tokens.begin(),
                                                         whole.tokens.begin() +
                                                             static_cast<std::ptrdiff_t>(first))));
    for (const auto &one : refused.alternatives)
        EXPECT_LT(one.place, static_cast<std::int64_t>(first));
    EXPECT_EQ(turn(sorted[0] / 2, other).tokens, whole.tokens)
        << "at its end it has little room, and little is allowed";
}

TEST(Masked, TheMasksFollowFromTheTokens) {
    const auto actor = drawnActor();
    const auto masks = turnMasks(actor);
    const auto drawn = conversations(actor, {1, 1}, masks.tokens);
    for (const auto &one : drawn.trajectories) {
        const auto all = masksOf(one.record, masks);
        ASSERT_EQ(static_cast<std::int64_t>(all.size()), one.record.ownTokens());
        EXPECT_EQ(std::ranges::count(all, nullptr), 0);
        // A turn that may have been longer has other masks, and its tokens are among them, too.
        auto other = masks;
        other.longestTurn = 2 * longestTurn;
        other.context = 2 * context;
        EXPECT_EQ(std::ranges::count(masksOf(one.record, other), nullptr), 0);
    }
}

TEST(Masked, WhatWasDrawnWithoutAGrammarHasNoMasksFromItsFirstFault) {
    const auto actor = drawnActor();
    const auto masks = turnMasks(actor);
    const auto drawn = conversations(actor, {1, 1}, nullptr);
    std::size_t masked = 0, bare = 0;
    for (const auto &one : drawn.trajectories)
        for (const auto &mask : masksOf(one.record, masks))
            ++(mask ? masked : bare);
    EXPECT_GT(masked, 0u);
    EXPECT_GT(bare, 0u);
    const Experience experience(drawn.trajectories, at::kCPU, 1000, masks);
    for (const auto &group : experience.groups(experience.all())) {
        const auto sum = experience.batch(group).logProbabilities(actor, {1, 1}).sum();
        EXPECT_TRUE(std::isfinite(sum.item<double>()));
        sum.backward();
    }
    EXPECT_TRUE(actor.parameters().gradients().isfinite().all().item<bool>());
}

} // namespace
} // namespace cuda_agent::learn
