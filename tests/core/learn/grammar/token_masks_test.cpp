// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/grammar/token_masks.h"
#include "tests/source_dir.h"
#include "turns.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>

namespace cuda_agent::learn {
namespace {

/// A small one, of weights that are kept.
const Tokenizer &tokenizer() {
    static const auto loaded =
        Tokenizer::load(sourceDir() / "training/results/policy-tiny/actor/tokenizer.json");
    EXPECT_TRUE(loaded) << loaded.error().message;
    return *loaded;
}

std::int64_t vocabulary() {
    return static_cast<std::int64_t>(tokenizer().size()) + 3; // a model's table may be larger
}

std::shared_ptr<const TokenMasks> masks() {
    auto made = TokenMasks::ofTools(tokenizer(), vocabulary());
    EXPECT_TRUE(made) << made.error().message;
    return *made;
}

/// Draws tokens that may come, one like another, but for a share of steps the one by which a text
/// that is wanted goes on: so that turns come to all parts of the grammar.
class Writer {
  public:
    Writer(const TokenMasks &masks, std::uint64_t seed) : masks_(masks), random_(seed) {}

    std::vector<std::int32_t> turn(std::int64_t room, const std::vector<std::int32_t> &wanted,
                                   double share) {
        std::vector<std::int32_t> tokens;
        TurnState state;
        std::size_t followed = 0;
        while (state.place != TurnState::Place::end) {
            EXPECT_LT(static_cast<std::int64_t>(tokens.size()), room);
            const auto allowed =
                masks_.formed(state, room - static_cast<std::int64_t>(tokens.size()));
            std::vector<std::int32_t> all;
            for (std::size_t i = 0; i < allowed->size(); ++i)
                if ((*allowed)[i] != 0)
                    all.push_back(static_cast<std::int32_t>(i));
            EXPECT_FALSE(all.empty());
            if (all.empty())
                break;
            auto token = all[random_() % all.size()];
            if (followed < wanted.size() && std::ranges::count(all, wanted[followed]) > 0 &&
                static_cast<double>(random_() % 1000) < 1000 * share)
                token = wanted[followed++];
            tokens.push_back(token);
            const auto next = masks_.next(state, token);
            EXPECT_TRUE(next);
            state = *next;
        }
        return tokens;
    }

  private:
    const TokenMasks &masks_;
    std::mt19937_64 random_;
};

TEST(TokenMasks, WhatIsDrawnEvenlyIsAlwaysATurn) {
    const auto all = masks();
    std::size_t finished = 0, called = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        const auto room = static_cast<std::int64_t>(1 + seed % 100 * (seed % 7));
        const auto tokens = Writer(*all, seed).turn(room, {}, 0);
        EXPECT_LE(static_cast<std::int64_t>(tokens.size()), room);
        const auto text = tokenizer().decode(tokens);
        const auto step = chat::stepOf(text, 1);
        ASSERT_TRUE(step) << step.error().message << "\n" << text;
        EXPECT_EQ(whyNot(text), "") << text;
        ++(step->finished ? finished : called);
    }
    EXPECT_GT(finished, 20u);
    EXPECT_GT(called, 20u);
}

TEST(TokenMasks, WhatIsDrawnAroundCallsOfAllKindsIsAlwaysATurn) {
    const auto all = masks();
    const std::vector<std::string> turns{
        ended(callText("MultiEdit",
                       parameterText("file_path", "a.cu") +
                           parameterText("edits", R"([{"old_string":"\ud83d\ude00","new_string":)"
                                                  R"("é","replace_all":true}])"))),
        ended("<think>\nso\n</think>\n\n" +
              callText("TodoWrite", parameterText("todos", R"([{"content":"x","status":"pending"},)"
                                                           R"({"status":"completed","id":"a",)"
                                                           R"("content":"y"}])"))),
        ended(callText("Grep", parameterText("pattern", "a<b") + parameterText("head_limit", "17") +
                                   parameterText("output_mode", "count")) +
              "\n" + callText("Verify", parameterText("strength", "training"))),
        ended(callText("Edit", parameterText("file_path", "\n") +
                                   parameterText("old_string", "</p") +
                                   parameterText("new_string", "")))};
    std::map<std::string, int> tools;
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        const auto wanted = tokenizer().encode(turns[seed % turns.size()]);
        const auto room = static_cast<std::int64_t>(30 + seed % 170);
        const auto share = 0.5 + 0.005 * static_cast<double>(seed % 100);
        const auto text = tokenizer().decode(Writer(*all, seed).turn(room, wanted, share));
        EXPECT_EQ(whyNot(text), "") << text;
        const auto step = chat::stepOf(text, 1);
        ASSERT_TRUE(step) << text;
        for (const auto &call : step->calls)
            ++tools[call.tool];
    }
    for (const auto *tool : {"MultiEdit", "TodoWrite", "Grep", "Verify", "Edit"})
        EXPECT_GT(tools[tool], 10) << tool;
}

