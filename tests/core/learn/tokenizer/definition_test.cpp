// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/tokenizer/definition.h"

#include "core/base/temporary_folder.h"
#include "core/learn/tokenizer/trainer.h"

#include <gtest/gtest.h>

namespace cuda_agent::learn {
namespace {

/// A small one that holds: 256 bytes, "he", "ll", "hell", two added tokens.
Json sample() {
    static const Json made = [] {
        const auto trained = trainTokenizer(
            std::vector<std::string>{"hell", "hell", "hell", "he", "ll"}, {260, {}, 2});
        auto json = parseJson(definitionText(trained.value().definition()), "sample").value();
        json["added_tokens"] = Json::array();
        for (const auto *content : {"<|end|>", "<think>"})
            json["added_tokens"].push_back({{"id", 259 + json["added_tokens"].size()},
                                            {"content", content},
                                            {"single_word", false},
                                            {"lstrip", false},
                                            {"rstrip", false},
                                            {"normalized", false},
                                            {"special", json["added_tokens"].empty()}});
        return json;
    }();
    return made;
}

Result<Tokenizer> read(const Json &json) {
    CUDA_AGENT_ASSIGN(definition, parseDefinition(json.dump(), "t.json"));
    return Tokenizer::make(std::move(definition), "t.json");
}

TEST(DefinitionFile, IsReadAndWrittenTheSame) {
    const auto tokenizer = read(sample());
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    EXPECT_EQ(tokenizer->size(), 261u);
    EXPECT_EQ(tokenizer->encode("hell<think>").size(), 2u);
    EXPECT_EQ(Json::parse(definitionText(tokenizer->definition())), sample());

    const auto folder = TemporaryFolder::make("tokenizer");
    ASSERT_TRUE(folder);
    ASSERT_TRUE(tokenizer->save(folder->path() / "deep" / "tokenizer.json"));
    const auto again = Tokenizer::load(folder->path() / "deep" / "tokenizer.json");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(definitionText(again->definition()), definitionText(tokenizer->definition()));
}

TEST(DefinitionFile, MergesMayBeTextsOfTwo) {
    auto json = sample();
    for (auto &merge : json["model"]["merges"])
        merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
    const auto tokenizer = read(json);
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    EXPECT_EQ(tokenizer->encode("hell"), read(sample())->encode("hell"));
    EXPECT_EQ(tokenizer->encode("hell").size(), 1u);
}

TEST(DefinitionFile, WhatDoesNotActOnPlainTextIsKept) {
    auto json = sample();
    json["post_processor"] = {{"type", "TemplateProcessing"}, {"single", {1, 2}}};
    json["decoder"]["trim_offsets"] = true;
    json["truncation"] = {{"max_length", 1}, {"strategy", "LongestFirst"}};
    json["padding"] = {{"strategy", {{"Fixed", 9}}}};
    const auto tokenizer = read(json);
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    EXPECT_EQ(tokenizer->encode("hell<think>"), read(sample())->encode("hell<think>"));
    EXPECT_EQ(Json::parse(definitionText(tokenizer->definition())), json);
}

TEST(DefinitionFile, EveryFieldThatIsNotTakenIsNamed) {
    const std::string split = "pre_tokenizer.pretokenizers[0]";
    const std::string bytes = "pre_tokenizer.pretokenizers[1]";
    const std::tuple<const char *, Json, std::string> cases[] = {
        {"/version", "2.0", "version is \"2.0\""},
        {"/normalizer", {{"type", "NFKC"}}, "normalizer is {\"type\":\"NFKC\"}; only NFC or null"},
        {"/pre_tokenizer", nullptr, "pre_tokenizer is null"},
        {"/pre_tokenizer/pretokenizers", 3, "pre_tokenizer is"},
        {"/pre_tokenizer/pretokenizers/0/type", "Digits", split + ".type is \"Digits\""},
        {"/pre_tokenizer/pretokenizers/0/pattern", {{"Regex", "(a+)+b"}}, split + ".pattern is"},
        {"/pre_tokenizer/pretokenizers/0/behavior", "Removed", split + ".behavior is"},
        {"/pre_tokenizer/pretokenizers/0/invert", true, split + ".invert is true"},
        {"/pre_tokenizer/pretokenizers/1/type", "Metaspace", bytes + ".type is"},
        {"/pre_tokenizer/pretokenizers/1/add_prefix_space", true,
         bytes + ".add_prefix_space is true"},
        {"/pre_tokenizer/pretokenizers/1/use_regex", true, bytes + ".use_regex is true"},
        {"/decoder", {{"type", "Metaspace"}}, "decoder is"},
        {"/model", 7, "model.type is null"},
        {"/model/type", "Unigram", "model.type is \"Unigram\"; only BPE"},
        {"/model/dropout", 0.1, "model.dropout is 0.1"},
        {"/model/unk_token", "<unk>", "model.unk_token is \"<unk>\""},
        {"/model/continuing_subword_prefix", "##", "model.continuing_subword_prefix is \"##\""},
        {"/model/end_of_word_suffix", "</w>", "model.end_of_word_suffix is"},
        {"/model/fuse_unk", true, "model.fuse_unk is true"},
        {"/model/byte_fallback", true, "model.byte_fallback is true; only false"},
        {"/model/ignore_merges", true, "model.ignore_merges is true"},
        {"/model/vocab", Json::array(), "model.vocab is no object"},
        {"/model/vocab/he", -1, "model.vocab[\"he\"] is -1"},
        {"/model/vocab/he", 1000, "model.vocab[\"he\"] is 1000; its 259 ids have to be 0 to 258"},
        {"/model/vocab/he", "x", "model.vocab[\"he\"] is \"x\""},
        {"/model/vocab/he", 0, ", which is another token's"},
        {"/model/merges", "a b", "model.merges is no list"},
        {"/model/merges/0", "hell", "model.merges[0] is \"hell\", not two tokens and a space"},
        {"/model/merges/1", {"a"}, "model.merges[1] is [\"a\"], not two tokens"},
        {"/model/merges/1", {"zzz", "a"}, "model.merges[1] has \"zzz\", which model.vocab lacks"},
        {"/model/merges/1", {"z", "a"}, "model.merges[1] makes a token that model.vocab lacks"},
        {"/added_tokens", 3, "added_tokens is no list"},
        {"/added_tokens/0", 3, "added_tokens[0].id is null"},
        {"/added_tokens/0/id", 999, "added_tokens[0].id is 999, but"},
        {"/added_tokens/0/id", 1e300, "added_tokens[0].id is 1e+300"},
        {"/added_tokens/1/content", "", "added_tokens[1].content is \"\""},
        {"/added_tokens/1/content", "<|end|>", "added_tokens[1].id is 260, but"},
        {"/added_tokens/1/single_word", true, "added_tokens[1].single_word is true"},
        {"/added_tokens/1/special", "yes", "added_tokens[1].special is \"yes\""},
        {"/added_tokens/1/lstrip", nullptr, "added_tokens[1].lstrip is null"},
    };
    for (const auto &[where, value, message] : cases) {
        auto json = sample();
        json[Json::json_pointer(where)] = value;
        const auto tokenizer = read(json);
        ASSERT_FALSE(tokenizer) << where;
        EXPECT_EQ(tokenizer.error().kind, ErrorKind::request);
        EXPECT_NE(tokenizer.error().message.find(message), std::string::npos)
            << where << ": " << tokenizer.error().message;
        EXPECT_EQ(tokenizer.error().message.find("t.json"), 0u);
        EXPECT_EQ(tokenizer.error().message.find('\n'), std::string::npos);
    }
}

TEST(DefinitionFile, ASpecialTokenThatTextCouldSpellIsRefused) {
    auto json = sample();
    json["added_tokens"][0]["content"] = "hell";
    json["added_tokens"][0]["id"] = json["model"]["vocab"]["hell"];
    const auto tokenizer = read(json);
    ASSERT_FALSE(tokenizer);
    EXPECT_NE(tokenizer.error().message.find("'hell' is one that plain text can make"),
              std::string::npos);
    json["added_tokens"][0]["special"] = false; // of no power
    json["added_tokens"].erase(1);
    EXPECT_TRUE(read(json));
}

TEST(DefinitionFile, BrokenFilesAreOneLine) {
    const auto folder = TemporaryFolder::make("tokenizer");
    ASSERT_TRUE(folder);
    const auto file = folder->path() / "tokenizer.json";
    const std::string whole = sample().dump();
    for (const auto &text : {std::string(), std::string("[]"), std::string("{}"), whole + "x",
                             whole.substr(0, whole.size() / 2), std::string(100000, '['),
                             std::string("{\"version\": \"\xff\"}")}) {
        ASSERT_TRUE(writeFileAtomically(file, text));
        const auto tokenizer = Tokenizer::load(file);
        ASSERT_FALSE(tokenizer) << text.substr(0, 20);
        EXPECT_EQ(tokenizer.error().kind, ErrorKind::request);
        EXPECT_EQ(tokenizer.error().message.find('\n'), std::string::npos);
        EXPECT_NE(tokenizer.error().message.find("tokenizer.json"), std::string::npos);
    }
    EXPECT_FALSE(Tokenizer::load(folder->path() / "none.json"));
}

} // namespace
} // namespace cuda_agent::learn
