// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/grammar/plan_names.h"

#include <gtest/gtest.h>

namespace cuda_agent::learn {
namespace {

/// What a policy writes before the plan.
const std::string heading = "\n<function=Write>\n<parameter=file_path>\nplan.json\n"
                            "</parameter>\n<parameter=content>\n";
const std::string buffers = R"({"buffers":[{"key":"name","name":"in0","role":"input"},)"
                            R"({"index":1, "name" : "in1_row","role":"input"})";

PlanNames behind(std::string_view plan) {
    PlanNames names;
    names.take(heading);
    names.take(plan);
    return names;
}

TEST(PlanNames, ABufferHasANameOfItsOwn) {
    const auto begun = behind(buffers + R"(,{"name":"in)");
    ASSERT_TRUE(begun.inName());
    EXPECT_FALSE(begun.allows("0\""));
    EXPECT_FALSE(begun.allows("1_row\",\"role"));
    EXPECT_TRUE(begun.allows("0"));
    EXPECT_TRUE(begun.allows("2\""));
    EXPECT_TRUE(begun.allows("\""));
    EXPECT_TRUE(begun.allows("0_x\",\""));
    EXPECT_TRUE(begun.allows("")) << "a token that is no bytes";
    const auto whole = behind(buffers + R"(,{"name":"in0)");
    EXPECT_FALSE(whole.allows("\""));
    EXPECT_FALSE(whole.allows("\"},{\""));
    EXPECT_TRUE(whole.allows("\\"));
}

TEST(PlanNames, AStepTakesABufferThatThereIs) {
    const std::string plan = buffers + R"(],"steps":[{"args":[{"buffer":")";
    const auto open = behind(plan);
    ASSERT_TRUE(open.inName());
    EXPECT_TRUE(open.allows("in"));
    EXPECT_TRUE(open.allows("in1_row\"},{\""));
    EXPECT_FALSE(open.allows("out0"));
    EXPECT_FALSE(open.allows("in2\""));
    EXPECT_FALSE(open.allows("in1\"")) << "a name's beginning";
    const auto begun = behind(plan + "in1");
    EXPECT_TRUE(begun.allows("_"));
    EXPECT_FALSE(begun.allows("\""));
    EXPECT_FALSE(begun.allows("2"));
    EXPECT_TRUE(behind(plan + "in1_row").allows("\"}"));
}

TEST(PlanNames, WhatElseHasNoRules) {
    for (const std::string rest :
         {R"(,{"key":"in0)", R"(,{"na)", R"(,{"shape":["in0)", R"(,{"note":{"name":"in0)",
          R"(],"steps":[{"entry":"in7)", R"(],"steps":[{"name":"in0)", R"(],"note":{"buffer":"x)",
          R"(],"steps":[{"buffer":"in0"})"})
        EXPECT_FALSE(behind(buffers + rest).inName()) << rest;
    EXPECT_FALSE(behind(R"({"steps":[{"args":[{"buffer":"in7)").inName())
        << "the buffers may stand behind the steps";
    EXPECT_FALSE(behind(R"({"name":"in0)").inName()) << "the plan's own";
    PlanNames other;
    other.take("\n<parameter=file_path>\nnotes.json\n</parameter>\n<parameter=content>\n" +
               buffers + R"(,{"name":"in0)");
    EXPECT_FALSE(other.inName());
}

const auto told =
    std::make_shared<const std::vector<chat::ToldParameter>>(std::vector<chat::ToldParameter>{
        {"block.scale_1", "p_scale_1"}, {"block.scale_10", "p_scale_10"}});

TEST(PlanNames, AKeyIsThatOfAToldParameterThatNoOtherBufferHas) {
    const auto behindPrompt = [](const std::string &plan) {
        PlanNames names(told);
        names.take(heading + plan);
        return names;
    };
    const auto first = behindPrompt(R"({"buffers":[{"key":")");
    ASSERT_TRUE(first.inName());
    EXPECT_FALSE(first.declares());
    EXPECT_TRUE(first.allows("block.scale_1"));
    EXPECT_TRUE(first.allows("block.scale_1\",\""));
    EXPECT_FALSE(first.allows("blocks"));
    EXPECT_FALSE(first.allows("block.scale_\""));
    const std::string one = R"({"buffers":[{"key":"block.scale_1","name":")";
    const auto name = behindPrompt(one);
    ASSERT_TRUE(name.inName());
    EXPECT_FALSE(name.declares());
    EXPECT_TRUE(name.allows("p_scale_1\",\"role"));
    EXPECT_FALSE(name.allows("p_scale_10")) << "another one's";
    EXPECT_FALSE(name.allows("in0\""));
    const std::string second = one + R"(p_scale_1","role":"parameter"},{"key":"block.scale_1)";
    EXPECT_FALSE(behindPrompt(second).allows("\""));
    EXPECT_TRUE(behindPrompt(second).allows("0\",\"name"));
    EXPECT_FALSE(behindPrompt(second).allows("role"));
    const auto input = behindPrompt(one + R"(p_scale_1","role":"parameter"},{"index":0,"name":")");
    EXPECT_TRUE(input.declares()) << "it has no key";
    EXPECT_TRUE(input.allows("in0\""));
    EXPECT_FALSE(input.allows("p_scale_1\""));
    auto again = behindPrompt(second + R"(0"}]})");
    again.take("\n</parameter>\n" + heading + R"({"buffers":[{"key":"block.scale_1)");
    EXPECT_TRUE(again.allows("\"")) << "another plan, of the same prompt";
}

TEST(PlanNames, EachPlanHasItsOwn) {
    auto names = behind(buffers + "]}\n</parameter>\n</function>\n</tool_call>");
    EXPECT_FALSE(names.inName());
    names.take(heading + R"({"buffers":[{"name":"in0)");
    ASSERT_TRUE(names.inName());
    EXPECT_TRUE(names.allows("\""));
    auto open = behind(buffers + R"(,{"name":"x)"); // ends within a string
    open.take("\n</parameter>\n" + heading + R"({"buffers":[{"name":"in0)");
    EXPECT_TRUE(open.allows("\""));
}

} // namespace
} // namespace cuda_agent::learn
