// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/transformer/model_protocol.h"

#include <gtest/gtest.h>

namespace cuda_agent::policy {
namespace {

TEST(ModelProtocol, WhatIsSaidIsWhatIsHeard) {
    ModelFacts facts{"small", "ab12", "cuda", 3, 15'700'000, 2048, 4096, 64, "1.0"};
    EXPECT_EQ(factsFrom(toJson(facts)).value(), facts);
    const std::vector<chat::Segment> segments{{chat::Author::context, "read"},
                                              {chat::Author::policy, "written"}};
    EXPECT_EQ(segmentsFrom(toJson(segments)).value(), segments);
    for (const auto end : {Written::End::turn, Written::End::length, Written::End::full}) {
        const auto heard = writtenFrom(toJson(Written{"text", end, 3, 0})).value();
        EXPECT_EQ(heard.end, end);
        EXPECT_EQ(heard.text, "text");
        EXPECT_EQ(heard.readTokens, 3);
        EXPECT_EQ(heard.writtenTokens, 0);
    }
    Written likeliest{"text", Written::End::turn, 3,
                      2,      {7, 8, 9},          {{1, 5, 0.25, 12}, {2, 6, 3, 20, 0.5}}};
    const auto told = writtenFrom(toJson(likeliest)).value();
    EXPECT_EQ(told.tokens, likeliest.tokens);
    EXPECT_EQ(told.alternatives, likeliest.alternatives);
    const auto turn = turnRequestFrom(toJson(TurnRequest{1ull << 63, {4, 5}})).value();
    EXPECT_EQ(turn.seed, 1ull << 63);
    EXPECT_EQ(turn.begin, (std::vector{4, 5}));
    EXPECT_TRUE(turnRequestFrom(toJson(TurnRequest{3, {}}))->begin.empty());
    EXPECT_EQ(turnRequestFrom(toJson(TurnRequest{3, {}, 0.25}))->leastAllowed, 0.25);
    EXPECT_EQ(turnRequestFrom(toJson(TurnRequest{3, {}}))->leastAllowed, 0);
    for (const auto kind :
         {ErrorKind::request, ErrorKind::machine, ErrorKind::stopped, ErrorKind::failed}) {
        const auto heard = errorFrom(toJson(Error{kind, "why"}));
        EXPECT_EQ(heard.kind, kind);
        EXPECT_EQ(heard.message, "why");
    }
    const auto drawing = drawingFrom(toJson(Drawing{0.7, 0.9, 100, true}), {}).value();
    EXPECT_EQ(drawing.temperature, 0.7);
    EXPECT_EQ(drawing.topP, 0.9);
    EXPECT_EQ(drawing.longestTurn, 100);
    EXPECT_TRUE(drawing.grammar);
}

TEST(ModelProtocol, WhatIsAbsentIsUsual) {
    const auto drawing = drawingFrom(Json{{"top_p", 0.5}}, {0.3, 1, 77}).value();
    EXPECT_EQ(drawing.temperature, 0.3);
    EXPECT_EQ(drawing.topP, 0.5);
    EXPECT_EQ(drawing.longestTurn, 77);
    EXPECT_FALSE(drawing.grammar);
    EXPECT_TRUE(drawingFrom(Json::object(), {0, 1, 77, true})->grammar);
}

TEST(ModelProtocol, NonsenseIsRefused) {
    for (const char *text : {R"({"temperature": -1})", R"({"temperature": "hot"})",
                             R"({"top_p": 0})", R"({"top_p": 1.5})", R"({"longest_turn": 0})",
                             R"({"longest_turn": []})", R"({"grammar": 1})"})
        EXPECT_FALSE(drawingFrom(Json::parse(text), {})) << text;
    for (const char *text : {"null", "[]", "{}", "[1]", R"([{"by": "context"}])",
                             R"([{"by": "user", "text": ""}])", R"([{"by": 1, "text": 2}])"})
        EXPECT_FALSE(segmentsFrom(Json::parse(text))) << text;
    for (const char *text :
         {"null", "{}", R"({"text": "", "end": "never", "read": 1, "written": 1})",
          R"({"text": "", "end": "turn", "read": -1, "written": 1})",
          R"({"text": "", "end": "turn", "read": 1})"})
        EXPECT_FALSE(writtenFrom(Json::parse(text))) << text;
    for (const char *text :
         {"{}", R"({"seed": "1"})", R"({"seed": 1, "begin": 3})", R"({"seed": 1, "begin": [-1]})",
          R"({"seed": 1, "begin": [1.5]})", R"({"seed": 1, "begin": [2147483648]})",
          R"({"seed": 1, "least_allowed": 2})", R"({"seed": 1, "least_allowed": "0.1"})"})
        EXPECT_FALSE(turnRequestFrom(Json::parse(text))) << text;
    for (const char *more :
         {R"("tokens": 1)", R"("tokens": ["a"])", R"("alternatives": [[1, 2, 3]])",
          R"("alternatives": [[1, 2, -1, 0, 0]])", R"("alternatives": [[1, 2, 1, 0, "x"]])",
          R"("alternatives": [[-1, 2, 1, 0, 0]])", R"("alternatives": {})"})
        EXPECT_FALSE(writtenFrom(Json::parse(
            fmt::format(R"({{"text": "", "end": "turn", "read": 1, "written": 1, {}}})", more))))
            << more;
    EXPECT_FALSE(factsFrom(Json()));
    auto facts = toJson(ModelFacts{"small", "ab12", "tpu", 0, 1, 1, 1, 1, "1.0"});
    EXPECT_FALSE(factsFrom(facts));
    facts["device"] = "cpu";
    EXPECT_TRUE(factsFrom(facts));
    facts["context"] = 0;
    EXPECT_FALSE(factsFrom(facts));
    for (const char *text : {"null", "{}", R"({"kind": "odd"})", R"({"kind": 1, "message": 2})"}) {
        const auto error = errorFrom(Json::parse(text));
        EXPECT_EQ(error.kind, ErrorKind::machine);
        EXPECT_FALSE(error.message.empty());
    }
}

} // namespace
} // namespace cuda_agent::policy
