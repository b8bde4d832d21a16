// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/tokenizer/trainer.h"

#include <gtest/gtest.h>

namespace cuda_agent::learn {
namespace {

using Texts = std::vector<std::string>;

/// What training adds to the 256 bytes, by bytes.
Texts learnt(const Texts &texts, TokenizerTraining training) {
    const auto first = 256 + training.specialTokens.size();
    const auto trained = trainTokenizer(texts, training);
    EXPECT_TRUE(trained) << trained.error().message;
    Texts tokens;
    for (auto id = first; trained && id < trained->size(); ++id)
        tokens.emplace_back(trained->bytes(static_cast<std::int32_t>(id)));
    return tokens;
}

std::string problem(const Texts &special, std::size_t size) {
    const auto trained = trainTokenizer(Texts{"hello hello"}, {size, special, 0});
    EXPECT_FALSE(trained);
    if (trained)
        return {};
    EXPECT_EQ(trained.error().kind, ErrorKind::request);
    return trained.error().message;
}

TEST(Training, TakesTheMostFrequentPairThenThatOfTheSmallerIds) {
    // Within words: ab 3, bc 2, xy 2; then abc 2 against xy 2, whose ids are smaller.
    EXPECT_EQ(learnt({"abc", "abc", "ab", "xy", "xy"}, {259, {}, 0}), (Texts{"ab", "xy", "abc"}));
}

TEST(Training, EndsWhereNothingIsFrequentEnough) {
    EXPECT_EQ(learnt({"abab", "cd"}, {1000, {}, 2}), (Texts{"ab"}));
    EXPECT_EQ(learnt({"a", "b"}, {1000, {}, 0}), Texts{});
    EXPECT_EQ(learnt({}, {1000, {}, 0}), Texts{});
}

TEST(Training, DoesNotMergeAcrossWords) {
    for (const auto &token : learnt({"to be to be to be 12 12 12"}, {400, {}, 0}))
        EXPECT_EQ(token.find(' ', 1), token.npos) << token;
}

TEST(Training, IsTheSameForEveryOrderOfTexts) {
    Texts texts;
    for (int i = 0; i < 200; ++i)
        texts.push_back(
            fmt::format("for (int i{} = 0; i < {}; ++i) sum += x[i] * {}.5f;", i, i * 7, i));
    const auto one = trainTokenizer(texts, {270, {"<|end|>"}, 0});
    std::reverse(texts.begin(), texts.end());
    const auto two = trainTokenizer(texts, {270, {"<|end|>"}, 0});
    ASSERT_TRUE(one && two);
    EXPECT_EQ(definitionText(one->definition()), definitionText(two->definition()));
    EXPECT_EQ(one->size(), 270u);
}

TEST(Training, SpecialTokensComeFirst) {
    const auto trained = trainTokenizer(Texts{"aa aa"}, {300, {"<|end|>", "<|user|>"}, 0});
    ASSERT_TRUE(trained);
    EXPECT_EQ(trained->id("<|end|>"), 0);
    EXPECT_EQ(trained->id("<|user|>"), 1);
    EXPECT_EQ(trained->addedTokens().size(), 2u);
    EXPECT_EQ(trained->encode("<|user|>aa"), (std::vector{1, *trained->id("aa")}));
}

TEST(Training, RefusesWhatCannotBe) {
    EXPECT_EQ(problem({}, 255),
              "a vocabulary of 255 has no room for 256 bytes and 0 special tokens");
    EXPECT_EQ(problem({"<|a|>", "<|a|>"}, 300), "the special token '<|a|>' is there twice");
    EXPECT_EQ(problem({""}, 300), "a special token is empty");
    // Text that says so would be the special token.
    EXPECT_NE(problem({"hello"}, 300).find("'hello' is one that plain text can make"),
              std::string::npos);
    EXPECT_NE(problem({"h"}, 300).find("'h' is one that plain text can make"), std::string::npos);
}

} // namespace
} // namespace cuda_agent::learn
