// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/search.h"
#include "core/policy/policy.h"
#include "tests/core/policy/planner_graphs.h"

#include <gtest/gtest.h>

// What a search does that remembers earlier ones, or is one of several.

namespace cuda_agent::policy::graphs {
namespace {

device::Info card() {
    device::Info info;
    info.kind = device::Kind::cuda;
    info.architecture = "sm_90";
    info.multiprocessors = 132;
    info.sharedBytesPerBlock = 232448;
    return info;
}

task::Description softmax() {
    GraphWriter g;
    const TensorType type = f32({4096, 3000});
    return g.returning({g.op("_softmax.default", type, g.input(type), 1, false)});
}

SearchSpace space() {
    auto made = SearchSpace::make(softmax(), card(), {}, task::Numerics::standard);
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
}

/// All that a search tries when each candidate is a little slower than the one before.
std::vector<std::string> triesOf(const SearchSpace &search) {
    std::vector<Trial> trials;
    std::vector<std::string> names;
    while (const auto name = search.next(trials)) {
        names.push_back(*name);
        trials.push_back({*name, false, 1e-3 * static_cast<double>(1 + trials.size())});
    }
    return names;
}

TEST(SearchOrder, WhatIsPreferredComesFirst) {
    auto search = space();
    const auto usual = triesOf(search);
    ASSERT_GE(usual.size(), 4u);
    search.setOrder({{usual[3], "0|not-a-schedule", "77|x", "", usual[2]}, 0, 1});
    const auto tried = triesOf(search);
    EXPECT_EQ(tried[0], usual[3]);
    EXPECT_EQ(tried[1], usual[2]);
    EXPECT_EQ(tried[2], usual[0]);
    const std::set<std::string> all(usual.begin(), usual.end());
    EXPECT_EQ(std::set<std::string>(tried.begin(), tried.end()), all);
}

TEST(SearchOrder, PartsAreDisjointAndLeaveNothingOut) {
    const auto usual = triesOf(space());
    std::multiset<std::string> together;
    for (int part = 0; part < 3; ++part) {
        auto search = space();
        search.setOrder({{}, part, 3});
        const auto tried = triesOf(search);
        EXPECT_FALSE(tried.empty());
        together.insert(tried.begin(), tried.end());
    }
    const std::set<std::string> all(usual.begin(), usual.end());
    EXPECT_EQ(together.size(), std::set<std::string>(together.begin(), together.end()).size());
    for (const auto &name : all)
        EXPECT_TRUE(together.contains(name)) << name;
}

TEST(SearchOrder, FullPrecisionIsForWhereTf32WasWrong) {
    GraphWriter g;
    const TensorType type = f32({4096, 4096});
    const auto product = g.op("mm.default", type, g.input(type), g.input(type));
    const auto task = g.returning({g.op("relu.default", type, product)});
    auto made = SearchSpace::make(task, card(), {}, task::Numerics::published);
    ASSERT_TRUE(made) << made.error().message;
    const auto rounds = [&](const std::string &name) {
        const auto files = made->write(name, {});
        const bool own = name.find("|tensor") != std::string::npos;
        return own ? name.find("split") == std::string::npos
                   : files && files->files.at("plan.json").find("tf32") != std::string::npos;
    };
    for (const auto &name : triesOf(*made))
        EXPECT_TRUE(rounds(name)) << name;
    std::vector<Trial> trials;
    const auto first = made->next(trials);
    ASSERT_TRUE(first);
    EXPECT_TRUE(rounds(*first));
    // Those that round fail, the library's and the planner's own.
    std::optional<std::string> next = first;
    for (; next && rounds(*next); next = made->next(trials))
        trials.push_back({*next, true, 0});
    ASSERT_TRUE(next);
    EXPECT_LE(trials.size(), 12u) << "full precision comes before all that could round is tried";

    // A wrong answer, unlike another failure, asks for it at once.
    trials = {{*first, true, 0, true}};
    next = made->next(trials);
    ASSERT_TRUE(next);
    EXPECT_FALSE(rounds(*next)) << *next;
    // Where that is wrong too, rounding was not the reason.
    trials.push_back({*next, true, 0, true});
    EXPECT_TRUE(rounds(made->next(trials).value_or("")));
    // Where it is right, its schedules are looked at, and whether others may round.
    trials.back() = {*next, false, made->expectedSeconds(*next)};
    int exact = 0, rounding = 0;
    while (const auto other = made->next(trials)) {
        ++(rounds(*other) ? rounding : exact);
        trials.push_back({*other, true, 0, rounds(*other)});
    }
    EXPECT_GT(exact, 1);
    EXPECT_GT(rounding, 0);
}

TEST(SearchOrder, ConvolutionsKnowFullPrecisionInBothLayouts) {
    GraphWriter g;
    const Json x = g.input(f32({8, 64, 56, 56})), w = g.input(f32({128, 64, 3, 3}));
    const TensorType type = f32({8, 128, 54, 54});
    const Json y = g.op("convolution.default", type, x, w, nullptr, Json{1, 1}, Json{0, 0},
                        Json{1, 1}, false, Json{0, 0}, 1);
    auto made = SearchSpace::make(g.returning({g.op("relu.default", type, y)}), card(), {},
                                  task::Numerics::standard);
    ASSERT_TRUE(made) << made.error().message;
    std::set<std::pair<bool, bool>> kinds; // channels last, TF32
    for (const auto &name : made->allSingleChanges()) {
        const auto files = made->write(name, {});
        ASSERT_TRUE(files) << files.error().message;
        const auto &plan = files->files.at("plan.json");
        kinds.emplace(plan.find("channels_last") != std::string::npos,
                      plan.find("tf32") != std::string::npos);
    }
    EXPECT_EQ(kinds.size(), 4u);
}

TEST(SearchOrder, NoPartIsEmpty) {
    const auto count = static_cast<int>(space().allSingleChanges().size());
    auto search = space();
    search.setOrder({{}, count + 1, count + 5});
    EXPECT_FALSE(triesOf(search).empty());
}

TEST(SearchOrder, ThePlannerBeginsWithWhatWonBefore) {
    const auto usual = triesOf(space());
    ASSERT_GE(usual.size(), 4u);
    Context context;
    context.task = softmax();
    context.device = card();
    context.preferred = {usual[3]};
    const auto step = makePlanner(context)->next({}, {});
    ASSERT_TRUE(step) << step.error().message;
    EXPECT_NE(step->thought.find(usual[3]), std::string::npos) << step->thought;
    EXPECT_NE(step->thought.find("An earlier session won"), std::string::npos);

    context.preferred.clear();
    std::set<std::string> first;
    for (context.attempts = 2, context.attempt = 1; context.attempt <= 2; ++context.attempt) {
        const auto planner = makePlanner(context);
        const auto begun = planner->next({}, {});
        ASSERT_TRUE(begun);
        for (const auto &call : begun->calls)
            if (call.tool == "Write" && call.arguments.value("path", "") == "plan.json")
                first.insert(Json::parse(call.arguments.value("content", "")).value("name", ""));
    }
    EXPECT_EQ(first.size(), 2u) << "both attempts begin with the same";
    EXPECT_FALSE(makePlanner(context)->describe(usual[0]).empty());
    EXPECT_TRUE(makePlanner(context)->describe("relu, twice").empty());
}

} // namespace
} // namespace cuda_agent::policy::graphs
