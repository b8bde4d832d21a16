// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/interface.h"

#include <gtest/gtest.h>

namespace cuda_agent::exporter {
namespace {

using Texts = std::vector<std::string>;

/// Conditions of a plan over inputs a, b and a parameter w whose one output has that shape.
Texts conditionsOf(const Json &outputShape, const Shape &a, const Shape &b, const Shape &w) {
    const auto zeros = [](const char *buffer) { return Json{{"buffer", buffer}}; };
    const Json json{{"version", 1},
                    {"buffers",
                     {{{"name", "a"}, {"role", "input"}, {"index", 0}},
                      {{"name", "b"}, {"role", "input"}, {"index", 1}},
                      {{"name", "w"}, {"role", "parameter"}, {"key", "w"}},
                      {{"name", "o"},
                       {"role", "output"},
                       {"index", 0},
                       {"dtype", "float32"},
                       {"shape", outputShape}}}},
                    {"steps",
                     {{{"kind", "kernel"},
                       {"source", "k.cu"},
                       {"entry", "k"},
                       {"grid", {1}},
                       {"block", {1}},
                       {"args", {zeros("a"), zeros("b"), zeros("w"), zeros("o")}}}}}};
    Source source;
    source.plan = plan::planFromJson(json).value();
    std::vector<OperatorArgument> arguments;
    for (const auto &[name, shape] : {std::pair{"a", a}, {"b", b}, {"w", w}}) {
        OperatorArgument argument;
        argument.kind =
            *name == 'w' ? OperatorArgument::Kind::parameter : OperatorArgument::Kind::input;
        argument.name = argument.planName = name;
        argument.type = contiguousType(DType::float32, shape);
        arguments.push_back(argument);
    }
    Texts texts;
    for (const auto &condition : shapeConditions(source, arguments))
        texts.push_back(condition.expression);
    return texts;
}

TEST(ShapeConditions, SizesThatThePlanMentionsAreFree) {
    EXPECT_EQ(conditionsOf({"a.shape[0]", "a.shape[1] + b.numel"}, {4, 8}, {5}, {3}), Texts());
}

TEST(ShapeConditions, SizesThatItDoesNotMentionStayEqualToOnesThatItDoes) {
    EXPECT_EQ(conditionsOf({"a.shape[0]", "a.shape[-1]"}, {4, 8}, {4, 8}, {3}),
              Texts({"b.shape[0] == a.shape[0]", "b.shape[1] == a.shape[1]"}));
    // Broadcast from the right, also where both sizes of the other are the same.
    EXPECT_EQ(conditionsOf({"a.shape[0]", "a.shape[1]"}, {8, 8}, {8}, {3}),
              Texts({"b.shape[0] == a.shape[1]"}));
}

TEST(ShapeConditions, OnesStayOnes) {
    EXPECT_EQ(conditionsOf({"a.shape[0]", "a.shape[1]"}, {4, 8}, {1, 8}, {3}),
              Texts({"b.shape[0] == 1", "b.shape[1] == a.shape[1]"}));
}

TEST(ShapeConditions, WithoutAnyEqualOneNothingIsFree) {
    EXPECT_EQ(conditionsOf({"a.shape[0]", "a.shape[1]"}, {4, 8}, {16}, {3}),
              Texts({"a.shape[0] == 4", "a.shape[1] == 8", "b.shape[0] == 16"}));
}

TEST(ShapeConditions, WhatGoesWithAParameterIsFixed) {
    EXPECT_EQ(conditionsOf({"a.shape[0]", "a.shape[1]"}, {4, 8}, {4, 8}, {8}),
              Texts({"b.shape[0] == a.shape[0]", "b.shape[1] == a.shape[1]", "a.shape[1] == 8"}));
}

} // namespace
} // namespace cuda_agent::exporter
