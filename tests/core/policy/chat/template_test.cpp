// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/chat/chat.h"

#include <gtest/gtest.h>

#include <random>

namespace cuda_agent::chat {
namespace {

using policy::Step;

void expectSame(const Step &a, const Step &b) {
    EXPECT_EQ(a.thought, b.thought);
    EXPECT_EQ(a.finished, b.finished);
    EXPECT_EQ(a.reason, b.reason);
    ASSERT_EQ(a.calls.size(), b.calls.size());
    for (std::size_t i = 0; i < a.calls.size(); ++i) {
        EXPECT_EQ(a.calls[i].id, b.calls[i].id);
        EXPECT_EQ(a.calls[i].tool, b.calls[i].tool);
        EXPECT_EQ(a.calls[i].arguments, b.calls[i].arguments);
    }
}

/// Texts of the pieces that the template is made of, and of what kernels are made of.
std::string randomText(std::mt19937_64 &random, std::size_t most) {
    static const std::vector<std::string> pieces{"<",          ">",
                                                 "/",          "tool_call",
                                                 "<function=", "</function>",
                                                 "parameter",  "\n",
                                                 "\n\n",       " ",
                                                 "\t",         "=",
                                                 "|im_end|",   "a < b",
                                                 "\"",         "{",
                                                 "}",          "\\n",
                                                 "é",          "float x",
                                                 "</param",    "null",
                                                 "[1,2]",      "<|im_start",
                                                 "think>",     "__syncthreads();"};
    std::string text;
    for (std::size_t i = random() % (most + 1); i > 0; --i)
        text += pieces[random() % pieces.size()];
    return text;
}

std::string trimmedText(std::mt19937_64 &random, std::size_t most) {
    auto text = randomText(random, most);
    while (!text.empty() && std::string(" \t\r\n").find(text.back()) != std::string::npos)
        text.pop_back();
    return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

Step randomStep(std::mt19937_64 &random) {
    Step step;
    step.thought = trimmedText(random, 8);
    const auto calls = random() % 4;
    for (std::size_t i = 1; i <= calls; ++i) {
        session::ToolCall call{fmt::format("7-{}", i), "", Json::object()};
        switch (random() % 4) {
        case 0:
            call.tool = "Write";
            call.arguments = {{"file_path", randomText(random, 3)},
                              {"content", randomText(random, 20)}};
            break;
        case 1:
            call.tool = "Edit";
            call.arguments = {{"file_path", "kernels/a.cu"},
                              {"old_string", randomText(random, 5)},
                              {"new_string", randomText(random, 5)},
                              {"replace_all", random() % 2 == 0}};
            break;
        case 2:
            call.tool = "Read";
            call.arguments = {{"file_path", "model.py"}, {"offset", random() % 100}};
            break;
        default:
            call.tool = "Verify";
        }
        step.calls.push_back(std::move(call));
    }
    if (calls == 0) {
        step.finished = true;
        step.reason = trimmedText(random, 6);
    }
    return step;
}

TEST(ChatTemplate, IsThatOfQwen) {
    Step step{"Fuse it.",
              {{"3-1", "Write", {{"file_path", "a.cu"}, {"content", "int x;\n"}}},
               {"3-2", "Verify", Json::object()}},
              false,
              ""};
    const auto segment = segmentOf(step);
    ASSERT_TRUE(segment) << segment.error().message;
    EXPECT_EQ(segment->by, Author::policy);
    EXPECT_EQ(segment->text, "<think>\nFuse it.\n</think>\n\n"
                             "<tool_call>\n<function=Write>\n"
                             "<parameter=file_path>\na.cu\n</parameter>\n"
                             "<parameter=content>\nint x;\n\n</parameter>\n"
                             "</function>\n</tool_call>\n"
                             "<tool_call>\n<function=Verify>\n</function>\n</tool_call><|im_end|>");
    const auto read = stepOf(segment->text, 3);
    ASSERT_TRUE(read) << read.error().message;
    expectSame(*read, step);
}

TEST(ChatTemplate, WhatIsWrittenIsReadAgain) {
    std::mt19937_64 random(11);
    int written = 0, refused = 0;
    for (int i = 0; i < 5000; ++i) {
        const Step step = randomStep(random);
        const auto segment = segmentOf(step);
        if (!segment) {
            ++refused; // it holds what the template has for itself
            EXPECT_EQ(segment.error().kind, ErrorKind::request);
            continue;
        }
        ++written;
        const auto read = stepOf(segment->text, 7);
        ASSERT_TRUE(read) << read.error().message << "\n" << segment->text;
        expectSame(*read, step);
    }
    EXPECT_GT(written, 3000);
    EXPECT_GT(refused, 20);
}

TEST(ChatTemplate, AnyCutIsAnErrorOrAStep) {
    std::mt19937_64 random(5);
    for (int i = 0; i < 300; ++i) {
        const auto segment = segmentOf(randomStep(random));
        if (!segment)
            continue;
        const auto &text = segment->text;
        const auto cut = random() % text.size();
        EXPECT_FALSE(stepOf(text.substr(0, cut), 1)) << text.substr(0, cut);
        // A piece taken out, or a byte changed, never crashes; what is read can be written.
        auto other = text;
        other.erase(cut, random() % 20);
        auto changed = text;
        changed[cut] = static_cast<char>(random() % 256);
        for (const auto &hostile : {other, changed}) {
            if (const auto step = stepOf(hostile, 1)) {
                for (const auto &call : step->calls)
                    EXPECT_EQ(call.id.substr(0, 2), "1-");
            }
        }
    }
}

TEST(ChatTemplate, RefusesWhatItCannotHold) {
    for (const auto special : specialTokens) {
        Step step{"", {{"1-1", "Write", {{"file_path", "a"}, {"content", "x"}}}}, false, ""};
        step.calls[0].arguments["content"] = fmt::format("a {} b", special);
        EXPECT_FALSE(segmentOf(step));
        step.calls[0].arguments["content"] = "x";
        EXPECT_TRUE(segmentOf(step));
        step.thought = std::string(special);
        EXPECT_FALSE(segmentOf(step));
    }
    Step step{"", {{"1-1", "Write", {{"content", "a</parameter>b"}}}}, false, ""};
    const auto refused = segmentOf(step);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("</parameter>"), std::string::npos);
    EXPECT_FALSE(segmentOf({"", {{"1-1", "Fly", Json::object()}}, false, ""}));
    EXPECT_FALSE(segmentOf({" blank in front", {}, true, ""}));
    EXPECT_FALSE(segmentOf({"", {}, false, ""}));
}

struct Malformed {
    const char *text;
    const char *says;
};
class ChatMalformed : public testing::TestWithParam<Malformed> {};

TEST_P(ChatMalformed, IsNamed) {
    const auto step = stepOf(GetParam().text, 1);
    ASSERT_FALSE(step);
    EXPECT_EQ(step.error().kind, ErrorKind::request);
    EXPECT_NE(step.error().message.find(GetParam().says), std::string::npos)
        << step.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Turns, ChatMalformed,
    testing::Values(
        Malformed{"", "does not end"}, Malformed{"hello", "does not end"},
        Malformed{"<think>\nso<|im_end|>", "has no </think>"},
        Malformed{"<think>\na<think>\n</think><|im_end|>", "contains <think>"},
        Malformed{"done<|im_end|><|im_end|>", "contains <|im_end|>"},
        Malformed{"<tool_call>\n<|im_end|>", "wants <function="},
        Malformed{"<tool_call>\n<function=Fly>\n</function>\n</tool_call><|im_end|>",
                  "no tool 'Fly'"},
        Malformed{"<tool_call>\n<function=>\n</function>\n</tool_call><|im_end|>", "no name"},
        Malformed{"<function=Verify>\n</function><|im_end|>", "outside"},
        Malformed{"<tool_call>\n<function=Verify>\n</function><|im_end|>", "wants </tool_call>"},
        Malformed{"<tool_call>\n<function=Verify>\n</function>\n</tool_call> and more<|im_end|>",
                  "may stand behind"},
        Malformed{"<tool_call>\n<function=Write>\n<parameter=content>\nint x;<|im_end|>",
                  "has no </parameter>"},
        Malformed{"<tool_call>\n<function=Write>\n<parameter=content>x</parameter>\n"
                  "</function>\n</tool_call><|im_end|>",
                  "line of its own"},
        Malformed{"<tool_call>\n<function=Write>\n<parameter=content>\nx</parameter>\n"
                  "</function>\n</tool_call><|im_end|>",
                  "does not end with a line"},
        Malformed{"<tool_call>\n<function=Write>\n<parameter=content>\nx\n</parameter>\n"
                  "<parameter=content>\ny\n</parameter>\n</function>\n</tool_call><|im_end|>",
                  "twice"},
        Malformed{"<tool_call>\n<function=Write>\n<parameter=content>\nx</tool_call>\n"
                  "</parameter>\n</function>\n</tool_call><|im_end|>",
                  "contains </tool_call>"}));

TEST(ChatTemplate, TextOutsideThoughts) {
    const auto step = stepOf("First.\n<tool_call>\n<function=Verify>\n</function>\n</tool_call>\n"
                             "<|im_end|>",
                             2);
    ASSERT_TRUE(step) << step.error().message;
    EXPECT_EQ(step->thought, "First.");
    EXPECT_FALSE(step->finished);
    const auto end = stepOf("<think>\n\n</think>\n\nIt is at the limit.<|im_end|>", 2);
    ASSERT_TRUE(end) << end.error().message;
    EXPECT_TRUE(end->finished);
    EXPECT_EQ(end->thought, "");
    EXPECT_EQ(end->reason, "It is at the limit.");
}

TEST(ChatTemplate, ArgumentsThatAreNoJsonStayText) {
    const auto step = stepOf("<tool_call>\n<function=Read>\n<parameter=file_path>\n12\n"
                             "</parameter>\n<parameter=offset>\nmany\n</parameter>\n"
                             "</function>\n</tool_call><|im_end|>",
                             1);
    ASSERT_TRUE(step) << step.error().message;
    EXPECT_EQ(step->calls[0].arguments, (Json{{"file_path", "12"}, {"offset", "many"}}));
}

} // namespace
} // namespace cuda_agent::chat
