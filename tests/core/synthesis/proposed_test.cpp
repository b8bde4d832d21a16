// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synthesis/proposed.h"

#include "core/base/gzip.h"
#include "core/base/temporary_folder.h"
#include "tests/core/synthesis/set_fixture.h"

#include <gtest/gtest.h>

namespace cuda_agent::synthesis {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

Json task(const char *split, Json families, Json kinds, const char *source = "composed") {
    return {{"split", split},
            {"families", std::move(families)},
            {"kinds", std::move(kinds)},
            {"data_source", source}};
}

fs::path written(const fs::path &folder, const std::vector<Json> &tasks) {
    std::string text;
    for (const Json &each : tasks)
        text += each.dump() + "\n";
    const auto file = folder / fmt::format("{}.jsonl.gz", tasks.size());
    EXPECT_TRUE(writeFileAtomically(file, gzip(text)));
    return file;
}

TEST(Proposed, WhatIsKeptNoTrainingTaskHas) {
    const auto folder = TemporaryFolder::make("proposed-test").value();
    const auto one =
        written(folder.path(),
                {task("train", {"product", "pointwise"}, {"linear", "gelu"}),
                 task("held_out", {"product", "pointwise", "scan"}, {"linear", "relu", "cumsum"}),
                 task("outer", {"scan"}, {"cummax"}), task("outer", {"pointwise"}, {"gelu"})});
    const auto other =
        written(folder.path(), {task("validation", {"scan", "scan"}, {"cummax"}),
                                task("outer", {"attention"}, {"Attn"}, "transformers")});
    const auto kept = keptFromTraining({one});
    ASSERT_TRUE(kept) << kept.error().message;
    EXPECT_EQ(kept->fusions, Names{"pointwise > scan"});
    EXPECT_EQ(kept->kinds, Names{"cummax"});
    const auto both = keptFromTraining({one, other});
    EXPECT_EQ(both->kinds, Names{"attention"}) << "the other set trains on cummax";

    const auto refused = keptFromTraining({written(folder.path(), {Json{{"name", "x"}}})});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find(":1: no task of a synthesised set"), std::string::npos);
    EXPECT_FALSE(keptFromTraining({folder.path() / "none.jsonl.gz"}));
}

TEST(Proposed, ExpressionsJoinEachOperatorWithEachOther) {
    EXPECT_EQ(fusionsOf("composed", {"binary", "scan", "binary"}),
              (Names{"binary > scan", "scan > binary"}));
    EXPECT_EQ(fusionsOf("expressions", {"binary", "activation", "binary"}),
              (Names{"binary > activation", "activation > binary", "binary > binary"}));
    EXPECT_TRUE(fusionsOf("expressions", {"binary"}).empty());
}

TEST(Proposed, AreTasksToTrainOnWithoutWhatIsKept) {
    std::deque<Candidate> candidates;
    candidates.push_back(candidateOf(0));
    candidates.push_back(candidateOf(1, {"linear", "cumsum"}, {"product", "scan"}));
    candidates.push_back(candidateOf(2, {"cummax"}, {"scan"}));
    candidates.push_back(candidateOf(3));
    candidates.back().rejected = "near duplicate";
    candidates.push_back(candidateOf(4, {"a", "b", "c", "d"}, {"w", "x", "y", "z"}));
    candidates.back().backward = true;
    const KeptTraits kept{{"product > scan"}, {"cummax"}};
    const auto text = proposedLines(candidates, kept);
    const auto lines = std::ranges::count(text, '\n');
    ASSERT_EQ(lines, 2) << text;
    const auto first = Json::parse(text.substr(0, text.find('\n')));
    EXPECT_EQ(first["name"], "000000_linear_gelu");
    EXPECT_EQ(first["split"], "train");
    EXPECT_EQ(first["level"], "2");
    EXPECT_EQ(first["code"], candidates[0].code);
    const auto last = Json::parse(text.substr(text.find('\n') + 1));
    EXPECT_EQ(last["name"], "000004_a_b_c_d_backward");
    EXPECT_EQ(last["level"], "3");
}

} // namespace
} // namespace cuda_agent::synthesis
