// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/knowledge/knowledge_fixture.h"

namespace cuda_agent::knowledge {
namespace {

TEST_F(KnowledgeTest, OffersWhatWorkedAndWhatFailed) {
    Record model = record("m", 2.5);
    model.policy = "endpoint";
    model.schedule.clear();
    model.note = "warp per row with 8 loads in flight";
    ASSERT_TRUE(open().add(
        {record("a", 1.9), model, failure("f", "determinism: atomics across blocks differ")}));
    auto store = open();
    const auto offer = offerFor(store, query());
    ASSERT_TRUE(offer);
    for (const char *part : {"2.50x eager", "96 % of the limit", "warp per row", "0|row-a",
                             "one read: the row stays in registers", "Worked:", "Failed:",
                             "atomics across blocks", "same kind, size and device"})
        EXPECT_NE(offer->text.find(part), std::string::npos) << part << "\n" << offer->text;
    EXPECT_EQ(offer->schedules, std::vector<std::string>{"0|row-a"});
    EXPECT_EQ(offer->worked.size(), 2u);
    EXPECT_EQ(offer->failed.size(), 1u);
    const Json json = toJson(*offer);
    EXPECT_EQ(json["worked"][0]["policy"], "endpoint");
    EXPECT_EQ(json["operators"], "gemm+pointwise");
}

TEST_F(KnowledgeTest, SchedulesAreThoseOfTheVeryClassAndDevice) {
    Record elsewhere = record("elsewhere", 9);
    elsewhere.device = "NVIDIA A100";
    Record half = record("half", 9);
    half.task.dtype = "float16";
    std::vector<Record> all{elsewhere, half};
    for (int i = 0; i < 6; ++i)
        all.push_back(record(fmt::format("{}", i), 1 + i));
    ASSERT_TRUE(open().add(all));
    auto store = open();
    EXPECT_EQ(offerFor(store, query())->schedules,
              (std::vector<std::string>{"0|row-5", "0|row-4", "0|row-3"}));
}

TEST_F(KnowledgeTest, TheTextStaysShort) {
    std::vector<Record> many;
    for (int i = 0; i < 20; ++i) {
        many.push_back(record(fmt::format("{}", i), 1 + i));
        many.back().note = fmt::format("{} ", i) + std::string(2000, 'n') + "\nnext";
        many.push_back(failure(fmt::format("f{}", i), std::string(900, 'p')));
        many.back().note = fmt::format("{} failed", i);
    }
    ASSERT_TRUE(open().add(many));
    auto store = open();
    const auto offer = offerFor(store, query());
    EXPECT_LE(offer->text.size(), longestOffer);
    EXPECT_GT(offer->text.size(), 500u);
    EXPECT_LE(offer->worked.size(), 5u);
    EXPECT_LE(offer->failed.size(), 3u);
    EXPECT_EQ(offer->text.find("\nnext"), std::string::npos);
}

TEST_F(KnowledgeTest, SaysWhenNothingIsKnown) {
    auto store = open();
    const auto offer = offerFor(store, query());
    ASSERT_TRUE(offer);
    EXPECT_NE(offer->text.find("Nothing is known yet"), std::string::npos);
    EXPECT_TRUE(offer->schedules.empty());
}

TEST(Record, TakesOverAVerdict) {
    Record record;
    setVerdict(record, {{"compiled", true},
                        {"correct", true},
                        {"strength", "full"},
                        {"reward", 3},
                        {"times", {{"candidate", {{"seconds", 0.5}}}}},
                        {"speedup", {{"eager", 2.0}, {"compile", 1.5}}},
                        {"best_stock", {{"name", "compile"}, {"seconds", 0.75}}},
                        {"fraction_of_limit", 0.9}});
    EXPECT_TRUE(record.correct && record.full && record.compiled);
    EXPECT_EQ(record.reward, 3);
    EXPECT_EQ(record.seconds, 0.5);
    EXPECT_EQ(record.againstEager, 2);
    EXPECT_EQ(record.againstStock, 1.5);
    EXPECT_EQ(record.fractionOfLimit, 0.9);
    Record broken; // from a log that was tampered with
    setVerdict(broken, {{"correct", "yes"}, {"times", 7}, {"speedup", Json::array()}});
    EXPECT_FALSE(broken.correct);
    EXPECT_EQ(broken.seconds, 0);
    setVerdict(broken, Json());
}

TEST(Record, LinesAreCutBetweenCharacters) {
    EXPECT_EQ(oneLine(" a\n\tb  c ", 100), "a b c");
    EXPECT_EQ(oneLine("äöü", 5), "ä…");
    EXPECT_EQ(oneLine("äöü", 6), "äöü");
}

} // namespace
} // namespace cuda_agent::knowledge
