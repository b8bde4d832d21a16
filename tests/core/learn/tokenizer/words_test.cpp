// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/tokenizer/added_tokens.h"
#include "core/learn/tokenizer/byte_alphabet.h"
#include "core/learn/tokenizer/merges.h"
#include "core/learn/tokenizer/normalizer.h"
#include "core/learn/tokenizer/pre_tokenizer.h"
#include "core/learn/tokenizer/utf8.h"

#include <gtest/gtest.h>

#include <random>

namespace cuda_agent::learn {
namespace {

using Texts = std::vector<std::string>;

Texts words(std::string_view text) {
    Texts found;
    eachWord(text, [&](std::string_view word) { found.emplace_back(word); });
    return found;
}

TEST(Words, OfCodeAndText) {
    EXPECT_EQ(words("int x1 = 42;\n"), (Texts{"int", " x", "1", " =", " ", "4", "2", ";\n"}));
    EXPECT_EQ(words("  a  b\t\n\n  c"), (Texts{" ", " a", " ", " b", "\t\n\n", " ", " c"}));
    EXPECT_EQ(words("I'LL don't"), (Texts{"I", "'LL", " don", "'t"}));
    EXPECT_EQ(words("a\r\nb"), (Texts{"a", "\r\n", "b"}));
    EXPECT_EQ(words("naïve 世界!"), (Texts{"naïve", " 世界", "!"}));
    EXPECT_EQ(words(""), Texts{});
}

TEST(Words, BytesThatAreNoUtf8AreWordsOfTheirOwn) {
    EXPECT_EQ(words("ab\xff\xfe"
                    "cd"),
              (Texts{"ab", "\xff\xfe", "cd"}));
    EXPECT_EQ(words("\xed\xa0\x80"), (Texts{"\xed\xa0\x80"})); // a surrogate
    EXPECT_EQ(words("a\xe4\xb8"), (Texts{"a", "\xe4\xb8"}));   // cut off
}

TEST(Words, NothingIsLostFromRandomBytes) {
    std::mt19937 random(7);
    for (int i = 0; i < 300; ++i) {
        std::string text(random() % 200, '\0');
        for (auto &byte : text)
            byte = static_cast<char>(random() % 4 ? random() % 128 : random());
        std::string joined;
        for (const auto &word : words(text))
            joined += word;
        ASSERT_EQ(joined, text);
    }
}

TEST(Utf8, TellsCharactersFromOtherBytes) {
    EXPECT_EQ(characterLength("a"), 1u);
    EXPECT_EQ(characterLength("é"), 2u);
    EXPECT_EQ(characterLength("世"), 3u);
    EXPECT_EQ(characterLength("\xf4\x8f\xbf\xbf"), 4u); // U+10FFFF
    for (const char *bad :
         {"", "\x80", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf0\x80\x80\xaf",
          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe4\xb8", "\xc3("})
        EXPECT_EQ(characterLength(bad), 0u) << bad;
    EXPECT_EQ(firstRun("abcdefghij\xff").bytes, "abcdefghij");
    EXPECT_EQ(firstRun("\xff\xffz").bytes, "\xff\xff");
    EXPECT_FALSE(firstRun("\xff").characters);
}

TEST(Utf8, FindsWhiteSpaceAtBothEnds) {
    EXPECT_EQ(leadingSpace(" \t\u3000\u00a0x"), 7u);
    EXPECT_EQ(trailingSpace("x\u3000 \u0085"), 6u);
    EXPECT_EQ(trailingSpace("x"), 0u);
    EXPECT_EQ(trailingSpace("   "), 3u);
    EXPECT_EQ(leadingSpace("\u200b"), 0u); // no White_Space, though a space by name
    EXPECT_EQ(trailingSpace("\x80"), 0u);
}

TEST(ByteAlphabet, SpellsEveryByteAndReadsItBack) {
    std::string all;
    for (int i = 0; i < 256; ++i)
        all += static_cast<char>(i);
    EXPECT_EQ(unspelled(spelled(all)), all);
    EXPECT_EQ(spelled(" a\n"), "ĠaĊ");
    EXPECT_EQ(unspelled("世"), std::nullopt);
    EXPECT_EQ(unspelled("a b"), std::nullopt); // a space is spelled by another character
    EXPECT_EQ(unspelled("\xc4"), std::nullopt);
}

TEST(Normalizer, ComposesAndOrdersMarks) {
    EXPECT_EQ(nfc("e\u0301"), "é");
    EXPECT_EQ(nfc("a\u0323\u0307"), nfc("a\u0307\u0323"));
    EXPECT_EQ(nfc("\u1112\u1161\u11ab"), "한");
    EXPECT_EQ(nfc("\u212b\xff"
                  "e\u0301"),
              "Å\xffé");
    EXPECT_EQ(nfc("\u0958"), "\u0915\u093c"); // excluded from composition
}

TEST(Normalizer, TakesLittleTimeForManyMarks) {
    std::string text = "a";
    for (int i = 0; i < 300000; ++i) // above, below: in the wrong order
        text += i % 2 ? "\u0323" : "\u0307";
    const auto begin = std::chrono::steady_clock::now();
    const auto normal = nfc(text);
    EXPECT_TRUE(normal.starts_with("\u1ea1\u0323\u0323"));
    EXPECT_TRUE(normal.ends_with("\u0307\u0307\u0307"));
    EXPECT_LT(std::chrono::steady_clock::now() - begin,
              std::chrono::seconds(10)); // quadratic: hours
}

/// Byte pair encoding as it is defined, one merge at a time.
std::vector<std::int32_t> byDefinition(const Merges &merges, std::vector<std::int32_t> word) {
    for (;;) {
        std::size_t best = word.size();
        for (std::size_t i = 0; i + 1 < word.size(); ++i) {
            const auto *merge = merges.find(word[i], word[i + 1]);
            if (merge && (best == word.size() ||
                          merge->rank < merges.find(word[best], word[best + 1])->rank))
                best = i;
        }
        if (best == word.size())
            return word;
        word[best] = merges.find(word[best], word[best + 1])->id;
        word.erase(word.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
}

TEST(MergesOfAWord, AreThoseOfTheDefinitionAtEveryLength) {
    std::mt19937 random(3);
    for (int table = 0; table < 40; ++table) {
        Merges merges(60);
        // Tokens stand for strings of 'a' and 'b', so that a token comes from several pairs.
        std::vector<std::string> tokens{"a", "b"};
        for (int rank = 0; rank < 60; ++rank) {
            const auto left = random() % tokens.size();
            const auto right = random() % tokens.size();
            const auto text = tokens[left] + tokens[right];
            if (text.size() > 12)
                continue;
            auto id = std::find(tokens.begin(), tokens.end(), text) - tokens.begin();
            if (static_cast<std::size_t>(id) == tokens.size())
                tokens.push_back(text);
            merges.insert(static_cast<std::int32_t>(left), static_cast<std::int32_t>(right),
                          {rank, static_cast<std::int32_t>(id)});
        }
        for (std::size_t length = 0; length < 130; ++length) {
            std::vector<std::int32_t> word(length);
            for (auto &symbol : word)
                symbol = static_cast<std::int32_t>(random() % 2);
            auto merged = word;
            merges.apply(merged);
            ASSERT_EQ(merged, byDefinition(merges, word)) << "length " << length;
        }
    }
}

TEST(AddedTokenFinder, TakesTheLeftmostThenTheLongestAndItsSpace) {
    AddedTokenFinder finder;
    finder.add("<a>", {0, "<a>", false, false, false, false});
    finder.add("<a><b>", {1, "<a><b>", false, false, false, false});
    finder.add("<l>", {2, "<l>", false, true, false, false});
    finder.add("<r>", {3, "<r>", false, false, true, false});
    using Parts = std::vector<std::pair<std::string, int>>;
    const auto parts = [&](std::string_view text) {
        Parts found;
        finder.split(text,
                     [&](std::string_view part, std::int32_t id) { found.emplace_back(part, id); });
        return found;
    };
    EXPECT_EQ(parts("x<a><b>y"), (Parts{{"x", -1}, {"<a><b>", 1}, {"y", -1}}));
    EXPECT_EQ(parts("<a><c>"), (Parts{{"<a>", 0}, {"<c>", -1}}));
    EXPECT_EQ(parts("x \u3000<l> y"), (Parts{{"x", -1}, {" \u3000<l>", 2}, {" y", -1}}));
    EXPECT_EQ(parts("<r>  <l>z"), (Parts{{"<r>  ", 3}, {"<l>", 2}, {"z", -1}}));
    EXPECT_EQ(parts("<<<a"), (Parts{{"<<<a", -1}}));
    EXPECT_EQ(parts(""), Parts{});
}

} // namespace
} // namespace cuda_agent::learn
