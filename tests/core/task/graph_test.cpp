// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/task/task.h"

#include <gtest/gtest.h>

using namespace cuda_agent;
using namespace cuda_agent::task;

namespace {

// x + 3 * group_norm(x, w)[0], written by hand in the exported form.
const char *const graphText = R"({
  "nodes": [
    {"name": "w", "op": "placeholder", "origin": "parameter", "key": "norm.weight",
     "outputs": [{"dtype": "float32", "shape": [4]}]},
    {"name": "x", "op": "placeholder", "origin": "input", "input_index": 0,
     "outputs": [{"dtype": "float32", "shape": [2, 4, 8], "strides": [32, 8, 1]}]},
    {"name": "s", "op": "placeholder", "origin": "input", "input_index": 1, "scalar": 3.0},
    {"name": "norm", "op": "aten.native_group_norm.default",
     "args": [{"node": "x"}, {"node": "w"}, null, 2, 4, 8, 2, 1e-05],
     "outputs": [{"dtype": "float32", "shape": [2, 4, 8]}, {"dtype": "float32", "shape": [2, 2]},
                 {"dtype": "float32", "shape": [2, 2]}]},
    {"name": "first", "op": "getitem", "args": [{"node": "norm"}, 0],
     "outputs": [{"dtype": "float32", "shape": [2, 4, 8]}]},
    {"name": "clamped", "op": "aten.clamp.default",
     "args": [{"node": "first"}, {"float": "-inf"}], "kwargs": {"dtype": {"dtype": "float32"}},
     "outputs": [{"dtype": "float32", "shape": [2, 4, 8]}]}
  ],
  "outputs": ["clamped"]
})";

Json graphJson() {
    return Json::parse(graphText);
}

std::string problem(const Json &json) {
    const auto graph = graphFromJson(json);
    if (graph)
        return "no error";
    EXPECT_EQ(graph.error().kind, ErrorKind::request);
    return graph.error().message;
}

TEST(GraphTest, readsNodes) {
    const auto graph = graphFromJson(graphJson());
    ASSERT_TRUE(graph) << graph.error().message;
    ASSERT_EQ(graph->nodes.size(), 6u);
    const auto *norm = graph->find("norm");
    ASSERT_TRUE(norm);
    EXPECT_EQ(norm->outputs.size(), 3u);
    EXPECT_EQ(norm->outputs[1].shape, (Shape{2, 2}));
    EXPECT_TRUE(norm->args[2].is_null());
    EXPECT_EQ(graph->find("w")->origin, Origin::parameter);
    EXPECT_EQ(graph->find("w")->key, "norm.weight");
    EXPECT_EQ(graph->find("s")->scalar, 3.0);
    EXPECT_EQ(graph->find("s")->inputIndex, 1);
    EXPECT_EQ(graph->outputs, std::vector<std::string>{"clamped"});
    EXPECT_EQ(graph->find("nobody"), nullptr);
}

TEST(GraphTest, jsonRoundTrips) {
    const auto graph = graphFromJson(graphJson()).value();
    const auto again = graphFromJson(toJson(graph));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(toJson(*again), toJson(graph));
}

TEST(GraphTest, refusesWhatDoesNotHoldTogether) {
    auto json = graphJson();
    json["nodes"][5]["args"][0]["node"] = "later";
    EXPECT_NE(problem(json).find("'later', which does not come before"), std::string::npos);
    json = graphJson();
    json["nodes"][1]["name"] = "w";
    EXPECT_NE(problem(json).find("name of its own"), std::string::npos);
    json = graphJson();
    json["outputs"] = {"nobody"};
    EXPECT_NE(problem(json).find("graph.outputs"), std::string::npos);
    json = graphJson();
    json["nodes"][0]["outputs"][0]["shape"] = {-1};
    EXPECT_NE(problem(json).find("shape"), std::string::npos);
    json = graphJson();
    json["nodes"][0]["origin"] = "elsewhere";
    EXPECT_NE(problem(json).find("origin"), std::string::npos);
    json = graphJson();
    json["nodes"][0]["input_index"] = 3;
    EXPECT_NE(problem(json).find("input_index"), std::string::npos);
    json = graphJson();
    json["nodes"][3]["args"][0] = {{"file", "x"}};
    EXPECT_NE(problem(json).find("unknown kind"), std::string::npos);
    EXPECT_NE(problem(Json::array()).find("object"), std::string::npos);
    EXPECT_NE(problem({{"nodes", 3}}).find("list"), std::string::npos);
    EXPECT_NE(problem({{"nodes", {Json::object()}}}).find("no 'name'"), std::string::npos);
}

TEST(GraphTest, refusesDeepNesting) {
    auto json = graphJson();
    Json deep = 1;
    for (int i = 0; i < 1000; ++i) {
        Json outer = Json::array();
        outer.push_back(std::move(deep));
        deep = std::move(outer);
    }
    json["nodes"][3]["args"] = deep;
    EXPECT_NE(problem(json).find("nested too deeply"), std::string::npos);
}

Json descriptionJson() {
    return {{"name", "norm"},
            {"inputs",
             {{{"name", "in0"}, {"dtype", "float32"}, {"shape", {2, 4, 8}}, {"input_index", 0}}}},
            {"scalars", {nullptr, 3.0}},
            {"parameters", {{{"name", "norm.weight"}, {"dtype", "float32"}, {"shape", {4}}}}},
            {"outputs", {{{"name", "out0"}, {"dtype", "float32"}, {"shape", {2, 4, 8}}}}},
            {"single_output", true},
            {"graph", graphJson()},
            {"constants", {{"features", 4}, {"eps", 1e-5}, {"affine", true}}},
            {"counted_bytes", 528},
            {"matmul_flops", 0},
            {"convolution_flops", 12.5}};
}

TEST(DescriptionTest, jsonRoundTrips) {
    const auto description = descriptionFromJson(descriptionJson());
    ASSERT_TRUE(description) << description.error().message;
    EXPECT_EQ(description->inputs.at(0).type.strides, (Shape{32, 8, 1}));
    EXPECT_EQ(description->scalars.at(1), 3.0);
    EXPECT_EQ(description->countedBytes, 528u);
    EXPECT_EQ(description->convolutionFlops, 12.5);
    EXPECT_EQ(description->constants.at("affine"), true);
    const auto again = descriptionFromJson(description->toJson());
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->toJson(), description->toJson());
}

TEST(DescriptionTest, refusesWrongFields) {
    const auto refused = [](const char *pointer, Json value) {
        auto json = descriptionJson();
        json[Json::json_pointer(pointer)] = std::move(value);
        return !descriptionFromJson(json);
    };
    EXPECT_TRUE(refused("/name", 3));
    EXPECT_TRUE(refused("/inputs/0/input_index", 2));
    EXPECT_TRUE(refused("/inputs/0/dtype", "complex64"));
    EXPECT_TRUE(refused("/outputs/0/name", ""));
    EXPECT_TRUE(refused("/constants/features", "os.system"));
    EXPECT_TRUE(refused("/counted_bytes", -1));
    EXPECT_TRUE(refused("/single_output", "yes"));
    EXPECT_TRUE(refused("/graph", Json::array()));
    EXPECT_TRUE(refused("/scalars", 1));
    EXPECT_FALSE(refused("/graph", nullptr));
}

} // namespace
