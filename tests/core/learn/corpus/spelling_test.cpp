// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/spelling.h"

#include "core/plan/expression.h"
#include "shaped_task.h"

#include <gtest/gtest.h>

namespace cuda_agent::learn {
namespace {

/// Of a task with f32[1024, 856, 181] and a padded f32[320, 1, 514, 1069].
std::string spelled(const std::string &kernels, Json plan = Json::object(),
                    const std::string &schedule = "0|row-t512-v1-u24") {
    const SizeSpelling spelling(taskOf({{1024, 856, 181}, {320, 1, 514, 1069}}),
                                "in0: input f32[1024, 856, 181]\nx - 0.77 + 99", schedule);
    return spelling.spelled({kernels, std::move(plan)}).kernels;
}

TEST(CorpusSpelling, WritesProductsOfNeighbouringDimensions) {
    EXPECT_EQ(spelled("in0 + row * 154936;"), "in0 + row * (856 * 181);");
    EXPECT_EQ(spelled("i % 876544u"), "i % (1024u * 856u)");
    EXPECT_EQ(spelled("(int)x / 549466LL;"), "(int)x / (514LL * 1069LL);");
    EXPECT_EQ(spelled("sum / 154936.0f"), "sum / (float)(856 * 181)");
    EXPECT_EQ(spelled("tmp0 + 548397"), "tmp0 + ((514 - 1) * 1069)");
    EXPECT_EQ(spelled("tmp0 + 309872"), "tmp0 + (2 * 856 * 181)") << "a multiple";
    EXPECT_EQ(spelled("tmp0 + 5130"), "tmp0 + 5130") << "of nothing: 5130 = 5 * 1026";
}

TEST(CorpusSpelling, WritesWhatASizeIsFilledUpTo) {
    EXPECT_EQ(spelled("i % 184"), "i % (181 + 3)") << "a multiple of 8, of 181";
    EXPECT_EQ(spelled("tmp0 + 863"), "tmp0 + (856 + 7)");
    EXPECT_EQ(spelled("tmp0 + 864"), "tmp0 + 864");
}

/// A product of halves over lines of 787 and to columns of 852, both filled up in scratch memory,
/// and a padded tensor, which the prompt shows.
TEST(CorpusSpelling, TellsWhatFilledUpLinesComeOf) {
    const auto scratch = [](const char *name, const char *dtype, Json shape) {
        return Json{{"name", name}, {"role", "scratch"}, {"dtype", dtype}, {"shape", shape}};
    };
    const Json plan{
        {"buffers",
         {scratch("tmp0", "float16", {512, 792}), scratch("tmp1", "float16", {856, 792}),
          scratch("tmp2", "float16", {512, 40}), scratch("tmp3", "float32", {9, 300})}}};
    const SizeSpelling spelling(taskOf({{512, 787}, {852, 787}}),
                                "in0: f16[512, 787], in1: f16[852, 787]; pad f16[512, 40]; 37, 298",
                                "0|row-t512-v1-u24", {}, plan);
    EXPECT_EQ(spelling.sizes("tmp0 [512, 792]"), "tmp0 [512, ((787 + 7) / 8 * 8)]");
    EXPECT_EQ(spelling.sizes("tmp1 [856, 792]"), "tmp1 [((852 + 7) / 8 * 8), ((787 + 7) / 8 * 8)]");
    EXPECT_EQ(spelling.sizes("tmp2 [512, 40]"), "tmp2 [512, 40]") << "as the prompt has it";
    EXPECT_EQ(spelling.sizes("tmp3 [9, 300]"), "tmp3 [9, ((298 + 3) / 4 * 4)]") << "floats";
    EXPECT_EQ(spelling.loops("rows (224 * 2048) * 792"), "rows (224 * 2048) * ((787 + 7) / 8 * 8)");
    const auto kernel = spelling.spelled({"tmp0 + row * 792; i % 792u", plan});
    EXPECT_EQ(kernel.kernels, "tmp0 + row * ((787 + 7) / 8 * 8); i % ((787u + 7) / 8 * 8)");
    const auto parsed =
        plan::Expression::parse(kernel.plan["buffers"][0]["shape"][1].get<std::string>());
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->evaluate({}).value(), 792);
}

TEST(CorpusSpelling, ComputesAsManyBitsAsTheNumberHas) {
    const SizeSpelling spelling(taskOf({{70000, 65521}}), "", "");
    EXPECT_EQ(spelling.spelled({"x / 4586470000", {}}).kernels, "x / (70000LL * 65521LL)");
    EXPECT_EQ(spelling.spelled({"x / 4586470000", {{"grid", {"4586470000"}}}}).plan["grid"][0],
              "(70000 * 65521)");
}

TEST(CorpusSpelling, LeavesWhatTheModelSeesOrChooses) {
    for (const auto *text :
         {"856 + 181 + 99", "part * 2048 + 512", "16384 * 4096", "x0[24]", "#pragma unroll 154936",
          "#if N == 154936", "t154936", "154936.5f", "0.154936f", "1e154936", "0x154936",
          "154936ull", "154936f", "x.154936", "99999999999999999999999", "7 + 9", ""})
        EXPECT_EQ(spelled(text), text);
    EXPECT_EQ(spelled("32768 * 5"), "32768 * 5");
    EXPECT_EQ(spelled("a\n  # pragma 154936\nb 154936"), "a\n  # pragma 154936\nb (856 * 181)");
}

/// In f32[1024, 856, 181] and f32[64, 64]: what tensors are cut by is no choice of the schedule.
TEST(CorpusSpelling, StridesAndDivisorsOfLoopsAreSizes) {
    const SizeSpelling spelling(taskOf({{1024, 856, 181}, {32, 64, 64}}),
                                "in0: f32[1024, 856, 181], in1: f32[32, 64, 64]",
                                "0|row-t512-v4-u2");
    const auto kernels = [&](const char *text) { return spelling.spelled({text, {}}).kernels; };
    EXPECT_EQ(kernels("in1 + k0 * 4096 + row * 2048"), "in1 + k0 * (64 * 64) + row * (32 * 64)");
    EXPECT_EQ(kernels("(unsigned)(row) % 4096u"), "(unsigned)(row) % (64u * 64u)");
    EXPECT_EQ(kernels("part * 4096 + lane * 4 + j * 2048"), "part * 4096 + lane * 4 + j * 2048");
    const Json plan{{"grid", {"1024 * cdiv(4096, 2048)"}}, {"shape", {856, 154936, 4096}}};
    const auto spelled = spelling.spelled({"", plan}).plan;
    EXPECT_EQ(spelled["grid"][0], "1024 * cdiv((64 * 64), 2048)");
    EXPECT_EQ(spelled["shape"], Json({856, "856 * 181", "64 * 64"}));
    EXPECT_EQ(spelling.sizes("in1: 4096, 64, 1; in0 + 181: 154936, 1"),
              "in1: (64 * 64), 64, 1; in0 + 181: (856 * 181), 1");
}

TEST(CorpusSpelling, WhatAKernelNamesHasTheRowsLength) {
    const SizeSpelling spelling(taskOf({{1024, 856, 181}, {48, 32}}), "856, 181, 1024", "");
    const auto kernels = [&](const char *text) { return spelling.spelled({text, {}}).kernels; };
    EXPECT_EQ(kernels("    constexpr int parts = cdiv(154936, 7 * 512);"),
              "    constexpr int parts = cdiv(856 * 181, 7 * 512);");
    EXPECT_EQ(kernels("    constexpr int held = 154936 / (1536 * 2);"),
              "    constexpr int held = 856 * 181 / (1536 * 2);");
    EXPECT_EQ(kernels("    constexpr int shortRun = 1536;"), "    constexpr int shortRun = 1536;");
    EXPECT_EQ(kernels("start < 154936; start += 1536)"), "start < (856 * 181); start += 1536)");
}

TEST(CorpusSpelling, WritesWhatThePlanRoundsUp) {
    const Json plan{{"steps",
                     {{{"entry", "map0154936"},
                       {"grid", {"in2.shape[0] * cdiv(154936, 2048)", 7}},
                       {"args", {{{"buffer", "in0"}}, {{"int64", "167 * 154936"}}}},
                       {"block", {512}}}}},
                    {"requires", {"in0.shape[1] == 856", "in0.numel == 154936"}}};
    const SizeSpelling spelling(taskOf({{1024, 856, 181}}), "856, 181, 1024", "");
    const auto steps = spelling.spelled({"", plan}).plan;
    EXPECT_EQ(steps["steps"][0]["grid"], Json({"in2.shape[0] * cdiv((856 * 181), 2048)", 7}));
    EXPECT_EQ(steps["steps"][0]["args"][1]["int64"], "167 * (856 * 181)");
    EXPECT_EQ(steps["steps"][0]["entry"], "map0154936");
    EXPECT_EQ(steps["requires"], Json({"in0.shape[1] == 856", "in0.numel == (856 * 181)"}));
    const auto grid = plan::Expression::parse("cdiv((856 * 181), 2048)");
    ASSERT_TRUE(grid);
    EXPECT_EQ(grid->evaluate({}), 76);
}

policy::SearchSpace::Part partOf(const char *name, policy::SizeTexts sizes) {
    policy::SearchSpace::Part part;
    part.name = name;
    part.sizes = std::move(sizes);
    return part;
}

/// Two kernels in which 240 is different things.
SizeSpelling spellingOfParts() {
    policy::SizeTexts first, second;
    first.loops = {{240, "(15 * 16)"}, {1360, "(85 * 16)"}};
    first.totals = {{240, "(8 * 30)"}, {74400, "(310 * 240)"}};
    first.strides = {{"in0", {{240, "(12 * 20)"}, {638, "(2 * 19 * 16 + 30)"}}}};
    second.totals = {{240, "(4 * 60)"}};
    first.borders = {{43, "(40 + 3)"}};
    return SizeSpelling(taskOf({{60, 4}}), "in0: f32[310, 240]", "0|row-t64-v1-p5",
                        {partOf("map1", first), partOf("map12", second)});
}

TEST(CorpusSpelling, SaysWhatTheThoughtOfAKernelSays) {
    const SizeSpelling spelling = spellingOfParts();
    const std::string head = "extern \"C\" __global__ void __launch_bounds__(64) ";
    const auto in = [&](const char *name, const std::string &text) {
        const auto begin = head + name + "(\n";
        const auto spelled = spelling.spelled({begin + text, Json::object()}).kernels;
        EXPECT_TRUE(spelled.starts_with(begin)) << spelled;
        return spelled.substr(std::min(begin.size(), spelled.size()));
    };
    EXPECT_EQ(in("map1", "in0 + 638 + k0 * 240;"), "in0 + (2 * 19 * 16 + 30) + k0 * (12 * 20);");
    EXPECT_EQ(in("map1", "in0_row[k0 * -240]"), "in0_row[k0 * -(12 * 20)]");
    EXPECT_EQ(in("map1", "in0_x2_row[k0 * 240]"), "in0_x2_row[k0 * (12 * 20)]") << "another row";
    EXPECT_EQ(in("map1", "in0_x2[k0 * 240]"), "in0_x2[k0 * 240]") << "a value";
    EXPECT_EQ(in("map1", "k1 = (unsigned)(row) % 240u;"), "k1 = (unsigned)(row) % (15u * 16u);");
    EXPECT_EQ(in("map1", "if (i < 240)"), "if (i < (8 * 30))");
    EXPECT_EQ(in("map1", "sum / 1360.0f"), "sum / (float)(85 * 16)");
    EXPECT_EQ(in("map1", "in1_row[k0 * 240]"), "in1_row[k0 * 240]") << "a stride of another";
    EXPECT_EQ(in("map1", "in0[lane * 240]"), "in0[lane * 240]") << "the schedule's";
    EXPECT_EQ(in("map1", "threadIdx.x % 240"), "threadIdx.x % 240") << "likewise";
    EXPECT_EQ(in("map12", "if (i < 240)"), "if (i < (4 * 60))");
    EXPECT_EQ(in("map1", "t1 = t0 < 43; t2 = t0 >= 43;"),
              "t1 = t0 < (40 + 3); t2 = t0 >= (40 + 3);");
    EXPECT_EQ(in("map1", "t1 = r0 < 43; t2 = k1 >= 43;"),
              "t1 = r0 < (40 + 3); t2 = k1 >= (40 + 3);");
    EXPECT_EQ(in("map1", "if (i < 43) x = t0 * 43;"), "if (i < 43) x = t0 * 43;")
        << "no border's end";
    EXPECT_EQ(in("map123", "if (i < 240)"), "if (i < 240)")
        << "of no kernel, and the prompt has it";
    EXPECT_EQ(in("map1", "start += 5120"), "start += (5 * 1024)") << "five parts of a row";
}

TEST(CorpusSpelling, LaunchesByTheSameWords) {
    const SizeSpelling spelling = spellingOfParts();
    const auto plan = [&](const char *entry, const char *expression) {
        const Json steps{{"steps", {{{"entry", entry}, {"grid", {expression}}}}}};
        return spelling.spelled({"", steps}).plan["steps"][0]["grid"][0].get<std::string>();
    };
    EXPECT_EQ(plan("map1", "310 * 240"), "310 * 240");
    EXPECT_EQ(plan("map1", "1360"), "85 * 16");
    EXPECT_EQ(plan("map1", "310 * cdiv(15 * (4 * 4), 64)"), "310 * cdiv(8 * 30, 64)");
    EXPECT_EQ(plan("map12", "cdiv(240, 64) * 310"), "310 * cdiv(4 * 60, 64)");
    EXPECT_EQ(plan("map12", "in0.shape[0] * cdiv(240, 64)"), "in0.shape[0] * cdiv(4 * 60, 64)");
    EXPECT_EQ(plan("map12", "310 * cdiv(240, 7 * 64)"), "310 * cdiv(4 * 60, 7 * 64)");
    const std::string kernel = "extern \"C\" __global__ void map12(\n";
    EXPECT_EQ(spelling.spelled({kernel + "constexpr int tilesAlong = cdiv(240, 64);", {}}).kernels,
              kernel + "constexpr int tilesAlong = cdiv(4 * 60, 64);");
}

} // namespace
} // namespace cuda_agent::learn
