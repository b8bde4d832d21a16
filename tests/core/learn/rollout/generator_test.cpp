// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/rollout/generator.h"
#include "core/learn/rollout/token_lookup.h"
#include "tests/core/learn/model/tiny_model.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace cuda_agent::learn {
namespace {

constexpr std::int32_t endToken = 7;

Transformer model(std::uint64_t seed = 1) {
    auto config = tinyConfig();
    config.vocabulary = 40;
    config.positions = 64;
    config.initialRange = 0.3; // far from uniform
    return Transformer::drawn(config, Transformer::Head::logits, seed, at::kCPU, at::kFloat);
}

Generator::Options options(std::int64_t rows, double temperature = 1) {
    Generator::Options options;
    options.rows = rows;
    options.context = 64;
    options.endToken = endToken;
    options.sampling = {temperature, 1};
    return options;
}

/// What the whole model says at each place of a conversation.
at::Tensor wholeLogits(const Transformer &actor, const std::vector<std::int32_t> &tokens) {
    const at::NoGradGuard noGradients;
    return actor.logits(actor.hidden(at::tensor(tokens).to(at::kLong).unsqueeze(0)))[0];
}

/// Two turns of a conversation of that seed.
std::vector<std::int32_t> talk(Generator &generator, std::uint64_t seed, std::int64_t most = 12) {
    auto conversation = generator.open({});
    EXPECT_TRUE(conversation);
    const auto word = static_cast<std::int32_t>(seed % 5);
    for (int turn = 0; turn < 2; ++turn) {
        const auto written =
            generator.generate(*conversation, {word, 1, 2, static_cast<std::int32_t>(turn)},
                               {most, 2 * seed + static_cast<std::uint64_t>(turn)}, {});
        EXPECT_TRUE(written);
    }
    return conversation->tokens();
}

TEST(Generator, WritesTheLikeliestTokensAndTellsTheirProbabilities) {
    const auto actor = model();
    for (const auto &[temperature, likeliest] :
         {std::pair{0.0, true}, std::pair{1.0, false}, std::pair{1.0, true}}) {
        Generator generator(actor, options(2, temperature));
        auto conversation = generator.open({}, likeliest);
        ASSERT_TRUE(conversation);
        for (const std::vector<std::int32_t> &read : {std::vector{1, 2, 3}, {9, 9}}) {
            const auto before = conversation->tokens().size() + read.size();
            const auto written = generator.generate(*conversation, read, {8, 1}, {});
            ASSERT_TRUE(written) << written.error().message;
            const auto logits = wholeLogits(actor, conversation->tokens());
            for (std::size_t i = 0; i < written->tokens.size(); ++i) {
                const auto at = logits[static_cast<std::int64_t>(before + i - 1)];
                EXPECT_EQ(written->tokens[i], conversation->tokens()[before + i]);
                if (likeliest) {
                    EXPECT_EQ(written->tokens[i], at.argmax().item<std::int64_t>());
                }
                if (temperature > 0) {
                    EXPECT_NEAR(written->logProbabilities[i],
                                at::log_softmax(at, -1)[written->tokens[i]].item<float>(), 1e-4);
                }
                EXPECT_GT(written->entropy[i], 0);
            }
            EXPECT_EQ(written->end == Generated::End::token, written->tokens.back() == endToken);
            EXPECT_EQ(written->end == Generated::End::length,
                      written->tokens.back() != endToken && written->tokens.size() == 8u);
        }
    }
}

TEST(Generator, NamesWhatNearlyCame) {
    const auto actor = model();
    for (const auto &[temperature, likeliest] : {std::pair{0.0, false}, std::pair{1.0, true}}) {
        Generator generator(actor, options(2, temperature));
        auto conversation = generator.open({}, likeliest);
        const auto written = generator.generate(*conversation, {1, 2, 3}, {8, 1}, {});
        ASSERT_TRUE(written);
        const auto logits = at::log_softmax(wholeLogits(actor, conversation->tokens()), -1);
        std::size_t expected = 0;
        for (std::size_t i = 0; i < written->tokens.size(); ++i) {
            const auto [values, tokens] = logits[static_cast<std::int64_t>(3 + i - 1)].topk(3);
            for (std::int64_t k = 1; k < 3; ++k) {
                const auto cost = (values[0] - values[k]).item<double>();
                if (cost > Generator::mostDeficit || i == 7 ||
                    tokens[k].item<std::int64_t>() == endToken)
                    continue; // a stretch of eight cannot begin with it
                ASSERT_LT(expected, written->alternatives.size());
                const auto &one = written->alternatives[expected++];
                EXPECT_EQ(one.place, static_cast<std::int64_t>(i));
                EXPECT_EQ(one.token, tokens[k].item<std::int64_t>());
                EXPECT_NEAR(one.cost, cost, 1e-4);
            }
        }
        EXPECT_EQ(written->alternatives.size(), expected);
        EXPECT_GT(expected, written->tokens.size()) << "it is far from sure of itself";
    }
    Generator generator(actor, options(1));
    auto conversation = generator.open({});
    EXPECT_TRUE(generator.generate(*conversation, {1}, {8, 1}, {})->alternatives.empty())
        << "where tokens are drawn";
}

TEST(Generator, GoesOnFromAGivenBeginning) {
    const auto actor = model();
    Generator generator(actor, options(2, 0));
    const auto turn = [&](std::vector<std::int32_t> begin) {
        auto conversation = generator.open({});
        auto written = generator.generate(*conversation, {1, 2, 3}, {10, 1, std::move(begin)}, {});
        EXPECT_TRUE(written) << written.error().message;
        EXPECT_EQ(conversation->tokens().size(), 3 + written->tokens.size());
        return *written;
    };
    const auto whole = turn({});
    ASSERT_GT(whole.tokens.size(), 4u);
    const auto again = turn({whole.tokens.begin(), whole.tokens.begin() + 3});
    EXPECT_EQ(again.tokens, whole.tokens);
    EXPECT_EQ(again.end, whole.end);
    EXPECT_EQ(again.entropy[2], 0);
    EXPECT_GT(again.entropy[3], 0);
    ASSERT_FALSE(again.alternatives.empty());
    EXPECT_EQ(again.alternatives.front().place, 3) << "of its beginning none";
    // Another token in its place, and the likeliest ones behind that.
    const auto other =
        *std::ranges::find_if(whole.alternatives, [](const policy::Alternative &one) {
            return one.token != endToken && one.place > 0;
        });
    auto begin = whole.tokens;
    begin.resize(static_cast<std::size_t>(other.place));
    begin.push_back(other.token);
    const auto departed = turn(begin);
    const auto logits = wholeLogits(actor, [&] {
        std::vector<std::int32_t> all{1, 2, 3};
        all.insert(all.end(), departed.tokens.begin(), departed.tokens.end());
        return all;
    }());
    for (std::size_t i = 0; i < departed.tokens.size(); ++i)
        EXPECT_EQ(departed.tokens[i],
                  i < begin.size()
                      ? begin[i]
                      : logits[static_cast<std::int64_t>(3 + i - 1)].argmax().item<std::int64_t>());
}

TEST(Generator, AStretchCanBeginWithWhateverNearlyCame) {
    const auto actor = model();
    Generator generator(actor, options(1, 0));
    const auto written = [&](std::int32_t word, std::vector<std::int32_t> begin) {
        auto conversation = generator.open({});
        // The stretch's length, or the context, ends most of them.
        std::vector<std::int32_t> read(word % 2 == 0 ? 2 : 55, word);
        return generator.generate(*conversation, read, {10, 1, std::move(begin)}, {});
    };
    for (std::int32_t word = 0; word < 40; ++word) {
        const auto whole = written(word, {});
        ASSERT_TRUE(whole);
        for (const auto &one : whole->alternatives) {
            std::vector begin(whole->tokens.begin(), whole->tokens.begin() + one.place);
            begin.push_back(one.token);
            EXPECT_TRUE(written(word, begin)) << word << " at " << one.place;
        }
    }
}

TEST(Generator, ABeginningThatCannotBeIsRefused) {
    const auto actor = model();
    Generator generator(actor, options(1, 0));
    auto conversation = generator.open({});
    for (const std::vector<std::int32_t> &begin : {std::vector<std::int32_t>{-1},
                                                   {40},
                                                   {endToken},
                                                   std::vector<std::int32_t>(8, 1),
                                                   std::vector<std::int32_t>(63, 1)}) {
        const auto written = generator.generate(*conversation, {1}, {8, 1, begin}, {});
        ASSERT_FALSE(written) << begin.size();
        EXPECT_EQ(written.error().kind, ErrorKind::request);
    }
    EXPECT_TRUE(generator.generate(*conversation, {1}, {8, 1, {2, 3}}, {})) << "nothing was lost";
}

TEST(Generator, InACrowdEachWritesWhatItWouldAlone) {
    const auto actor = model();
    std::vector<std::vector<std::int32_t>> alone;
    {
        Generator generator(actor, options(1));
        for (std::uint64_t seed = 0; seed < 12; ++seed)
            alone.push_back(talk(generator, seed));
    }
    Generator generator(actor, options(5)); // fewer rows than conversations: some wait
    std::vector<std::vector<std::int32_t>> crowd(12);
    {
        std::vector<std::jthread> threads;
        for (std::uint64_t seed = 0; seed < 12; ++seed)
            threads.emplace_back([&, seed] { crowd[seed] = talk(generator, seed); });
    }
    EXPECT_EQ(crowd, alone);
    EXPECT_NE(crowd[0], crowd[5]) << "another seed";
    const auto counts = generator.counts();
    EXPECT_EQ(counts.read + counts.held + counts.written,
              // The last token of a turn is read with the next one's; that of the last never.
              [&] {
                  std::int64_t all = 0;
                  for (const auto &tokens : crowd)
                      all += static_cast<std::int64_t>(tokens.size());
                  return all + 12;
              }());
    EXPECT_LT(counts.steps, counts.written) << "they were written together";
}

TEST(Generator, GuessesSavePassesAndChangeNothing) {
    const auto actor = model();
    const auto many = [&](std::int64_t guessed, double temperature, Generator::Counts &counts) {
        auto how = options(4, temperature);
        how.guessed = guessed;
        Generator generator(actor, how);
        std::vector<std::vector<std::int32_t>> texts(8);
        {
            std::vector<std::jthread> threads;
            for (std::uint64_t seed = 0; seed < 8; ++seed)
                threads.emplace_back([&, seed] { texts[seed] = talk(generator, seed, 24); });
        }
        counts = generator.counts();
        return texts;
    };
    for (const double temperature : {0.0, 0.3}) { // by the second, guesses come half true
        Generator::Counts plain, guessing;
        EXPECT_EQ(many(0, temperature, plain), many(16, temperature, guessing));
        EXPECT_EQ(plain.guessed, 0);
        EXPECT_GT(guessing.right, 0);
        EXPECT_GT(guessing.guessed, guessing.right) << "one that was wrong was taken back";
        EXPECT_EQ(guessing.written, plain.written);
    }
    // Alone, a pass less for each guess that comes true.
    const auto alone = [&](std::int64_t guessed) {
        auto how = options(1, 0);
        how.guessed = guessed;
        Generator generator(actor, how);
        talk(generator, 3, 24);
        return generator.counts();
    };
    const auto plain = alone(0), guessing = alone(16);
    EXPECT_GT(guessing.right, 0);
    EXPECT_EQ(plain.steps - guessing.steps, guessing.right);
}

using Tokens = std::vector<std::int32_t>;

TEST(TokenHistory, FindsTheLongestEndThatWasBefore) {
    TokenHistory history;
    const auto behind = [&](const Tokens &text, std::size_t most) {
        return history.from(history.longest(text), most);
    };
    EXPECT_TRUE(behind({1, 2}, 4).empty());
    history.add(Tokens{1, 2, 3, 4, 9, 2, 3, 5, 8, 8});
    EXPECT_TRUE(behind({8, 8}, 4).empty()) << "nothing stood behind it";
    EXPECT_TRUE(behind({3}, 4).empty());
    EXPECT_EQ(behind({7, 2, 3}, 2), (Tokens{5, 8})) << "the last of two";
    EXPECT_EQ(behind({1, 2, 3}, 3), (Tokens{4, 9, 2})) << "the longer one";
    EXPECT_TRUE(behind({1, 2, 3}, 0).empty());
    history.add(Tokens{6});
    EXPECT_EQ(behind({8, 8}, 4), (Tokens{6})) << "over what was added apart";
}

TEST(TokenGuesses, AreOfTheConversationOrOfOthersAndMoreWhileTheyAreRight) {
    TokenHistory others;
    others.add(Tokens{1, 2, 3, 10, 11, 12, 13, 14, 15, 16, 17});
    Tokens text{2, 3, 20, 21, 22, 23, 24, 25, 26, 2, 3};
    TokenGuesses guesses;
    EXPECT_EQ(guesses.behind(text, others, 9), (Tokens{20, 21, 22, 23})) << "its own, of two";
    guesses.learn(4, 4);
    EXPECT_EQ(guesses.behind(text, others, 9), (Tokens{20, 21, 22, 23, 24, 25, 26, 2}));
    EXPECT_EQ(guesses.behind(text, others, 1), (Tokens{20}));
    guesses.learn(8, 2);
    text.insert(text.end(), {1, 2, 3});
    EXPECT_EQ(guesses.behind(text, others, 9), (Tokens{10, 11, 12})) << "others', of three";
    guesses.learn(3, 0);
    EXPECT_EQ(guesses.behind(text, others, 9), (Tokens{10, 11}));
    guesses.learn(0, 0);
    EXPECT_EQ(guesses.behind(text, others, 9), (Tokens{10, 11})) << "there was no guess";
}

TEST(Generator, WhatBeginsAsAConversationBeforeItReadsTheRestAlone) {
    const auto actor = model();
    Generator generator(actor, options(2, 0));
    const auto written = [](Generator &by, std::vector<std::int32_t> read,
                            const std::vector<std::int32_t> &begin = {}) {
        auto conversation = by.open({});
        const auto stretch = by.generate(*conversation, std::move(read), {12, 1, begin}, {});
        EXPECT_TRUE(stretch);
        return stretch ? *stretch : Generated();
    };
    const auto alone = [&](const std::vector<std::int32_t> &read,
                           const std::vector<std::int32_t> &begin = {}) {
        Generator fresh(actor, options(1, 0));
        return written(fresh, read, begin);
    };
    const auto reads = [&] { return generator.counts().read; };
    const auto first = written(generator, {1, 2, 3, 4});
    EXPECT_EQ(reads(), 4);
    ASSERT_GE(first.tokens.size(), 4u);
    EXPECT_EQ(written(generator, {1, 2, 3, 4}).tokens, first.tokens);
    EXPECT_EQ(reads(), 5) << "the last token, whose logits nobody has kept";

    const std::vector<std::int32_t> begin{first.tokens[0], first.tokens[1], 9, 8};
    const auto departed = written(generator, {1, 2, 3, 4}, begin);
    EXPECT_EQ(reads(), 7) << "behind what both begin with, 9 and 8";
    const auto expected = alone({1, 2, 3, 4}, begin);
    EXPECT_EQ(departed.tokens, expected.tokens);
    for (std::size_t i = 0; i < departed.tokens.size(); ++i)
        EXPECT_NEAR(departed.logProbabilities[i], expected.logProbabilities[i], 1e-4);

    EXPECT_EQ(written(generator, {5, 6, 7}).tokens, alone({5, 6, 7}).tokens);
    EXPECT_EQ(reads(), 10) << "the other row";
    EXPECT_EQ(written(generator, {1, 2, 9, 9, 9}).tokens, alone({1, 2, 9, 9, 9}).tokens);
    EXPECT_EQ(reads(), 13) << "9, 9 and 9, for the first row is still as it was left";
    {
        auto held = generator.open({});
        ASSERT_TRUE(generator.generate(*held, {5, 6, 7}, {4, 1}, {}));
        EXPECT_EQ(reads(), 14);
        EXPECT_EQ(written(generator, {5, 6, 7}).tokens, alone({5, 6, 7}).tokens);
        EXPECT_EQ(reads(), 17) << "what somebody has is not taken";
    }
    generator.betweenTokens([] {}, true);
    EXPECT_EQ(written(generator, {5, 6, 7}).tokens, alone({5, 6, 7}).tokens);
    EXPECT_EQ(reads(), 20) << "other weights made those keys";
}

TEST(Generator, AFullContextEndsAConversation) {
    const auto actor = model();
    Generator generator(actor, options(1));
    auto conversation = generator.open({});
    ASSERT_TRUE(conversation);
    Generated::End end = Generated::End::token;
    for (int i = 0; i < 60 && end != Generated::End::full; ++i) {
        const auto written = generator.generate(*conversation, {1}, {100, 1}, {});
        if (!written) {
            EXPECT_EQ(written.error().kind, ErrorKind::request);
            break;
        }
        end = written->end;
    }
    EXPECT_GE(conversation->tokens().size(), 63u);
    EXPECT_LE(conversation->tokens().size(), 64u);
    EXPECT_FALSE(generator.generate(*conversation, std::vector<std::int32_t>(10, 1), {1, 1}, {}));
    EXPECT_FALSE(generator.generate(*conversation, {}, {1, 1}, {}));
}

TEST(Generator, NewWeightsMakeOldKeysAnew) {
    auto actor = model(1);
    const auto other = model(2);
    Generator generator(actor, options(2, 0));
    auto conversation = generator.open({});
    ASSERT_TRUE(conversation);
    ASSERT_TRUE(generator.generate(*conversation, {1, 2, 3}, {4, 1}, {}));
    const auto before = conversation->tokens().size();
    generator.betweenTokens(
        [&] {
            const at::NoGradGuard noGradients;
            actor.parameters().values().copy_(other.parameters().values());
        },
        true);
    const auto written = generator.generate(*conversation, {5}, {4, 1}, {});
    ASSERT_TRUE(written);
    const auto logits = wholeLogits(other, conversation->tokens());
    for (std::size_t i = 0; i < written->tokens.size(); ++i)
        EXPECT_EQ(written->tokens[i],
                  logits[static_cast<std::int64_t>(before + i)].argmax().item<std::int64_t>());
}

TEST(Generator, CanBeStoppedWhileItWritesAndWhileItWaits) {
    const auto actor = model();
    auto settings = options(1);
    settings.endToken = -1; // never
    Generator generator(actor, settings);
    std::stop_source stop;
    auto conversation = generator.open({});
    ASSERT_TRUE(conversation);
    std::jthread waits([&] { // no second row
        const auto none = generator.open(stop.get_token());
        EXPECT_FALSE(none);
        EXPECT_EQ(none.error().kind, ErrorKind::stopped);
    });
    std::atomic<bool> held = false;
    std::jthread writes([&] {
        while (!held)
            std::this_thread::yield();
        const auto written = generator.generate(*conversation, {1}, {60, 1}, stop.get_token());
        EXPECT_FALSE(written);
        EXPECT_EQ(written.error().kind, ErrorKind::stopped);
    });
    generator.betweenTokens(
        [&] { // nothing is written while this lasts
            held = true;
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            stop.request_stop();
        },
        false);
    writes.join();
    waits.join();
}

} // namespace
} // namespace cuda_agent::learn
