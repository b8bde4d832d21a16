// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/transformer/shown_mistake.h"

#include <gtest/gtest.h>

namespace cuda_agent::policy {
namespace {

const std::string source = "#include <cuda_fp16.h>\n"
                           "__global__ void map0(float *x) {\n"
                           "    x[0] = y;\n"
                           "}\n"
                           "__global__ void map10(float *x) {\n"
                           "    x[1] = 2;\n"
                           "}\n";
const std::string thought = "<think>map0, then map10.</think>", plan = "a plan";
const std::string text = thought + source + plan;

session::Turn turnWith(Json verdict) {
    session::Turn turn;
    turn.calls = {
        {"1-1", "Write", {{"file_path", "kernels/fused.cu"}, {"content", source}}},
        {"1-2", "Verify", Json::object()},
    };
    turn.verdict = std::move(verdict);
    return turn;
}

Json refusal(const char *file, Json line) {
    return {{"compiled", false},
            {"diagnostics",
             {{{"severity", "warning"}, {"file", file}, {"line", 1}},
              {{"severity", "error"}, {"file", file}, {"line", std::move(line)}}}}};
}

std::int64_t placeOf(std::string_view words) {
    return static_cast<std::int64_t>(text.find(words) + words.size());
}

TEST(ShownMistake, ALineThatDoesNotCompile) {
    const auto shown = mistakeOf(turnWith(refusal("kernels/fused.cu", 3)), text);
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->end, placeOf("x[0] = y;\n"));
    EXPECT_EQ(shown->over, static_cast<std::int64_t>(text.size()));
    EXPECT_TRUE(shown->near);
    EXPECT_EQ(mistakeOf(turnWith(refusal("kernels/fused.cu", 99)), text)->end,
              static_cast<std::int64_t>(thought.size() + source.size()));
}

TEST(ShownMistake, AKernelThatALaunchFailedIn) {
    const auto shown =
        mistakeOf(turnWith({{"problem", "random inputs: case 'random 1': CUDA error 716 misaligned "
                                        "address in kernels/fused.cu:map10 (step 1)"}}),
                  text);
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->end, placeOf("x[1] = 2;"));
    EXPECT_EQ(shown->over, static_cast<std::int64_t>(thought.size() + source.size()));
    EXPECT_FALSE(shown->near);
    EXPECT_EQ(mistakeOf(turnWith({{"problem", "in kernels/fused.cu:map0 (step 0)"}}), text)->end,
              placeOf("x[0] = y;"));
}

TEST(ShownMistake, WhatNamesNoPlaceOfTheTurnIsNone) {
    for (const auto &verdict :
         {Json(), Json::array(), Json::object(), Json{{"diagnostics", "none"}},
          Json{{"diagnostics", {1, "x"}}}, refusal("kernels/other.cu", 3),
          refusal("kernels/fused.cu", "three"), Json{{"problem", 3}},
          Json{{"problem", "output 0, index [1,2]: expected 1, got 2"}},
          Json{{"problem", "kernels/fused.cu:3:7: error"}},
          Json{{"problem", "in kernels/fused.cu:map7 (step 0)"}}})
        EXPECT_FALSE(mistakeOf(turnWith(verdict), text)) << verdict.dump();
    EXPECT_FALSE(mistakeOf(turnWith(refusal("kernels/fused.cu", 3)), "another text"));
    auto turn = turnWith(refusal("kernels/fused.cu", 3));
    turn.verdict.reset();
    EXPECT_FALSE(mistakeOf(turn, text));
}

} // namespace
} // namespace cuda_agent::policy
