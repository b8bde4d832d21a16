// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/bench/store.h"

#include "core/base/temporary_folder.h"
#include "tests/core/bench/records.h"

#include <gtest/gtest.h>

#include <fstream>

namespace cuda_agent::bench {
namespace {

class Stores : public testing::Test {
  protected:
    void SetUp() override {
        auto made = TemporaryFolder::make("store");
        ASSERT_TRUE(made);
        temporary_.emplace(std::move(*made));
        folder_ = temporary_->path() / "evaluation";
    }
    std::string problem(const Json &settings) {
        const auto store = Store::open(folder_, settings);
        EXPECT_FALSE(store);
        return store ? std::string() : store.error().message;
    }
    std::optional<TemporaryFolder> temporary_;
    std::filesystem::path folder_;
    const Json settings_{{"suite", "s"}, {"turns", 4}};
};

TEST_F(Stores, RecordsComeBackAsTheyWere) {
    auto first = correct("1/1", 4, 2);
    first.algebra = true;
    first.numerics = task::Numerics::published;
    first.session = "sessions/1";
    first.turns = 3;
    first.bestTurn = 2;
    first.phases = {{"start", 0.5}};
    auto second = failed("1/2", Outcome::notCompiled, "no\nwonder \xff");
    second.sample = 3;
    {
        auto store = Store::open(folder_, settings_);
        ASSERT_TRUE(store) << store.error().message;
        ASSERT_TRUE(store->append(first));
        ASSERT_TRUE(store->append(second));
        ASSERT_TRUE(store->addCost(2.5));
    }
    auto store = Store::open(folder_, settings_);
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_EQ(store->records().size(), 2u);
    EXPECT_EQ(toJson(store->records()[0]), toJson(first));
    EXPECT_EQ(store->records()[1].outcome, Outcome::notCompiled);
    EXPECT_EQ(store->records()[1].sample, 3);
    EXPECT_TRUE(store->has(first.key()));
    EXPECT_FALSE(store->has(correct("1/1", 1, 1).key())); // another mode
    ASSERT_TRUE(store->addCost(1));
    EXPECT_DOUBLE_EQ(store->cost(), 3.5);
}

TEST_F(Stores, ALaterOneStandsAndTheMachinesFaultIsTriedAgain) {
    auto store = Store::open(folder_, settings_);
    ASSERT_TRUE(store);
    const auto fault = failed("1/1", Outcome::machine, "no GPU");
    ASSERT_TRUE(store->append(fault));
    EXPECT_FALSE(store->has(fault.key()));
    ASSERT_TRUE(store->append(correct("1/1", 4, 2)));
    EXPECT_TRUE(store->has(fault.key()));
    ASSERT_EQ(store->records().size(), 1u);
    EXPECT_EQ(store->records()[0].outcome, Outcome::correct);
}

TEST_F(Stores, ACutOffLineIsDropped) {
    {
        auto store = Store::open(folder_, settings_);
        ASSERT_TRUE(store && store->append(correct("1/1", 4, 2)));
    }
    std::ofstream(folder_ / "results.jsonl", std::ios::app) << R"({"task": "1/2", "lev)";
    auto store = Store::open(folder_, settings_);
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_EQ(store->records().size(), 1u);
    ASSERT_TRUE(store->append(correct("1/3", 4, 2)));
    store = Store::open(folder_, settings_); // the lock goes with the old one
    ASSERT_FALSE(store);
}

TEST_F(Stores, AfterACutOffLineTheNextStandsAlone) {
    {
        auto store = Store::open(folder_, settings_);
        ASSERT_TRUE(store && store->append(correct("1/1", 4, 2)));
    }
    std::ofstream(folder_ / "results.jsonl", std::ios::app) << "{";
    {
        auto store = Store::open(folder_, settings_);
        ASSERT_TRUE(store && store->append(correct("1/2", 4, 2)));
    }
    const auto store = Store::open(folder_, settings_);
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_EQ(store->records().size(), 2u);
}

TEST_F(Stores, OtherSettingsAndBrokenLinesAreRefused) {
    {
        auto store = Store::open(folder_, settings_);
        ASSERT_TRUE(store);
        EXPECT_NE(problem(settings_).find("another program writes"), std::string::npos);
    }
    EXPECT_NE(problem({{"suite", "s"}, {"turns", 5}}).find("turns 4, not 5; use another --out"),
              std::string::npos);
    for (const char *line : {"nonsense", "{}", R"({"task": "1", "level": "", "name": "n",
        "numerics": "default", "outcome": "brilliant", "seconds": 1, "phases": {}, "versions": {}})"}) {
        std::string flat(line);
        std::erase(flat, '\n');
        std::ofstream(folder_ / "results.jsonl") << flat << "\n";
        EXPECT_NE(problem(settings_).find("results.jsonl:1"), std::string::npos) << line;
    }
}

} // namespace
} // namespace cuda_agent::bench
