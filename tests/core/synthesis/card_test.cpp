// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synthesis/card.h"

#include "tests/core/synthesis/set_fixture.h"

#include <gtest/gtest.h>

namespace cuda_agent::synthesis {
namespace {

class Cards : public testing::Test {
  protected:
    void SetUp() override {
        passed_.add(candidateOf(0));
        passed_.add(
            candidateOf(1, {"linear", "gelu", "sum"}, {"product", "pointwise", "reduction"}));
        auto block = candidateOf(2, {"relu"}, {"bert"});
        block.source = "transformers";
        block.dtype = "bfloat16";
        block.backward = true;
        passed_.add(block);
        passed_.last(Stage::time).seconds = 8e-3;
        passed_.last(Stage::compile).seconds = 4e-3;
        recipe_.name = "mine";
        set_ = assemble(recipe_, passed_.entries, {});
        ASSERT_EQ(set_.tasks.size(), 3u);
        audit_.run = 3;
        audit_.failures = 1;
        audit_.details = {"2: raises: broken"};
        card_ = cardOf(recipe_, set_, 10, {{"raises", 5}, {"duplicate", 2}},
                       Json::array({{{"name", "gelu"}, {"kept", true}},
                                    {{"name", "relu"}, {"kept", true}},
                                    {{"name", "eig"}, {"kept", false}, {"reason", "complex"}}}),
                       audit_, {{"torch", "2.11.0"}, {"python", "3.12"}});
    }
    Recipe recipe_;
    Passed passed_;
    TaskSet set_;
    Audit audit_;
    Json card_;
};

TEST_F(Cards, CountTheSet) {
    EXPECT_EQ(card_["tasks"], 3);
    EXPECT_EQ(card_["proposed"], 10);
    EXPECT_EQ(card_["operators_distinct"], 4);
    EXPECT_EQ(card_["with_three_or_more"], 1);
    EXPECT_EQ(card_["transformers"], 1);
    EXPECT_EQ(card_["backward"], 1);
    EXPECT_EQ(card_["sources"], Json({{"composed", 2}, {"transformers", 1}}));
    EXPECT_EQ(card_["dtypes"], Json({{"float32", 2}, {"bfloat16", 1}}));
    EXPECT_EQ(card_["numbers"], Json({{"1 operator", 1}, {"2 operators", 1}, {"3 operators", 1}}));
    EXPECT_EQ(card_["operators"], Json({{"gelu", 2}, {"linear", 2}, {"relu", 1}, {"sum", 1}}));
    EXPECT_EQ(card_["families"],
              Json({{"bert", 1}, {"pointwise", 2}, {"product", 2}, {"reduction", 1}}));
    EXPECT_EQ(card_["times"], Json({{"1 to 3.16 ms", 2}, {"3.16 to 10 ms", 1}}));
    EXPECT_EQ(card_["crawl"], Json({{"kept", 2}, {"complex", 1}}));
    EXPECT_EQ(card_["rejected"], Json({{"raises", 5}, {"duplicate", 2}}));
    EXPECT_NEAR(card_["compile_over_eager"].get<double>(), 2, 1e-12);
    EXPECT_EQ(card_["recipe"], toJson(recipe_));
}

TEST_F(Cards, HaveSumsThatAreTheSet) {
    for (const auto *key : {"sources", "levels", "splits", "dtypes", "times", "numbers"}) {
        std::size_t sum = 0;
        for (const auto &count : card_[key])
            sum += count.get<std::size_t>();
        EXPECT_EQ(sum, 3u) << key;
    }
}

TEST_F(Cards, TellHowHardTheTasksWereWhereThatWasMeasured) {
    EXPECT_FALSE(card_.contains("difficulties"));
    EXPECT_EQ(cardAsMarkdown(card_).find("## Difficulty"), std::string::npos);
    set_.tasks[0].difficulty = {{"reward", 1.0}, {"turns", 1}};
    set_.tasks[1].difficulty = {{"reward", -1.0}, {"turns", 4}};
    auto card = cardOf(recipe_, set_, 10, {}, {}, audit_, {});
    EXPECT_EQ(
        card["difficulties"],
        Json({{"right in the first turn", 1}, {"not right in any turn", 1}, {"not measured", 1}}));
    EXPECT_NE(cardAsMarkdown(card).find("| right in the first turn | 1 | 33.3 % |"),
              std::string::npos);
    set_.tasks[2].difficulty = {{"reward", 3.0}, {"turns", 2}};
    card = cardOf(recipe_, set_, 10, {}, {}, audit_, {});
    EXPECT_EQ(card["difficulties"], Json({{"right in the first turn", 1},
                                          {"not right in any turn", 1},
                                          {"right after 2 turns", 1}}));
}

TEST_F(Cards, ShowTheAudit) {
    EXPECT_EQ(card_["audit"]["failures"], 1);
    EXPECT_EQ(card_["audit"]["details"], Json({"2: raises: broken"}));
    const auto text = cardAsMarkdown(card_);
    EXPECT_EQ(text.rfind("# mine\n", 0), 0u);
    EXPECT_NE(text.find("3 tasks from 10 candidates, seed 1."), std::string::npos);
    EXPECT_NE(text.find("`torch.compile` over eager: 2.00x"), std::string::npos);
    EXPECT_NE(text.find("| torch | 2.11.0 |\n"), std::string::npos);
    EXPECT_NE(text.find("## Audit\n\n| | published set | this set |\n|---|---|---|\n"),
              std::string::npos);
    EXPECT_NE(text.find("| fail when run again | about 1,200 of 6,000 | 1 of 3 run once more |"),
              std::string::npos);
    EXPECT_NE(text.find("| `ops` disagree with what runs | 550 of 6,000 | 0 of 3 run once more |"),
              std::string::npos);
    EXPECT_NE(text.find("| byte-identical duplicates | 352 of 6,000 | 0 |"), std::string::npos);
    EXPECT_NE(text.find("| overlap with KernelBench | 126 of 6,000 | 0 |"), std::string::npos);
    EXPECT_NE(text.find("| composed | 2 | 66.7 % |"), std::string::npos);
    EXPECT_NE(text.find("| raises | 5 | 50.0 % |"), std::string::npos);
    EXPECT_EQ(text.find("lay outside the range"), std::string::npos);
    EXPECT_EQ(text.find("draw of inputs"), std::string::npos);
}

TEST_F(Cards, OfNothingAreCardsStill) {
    audit_ = {};
    audit_.drifted = 2;
    audit_.byFurtherDraws = 4;
    const auto card = cardOf(recipe_, {}, 0, {}, {}, audit_, {});
    EXPECT_EQ(card["tasks"], 0);
    EXPECT_FALSE(card.contains("compile_over_eager"));
    const auto text = cardAsMarkdown(card);
    EXPECT_NE(text.find("0 tasks from 0 candidates"), std::string::npos);
    EXPECT_NE(text.find("the time of 2 lay outside the range then."), std::string::npos);
    EXPECT_NE(text.find("4 needed a second or third draw of inputs"), std::string::npos);
    EXPECT_EQ(auditFromJson(card["audit"])->byFurtherDraws, 4u);
}

} // namespace
} // namespace cuda_agent::synthesis
