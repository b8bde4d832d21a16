// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/nest.h"
#include "core/policy/planner/position_text.h"
#include "core/policy/planner/products.h"
#include "core/policy/planner/search.h"
#include "core/toolchain/listing_of.h"
#include "tests/core/policy/planner_graphs.h"

#include <gtest/gtest.h>

// Which products become kernels of the planner's own, what those take over, and which tiles shapes
// are offered. That the kernels are right is what the recorded tasks product_*.json show.

namespace cuda_agent::policy::graphs {
namespace {

Fused fusedOf(const task::Description &task) {
    return fuse(lowered(task), {});
}

Fused ownOf(const task::Description &task) {
    Fused fused = fusedOf(task);
    const std::vector<int> products = productsOf(fused);
    return withOwnProducts(std::move(fused), {products.begin(), products.end()});
}

/// "0+map": a unit that computes product 0 and what reads it; "0": alone; "map": a group.
std::vector<std::string> unitsOf(const Fused &fused) {
    std::vector<std::string> result;
    for (const Unit &unit : fused.units) {
        if (!unit.group) {
            result.push_back("library");
            continue;
        }
        const Group &group = *unit.group;
        const bool writesProduct =
            group.product >= 0 &&
            group.stores[0].buffer == fused.program.library[group.product].writes;
        result.push_back(group.product < 0 ? (group.hasReductions() ? "reduce" : "map")
                         : writesProduct   ? std::to_string(group.product)
                                           : fmt::format("{}+map", group.product));
    }
    return result;
}

task::Description geluOf(std::int64_t m, std::int64_t k, std::int64_t n) {
    GraphWriter g;
    const Json x = g.input(f32({m, k})), w = g.input(f32({k, n}));
    const TensorType type = f32({m, n});
    return g.returning({g.op("gelu.default", type, g.op("mm.default", type, x, w))});
}

using Strings = std::vector<std::string>;

TEST(Products, AnElementwiseReaderIsTakenOver) {
    const Fused fused = ownOf(geluOf(8, 16, 12));
    EXPECT_EQ(unitsOf(fused), Strings{"0+map"});
    const Group &group = *fused.units[0].group;
    const int value = productValue(fused.program, group, group.product);
    ASSERT_GE(value, 0);
    EXPECT_EQ(fused.program.values[value].buffer, fused.program.library[0].writes);
}

TEST(Products, AResultThatIsReducedOrReturnedIsWritten) {
    GraphWriter g;
    const Json x = g.input(f32({8, 16})), w = g.input(f32({16, 12}));
    const Json y = g.op("mm.default", f32({8, 12}), x, w);
    EXPECT_EQ(unitsOf(ownOf(g.returning({g.op("_softmax.default", f32({8, 12}), y, 1, false)}))),
              (Strings{"0", "reduce"}));
    GraphWriter h;
    const Json a = h.input(f32({8, 16})), b = h.input(f32({16, 12}));
    EXPECT_EQ(unitsOf(ownOf(h.returning({h.op("mm.default", f32({8, 12}), a, b)}))), Strings{"0"});
}

TEST(Products, AReaderOfTwoProductsTakesOneOver) {
    GraphWriter g;
    const TensorType type = f32({8, 12});
    const Json x = g.input(f32({8, 16})), u = g.input(f32({16, 12})), v = g.input(f32({16, 12}));
    const Json y =
        g.op("mul.Tensor", type, g.op("mm.default", type, x, u), g.op("mm.default", type, x, v));
    const Strings units = unitsOf(ownOf(g.returning({y})));
    EXPECT_EQ(units.size(), 2u);
    EXPECT_EQ(std::ranges::count(units, "0+map") + std::ranges::count(units, "1+map"), 1);
}

TEST(Products, ASquareAndItsTransposeAreTwoElementsOfTheProduct) {
    GraphWriter g;
    const TensorType type = f32({12, 12});
    const Json x = g.input(f32({12, 16})), w = g.input(f32({16, 12}));
    const Json y = g.op("mm.default", type, x, w);
    const Json sum = g.op("add.Tensor", type, y, g.op("permute.default", type, y, Json{1, 0}));
    EXPECT_EQ(unitsOf(ownOf(g.returning({sum}))), (Strings{"0", "map"}));
}

TEST(Products, SayWhereTheyReadAndWhatIsComputedOnReads) {
    GraphWriter g;
    const TensorType type = f32({4, 8, 12});
    const Json x = g.input(f32({4, 8, 16})), w = g.input(f32({4, 16, 12})), s = g.input(f32({1})),
               c = g.input(f32({3}));
    const Json product = g.op("bmm.default", type, x, w);
    const Json scaled = g.op("mul.Tensor", type, product, s);
    const Json parts = g.op("view.default", f32({4, 8, 4, 3}), scaled, Json{4, 8, 4, 3});
    const Fused fused = ownOf(g.returning({g.op("add.Tensor", f32({4, 8, 4, 3}), parts, c)}));
    const auto groups = groupsOf(fused);
    ASSERT_EQ(groups.size(), 1u);
    EXPECT_EQ(describeLoops(fused.program, groups[0]), "columns 4 * 3");
    EXPECT_EQ(describePositions(fused.program, groups[0]),
              "in0[batch, row, k]; in1[batch, k, column]; in3[n1]; in2[0]; "
              "out0[batch, row, n0, n1]");
}

TEST(Products, OnlyThoseAskedForAreTaken) {
    GraphWriter g;
    const Json x = g.input(f32({8, 16})), u = g.input(f32({16, 12})), v = g.input(f32({12, 6}));
    const Json y = g.op("relu.default", f32({8, 12}), g.op("mm.default", f32({8, 12}), x, u));
    const Json z = g.op("relu.default", f32({8, 6}), g.op("mm.default", f32({8, 6}), y, v));
    const Fused fused = fusedOf(g.returning({z}));
    EXPECT_EQ(productsOf(fused), (std::vector<int>{0, 1}));
    EXPECT_EQ(unitsOf(withOwnProducts(fused, {1})), (Strings{"library", "map", "1+map"}));
}

TEST(Products, HeadsOfALinearLayerAreSidesOfTheProduct) {
    GraphWriter g;
    const Json x = g.input(f32({18, 20})), w = g.input(f32({20, 24}));
    const Json y = g.op("mm.default", f32({18, 24}), x, w);
    const Json view = g.op("view.default", f32({2, 9, 3, 8}), y, Json{2, 9, 3, 8});
    const Json heads = g.op("permute.default", f32({2, 3, 9, 8}), view, Json{0, 2, 1, 3});
    const Fused fused = ownOf(g.returning({g.op("relu.default", f32({2, 3, 9, 8}), heads)}));
    ASSERT_EQ(unitsOf(fused), Strings{"0+map"});
    const Group &group = *fused.units[0].group;
    const auto sides =
        productSides(fused.program, productValue(fused.program, group, group.product),
                     *fused.program.library[0].product);
    ASSERT_TRUE(sides);
    const Nest nest = makeProductNest(fused.program, group);
    const auto sizes = [&](int side) {
        std::vector<std::int64_t> result;
        for (const int d : nest.sides[static_cast<std::size_t>(side)])
            result.push_back(nest.dims[d].size);
        return result;
    };
    EXPECT_EQ(sizes(0), std::vector<std::int64_t>{});
    EXPECT_EQ(sizes(1), (std::vector<std::int64_t>{2, 9}));
    EXPECT_EQ(sizes(2), (std::vector<std::int64_t>{3, 8}));
}

TEST(Products, RowsStayOpenAndTheRestIsRequired) {
    const Fused fused = ownOf(geluOf(8, 16, 12));
    const Nest nest = groupsOf(fused, true).at(0).nest;
    EXPECT_TRUE(nest.runtimeOuter);
    EXPECT_EQ(nest.requirements, Strings{"in1.shape[1] == 12"});
}

TEST(Products, AnotherShapeIsWrittenAtOnceAndAnotherOrderIsNot) {
    GraphWriter g;
    const Json x = g.input(f32({6, 8})), w = g.input(f32({8, 4}));
    const Json y = g.op("mm.default", f32({6, 4}), x, w);
    const task::Description task =
        g.returning({g.op("view.default", f32({2, 3, 4}), y, Json{2, 3, 4})});
    const Program program = lowered(task);
    const Memory memory{{"in0", scattered(48)}, {"in1", scattered(32)}};
    const Fused fused = withoutCopies(fuse(program, {}));
    EXPECT_EQ(unitsOf(fused), Strings{"library"});
    EXPECT_EQ(fused.program.library[0].step.at("c"), "out0");
    EXPECT_EQ(evaluate(fused, memory).at("out0"), evaluate(program, memory).at("out0"));

    GraphWriter h;
    const Json a = h.input(f32({6, 8})), b = h.input(f32({8, 4}));
    const Json c = h.op("mm.default", f32({6, 4}), a, b);
    const Json turned = h.op("permute.default", f32({4, 6}), c, Json{1, 0});
    EXPECT_EQ(
        unitsOf(withoutCopies(fusedOf(h.returning({h.op("clone.default", f32({4, 6}), turned)})))),
        (Strings{"library", "map"}));
}

TEST(Products, RowsAndColumnsOfOneDimensionStayWithTheLibrary) {
    GraphWriter g;
    const Json x = g.input(f32({6, 8})), w = g.input(f32({8, 4}));
    const Json y = g.op("mm.default", f32({6, 4}), x, w);
    Fused fused =
        withoutCopies(fusedOf(g.returning({g.op("view.default", f32({24}), y, Json{24})})));
    ASSERT_EQ(unitsOf(fused), Strings{"library"});
    const auto products = productsOf(fused);
    fused = withOwnProducts(std::move(fused), {products.begin(), products.end()});
    EXPECT_EQ(unitsOf(fused), Strings{"library"});
}

// --- tiles -----------------------------------------------------------------------------------

/// Schedules of products among all candidates.
Strings tilesOf(const SearchSpace &space) {
    Strings result;
    for (const std::string &name : space.allSingleChanges()) {
        const std::string text = name.substr(name.find('|') + 1);
        if (text.starts_with("tensor") || text.starts_with("product"))
            result.push_back(text);
    }
    return result;
}

Schedule firstOf(const SearchSpace &space) {
    const auto schedule = Schedule::fromText(tilesOf(space).at(0));
    EXPECT_TRUE(schedule) << schedule.error().message;
    return *schedule;
}

TEST(ProductTiles, RoundedFloatsAreOfferedOnlyWhereTheModeAllowsThem) {
    const auto rounded = [](const std::string &name) {
        return name.starts_with("tensor") && name.find("split") == std::string::npos;
    };
    const task::Description task = geluOf(1024, 512, 1024);
    EXPECT_FALSE(std::ranges::any_of(tilesOf(spaceOf(task, task::Numerics::standard)), rounded));
    const Strings fast = tilesOf(spaceOf(task, task::Numerics::tf32));
    EXPECT_TRUE(rounded(fast.at(0))) << fast.at(0);
}

TEST(ProductTiles, CardsWithoutTheInstructionsGetFloatArithmetic) {
    for (const std::string &name :
         tilesOf(spaceOf(geluOf(256, 512, 256), task::Numerics::standard, "sm_75")))
        EXPECT_TRUE(name.starts_with("product")) << name;
}

TEST(ProductTiles, FollowTheShape) {
    const Schedule square = firstOf(spaceOf(geluOf(8192, 2048, 8192), task::Numerics::tf32));
    EXPECT_GE(square.along * square.across, 128 * 128) << square.text();
    EXPECT_EQ(square.parts, 1);
    const Schedule tall = firstOf(spaceOf(geluOf(64, 65536, 64), task::Numerics::tf32));
    EXPECT_GT(tall.parts, 8) << "few tiles and a long k: " << tall.text();
    const Schedule small = firstOf(spaceOf(geluOf(64, 64, 512), task::Numerics::tf32));
    EXPECT_LT(small.along * small.across, 128 * 128) << small.text();
    EXPECT_EQ(small.parts, 1) << small.text();
    EXPECT_EQ(small.vector, 4) << small.text();
    const Schedule odd = firstOf(spaceOf(geluOf(64, 64, 511), task::Numerics::tf32));
    EXPECT_EQ(odd.vector, 1) << odd.text();
}

TEST(ProductTiles, SharedMemorySuffices) {
    constexpr int hopper = 227 << 10;
    Product product;
    product.m = product.n = product.k = 4096;
    for (const bool along : {true, false}) {
        product.a.alongK = product.b.alongK = along;
        Schedule s;
        s.along = s.across = 128;
        s.chunk = 32;
        s.stages = 3;
        EXPECT_EQ(sharedBytes(s, product), 3 * 2 * (along ? 128 * (32 + 4) : 32 * (128 + 8)) * 4);
        EXPECT_LE(sharedBytes(s, product), hopper);
    }
}

TEST(ProductTiles, WhatGoesIntoSharedMemoryIsStoredThere) {
    // Of an odd width, so that results leave one by one, and a store that names another space is
    // none of theirs.
    const auto space = spaceOf(geluOf(130, 64, 65), task::Numerics::standard);
    for (const std::string form : {"|tensor", "|product"}) {
        const auto names = space.allSingleChanges();
        const auto name = std::ranges::find_if(
            names, [&](const std::string &each) { return each.find(form) != each.npos; });
        ASSERT_NE(name, names.end()) << form;
        const auto files = space.write(*name, {});
        ASSERT_TRUE(files) << files.error().message;
        const auto made = toolchain::listingOf(
            {"kernels/planner.cu", files->files.at("kernels/planner.cu"), {}, {}}, "sm_90",
            toolchain::Code::ptx);
        ASSERT_TRUE(made) << made.error().message;
        const auto *listing = std::get_if<toolchain::Listing>(&*made);
        ASSERT_TRUE(listing) << *name;
        std::size_t shared = 0;
        for (const auto &function : listing->functions)
            for (const auto &instruction : function.instructions) {
                shared += instruction.text.starts_with("st.shared");
                EXPECT_FALSE(instruction.text.starts_with("st.global.wb")) << instruction.text;
            }
        EXPECT_GT(shared, 0u) << *name;
    }
}

TEST(ProductTiles, SchedulesAreReadAsTheyAreWritten) {
    for (const auto numerics : {task::Numerics::standard, task::Numerics::tf32}) {
        for (const std::string &text : tilesOf(spaceOf(geluOf(64, 4096, 96), numerics))) {
            const auto schedule = Schedule::fromText(text);
            ASSERT_TRUE(schedule) << schedule.error().message;
            EXPECT_EQ(schedule->text(), text);
        }
    }
}

TEST(ProductTiles, TheLibraryStepAndTheOwnKernelAreBothMeasured) {
    const SearchSpace space = spaceOf(geluOf(1024, 512, 1024), task::Numerics::standard);
    const auto own = [](const std::string &name) {
        return name.find("tensor") != std::string::npos ||
               name.find("product") != std::string::npos;
    };
    const auto first = space.next({});
    ASSERT_TRUE(first);
    const auto second = space.next({{*first, false, space.expectedSeconds(*first)}});
    ASSERT_TRUE(second);
    EXPECT_NE(own(*first), own(*second)) << *first << " and " << *second;
}

TEST(Products, WindowsHaveAtMostAsManyTapsAsAWordHasBits) {
    const auto products = [](std::int64_t taps) {
        GraphWriter g;
        const Json x = g.input(f32({2, 3, 64})), w = g.input(f32({8, 3, taps}));
        return productsOf(fusedOf(g.returning(
                              {g.op("convolution.default", f32({2, 8, 65 - taps}), x, w, nullptr,
                                    Json{1}, Json{0}, Json{1}, false, Json{0}, 1)})))
            .size();
    };
    EXPECT_EQ(products(30), 1u) << "and one each for the two dimensions that are not there";
    EXPECT_EQ(products(31), 0u);
}

} // namespace
} // namespace cuda_agent::policy::graphs
