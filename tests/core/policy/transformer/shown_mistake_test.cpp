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
    EXPECT_EQ(shown->function, static_cast<std::int64_t>(thought.size()))
        << "the first of the file";
    EXPECT_EQ(mistakeOf(turnWith(refusal("kernels/fused.cu", 6)), text)->function,
              placeOf("x[0] = y;\n}\n"));
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

session::Turn refusedPlan(const std::string &content, const std::string &why) {
    session::Turn turn;
    turn.calls = {{"1-1", "Write", {{"file_path", "kernels/fused.cu"}, {"content", source}}},
                  {"1-2", "Write", {{"file_path", "plan.json"}, {"content", content}}},
                  {"1-3", "Verify", Json::object()}};
    turn.observations = {{"1-1", true, "wrote kernels/fused.cu", {}, 0},
                         {"1-2", true, "wrote plan.json", {}, 0},
                         {"1-3", false, why, {}, 0}};
    return turn;
}

TEST(ShownMistake, AValueOfThePlanThatWasRefused) {
    const std::string content = R"({"buffers": [{"name": "in0"}, {"name": "in0"}], "steps": []})";
    const std::string whole = thought + source + content;
    const auto begin = static_cast<std::int64_t>(thought.size() + source.size());
    for (const std::string why : {"plan.json: buffers[1].name: 'in0' is already buffers[0]",
                                  "buffers[1].name: something that the task asks for"}) {
        const auto shown = mistakeOf(refusedPlan(content, why), whole);
        ASSERT_TRUE(shown) << why;
        EXPECT_EQ(shown->end, begin + static_cast<std::int64_t>(content.find("}], ")));
        EXPECT_EQ(shown->over, static_cast<std::int64_t>(whole.size()));
        EXPECT_TRUE(shown->near);
        EXPECT_EQ(shown->begin, begin);
    }
    const auto shown = mistakeOf(
        refusedPlan(content, "plan.json is not JSON: line 1, column 10: syntax error"), whole);
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->end, begin + 9);
    for (const char *why : {"there is no file", "plan.json is not taken: too deep", "buffers: none",
                            "plan.json is not JSON: somewhere", "buffers[]: none"})
        EXPECT_FALSE(mistakeOf(refusedPlan(content, why), whole)) << why;
}

TEST(ShownMistake, WhatTheGrammarRefusesStandsAtTheEnd) {
    const std::string kernels = thought + "<parameter=file_path>\nkernels/fused.cu\n</parameter>\n"
                                          "<parameter=content>\nint f() {",
                      begun = kernels + "}\n</parameter>\n<parameter=file_path>\nplan.json\n"
                                        "</parameter>\n<parameter=content>\n",
                      within = begun + "{\"buffers\":[";
    for (const auto &[all, begin] : {std::pair{kernels, std::size_t{0}},
                                     {within, begun.size()},
                                     {within + "\n</parameter>", 0}}) {
        const auto shown = refusedBehind(all);
        EXPECT_EQ(shown.end, static_cast<std::int64_t>(all.size()));
        EXPECT_EQ(shown.over, shown.end);
        EXPECT_TRUE(shown.near);
        EXPECT_EQ(shown.begin, static_cast<std::int64_t>(begin));
    }
}

TEST(ShownMistake, WhatNamesNoPlaceOfTheTurnIsNone) {
    for (const auto &verdict :
         {Json(), Json::array(), Json::object(), Json{{"diagnostics", "none"}},
          Json{{"diagnostics", {1, "x"}}}, refusal("kernels/other.cu", 3),
          refusal("kernels/fused.cu", "three"), refusal("kernels/fused.cu", 0),
          Json{{"problem", 3}}, Json{{"problem", "output 0, index [1,2]: expected 1, got 2"}},
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
