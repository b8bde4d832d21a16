// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/synthesis/set_fixture.h"

#include <gtest/gtest.h>

namespace cuda_agent::synthesis {
namespace {

TEST(Candidates, ComeBackFromTheirText) {
    auto candidate = candidateOf(41);
    candidate.backward = true;
    candidate.small = {{"batch_size", "2"}, {"width", "16"}};
    candidate.estimatedSeconds = 0.0123;
    candidate.estimatedBytes = 3ull << 32;
    candidate.similarity = 0.375;
    candidate.nearest = "level1/19_ReLU";
    candidate.rejected = "many variants";
    candidate.detail = "4 earlier";
    const auto json = toJson(candidate);
    const auto again = candidateFromJson(Json::parse(json.dump()));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(toJson(*again), json);
    EXPECT_EQ(again->index, 41u);
    EXPECT_EQ(again->code, "# 41\n");
    EXPECT_EQ(again->families, (std::vector<std::string>{"product", "pointwise"}));
    EXPECT_EQ(again->small, candidate.small);
    EXPECT_EQ(again->estimatedBytes, 3ull << 32);
    EXPECT_EQ(again->rejected, "many variants");
}

TEST(Candidates, ThatWereGivenUpAreRefused) {
    const auto candidate = candidateFromJson({{"index", 3}, {"gave_up", "no operands fit"}});
    ASSERT_TRUE(candidate) << candidate.error().message;
    EXPECT_EQ(candidate->rejected, "no task");
    EXPECT_EQ(candidate->detail, "no operands fit");
    const auto again = candidateFromJson(toJson(*candidate));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(toJson(*again), toJson(*candidate));
}

TEST(Candidates, ThatAreMalformedAreNone) {
    const auto good = toJson(candidateOf(0));
    for (const auto &json : {Json(), Json(1), Json("x"), Json::array({good}), Json::object()})
        EXPECT_FALSE(candidateFromJson(json)) << json;
    for (const auto &[key, value] : good.items()) {
        if (key == "nearest" || key == "rejected" || key == "detail")
            continue; // may be absent
        auto json = good;
        json.erase(key);
        EXPECT_FALSE(candidateFromJson(json)) << key;
    }
    for (const auto &[key, was] : good.items())
        for (const auto &value :
             {Json(), Json::array({1}), Json{{"a", 1}}, Json(Json::array({Json()}))}) {
            auto json = good;
            json[key] = value;
            const auto candidate = candidateFromJson(json);
            ASSERT_FALSE(candidate) << key << " " << value;
            EXPECT_EQ(candidate.error().kind, ErrorKind::request);
        }
    EXPECT_FALSE(candidateFromJson({{"index", 3}, {"gave_up", 1}}));
}

class Screens : public testing::Test {
  protected:
    /// Why a candidate of these hashes is refused by the screen.
    std::string look(const char *exact, const char *near, const char *skeleton,
                     double similarity = 0) {
        Candidate candidate = candidateOf(0);
        candidate.exactHash = exact;
        candidate.nearHash = near;
        candidate.skeletonHash = skeleton;
        candidate.similarity = similarity;
        screen_.look(candidate);
        EXPECT_EQ(candidate.rejected.empty(), candidate.detail.empty());
        return candidate.rejected;
    }
    Screen screen_{0.9, 2};
};

TEST_F(Screens, RefuseWhatRepeats) {
    EXPECT_EQ(look("a", "n", "s"), "");
    EXPECT_EQ(look("a", "n", "s"), "duplicate");
    EXPECT_EQ(look("b", "n", "s"), "near duplicate");
    EXPECT_EQ(look("b", "n", "s"), "duplicate"); // of a refused one
    EXPECT_EQ(look("c", "m", "t"), "");
}

TEST_F(Screens, LetSomeVariantsThrough) {
    EXPECT_EQ(look("a", "a", "s"), "");
    EXPECT_EQ(look("b", "b", "s"), "");
    EXPECT_EQ(look("c", "c", "s"), "many variants");
    EXPECT_EQ(look("d", "d", "s"), "many variants");
    EXPECT_EQ(look("e", "e", "t"), "");
}

TEST_F(Screens, RefuseWhatIsNearTheBenchmark) {
    EXPECT_EQ(look("a", "a", "a", 0.9), "");
    EXPECT_EQ(look("b", "b", "b", 0.91), "near the benchmark");
    EXPECT_EQ(look("a", "a", "a", 0.91), "near the benchmark"); // that comes first
    EXPECT_EQ(look("b", "b", "b", 0.5), "");                    // what it held is free
}

TEST_F(Screens, LeaveAloneWhatIsNoTask) {
    Candidate candidate = candidateOf(0);
    candidate.rejected = "no task";
    screen_.look(candidate);
    EXPECT_EQ(candidate.rejected, "no task");
    EXPECT_EQ(look("exact0", "near0", "skeleton0"), "");
}

TEST(Screen, DecidesTheSameWhenItGoesOnLater) {
    std::vector<Candidate> all;
    for (const auto *hashes : {"aas", "bas", "ccs", "dds", "ees", "ddt", "bbt", "eeu", "cbt"}) {
        auto candidate = candidateOf(all.size());
        candidate.exactHash = hashes[0];
        candidate.nearHash = hashes[1];
        candidate.skeletonHash = hashes[2];
        all.push_back(candidate);
    }
    auto whole = all;
    Screen screen(0.9, 2);
    for (auto &candidate : whole)
        screen.look(candidate);
    EXPECT_EQ(whole[1].rejected, "near duplicate");
    EXPECT_EQ(whole[3].rejected, "many variants");
    for (std::size_t stop = 0; stop < all.size(); ++stop) {
        Screen again(0.9, 2);
        for (std::size_t i = 0; i < all.size(); ++i) {
            auto candidate = i < stop ? whole[i] : all[i];
            again.look(candidate);
            EXPECT_EQ(candidate.rejected, whole[i].rejected) << i << " after " << stop;
        }
    }
}

} // namespace
} // namespace cuda_agent::synthesis
