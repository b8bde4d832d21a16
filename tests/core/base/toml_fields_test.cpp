// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/toml_fields.h"

#include <gtest/gtest.h>

namespace cuda_agent {
namespace {

struct Settings {
    int count = 3;
    double share = 0.5;
    std::uint64_t seed = 1;
    std::string name = "before";
    bool flag = false;
    std::vector<std::string> list{"before"};
    Json extra = "before";
    std::map<std::string, double> weights{{"a", 1}}, any{{"before", 1}};
};

Result<Settings> read(std::string_view text) {
    const auto table = toml::parse(text);
    TomlFields fields(table, "it.toml");
    Settings settings;
    fields.take("count", settings.count, 1, 10);
    fields.take("share", settings.share, 0, 1);
    fields.take("seed", settings.seed, 0, 9e15);
    fields.take("name", settings.name);
    fields.take("flag", settings.flag);
    fields.take("list", settings.list);
    fields.takeTable("extra", settings.extra);
    fields.takeWeights("weights", settings.weights, {"a", "b"});
    fields.takeWeights("any", settings.any);
    fields.table("section");
    if (auto finished = fields.finish(); !finished)
        return tl::unexpected(finished.error());
    return settings;
}

std::string problem(std::string_view text) {
    const auto settings = read(text);
    EXPECT_FALSE(settings) << text;
    if (settings)
        return {};
    EXPECT_EQ(settings.error().kind, ErrorKind::request);
    EXPECT_EQ(settings.error().message.find('\n'), std::string::npos) << settings.error().message;
    EXPECT_EQ(settings.error().message.rfind("it.toml: ", 0), 0u) << settings.error().message;
    return settings.error().message;
}

TEST(TomlFields, LeaveAloneWhatIsNotThere) {
    const auto settings = read("");
    ASSERT_TRUE(settings) << settings.error().message;
    EXPECT_EQ(settings->count, 3);
    EXPECT_EQ(settings->share, 0.5);
    EXPECT_EQ(settings->name, "before");
    EXPECT_EQ(settings->list, std::vector<std::string>{"before"});
    EXPECT_EQ(settings->extra, "before");
    EXPECT_EQ(settings->weights, (std::map<std::string, double>{{"a", 1}}));
}

TEST(TomlFields, TakeWhatIsThere) {
    const auto settings = read(R"(
count = 10
share = 1
seed = 9000000000000000
name = "after"
flag = true
list = ["x", "y"]
extra = { deep = { n = 1, x = 0.5 }, list = [true, "t", 1979-05-27] }
weights = { b = 2 }
any = { whatever = 0.25, none = 0 }
[section]
)");
    ASSERT_TRUE(settings) << settings.error().message;
    EXPECT_EQ(settings->count, 10);
    EXPECT_EQ(settings->share, 1);
    EXPECT_EQ(settings->seed, 9'000'000'000'000'000u);
    EXPECT_EQ(settings->name, "after");
    EXPECT_TRUE(settings->flag);
    EXPECT_EQ(settings->list, (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(settings->extra,
              Json::parse(R"({"deep": {"n": 1, "x": 0.5}, "list": [true, "t", null]})"));
    EXPECT_EQ(settings->weights, (std::map<std::string, double>{{"b", 2}}));
    EXPECT_EQ(settings->any, (std::map<std::string, double>{{"none", 0}, {"whatever", 0.25}}));
}

TEST(TomlFields, NameAnUnknownField) {
    const auto said = problem("count = 4\ncuont = 5\n");
    EXPECT_NE(said.find("there is no field 'cuont'; there are any, count, "), std::string::npos)
        << said;
}

TEST(TomlFields, RefuseOtherTypes) {
    EXPECT_NE(problem("count = 1.5").find("count must be a whole number from 1 to 10"),
              std::string::npos);
    EXPECT_NE(problem("count = 2.0").find("whole number"), std::string::npos);
    EXPECT_NE(problem("count = \"2\"").find("count must"), std::string::npos);
    EXPECT_NE(problem("count = true").find("count must"), std::string::npos);
    EXPECT_NE(problem("share = true").find("share must be a number from 0 to 1"),
              std::string::npos);
    EXPECT_NE(problem("share = [0.5]").find("share must"), std::string::npos);
    EXPECT_NE(problem("name = 1").find("name must be a text"), std::string::npos);
    EXPECT_NE(problem("flag = 1").find("flag must be true or false"), std::string::npos);
    EXPECT_NE(problem("flag = \"true\"").find("flag must"), std::string::npos);
    EXPECT_NE(problem("list = \"x\"").find("list must be a list of texts"), std::string::npos);
    EXPECT_NE(problem("list = [\"x\", 1]").find("list must"), std::string::npos);
    EXPECT_NE(problem("extra = 1").find("extra must be a table"), std::string::npos);
    EXPECT_NE(problem("section = 1").find("section must be a table"), std::string::npos);
}

TEST(TomlFields, RefuseNumbersOutsideTheirRange) {
    EXPECT_NE(problem("count = 0").find("count must"), std::string::npos);
    EXPECT_NE(problem("count = 11").find("count must"), std::string::npos);
    EXPECT_NE(problem("seed = -1").find("seed must"), std::string::npos);
    EXPECT_NE(problem("seed = 9223372036854775807").find("seed must"), std::string::npos);
    EXPECT_NE(problem("share = -0.001").find("share must"), std::string::npos);
    EXPECT_NE(problem("share = 1.001").find("share must"), std::string::npos);
    EXPECT_NE(problem("share = nan").find("share must"), std::string::npos);
    EXPECT_NE(problem("share = inf").find("share must"), std::string::npos);
}

TEST(TomlFields, RefuseWeightsThatDrawNothing) {
    EXPECT_NE(problem("weights = { a = 1, c = 1 }").find("weights has no 'c'; there are a, b"),
              std::string::npos);
    EXPECT_NE(problem("weights = { a = 0, b = 0 }").find("one of weights must be above 0"),
              std::string::npos);
    EXPECT_NE(problem("weights = {}").find("one of weights must be above 0"), std::string::npos);
    EXPECT_NE(problem("weights = { a = -1 }").find("a must be a number"), std::string::npos);
    EXPECT_NE(problem("weights = { a = \"1\" }").find("a must be a number"), std::string::npos);
    EXPECT_NE(problem("weights = { a = 1e10 }").find("a must be a number"), std::string::npos);
    EXPECT_NE(problem("weights = 1").find("weights must be a table of numbers"), std::string::npos);
    EXPECT_NE(problem("weights = [1, 2]").find("weights must be a table"), std::string::npos);
}

TEST(TomlFields, TellTheFirstProblem) {
    const auto said = problem("name = 1\ncount = 0\nother = 2\n");
    EXPECT_NE(said.find("count must"), std::string::npos) << said; // in the order of asking
    EXPECT_EQ(said.find("name"), std::string::npos) << said;
    EXPECT_EQ(said.find("other"), std::string::npos) << said;
}

} // namespace
} // namespace cuda_agent
