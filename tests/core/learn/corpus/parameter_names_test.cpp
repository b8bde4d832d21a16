// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/parameter_names.h"

#include <gtest/gtest.h>

#include <set>

namespace cuda_agent::learn {
namespace {

task::Node parameterNode(const std::string &key) {
    task::Node node;
    node.name = "p_" + key;
    node.op = "placeholder";
    node.origin = task::Origin::parameter;
    node.key = key;
    return node;
}

/// A module with a layer, a library's block of two projections in a list, and a buffer.
NamedTask sample() {
    NamedTask task;
    for (const char *key : {"norm.weight", "norm.bias", "block.layers.0.proj.weight",
                            "block.layers.1.proj.weight", "sin"}) {
        task.description.graph.nodes.push_back(parameterNode(key));
        task.description.parameters.push_back({key, {}, -1});
    }
    task::Node constant = parameterNode("c_lifted_tensor_0");
    constant.origin = task::Origin::constant;
    task.description.graph.nodes.push_back(constant);
    task.description.parameters.push_back({"c_lifted_tensor_0", {}, -1});
    task.source = "self.norm = nn.LayerNorm(8)\n"
                  "self.normal = nn.Identity()\n"
                  "self.register_buffer(\"sin\", sin)\n"
                  "return self.norm(self.block(x)) * self.sin * myself.norm\n";
    return task;
}

std::string keyAt(const NamedTask &task, std::size_t at) {
    return task.description.graph.nodes[at].key;
}

TEST(ParameterNames, ArePartByPartTheSameEverywhere) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        std::mt19937_64 generator(seed);
        const auto task = withDrawnNames(sample(), generator);
        const auto weight = keyAt(task, 0), bias = keyAt(task, 1);
        ASSERT_TRUE(weight.ends_with(".weight"));
        const auto norm = weight.substr(0, weight.find('.'));
        EXPECT_EQ(bias, norm + ".bias");
        EXPECT_NE(norm, "norm");
        EXPECT_NE(norm, "normal");
        const auto first = keyAt(task, 2), second = keyAt(task, 3), sin = keyAt(task, 4);
        ASSERT_NE(first.find(".0."), first.npos);
        std::string moved = first;
        EXPECT_EQ(moved.replace(moved.find(".0."), 3, ".1."), second);
        EXPECT_FALSE(first.starts_with("block.")) << first;
        EXPECT_EQ(keyAt(task, 5), "c_lifted_tensor_0");
        for (std::size_t i = 0; i < task.description.parameters.size(); ++i)
            EXPECT_EQ(task.description.parameters[i].name, keyAt(task, i));
        const auto block = first.substr(0, first.find('.'));
        EXPECT_EQ(task.source,
                  fmt::format("self.{0} = nn.LayerNorm(8)\nself.normal = nn.Identity()\n"
                              "self.register_buffer(\"{1}\", sin)\n"
                              "return self.{0}(self.{2}(x)) * self.{1} * myself.norm\n",
                              norm, sin, block));
    }
}

TEST(ParameterNames, DifferByTheGeneratorAndFitPython) {
    std::set<std::string> names;
    bool before = false; // a word that no task of a recipe has
    for (unsigned seed = 0; seed < 2000; ++seed) {
        std::mt19937_64 generator(seed);
        const auto sin = keyAt(withDrawnNames(sample(), generator), 4);
        names.insert(sin);
        before = before || sin.find("before") != sin.npos;
        for (const char *word :
             {"if", "in", "is", "or", "as", "to", "for", "not", "class", "global"})
            EXPECT_NE(sin, word);
    }
    EXPECT_GT(names.size(), 1500u);
    EXPECT_TRUE(before);
    std::mt19937_64 one(3), other(3);
    EXPECT_EQ(withDrawnNames(sample(), one).source, withDrawnNames(sample(), other).source);
}

} // namespace
} // namespace cuda_agent::learn
