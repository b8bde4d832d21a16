// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/pointwise_table.h"
#include "core/policy/planner/search.h"
#include "tests/core/policy/planner_graphs.h"

#include <gtest/gtest.h>

#include <sstream>

// Which schedules a device is offered, and what their kernels hold.

namespace cuda_agent::policy::graphs {
namespace {

SearchSpace spaceOf(const task::Description &task, device::Kind kind = device::Kind::cpu) {
    device::Info info;
    info.kind = kind;
    info.multiprocessors = kind == device::Kind::cpu ? 2 : 132;
    info.cacheBytes = kind == device::Kind::cpu ? 32 << 20 : 50 << 20;
    device::Ceilings ceilings;
    ceilings.copyBytesPerSecond = kind == device::Kind::cpu ? 20e9 : 4e12;
    auto space = SearchSpace::make(task, info, ceilings, task::Numerics::standard);
    EXPECT_TRUE(space) << space.error().message;
    return std::move(*space);
}

task::Description softmaxOf(std::int64_t rows, std::int64_t length) {
    GraphWriter g;
    const TensorType type = f32({rows, length});
    return g.returning({g.op("_softmax.default", type, g.input(type), 1, false)});
}

bool contains(const std::vector<std::string> &names, const std::string &part) {
    return std::any_of(names.begin(), names.end(), [&](const std::string &name) {
        return name.find(part) != std::string::npos;
    });
}

TEST(ScheduleSpace, ShortRowsGoSideBySideFirst) {
    const auto names = spaceOf(softmaxOf(4096, 12)).allSingleChanges();
    EXPECT_NE(names.at(0).find("loopColumn"), std::string::npos) << names.at(0);
    EXPECT_TRUE(contains(names, "loopRow"));
}

TEST(ScheduleSpace, LongRowsAndFewRowsAreLoopsOfTheirOwn) {
    EXPECT_FALSE(contains(spaceOf(softmaxOf(4096, 64)).allSingleChanges(), "loopColumn"))
        << "64 elements fill the vectors of one row";
    EXPECT_FALSE(contains(spaceOf(softmaxOf(15, 12)).allSingleChanges(), "loopColumn"))
        << "15 rows fill no vector";
}

TEST(ScheduleSpace, VariablesAreNamedAsTheOperatorsOfTheTask) {
    GraphWriter g;
    const Json x = g.input(f32({64, 8192})), y = g.input(f32({64, 8192}));
    const TensorType type = f32({64, 8192});
    const Json product = g.op("mul.Tensor", type, x, y);
    const Json power = g.op("exp.default", type, product);
    const auto space =
        spaceOf(g.returning({g.op("mul.Tensor", type, power, x)}), device::Kind::cuda);
    const std::string first = product["node"], second = power["node"];
    for (const auto &name : space.allSingleChanges()) {
        const std::string text = kernelsOf(space, name);
        EXPECT_NE(text.find(fmt::format("const float {} = in0_x", first)), text.npos) << text;
        EXPECT_NE(text.find(fmt::format("const float {} = expf({});", second, first)), text.npos)
            << text;
    }
}

TEST(ScheduleSpace, ResultsOfRowsAreReadUnderTheOperatorsName) {
    GraphWriter g;
    const TensorType rows = f32({64, 1}), all = f32({64, 4096});
    const Json x = g.input(all);
    const Json sum = g.op("sum.dim_IntList", rows, x, Json{1}, true);
    const Json scaled = g.op("mul.Tensor", rows, sum, 0.5);
    const Json scanned = g.op("cumsum.default", all, g.op("div.Tensor", all, x, sum), 1);
    const auto space =
        spaceOf(g.returning({scaled, g.op("exp.default", all, scanned)}), device::Kind::cuda);
    const auto kernels = kernelsOf(space, space.allSingleChanges().at(0));
    const std::string total = sum["node"], running = scanned["node"];
    for (const auto &line :
         {fmt::format("const float {} = state0.sum0;", total), fmt::format(" = {} * 0.5f;", total),
          fmt::format("const float {} = (", running)})
        EXPECT_NE(kernels.find(line), kernels.npos) << line << "\n" << kernels;
}

TEST(ScheduleSpace, NoVariableHidesWhatKernelsCall) {
    EXPECT_TRUE(isReserved("exp", true)) << "exp(x) of a double";
    EXPECT_FALSE(isReserved("exp", false)) << "expf(x) of a float";
    EXPECT_TRUE(isReserved("floorModulo", false));
    EXPECT_TRUE(isReserved("and", false));
    EXPECT_FALSE(isReserved("mul_1", true));
}

TEST(ScheduleSpace, RunsOfAScanAreReadAtOnceOnlyWhereTheyAreAligned) {
    // Rows of 36 of 71 numbers each, from the 35th on.
    const auto kernels = [](std::int64_t width, std::int64_t first) {
        GraphWriter g;
        const Json x = g.input(f32({64, width}));
        const Json part = g.op("slice.Tensor", f32({64, 36}), x, 1, first, first + 36);
        const auto space = spaceOf(g.returning({g.op("cumsum.default", f32({64, 36}), part, 1)}),
                                   device::Kind::cuda);
        return kernelsOf(space, space.allSingleChanges().at(0));
    };
    const std::string read = "loadVector(in0_x";
    EXPECT_EQ(kernels(71, 35).find(read), std::string::npos);
    EXPECT_EQ(kernels(72, 35).find(read), std::string::npos);
    EXPECT_NE(kernels(72, 36).find(read), std::string::npos);
}

TEST(ScheduleSpace, WhatGoesWithAScanIsReadInRuns) {
    GraphWriter g;
    const TensorType type = f32({64, 8192});
    const Json sums = g.op("cumsum.default", type, g.input(type), 1);
    const auto space = spaceOf(g.returning({g.op("mul.Tensor", type, sums, g.input(f32({8192})))}),
                               device::Kind::cuda);
    const auto kernels = kernelsOf(space, space.allSingleChanges().at(0));
    const auto read = kernels.find("loadVector(in1_x, in1 + m)");
    EXPECT_NE(read, kernels.npos) << kernels;
    EXPECT_LT(read, kernels.find("scanBlock<8, Sum>(", kernels.find("extern")))
        << "under way while a block combines its results";
}

TEST(ScheduleSpace, QuotientsOfSixteenBitsAreTakenTheFastWay) {
    const auto kernels = [](const TensorType &type, const std::string &then) {
        GraphWriter g;
        const Json x = g.input(type), y = g.input(type);
        const Json quotient = g.op("div.Tensor", type, x, y);
        const auto result = then.empty() ? quotient : g.op(then, type, quotient);
        const auto space = spaceOf(g.returning({result}), device::Kind::cuda);
        return kernelsOf(space, space.allSingleChanges().at(0));
    };
    const Shape shape{64, 8192};
    const std::string fast = " = __fdividef(in0_x", exact = " / in1_x";
    for (const std::string then : {"", "exp.default", "neg.default"})
        EXPECT_NE(kernels(f16(shape), then).find(fast), std::string::npos) << then;
    EXPECT_NE(kernels(f32(shape), "").find(exact), std::string::npos);
    EXPECT_NE(kernels(f16(shape), "floor.default").find(exact), std::string::npos)
        << "3 / 3 must not be below 1";
    EXPECT_NE(kernels(f16(shape), "sigmoid.default").find("__fdividef(1.0f, 1.0f + expf(-"),
              std::string::npos);
}

TEST(ScheduleSpace, QuotientsThatAreComparedAreExact) {
    GraphWriter g;
    const TensorType type = f16({64, 8192});
    const Json quotient = g.op("div.Tensor", type, g.input(type), g.input(type));
    const Json equal = g.op("eq.Scalar", truth({64, 8192}), quotient, 1.0);
    const auto space =
        spaceOf(g.returning({g.op("where.self", type, equal, g.input(type), quotient)}),
                device::Kind::cuda);
    EXPECT_EQ(kernelsOf(space, space.allSingleChanges().at(0)).find("fdividef"), std::string::npos);
}

TEST(ScheduleSpace, MapsOfFloatsHaveTwoVectorsInFlight) {
    const auto first = [](const TensorType &type) {
        GraphWriter g;
        const Json sum = g.op("add.Tensor", type, g.input(type), g.input(type));
        return spaceOf(g.returning({sum}), device::Kind::cuda).allSingleChanges().at(0);
    };
    EXPECT_EQ(first(f32({640, 8192})), "0|row-t128-v4-u2-p0");
    EXPECT_EQ(first(f32({64, 8192})), "0|row-t128-v4-u1-p0") << "four blocks to a multiprocessor";
    EXPECT_EQ(first(f16({640, 8192})), "0|row-t128-v8-u1-p0");
}

TEST(ScheduleSpace, WhatIsPickedByDataIsFetchedByLargeBlocks) {
    GraphWriter g;
    const Json x = g.input(f32({4096, 1456})), at = g.input(i64({4096, 728}));
    const auto space = spaceOf(g.returning({g.op("gather.default", f32({4096, 728}), x, 1, at)}),
                               device::Kind::cuda);
    EXPECT_EQ(space.allSingleChanges().at(0), "0|row-t512-v4-u1-p0");
}

TEST(ScheduleSpace, FewColumnsOfAScanHaveMoreInFlightEach) {
    const auto first = [](std::int64_t columns) {
        GraphWriter g;
        const TensorType type = f32({columns / 256, 1024, 256});
        return spaceOf(g.returning({g.op("cumsum.default", type, g.input(type), 1)}),
                       device::Kind::cuda)
            .allSingleChanges()
            .at(0);
    };
    EXPECT_EQ(first(28160), "0|loopRow-t64-c2048-u32");
    EXPECT_EQ(first(102400), "0|loopRow-t128-c2048-u8");
    EXPECT_EQ(first(1 << 20), "0|loopRow-t256-c2048-u4");
}

TEST(ScheduleSpace, RunsOfNeighbouringColumnsArePickedByOnePosition) {
    // Each thread has columns beside each other, whose position is the same and known before.
    GraphWriter g;
    const Json x = g.input(f32({64, 14, 6, 6})), at = g.input(i64({317}));
    const Json picked =
        g.op("index.Tensor", f32({64, 14, 317, 6}), x, Json::array({nullptr, nullptr, at}));
    const auto space =
        spaceOf(g.returning({g.op("sum.dim_IntList", f32({64, 317, 6}), picked, Json{1})}),
                device::Kind::cuda);
    int several = 0;
    for (const auto &name : space.allSingleChanges()) {
        const std::string text = kernelsOf(space, name);
        for (std::size_t line = 0; (line = text.find("loadVector(", line)) != text.npos; ++line) {
            const auto end = text.find('\n', line);
            EXPECT_EQ(text.substr(line, end - line).find("[e]"), std::string::npos) << name;
            several += text.substr(line, end - line).find("[0]") != std::string::npos ? 1 : 0;
        }
    }
    EXPECT_GT(several, 0);
}

/// Lines that name an element of several, "[e]", outside of a loop over these.
std::vector<std::string> elementsOutsideOfLoops(const std::string &text) {
    std::vector<std::string> lines;
    std::vector<bool> braces; // whether each is a loop's over elements, or lies in one
    bool head = false;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        const bool loop = line.find("for (int e = ") != line.npos;
        const bool inside = head || loop || (!braces.empty() && braces.back());
        if (!inside && line.find("[e]") != line.npos)
            lines.push_back(line);
        for (const char byte : line)
            if (byte == '{')
                braces.push_back(inside);
            else if (byte == '}' && !braces.empty())
                braces.pop_back();
        head = loop && !line.ends_with("{");
    }
    return lines;
}

TEST(ScheduleSpace, WindowsOfNeighbouringColumnsLieAtOnePosition) {
    // A thread has columns beside each other, whose windows' first place is computed before.
    GraphWriter g;
    const TensorType type = f32({223, 1, 47, 64, 64});
    const Json grad = g.input(type), x = g.input(type);
    const auto space =
        spaceOf(g.returning({g.op("avg_pool3d_backward.default", type, grad, x, Json{3, 1, 1},
                                  Json{1, 1, 1}, Json{1, 0, 0}, false, true, nullptr)}),
                device::Kind::cuda);
    int several = 0;
    for (const auto &name : space.allSingleChanges()) {
        const std::string text = kernelsOf(space, name);
        const auto outside = elementsOutsideOfLoops(text);
        EXPECT_TRUE(outside.empty()) << name << ": " << outside.front() << "\n" << text;
        several += text.find("loadVector(in0_x") != text.npos ? 1 : 0;
    }
    EXPECT_GT(several, 0);
}

TEST(ScheduleSpace, RunsThatNoBorderCutsAreReadAtOnce) {
    // Whether a run lies in the one part or in the other is asked once where parts are as wide.
    const auto joined = [](std::int64_t first, std::int64_t second) {
        GraphWriter g;
        const Json x = g.input(f32({64, first})), y = g.input(f32({64, second}));
        const Json cat = g.op("cat.default", f32({64, first + second}), Json::array({x, y}), 1);
        const auto space =
            spaceOf(g.returning({g.op("relu.default", f32({64, first + second}), cat)}),
                    device::Kind::cuda);
        return kernelsOf(space, space.allSingleChanges().at(0));
    };
    const auto whole = joined(512, 520);
    for (const auto *read : {"loadVector(in0_x", "loadVector(in1_x"})
        EXPECT_NE(whole.find(read), whole.npos) << whole;
    EXPECT_TRUE(elementsOutsideOfLoops(whole).empty()) << whole;
    const auto cut = joined(510, 514);
    EXPECT_EQ(cut.find("loadVector"), cut.npos) << cut;
    EXPECT_NE(cut.find("storeVector"), cut.npos) << cut;
}

TEST(ScheduleSpace, WindowsOfChannelsAreReadInRunsWithinTheirBorder) {
    GraphWriter g;
    const auto type = f32({512, 16, 32, 32}), last = f32({512, 32, 32, 16});
    const Json x = g.op("permute.default", type, g.input(last), Json{0, 3, 1, 2});
    const Json mean = g.op("avg_pool2d.default", type, x, Json{3, 3}, Json{1, 1}, Json{1, 1});
    const auto space = spaceOf(g.returning({g.op("permute.default", last, mean, Json{0, 2, 3, 1})}),
                               device::Kind::cuda);
    int several = 0;
    for (const auto &name : space.allSingleChanges()) {
        const auto text = kernelsOf(space, name);
        EXPECT_TRUE(elementsOutsideOfLoops(text).empty()) << text;
        several += text.find("loadVector(in0_x") != text.npos ? 1 : 0;
    }
    EXPECT_GT(several, 0);
}

TEST(ScheduleSpace, NoTwoSchedulesAreTheSameKernels) {
    for (const auto &[rows, length] :
         {std::pair{4096, 12}, {100, 12}, {64, 300}, {64, 3000}, {8, 20000}, {1, 50}}) {
        const SearchSpace space = spaceOf(softmaxOf(rows, length));
        std::map<std::string, std::string> seen;
        for (const std::string &name : space.allSingleChanges()) {
            const auto [place, fresh] = seen.emplace(kernelsOf(space, name), name);
            EXPECT_TRUE(fresh) << rows << " rows of " << length << ": " << name << " is "
                               << place->second;
        }
    }
}

TEST(ScheduleSpace, WhatTwoSweepsNeedIsComputedOnceThoughOneSquaresIt) {
    // normalize(log(x)): the sum of squares and the quotient both need the logarithm.
    for (const std::int64_t length : {12, 300}) {
        GraphWriter g;
        const TensorType type = f32({4096, length});
        const Json logs = g.op("log.default", type, g.input(type));
        const Json norm =
            g.op("linalg_vector_norm.default", f32({4096, 1}), logs, 2, Json{1}, true);
        const SearchSpace space = spaceOf(g.returning({g.op("div.Tensor", type, logs, norm)}));
        const std::string text = kernelsOf(space, space.allSingleChanges().at(0));
        std::size_t calls = 0;
        for (std::size_t at = text.find("logf("); at < text.size(); at = text.find("logf(", at + 1))
            ++calls;
        EXPECT_EQ(calls, 1u) << text;
    }
}

TEST(ScheduleSpace, AConvolutionGetsChannelsLastBetweenTiles) {
    GraphWriter g;
    const Json x = g.input(f32({8, 64, 56, 56})), w = g.input(f32({128, 64, 3, 3}));
    const TensorType type = f32({8, 128, 54, 54});
    const Json y = g.op("convolution.default", type, x, w, nullptr, Json{1, 1}, Json{0, 0},
                        Json{1, 1}, false, Json{0, 0}, 1);
    const SearchSpace space =
        spaceOf(g.returning({g.op("relu.default", type, y)}), device::Kind::cuda);
    const std::string first = space.allSingleChanges().at(0);
    EXPECT_EQ(first.find("0|tile-"), 0u) << first;
    const auto files = space.write(first, {});
    ASSERT_TRUE(files) << files.error().message;
    EXPECT_NE(files->files.at("plan.json").find("channels_last"), std::string::npos);
    const auto next = space.next({{first, false, 1e-3}});
    ASSERT_TRUE(next);
    const auto other = space.write(*next, {});
    ASSERT_TRUE(other) << other.error().message;
    EXPECT_EQ(other->files.at("plan.json").find("channels_last"), std::string::npos)
        << "the other layout comes second";
}

TEST(ScheduleSpace, ConvolutionsOverThreeDimensionsAreProductsOfWindowsWhereTheLibraryIsSlow) {
    const auto first = [](std::int64_t channels, bool transposed, std::int64_t stride, Json more,
                          Shape out) {
        GraphWriter g;
        const Json x = g.input(f32({8, channels, 16, 32, 32}));
        const Json w = g.input(f32({32, channels, 3, 3, 3}));
        const TensorType type = f32(std::move(out));
        const Json y =
            g.op("convolution.default", type, x, w, nullptr, Json{stride, stride, stride},
                 Json{1, 1, 1}, Json{1, 1, 1}, transposed, std::move(more), 1);
        const SearchSpace space =
            spaceOf(g.returning({g.op("relu.default", type, y)}), device::Kind::cuda);
        return kernelsOf(space, space.allSingleChanges().at(0));
    };
    const auto windows = [](const std::string &kernels) {
        const std::size_t at = kernels.find(" Windows<");
        return at == std::string::npos ? "" : kernels.substr(at + 1, kernels.find('>', at) - at);
    };
    EXPECT_EQ(windows(first(8, false, 1, Json{0, 0, 0}, {8, 32, 16, 32, 32})),
              "Windows<8, 16, 32, 32, 16, 32, 32, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1>");
    EXPECT_EQ(windows(first(3, false, 1, Json{0, 0, 0}, {8, 32, 16, 32, 32})),
              "Windows<1, 16, 32, 32, 16, 32, 32, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1>");
    EXPECT_EQ(windows(first(64, false, 1, Json{0, 0, 0}, {8, 32, 16, 32, 32})), "");
    // Two neighbours of the output along each dimension meet two places of the input; taps go
    // backwards from the later one.
    EXPECT_EQ(windows(first(32, true, 2, Json{1, 1, 1}, {8, 32, 32, 64, 64})),
              "Windows<32, 16, 32, 32, 16, 32, 32, 2, 2, 2, 1, 1, 1, -1, -1, -1, -1, -1, -1>");
}

TEST(ScheduleSpace, PoolsOfChannelsLastAreWrittenInTilesOfTheirOwn) {
    GraphWriter g;
    const Json x = g.input(f32({64, 64, 58, 58})), w = g.input(f32({128, 64, 3, 3}));
    const Json y = g.op("convolution.default", f32({64, 128, 56, 56}), x, w, nullptr, Json{1, 1},
                        Json{0, 0}, Json{1, 1}, false, Json{0, 0}, 1);
    const SearchSpace space =
        spaceOf(g.returning({g.op("avg_pool2d.default", f32({64, 128, 53, 53}), y, Json{4, 4},
                                  Json{1, 1})}),
                device::Kind::cuda);
    EXPECT_EQ(space.kernels(space.allSingleChanges().at(0)), 4)
        << "input and filters into the layout, windows, the result out of it\n"
        << space.describe();
}

TEST(ScheduleSpace, BlocksWalkAlongLongRowsTogetherWhileTheCacheHoldsThem) {
    const auto together = [](std::int64_t rows, std::int64_t length) {
        std::vector<std::string> names;
        for (const std::string &name :
             spaceOf(softmaxOf(rows, length), device::Kind::cuda).allSingleChanges()) {
            if (contains({name}, "together") && !contains({name}, "staged"))
                names.push_back(name);
        }
        return names;
    };
    // 264 blocks of 512 threads run at once, three rows of 8 MB are half of the cache; of 256 tiles
    // each block has three.
    const auto longest = together(100, 1 << 21);
    ASSERT_FALSE(longest.empty());
    EXPECT_EQ(longest[0], "1|row-t512-v4-u4-p86-b2-together-streaming");
    EXPECT_EQ(spaceOf(softmaxOf(100, 1 << 21), device::Kind::cuda).allSingleChanges()[0],
              "0|row-t512-v4-u4-p6|row-t128-v4-u2-p0")
        << "a read more is quicker than blocks that wait for each other";
    EXPECT_FALSE(together(4096, 1 << 18).empty());
    EXPECT_TRUE(together(16, 8 << 20).empty()) << "32 MB a row";
    EXPECT_TRUE(together(65536, 4096).empty()) << "a block keeps such a row";
}

TEST(ScheduleSpace, WindowsThatLieInsideAskNothingOfTheBorder) {
    const auto kernels = [](std::int64_t length) {
        GraphWriter g;
        const TensorType out = f32({64, length - 13}), places = i64({64, length - 13});
        const Json pool =
            g.node("aten.max_pool1d_with_indices.default", {out, places},
                   Json::array({g.input(f32({64, length})), Json{8}, Json{1}, Json{4}, Json{3}}),
                   Json::object());
        const SearchSpace space = spaceOf(g.returning({g.item(pool, 0, out)}), device::Kind::cuda);
        return kernelsOf(space, space.allSingleChanges().at(0));
    };
    const std::string text = kernels(1 << 20);
    const std::string fork = "if ((int)k1 >= 4 && (int)k1 < 1048559) {";
    const auto inside = text.find(fork), border = text.find("} else {", inside);
    ASSERT_NE(inside, std::string::npos) << text;
    ASSERT_NE(border, std::string::npos) << text;
    EXPECT_EQ(text.substr(inside + fork.size(), border - inside - fork.size()).find('?'),
              std::string::npos)
        << text;
    EXPECT_EQ(kernels(40).find("} else {"), std::string::npos) << "most warps would go both ways";
}

TEST(ScheduleSpace, WindowsOneBelowTheOtherShareWhatTheyRead) {
    const auto first = [](std::int64_t high, Json stride) {
        GraphWriter g;
        const std::int64_t step = stride[0], out = (high - 3) / step + 1;
        const Json x = g.input(f32({256, high, 1026}));
        const SearchSpace space = spaceOf(
            g.returning({g.op("avg_pool2d.default",
                              f32({256, out, (1026 - 3) / stride[1].get<std::int64_t>() + 1}), x,
                              Json{3, 3}, stride)}),
            device::Kind::cuda);
        return space.allSingleChanges().at(0);
    };
    EXPECT_EQ(first(512, Json{1, 1}), "0|column-t256-h6-v1-u9") << "510 rows";
    EXPECT_EQ(first(513, Json{1, 1}), "0|column-t256-h7-v1-u9") << "511 rows";
    EXPECT_EQ(first(511, Json{1, 1}), "0|column-t256-v1-u9") << "509 rows are a prime";
    EXPECT_EQ(first(512, Json{3, 1}).find("-h"), std::string::npos) << "none overlap";
}

TEST(ScheduleSpace, WindowsSideBySideAreOfOneThreadEach) {
    GraphWriter g;
    const Json x = g.input(f32({1024, 2046, 2046}));
    const SearchSpace space =
        spaceOf(g.returning({g.op("avg_pool2d.default", f32({1024, 186, 186}), x, Json{11, 11})}),
                device::Kind::cuda);
    EXPECT_EQ(space.allSingleChanges().at(0), "0|row-t256-m1-v1-u121");
}

TEST(ScheduleSpace, ShortRowsLeaveFewLanesIdle) {
    const auto names = [](std::int64_t length) {
        GraphWriter g;
        const TensorType type = f16({200, 100, length});
        const Json x = g.input(type), scale = g.input(f16({100, 1}));
        const auto task = g.returning({g.op("mul.Tensor", type, x, scale)});
        return spaceOf(task, device::Kind::cuda).allSingleChanges();
    };
    EXPECT_EQ(names(1392).at(0), "0|row-t256-m64-v8-u3") << "174 vectors: 256 lanes are too many";
    EXPECT_TRUE(contains(names(1392), "row-t256-v8-u1"));
    EXPECT_EQ(names(1024).at(0), "0|row-t256-m128-v8-u1");
    EXPECT_EQ(names(16).at(0), "0|row-t256-m32-v8-u7") << "200 vectors, of 100 rows together";
}

TEST(ScheduleSpace, RowsOfAThousandElementsHaveAWarpEachWhereThereAreMany) {
    const auto first = [](std::int64_t rows, std::int64_t length) {
        return spaceOf(softmaxOf(rows, length), device::Kind::cuda).allSingleChanges().at(0);
    };
    EXPECT_EQ(first(38784, 1024), "0|row-t128-m32-v4-u8-staged");
    EXPECT_EQ(first(4096, 1024), "0|row-t128-v4-u2-staged") << "most warps would have none";
    EXPECT_EQ(first(38784, 1028), "0|row-t128-v4-u3-staged") << "too much for a thread";
}

TEST(ScheduleSpace, AWalkOfFewBlocksLeavesMultiprocessorsIdle) {
    const auto walks = [](std::int64_t rows) {
        const auto space = spaceOf(softmaxOf(rows, 8 << 20), device::Kind::cuda);
        double walk = 0, best = 1;
        for (const std::string &name : space.allSingleChanges()) {
            best = std::min(best, space.expectedSeconds(name));
            if (name.ends_with("|row-t512-v4-u4"))
                walk = space.expectedSeconds(name);
        }
        return walk / best;
    };
    // Launches take a little, too.
    EXPECT_NEAR(walks(33) / walks(132), 4, 0.1) << "33 of 132 multiprocessors work";
    EXPECT_NEAR(walks(264) / walks(132), 1, 0.1);
}

TEST(ScheduleSpace, SchedulesAreReadAsTheyAreWritten) {
    GraphWriter g;
    const Json x = g.input(f32({64, 80, 90}));
    const SearchSpace space =
        spaceOf(g.returning({g.op("clone.default", f32({64, 90, 80}),
                                  g.op("transpose.int", f32({64, 90, 80}), x, 1, 2))}),
                device::Kind::cuda);
    for (const std::string &name : space.allSingleChanges()) {
        const std::string text = name.substr(name.find('|') + 1);
        const auto schedule = Schedule::fromText(text);
        ASSERT_TRUE(schedule) << schedule.error().message;
        EXPECT_EQ(schedule->text(), text);
    }
    EXPECT_FALSE(Schedule::fromText("tile-t256-z3"));
}

/// x.cumsum(-1) of rows of that length; `columns`: of columns.
task::Description scanOf(std::int64_t rows, std::int64_t length, bool columns = false) {
    GraphWriter g;
    const TensorType type = columns ? f32({length, rows}) : f32({rows, length});
    return g.returning({g.op("cumsum.default", type, g.input(type), columns ? 0 : 1)});
}

TEST(ScheduleSpace, ShortRowsOfAScanHaveAWarpEach) {
    const auto space = spaceOf(scanOf(100000, 250), device::Kind::cuda);
    const std::string first = kernelsOf(space, space.allSingleChanges().at(0));
    EXPECT_NE(first.find("scanWarp<Sum>"), first.npos) << first;
    EXPECT_EQ(first.find("__syncthreads"), first.npos) << first;
    const auto few = spaceOf(scanOf(64, 1000), device::Kind::cuda);
    EXPECT_NE(kernelsOf(few, few.allSingleChanges().at(0)).find("scanBlock"), std::string::npos);
}

TEST(ScheduleSpace, ColumnsOfAScanAreReadAhead) {
    const auto space = spaceOf(scanOf(100000, 250, true), device::Kind::cuda);
    const std::string first = kernelsOf(space, space.allSingleChanges().at(0));
    EXPECT_NE(first.find("float in0_x[8];"), first.npos) << first;
    EXPECT_NE(first.find("if (i < 250)"), first.npos) << first;
}

TEST(ScheduleSpace, WhatLiesAcrossIsTurnedFirst) {
    // Of two tensors of 10 MB the one lies as it stands, the other across: rows are summed.
    GraphWriter g;
    const Shape shape{1600, 1600};
    const Json x = g.input(f32(shape)), y = g.input(TensorType{DType::float32, shape, {1, 1600}});
    const Json product = g.op("mul.Tensor", f32(shape), x, y);
    const auto space = spaceOf(
        g.returning({g.op("sum.dim_IntList", f32({1600}), product, Json{1})}), device::Kind::cuda);
    const std::string first = kernelsOf(space, space.allSingleChanges().at(0));
    EXPECT_NE(first.find("map0("), first.npos) << first;
    EXPECT_NE(first.find("reduce1("), first.npos) << first;
}

TEST(ScheduleSpace, PositionsOfPlacesAreShortAndNeedNoBorder) {
    // Nearest neighbours: x[:, (arange(8.0) * 0.5).long()]
    GraphWriter g;
    const Json x = g.input(f32({4096, 4}));
    const Json places = g.op("arange.start_step", f32({8}), 0, 8);
    const Json scaled = g.op("mul.Tensor", f32({8}), places, 0.5);
    const Json half = g.op("_to_copy.default", i64({8}), scaled);
    const Json picked = g.op("index.Tensor", f32({4096, 8}), x, Json{nullptr, half});
    const auto space =
        spaceOf(g.returning({g.op("exp.default", f32({4096, 8}), picked)}), device::Kind::cuda);
    const std::string first = kernelsOf(space, space.allSingleChanges().at(0));
    const std::string kernel = first.substr(first.find("extern \"C\""));
    EXPECT_EQ(kernel.find("LL"), kernel.npos) << kernel;
    EXPECT_EQ(kernel.find(" ? "), kernel.npos) << kernel;
}

TEST(ScheduleSpace, WholePlacesThatFormulasTakeAreThoseOfPositions) {
    // x[:, arange(8) + 1] * arange(8): one variable, of 32 bits, for both.
    GraphWriter g;
    const Json x = g.input(f32({4096, 16}));
    const Json places = g.op("arange.start_step", i64({8}), 0, 8);
    const Json next = g.op("add.Tensor", i64({8}), places, 1);
    const Json picked = g.op("index.Tensor", f32({4096, 8}), x, Json{nullptr, next});
    const Json weights = g.op("_to_copy.default", f32({8}), places);
    const auto space = spaceOf(g.returning({g.op("mul.Tensor", f32({4096, 8}), picked, weights)}),
                               device::Kind::cuda);
    const std::string first = kernelsOf(space, space.allSingleChanges().at(0));
    const std::string kernel = first.substr(first.find("extern \"C\""));
    EXPECT_EQ(kernel.find("const long long " + places["node"].get<std::string>()), kernel.npos)
        << kernel;
}

} // namespace
} // namespace cuda_agent::policy::graphs
