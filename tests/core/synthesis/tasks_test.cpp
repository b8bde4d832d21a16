// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/synthesis/set_fixture.h"

#include <gtest/gtest.h>

#include <random>

namespace cuda_agent::synthesis {
namespace {

std::vector<std::size_t> indicesOf(const TaskSet &set) {
    std::vector<std::size_t> indices;
    for (const auto &task : set.tasks)
        indices.push_back(task.candidate->index);
    return indices;
}
using Indices = std::vector<std::size_t>;

TEST(Assemble, TakesTheFirstThatPassedEverything) {
    Passed passed;
    for (std::size_t i = 0; i < 8; ++i)
        passed.add(candidateOf(i));
    passed.entries[0].compiled = nullptr;
    passed.entries[2].checked = nullptr;
    passed.entries[3].timed = nullptr;
    auto failed = checkedOf(*passed.entries[4].candidate, Stage::compile);
    failed.outcome = Outcome::rejected;
    passed.entries[4].compiled = &failed;
    auto unlucky = checkedOf(*passed.entries[7].candidate, Stage::again);
    unlucky.outcome = Outcome::rejected;
    Recipe recipe;
    recipe.tasks = 3;
    EXPECT_EQ(indicesOf(assemble(recipe, passed.entries, {})), (Indices{1, 5, 6}));
    recipe.tasks = 100;
    const auto set = assemble(recipe, passed.entries, {});
    EXPECT_EQ(indicesOf(set), (Indices{1, 5, 6, 7}));
    EXPECT_TRUE(set.rejected.empty());
    for (const auto *again : {&unlucky, static_cast<Checked *>(nullptr)}) {
        const auto whole = passed.entries[7];
        passed.entries[7].again = again;
        EXPECT_EQ(indicesOf(assemble(recipe, passed.entries, {})), (Indices{1, 5, 6}));
        passed.entries[7] = whole;
        passed.entries[7].third = again;
        EXPECT_EQ(indicesOf(assemble(recipe, passed.entries, {})), (Indices{1, 5, 6}));
        passed.entries[7] = whole;
    }
}

TEST(Assemble, TakesWhatFailedNothingForADraft) {
    Passed passed;
    for (std::size_t i = 0; i < 6; ++i)
        passed.add(candidateOf(i));
    auto &first = passed.entries[0], &second = passed.entries[1];
    first.compiled = first.again = first.third = nullptr;
    second.timed = second.compiled = second.again = second.third = nullptr;
    passed.last(Stage::third).outcome = Outcome::rejected;
    auto slow = checkedOf(*passed.entries[2].candidate, Stage::time);
    slow.outcome = Outcome::rejected;
    passed.entries[2].timed = &slow;
    auto differs = checkedOf(*passed.entries[3].candidate, Stage::compile);
    differs.outcome = Outcome::rejected;
    passed.entries[3].compiled = &differs;
    const auto draft = assemble({}, passed.entries, {}, Stage::time);
    EXPECT_EQ(indicesOf(draft), (Indices{0, 4}));
    EXPECT_EQ(draft.tasks[0].toJson()["compile_seconds"], nullptr);
    EXPECT_EQ(draft.tasks[1].toJson()["compile_seconds"], 1e-3);
    EXPECT_EQ(indicesOf(assemble({}, passed.entries, {}, Stage::compile)), Indices{4});
    const auto lines = linesOf(draft);
    EXPECT_EQ(std::ranges::count(lines, '\n'), 2);
    EXPECT_TRUE(lines.starts_with(draft.tasks[0].toJson().dump() + "\n"));
}

TEST(Assemble, TakesEachGraphOnce) {
    Passed passed;
    passed.add(candidateOf(0), "one");
    passed.add(candidateOf(1), "two");
    passed.add(candidateOf(2), "one");
    passed.add(candidateOf(3));
    passed.last(Stage::check).figures.erase("graph_hash"); // nothing is known of those
    passed.add(candidateOf(4));
    passed.last(Stage::check).figures.erase("graph_hash");
    passed.add(candidateOf(5), "two");
    const auto set = assemble({}, passed.entries, {});
    EXPECT_EQ(indicesOf(set), (Indices{0, 1, 3, 4}));
    EXPECT_EQ(set.rejected, (std::map<std::string, std::size_t>{{"same graph", 2}}));
}

TEST(Assemble, NamesTasksByNumberAndKinds) {
    Passed passed;
    passed.add(candidateOf(42, {"linear", "nn.gelu"}));
    auto candidate = candidateOf(43, std::vector<std::string>(20, "convolution"));
    candidate.backward = true;
    passed.add(candidate);
    auto written = candidateOf(44); // an endpoint's: what ran is all that is known
    written.kinds.clear();
    passed.add(written);
    const auto set = assemble({}, passed.entries, {});
    ASSERT_EQ(set.tasks.size(), 3u);
    EXPECT_EQ(set.tasks[0].name, "000042_linear_nn_gelu");
    EXPECT_EQ(set.tasks[1].name, "000043_convolution_convolution_convolution_convolution_backward");
    EXPECT_EQ(set.tasks[2].name, "000044_linear_gelu");
}

TEST(Assemble, WritesWhatIsKnownOfATask) {
    Passed passed;
    passed.add(candidateOf(7));
    const auto set = assemble({}, passed.entries, {{"id7", {{"reward", 1}, {"turns", 4}}}});
    ASSERT_EQ(set.tasks.size(), 1u);
    const auto json = set.tasks.front().toJson();
    EXPECT_EQ(json["name"], "000007_linear_gelu");
    EXPECT_EQ(json["level"], "2");
    EXPECT_EQ(json["data_source"], "composed");
    EXPECT_EQ(json["code"], "# 7\n");
    EXPECT_EQ(json["ops"], Json({"linear", "gelu"}));
    EXPECT_EQ(json["seconds"], 2e-3);
    EXPECT_EQ(json["compile_seconds"], 1e-3);
    EXPECT_EQ(json["memory_bytes"], 4096);
    EXPECT_EQ(json["operations"], nullptr); // not measured
    EXPECT_EQ(json["graph_hash"], "graph7");
    EXPECT_EQ(json["difficulty"], Json({{"reward", 1}, {"turns", 4}}));
}

/// Chains of two to four of two hundred operators, which have families of their own.
void addChains(Passed &passed, std::size_t count) {
    std::mt19937_64 random(5);
    for (std::size_t i = 0; i < count; ++i) {
        std::vector<std::string> ops, families;
        for (auto length = 2 + random() % 3; length > 0; --length) {
            const auto kind = random() % 200;
            ops.push_back(fmt::format("op{}", kind));
            families.push_back(fmt::format("family{}", kind / 10));
        }
        passed.add(candidateOf(i, ops, families));
    }
}

std::set<std::string> fusionsOf(const SetTask &task) {
    std::set<std::string> fusions;
    const auto &families = task.candidate->families;
    for (std::size_t i = 1; i < families.size(); ++i)
        fusions.insert(families[i - 1] + " > " + families[i]);
    return fusions;
}
std::set<std::string> kindsOf(const SetTask &task) {
    return {task.candidate->kinds.begin(), task.candidate->kinds.end()};
}

/// All traits of the tasks of some splits.
template <typename Traits>
std::set<std::string> traitsIn(const TaskSet &set, const std::set<std::string> &splits,
                               const Traits &traitsOf) {
    std::set<std::string> all;
    for (const auto &task : set.tasks)
        if (splits.contains(task.split))
            all.merge(traitsOf(task));
    return all;
}

/// Tasks of a split all of whose traits occur in the others, too.
template <typename Traits>
int common(const TaskSet &set, const std::string &split, const std::set<std::string> &others,
           const Traits &traitsOf) {
    const auto known = traitsIn(set, others, traitsOf);
    return static_cast<int>(std::ranges::count_if(set.tasks, [&](const auto &task) {
        return task.split == split && std::ranges::all_of(traitsOf(task), [&](const auto &trait) {
                   return known.contains(trait);
               });
    }));
}

TEST(Splits, KeepFusionsAndKindsApart) {
    Passed passed;
    addChains(passed, 3000);
    Recipe recipe;
    recipe.tasks = 3000;
    const auto set = assemble(recipe, passed.entries, {});
    std::map<std::string, double> sizes;
    for (const auto &task : set.tasks)
        ++sizes[task.split];
    EXPECT_EQ(sizes.size(), 4u);
    // Whole traits fill a split up to its share and not beyond.
    EXPECT_LE(sizes["outer"], 0.05 * 3000);
    EXPECT_GE(sizes["outer"], 0.035 * 3000);
    EXPECT_LE(sizes["held_out"], 0.08 * 3000);
    EXPECT_GE(sizes["held_out"], 0.07 * 3000);
    EXPECT_NEAR(sizes["validation"], 0.03 * 0.87 * 3000, 45);
    // Each has what it is held out for, which no other has.
    EXPECT_EQ(common(set, "held_out", {"train", "validation"}, fusionsOf), 0);
    EXPECT_EQ(common(set, "outer", {"train", "validation", "held_out"}, kindsOf), 0);
    // Validation is like what is trained on.
    const auto trained = traitsIn(set, {"train"}, kindsOf);
    for (const auto &kind : traitsIn(set, {"validation"}, kindsOf))
        EXPECT_TRUE(trained.contains(kind)) << kind;
}

TEST(Splits, KeepPlainTasksApartEntirely) {
    // One operator or one pair each: then no trait of a split occurs in another at all.
    Passed passed;
    for (std::size_t i = 0; i < 1000; ++i)
        passed.add(candidateOf(i, {fmt::format("op{}", i % 100), fmt::format("op{}", i % 100)},
                               {fmt::format("f{}", i % 100), "g"}));
    const auto set = assemble({}, passed.entries, {});
    for (const auto &[split, share] : {std::pair{"outer", 0.05}, {"held_out", 0.08}}) {
        const auto count =
            std::ranges::count_if(set.tasks, [&](const auto &task) { return task.split == split; });
        EXPECT_NEAR(static_cast<double>(count), share * 1000, 10) << split;
    }
    for (const auto &fusion : traitsIn(set, {"held_out"}, fusionsOf))
        EXPECT_FALSE(traitsIn(set, {"train", "validation"}, fusionsOf).contains(fusion)) << fusion;
    for (const auto &kind : traitsIn(set, {"outer"}, kindsOf))
        EXPECT_FALSE(traitsIn(set, {"train", "validation", "held_out"}, kindsOf).contains(kind))
            << kind;
}

TEST(Splits, AreAboutMoreThanOneTrait) {
    Passed passed;
    addChains(passed, 3000);
    Recipe recipe;
    recipe.tasks = 3000;
    recipe.outer = 0.3;
    const auto set = assemble(recipe, passed.entries, {});
    const auto known = traitsIn(set, {"train", "validation", "held_out"}, kindsOf);
    std::size_t own = 0;
    for (const auto &kind : traitsIn(set, {"outer"}, kindsOf))
        own += known.contains(kind) ? 0 : 1;
    EXPECT_GE(own, 3u);
}

TEST(Splits, AreDrawnByTheSeed) {
    Passed passed;
    addChains(passed, 600);
    const auto splits = [&](std::uint64_t seed, const std::vector<Entry> &entries) {
        Recipe recipe;
        recipe.seed = seed;
        std::vector<std::string> all;
        for (const auto &task : assemble(recipe, entries, {}).tasks)
            all.push_back(task.split);
        return all;
    };
    EXPECT_EQ(splits(1, passed.entries), splits(1, passed.entries));
    EXPECT_NE(splits(1, passed.entries), splits(2, passed.entries));
    Passed again;
    addChains(again, 600);
    EXPECT_EQ(splits(1, again.entries), splits(1, passed.entries));
}

TEST(Splits, CanBeTurnedOff) {
    Passed passed;
    addChains(passed, 300);
    Recipe recipe;
    recipe.heldOut = recipe.outer = recipe.validation = 0;
    for (const auto &task : assemble(recipe, passed.entries, {}).tasks)
        EXPECT_EQ(task.split, "train");
    EXPECT_TRUE(assemble(recipe, {}, {}).tasks.empty());
}

int level(std::size_t ops, std::size_t graph, bool backward = false, const Json &difficulty = {}) {
    auto candidate = candidateOf(0);
    candidate.backward = backward;
    Checked checked;
    checked.figures["ops"] = std::vector<std::string>(ops, "op");
    checked.figures["graph"] = std::vector<std::string>(graph, "aten.op");
    return levelOf(candidate, checked, difficulty);
}

TEST(Levels, FollowTheSizeOfTheTask) {
    EXPECT_EQ(level(1, 1), 1);
    EXPECT_EQ(level(1, 8), 1);
    EXPECT_EQ(level(1, 9), 2);
    EXPECT_EQ(level(1, 1, true), 2);
    EXPECT_EQ(level(2, 2), 2);
    EXPECT_EQ(level(3, 24), 2);
    EXPECT_EQ(level(3, 25), 3);
    EXPECT_EQ(level(4, 4), 3);
    EXPECT_EQ(levelOf(candidateOf(0), Checked(), {}), 1); // nothing was counted
}

TEST(Levels, RiseWhereNothingWasReached) {
    EXPECT_EQ(level(1, 1, false, {{"reward", 0}}), 2);
    EXPECT_EQ(level(1, 1, false, {{"reward", -1}}), 2);
    EXPECT_EQ(level(1, 1, false, {{"reward", 2}}), 1);
    EXPECT_EQ(level(4, 4, false, {{"reward", 0}}), 3);
    for (const auto &unknown : {Json(Json::object()), Json{{"reward", nullptr}},
                                Json{{"reward", "0"}}, Json(0), Json::array({0})})
        EXPECT_EQ(level(1, 1, false, unknown), 1) << unknown;
}

} // namespace
} // namespace cuda_agent::synthesis
