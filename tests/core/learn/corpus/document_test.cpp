// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/document.h"

#include "shaped_task.h"

#include <gtest/gtest.h>

namespace cuda_agent::learn {
namespace {

using Parts = std::vector<policy::SearchSpace::Part>;

policy::SearchSpace::Part part(const std::string &name) {
    policy::SearchSpace::Part part;
    part.name = name;
    part.work = "writes out0";
    part.loops = "rows 4";
    part.accesses = "out0: 1";
    part.perRow = "in1, exp2";
    part.counts = "3 * 4 = 12";
    part.schedule = "row-t128";
    part.apart = "in0_x one by one";
    part.reason = "one pass";
    return part;
}

Json kernel(const std::string &entry) {
    return {{"kind", "kernel"}, {"entry", entry}};
}

std::string thought(const Parts &parts, const Json &steps) {
    const Json plan{{"buffers", {{{"name", "tmp0"}, {"shape", {154936, "8 * 3"}}}}},
                    {"steps", steps}};
    const SizeSpelling spelling(taskOf({{1024, 856, 181}}), "f32[1024, 856, 181]", "0|row-t128");
    return thoughtOf(parts, plan, spelling);
}

TEST(Thought, GoesThroughThePlanStepByStep) {
    const Json gemm{{"kind", "gemm"}, {"a", "in0"},   {"b", "p_weight"}, {"c", "tmp0"},
                    {"m", "154936"},  {"n", "8 * 3"}, {"k", 7},          {"transpose_b", true}};
    EXPECT_EQ(
        thought({part("map0"), part("reduce1"), part("map10")}, {kernel("map0"),
                                                                 gemm,
                                                                 kernel("reduce1"),
                                                                 kernel("reduce1Combine"),
                                                                 {{"kind", "convolution"},
                                                                  {"input", "tmp0"},
                                                                  {"weight", "in1"},
                                                                  {"bias", "in2"},
                                                                  {"output", "out0"}},
                                                                 kernel("map10")}),
        "map0: writes out0. rows 4; per row: in1, exp2; out0: 1; 3 * 4 = 12; row-t128; in0_x one "
        "by one; one pass.\n"
        "gemm: writes tmp0 [(856 * 181), 8 * 3]; reads in0, p_weight transposed; (856 * 181) by "
        "8 * 3 over 7.\n"
        "reduce1: writes out0. rows 4; per row: in1, exp2; out0: 1; 3 * 4 = 12; row-t128; in0_x "
        "one by one; one pass.\n"
        "convolution: writes out0; reads tmp0 [(856 * 181), 8 * 3], in1, in2.\n"
        "map10: writes out0. rows 4; per row: in1, exp2; out0: 1; 3 * 4 = 12; row-t128; in0_x one "
        "by one; one pass.");
}

TEST(Thought, TellsOfPartsWhoseKernelsHaveOtherNamesAndOfManyInAWord) {
    EXPECT_EQ(thought({part("map1")}, Json::array({kernel("map10")})),
              "map1: writes out0. rows 4; per row: in1, exp2; out0: 1; 3 * 4 = 12; row-t128; in0_x "
              "one by one; one pass.");
    Parts many;
    Json steps = Json::array();
    for (int i = 0; i < 27; ++i) {
        many.push_back(part(fmt::format("map{}", i)));
        steps.push_back(kernel(many.back().name));
    }
    const std::string text = thought(many, steps);
    EXPECT_EQ(std::ranges::count(text, '\n'), 24);
    EXPECT_TRUE(text.ends_with("\n3 more kernels.")) << text;
    EXPECT_EQ(thought({}, Json::array()), "");
}

} // namespace
} // namespace cuda_agent::learn
