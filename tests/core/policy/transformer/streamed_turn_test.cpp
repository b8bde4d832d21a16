// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/transformer/streamed_turn.h"

#include "core/policy/chat/chat.h"

#include <gtest/gtest.h>

namespace cuda_agent::policy {
namespace {

/// What is shown of a text that comes in pieces of so many bytes.
std::string shown(const std::string &text, std::size_t bytes) {
    StreamedTurn turn;
    std::string all;
    for (std::size_t at = 0; at < text.size(); at += bytes)
        all += turn.take(std::string_view(text).substr(at, bytes));
    return all;
}

std::string written(const Step &step) {
    const auto segment = chat::segmentOf(step);
    EXPECT_TRUE(segment) << segment.error().message;
    return segment ? segment->text : "";
}

TEST(StreamedTurn, AThoughtAndCallsAreReadable) {
    Step step;
    step.thought = "One kernel.\n\nIt is small.";
    step.calls.push_back({"1-1",
                          "Write",
                          {{"file_path", "kernels/a.cu"},
                           {"content", "if (a < b && c<d)\n\n    x <<= 2; // <function\n"}}});
    step.calls.push_back({"1-2", "Verify", {{"strength", "full"}}});
    const auto text = written(step);
    const std::string readable = "One kernel.\n\nIt is small.\n\nWrite\nfile_path:\nkernels/a.cu\n"
                                 "content:\nif (a < b && c<d)\n\n    x <<= 2; // <function\n\n"
                                 "Verify\nstrength:\nfull";
    for (const std::size_t bytes : {1u, 2u, 3u, 7u, 50u, 10'000u})
        EXPECT_EQ(shown(text, bytes), readable) << bytes;
}

TEST(StreamedTurn, TextThatIsNoTemplateStaysAsItIs) {
    for (const std::string text : {"plain", "a < b <= c << d", "<", "<fun>", "<function>",
                                   "<function=\n", "#include <cuda.h>\n\nx"}) {
        const auto all = shown(text + "!", 1);
        EXPECT_EQ(all, text + "!");
    }
    const std::string endless = "<parameter=" + std::string(200, 'x') + "!";
    EXPECT_EQ(shown(endless, 1), endless);
    EXPECT_EQ(shown("", 1), "");
    EXPECT_EQ(shown("<think>\n\n</think>\n\n<|im_end|>", 1), "");
}

TEST(StreamedTurn, WhatIsSureIsShownAtOnce) {
    StreamedTurn turn;
    EXPECT_EQ(turn.take("<think>\nOne"), "One");
    EXPECT_EQ(turn.take(" more\n"), " more");
    EXPECT_EQ(turn.take("line <"), "\nline ");
    EXPECT_EQ(turn.take("/th"), "");
    EXPECT_EQ(turn.take("e"), "</the");
}

} // namespace
} // namespace cuda_agent::policy
