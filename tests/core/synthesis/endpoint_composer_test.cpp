// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synthesis/endpoint_composer.h"

#include <gtest/gtest.h>

namespace cuda_agent::synthesis {
namespace {

const std::string task = "class Model:\n    pass\ndef get_inputs():\n    return []\n"
                         "def get_init_inputs():\n    return []\n";

std::string fenced(const std::string &text) {
    return "```python\n" + text + "```";
}

TEST(TaskIn, FindsTheBlock) {
    EXPECT_EQ(taskIn(fenced(task)), task);
    EXPECT_EQ(taskIn("Here it is:\n\n" + fenced(task) + "\nIt uses `linear`.\n"), task);
    EXPECT_EQ(taskIn("```\n" + task + "\n```"), task + "\n");
    EXPECT_EQ(taskIn("````python\n" + task + "````\n"), task);
}

TEST(TaskIn, TakesTheLastThatIsOne) {
    EXPECT_EQ(taskIn(fenced("# draft\n" + task) + "\nBetter:\n" + fenced(task)), task);
    EXPECT_EQ(taskIn(fenced(task) + "\nRun it so:\n```\npython task.py\n```\n"), task);
    EXPECT_EQ(taskIn(fenced(task) + "\nand\n" + fenced("class Model:\n    pass\n")), task);
}

TEST(TaskIn, IsNotLedAstrayByCodeInALine) {
    EXPECT_EQ(taskIn("With ```linear``` and ```gelu```:\n" + fenced(task)), task);
    EXPECT_EQ(taskIn("With ```linear```:\n\n" + fenced(task)), task);
}

TEST(TaskIn, FindsNone) {
    for (const auto &text :
         {std::string(), task, std::string("```"), std::string("```python"),
          std::string("```python\n"), std::string("```\n```"), "```python\n" + task,
          fenced("class Model: pass\n"), fenced("x = 1\n" + std::string(40'000, '#') + task)})
        EXPECT_EQ(taskIn(text), "") << text.substr(0, 80);
}

Json crawled() {
    return Json::array({{{"name", "gelu"}, {"source", "torch"}, {"kept", true}},
                        {{"name", "eig"}, {"source", "torch"}, {"kept", false}},
                        {{"name", "BertLayer"}, {"source", "transformers"}, {"kept", true}}});
}

Recipe recipeOf(double endpoint, std::uint64_t seed = 3) {
    Recipe recipe;
    recipe.seed = seed;
    recipe.sources = {{"composed", 3}, {"endpoint", endpoint}};
    return recipe;
}

TEST(EndpointComposer, TakesItsShare) {
    const EndpointComposer composer(recipeOf(1), {}, crawled());
    const EndpointComposer again(recipeOf(1), {}, crawled()), other(recipeOf(1, 4), {}, crawled());
    int taken = 0, different = 0;
    for (std::size_t i = 0; i < 4000; ++i) {
        taken += composer.takes(i) ? 1 : 0;
        EXPECT_EQ(composer.takes(i), again.takes(i));
        different += composer.takes(i) != other.takes(i) ? 1 : 0;
    }
    EXPECT_NEAR(taken, 1000, 150); // more than five standard deviations
    EXPECT_GT(different, 1000);
}

TEST(EndpointComposer, TakesAllOrNothing) {
    Recipe only = recipeOf(1), none;
    only.sources = {{"endpoint", 2}};
    const EndpointComposer all(only, {}, crawled()), without(none, {}, crawled()),
        weightless(recipeOf(0), {}, crawled());
    // It names operators of torch, and there may be none that was kept.
    const EndpointComposer blind(only, {}, Json::array({crawled()[1], crawled()[2]}));
    const EndpointComposer early(only, {}, Json());
    for (std::size_t i = 0; i < 200; ++i) {
        EXPECT_TRUE(all.takes(i));
        EXPECT_FALSE(without.takes(i) || weightless.takes(i) || blind.takes(i) || early.takes(i));
    }
}

} // namespace
} // namespace cuda_agent::synthesis
