// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/transformer/weights.h"

#include "core/base/hash.h"
#include "core/base/temporary_folder.h"
#include "core/policy/chat/chat.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace cuda_agent::policy {
namespace {

namespace fs = std::filesystem;

class WeightsTest : public testing::Test {
  protected:
    void SetUp() override {
        write("config.json", R"({"vocab_size": 950})");
        write("model.safetensors", "numbers");
        write("tokenizer.json", tokenizer(chat::specialTokens.size()));
    }
    void write(const std::string &name, const std::string &text) {
        fs::create_directories(folder_);
        ASSERT_TRUE(writeFileAtomically(folder_ / name, text));
    }
    /// One that has the first so many of the template's tokens.
    static std::string tokenizer(std::size_t count) {
        Json added = Json::array();
        for (std::size_t i = 0; i < count; ++i)
            added.push_back({{"id", i}, {"content", chat::specialTokens[i]}});
        return Json{{"added_tokens", std::move(added)}}.dump();
    }
    std::string problem() const {
        const auto weights = readWeights(folder_);
        EXPECT_TRUE(weights || weights.error().kind == ErrorKind::request);
        return weights ? "" : weights.error().message;
    }

    TemporaryFolder temporary_ = TemporaryFolder::make("weights").value();
    fs::path folder_ = temporary_.path() / "step-40" / "actor";
};

TEST_F(WeightsTest, AreKnownByNameAndHash) {
    const auto weights = readWeights(folder_);
    ASSERT_TRUE(weights) << weights.error().message;
    EXPECT_EQ(weights->name, "step-40");
    EXPECT_EQ(weights->sha256, sha256Hex("numbers"));
    EXPECT_TRUE(weights->folder.is_absolute());
    EXPECT_EQ(readWeights(folder_.string() + "/")->name, "step-40");
}

TEST_F(WeightsTest, AreFoundWithoutReadingThem) {
    auto weights = findWeights(folder_);
    ASSERT_TRUE(weights) << weights.error().message;
    EXPECT_EQ(weights->name, "step-40");
    EXPECT_EQ(weights->bytes, std::string("numbers").size());
    EXPECT_EQ(weights->vocabulary, 950);
    EXPECT_EQ(weights->sha256, "");
    EXPECT_EQ(readWeights(folder_)->bytes, weights->bytes);
    for (const char *config : {"{}", R"({"vocab_size": "many"})", R"({"vocab_size": -3})"}) {
        write("config.json", config);
        EXPECT_EQ(findWeights(folder_)->vocabulary, 0) << config;
    }
    write("model.safetensors", "");
    EXPECT_NE(problem().find("is no file of weights"), std::string::npos) << problem();
    EXPECT_FALSE(findWeights(folder_));
    fs::remove(folder_ / "model.safetensors");
    write("model.safetensors.index.json",
          R"({"weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors"}})");
    write("m-1.safetensors", "one");
    EXPECT_FALSE(findWeights(folder_));
    write("m-2.safetensors", "three");
    EXPECT_EQ(findWeights(folder_)->bytes, 8u);
}

TEST_F(WeightsTest, ShardsCountTogether) {
    fs::remove(folder_ / "model.safetensors");
    write(
        "model.safetensors.index.json",
        R"({"weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors", "c": "m-1.safetensors"}})");
    EXPECT_NE(problem(), "");
    write("m-1.safetensors", "one");
    write("m-2.safetensors", "two");
    const auto weights = readWeights(folder_);
    ASSERT_TRUE(weights) << weights.error().message;
    EXPECT_EQ(weights->sha256, sha256Hex(sha256Hex("one") + " m-1.safetensors\n" +
                                         sha256Hex("two") + " m-2.safetensors\n"));
    write("m-2.safetensors", "three");
    EXPECT_NE(readWeights(folder_)->sha256, weights->sha256);
    write("model.safetensors.index.json", R"({"weight_map": {"a": "../m-1.safetensors"}})");
    EXPECT_NE(problem(), "");
}

TEST_F(WeightsTest, WhatIsMissingIsNamed) {
    for (const char *name : {"config.json", "tokenizer.json", "model.safetensors"}) {
        fs::rename(folder_ / name, folder_ / "away");
        EXPECT_NE(problem().find(name), std::string::npos) << name;
        fs::rename(folder_ / "away", folder_ / name);
    }
    EXPECT_EQ(problem(), "");
    write("config.json", "no JSON");
    EXPECT_NE(problem().find("config.json"), std::string::npos);
    fs::remove_all(folder_);
    EXPECT_NE(problem().find("--weights"), std::string::npos);
}

TEST_F(WeightsTest, ATokenizerOfAnotherTemplateIsRefused) {
    write("tokenizer.json", tokenizer(4)); // up to <tool_call>
    EXPECT_NE(problem().find("</tool_call>"), std::string::npos) << problem();
    EXPECT_NE(problem().find("chat template"), std::string::npos);
    for (const char *text : {"{}", "[]", R"({"added_tokens": [1, {}, {"content": 2}]})"}) {
        write("tokenizer.json", text);
        EXPECT_NE(problem(), "") << text;
    }
    // Padding is no part of a conversation.
    write("tokenizer.json", tokenizer(chat::specialTokens.size() - 1));
    EXPECT_EQ(problem(), "");
}

TEST_F(WeightsTest, TheDefaultIsNamedByTheEnvironment) {
    ::setenv("CUDA_AGENT_WEIGHTS", "/some/weights", 1);
    EXPECT_EQ(defaultWeights(), "/some/weights");
    ::unsetenv("CUDA_AGENT_WEIGHTS");
    ::setenv("CUDA_AGENT_SHARE", "/some/share", 1);
    EXPECT_EQ(defaultWeights(), "/some/share/weights");
    ::unsetenv("CUDA_AGENT_SHARE");
}

} // namespace
} // namespace cuda_agent::policy
