// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json_place.h"

#include <gtest/gtest.h>

#include <string>

namespace cuda_agent {
namespace {

const std::string text = R"( {"buffers": [{"name": "in0", "shape": [4, 5]},
    {"name":"a \"]}, b"}, 7], "steps":[{"args":[{"buffer":"tmp0"},{"value":-1.5e3}]}]} )";

std::string at(const char *path) {
    const auto place = placeInJson(text, path);
    return place ? text.substr(place->begin, place->end - place->begin) : "nothing";
}

TEST(JsonPlace, IsThatOfTheValueAtAPath) {
    EXPECT_EQ(at("buffers[0].name"), R"("in0")");
    EXPECT_EQ(at("buffers[0].shape[1]"), "5");
    EXPECT_EQ(at("buffers[1].name"), R"("a \"]}, b")");
    EXPECT_EQ(at("buffers[2]"), "7");
    EXPECT_EQ(at("steps[0].args[0].buffer"), R"("tmp0")");
    EXPECT_EQ(at("steps[0].args[1].value"), "-1.5e3");
    EXPECT_EQ(at(""), text.substr(1, text.size() - 2));
}

TEST(JsonPlace, OfWhatIsNotThereIsThatOfWhatWouldHoldIt) {
    EXPECT_EQ(at("buffers[0].dtype"), R"({"name": "in0", "shape": [4, 5]})");
    EXPECT_EQ(at("buffers[3].name"), at("buffers"));
    EXPECT_EQ(at("buffers.name"), at("buffers"));
    EXPECT_EQ(at("buffers[1].name[0].x"), at("buffers[1].name"));
    EXPECT_EQ(at("buffers[two]"), at("buffers"));
}

TEST(JsonPlace, IsNoneWhereThereIsNoPathOrNoText) {
    EXPECT_EQ(at("buffers[]"), "nothing");
    EXPECT_EQ(at(".."), "nothing");
    for (const char *cut : {"", "  ", "{", R"({"buffers": [{"name)", R"("\)", "]"})
        EXPECT_FALSE(placeInJson(cut, "buffers[0]")) << cut;
    EXPECT_TRUE(placeInJson("{]", "buffers[0].name[1]")) << "no JSON, any place";
}

TEST(ByteAt, CountsLinesAndColumnsFromOne) {
    EXPECT_EQ(byteAt("ab\ncd\n", 1, 1), 0u);
    EXPECT_EQ(byteAt("ab\ncd\n", 2, 2), 4u);
    EXPECT_EQ(byteAt("ab\ncd\n", 2, 99), 6u);
    EXPECT_EQ(byteAt("ab\ncd\n", 99, 1), 6u);
    EXPECT_EQ(byteAt("", 1, 0), 0u);
}

} // namespace
} // namespace cuda_agent