TEST(TokenMasks, AreWhatEachTokenAloneSays) {
    const auto all = masks();
    const auto tokens = tokenizer().encode(
        ended("<think>\na\n</think>\n\n" +
              callText("MultiEdit", parameterText("file_path", "a.cu") +
                                        parameterText("edits", R"([{"old_string":"é \n"}])"))
                  .substr(0, 120)));
    TurnState state;
    for (const auto token : tokens) {
        for (const std::int64_t room :
             {TokenMasks::anyRoom, all->leastToEnd(state), all->leastToEnd(state) + 5}) {
            const auto mask = all->formed(state, room);
            ASSERT_EQ(mask->size(), static_cast<std::size_t>(vocabulary()));
            for (std::int32_t id = 0; id < vocabulary(); ++id) {
                const auto next = all->next(state, id);
                ASSERT_EQ((*mask)[static_cast<std::size_t>(id)] != 0,
                          next && all->leastToEnd(*next) < room)
                    << tokenizer().bytes(id);
            }
        }
        const auto next = all->next(state, token);
        if (!next)
            break;
        state = *next;
    }
    EXPECT_EQ(state.depth, 3) << "the tokens came as far as into the list's object";
}

TEST(TokenMasks, ATokenMayBelongToSeveralParts) {
    const auto all = masks();
    std::size_t crossing = 0;
    const auto text =
        callText("Write", parameterText("file_path", "a") + parameterText("content", "b"));
    TurnState state;
    for (const auto token : tokenizer().encode(ended(text))) {
        const auto next = all->next(state, token);
        ASSERT_TRUE(next) << tokenizer().bytes(token);
        crossing += tokenizer().bytes(token).size() > 1 && next->place != state.place &&
                    !tokenizer().bytes(token).starts_with("<|");
        state = *next;
    }
    EXPECT_EQ(state.place, TurnState::Place::end);
    EXPECT_GT(crossing, 0u);
}

TEST(TokenMasks, ATurnCanEndInTheRoomThatItHas) {
    const auto all = masks();
    EXPECT_EQ(all->leastToEnd({}), 1);
    const auto tight = all->formed({}, 1);
    EXPECT_EQ(std::ranges::count(*tight, 1), 1);
    EXPECT_EQ((*tight)[static_cast<std::size_t>(*tokenizer().id(chat::imEnd))], 1);
    const auto call = static_cast<std::size_t>(*tokenizer().id(chat::toolCall));
    EXPECT_EQ((*all->formed({}, 3))[call], 0) << "no call is that short";
    EXPECT_EQ((*all->formed({}))[call], 1);
    EXPECT_EQ(all->formed({}, 1000), all->formed({}, 2000)) << "one mask for all that is enough";
    EXPECT_EQ(std::ranges::count(*all->formed({TurnState::Place::end}), 1), 0);
}

TEST(TokenMasks, NeedsTheTokensOfTheTemplate) {
    auto definition = tokenizer().definition();
    std::erase_if(definition.added,
                  [](const AddedToken &token) { return token.content == chat::toolCall; });
    std::ranges::replace(definition.vocabulary, std::string(chat::toolCall), std::string("other"));
    const auto lacking = Tokenizer::make(definition, "a test");
    ASSERT_TRUE(lacking) << lacking.error().message;
    const auto made = TokenMasks::ofTools(*lacking, vocabulary());
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message.find("<tool_call>"), std::string::npos);
    EXPECT_FALSE(TokenMasks::ofTools(tokenizer(), vocabulary() - 4));
}

TEST(TokenMasks, ThoseThatAreAlikeAreOne) {
    const auto all = masks();
    std::map<std::vector<std::uint8_t>, const void *> known;
    std::size_t states = 0;
    TurnState state;
    std::mt19937_64 random(5);
    for (; states < 300 && state.place != TurnState::Place::end; ++states) {
        const auto mask = all->formed(state);
        const auto [at, fresh] = known.try_emplace(*mask, mask.get());
        EXPECT_EQ(at->second, mask.get()) << states;
        std::vector<std::int32_t> may;
        for (std::size_t i = 0; i < mask->size(); ++i)
            if ((*mask)[i] != 0 && all->leastToEnd(*all->next(state, static_cast<int>(i))) > 0)
                may.push_back(static_cast<std::int32_t>(i));
        ASSERT_FALSE(may.empty());
        state = *all->next(state, may[random() % may.size()]);
    }
    EXPECT_EQ(states, 300u);
    EXPECT_LT(known.size(), states);
}

TEST(TokenMasks, ManyThreadsAreToldTheSame) {
    const auto alone = masks(), together = masks();
    const auto write = [&](const TokenMasks &all, std::uint64_t seed) {
        return Writer(all, seed).turn(60, {}, 0);
    };
    std::vector<std::vector<std::int32_t>> written(8);
    {
        std::vector<std::jthread> threads;
        for (std::uint64_t seed = 0; seed < written.size(); ++seed)
            threads.emplace_back([&, seed] { written[seed] = write(*together, seed % 4); });
    }
    for (std::uint64_t seed = 0; seed < written.size(); ++seed)
        EXPECT_EQ(written[seed], write(*alone, seed % 4));
}

} // namespace
} // namespace cuda_agent::learn
