// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/exemplars.h"

#include "core/base/temporary_folder.h"

#include <gtest/gtest.h>

namespace cuda_agent::learn {
namespace {

Trajectory made(const std::string &kernel, double reward, double overCompile = 0) {
    Trajectory one;
    one.task = "relu";
    one.reward = reward;
    one.episode.milestone = static_cast<int>(reward);
    one.episode.overCompile = overCompile;
    if (reward > 0) {
        one.episode.verdict = Json::object();
        one.episode.candidate = {{"kernels/a.cu", kernel}, {"plan.json", "{}"}};
    }
    return one;
}

std::vector<std::string> kernels(const Exemplars &exemplars, std::int64_t most) {
    std::vector<std::string> texts;
    for (const auto &one : exemplars.of("relu", most))
        texts.push_back(one.files.at("kernels/a.cu"));
    return texts;
}

using Texts = std::vector<std::string>;

TEST(Exemplars, AreTheBestDifferentOnesOfATask) {
    Exemplars exemplars(3);
    exemplars.add({made("a", 1), made("b", 2, 0.9), made("wrong", -1), made("b  ", 3, 2)});
    EXPECT_EQ(kernels(exemplars, 3), (Texts{"b", "a"})) << "the same kernel once, as it was first";
    exemplars.add({made("c", 1), made("d", 2, 0.95), made("e", 3, 1.1)});
    EXPECT_EQ(kernels(exemplars, 3), (Texts{"e", "d", "b"}));
    EXPECT_EQ(kernels(exemplars, 1), (Texts{"e"}));
    EXPECT_TRUE(exemplars.of("add", 3).empty());
    exemplars.add({made("a", 1), made("b", 2, 0.9), made("c", 1), made("d", 2, 0.95)});
    EXPECT_EQ(kernels(exemplars, 3), (Texts{"e", "d", "b"})) << "nothing new";
    auto other = made("z", 3, 5);
    other.task = "add";
    exemplars.add({other});
    EXPECT_EQ(exemplars.of("add", 3).size(), 1u);
    EXPECT_EQ(exemplars.of("add", 3)[0].score, "correct, reward 3, not timed, 5.00x torch.compile");
    Exemplars none(0);
    none.add({made("a", 1)});
    EXPECT_TRUE(none.of("relu", 5).empty());
}

TEST(Exemplars, GoOnFromACheckpoint) {
    const auto folder = TemporaryFolder::make("exemplars").value();
    Exemplars exemplars(2), other(2), fewer(1);
    exemplars.add({made("bytes that are no UTF-8: \xff", 2, 1.0 / 3), made("b", 1)});
    ASSERT_TRUE(exemplars.save(folder.path()));
    other.add({made("mine", 3)});
    ASSERT_TRUE(other.restore(folder.path()));
    EXPECT_EQ(kernels(other, 2), kernels(exemplars, 2));
    EXPECT_EQ(kernels(other, 2).size(), 2u);
    EXPECT_EQ(other.of("relu", 1)[0].score, exemplars.of("relu", 1)[0].score);
    other.add({made("bytes that are no UTF-8: \xff", 3, 5)});
    EXPECT_EQ(kernels(other, 2), kernels(exemplars, 2)) << "it is known";
    ASSERT_TRUE(fewer.restore(folder.path()));
    EXPECT_EQ(kernels(fewer, 5).size(), 1u);
    ASSERT_TRUE(writeFileAtomically(folder.path() / "exemplars.json", R"({"relu": [{}]})"));
    EXPECT_FALSE(other.restore(folder.path()));
    std::filesystem::remove(folder.path() / "exemplars.json");
    EXPECT_TRUE(other.restore(folder.path())) << "of a run that had none";
    EXPECT_TRUE(kernels(other, 2).empty());
}

} // namespace
} // namespace cuda_agent::learn
