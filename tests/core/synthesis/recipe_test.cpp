// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synthesis/recipe.h"

#include "core/base/temporary_folder.h"
#include "tests/source_dir.h"

#include <gtest/gtest.h>

namespace cuda_agent::synthesis {
namespace {

namespace fs = std::filesystem;

class Recipes : public testing::Test {
  protected:
    void SetUp() override {
        auto made = TemporaryFolder::make("recipe");
        ASSERT_TRUE(made);
        temporary_.emplace(std::move(*made));
    }
    Result<Recipe> read(const std::string &text) {
        const auto file = temporary_->path() / "mine.toml";
        EXPECT_TRUE(writeFileAtomically(file, text));
        return readRecipe(file);
    }
    std::string problem(const std::string &text) {
        const auto recipe = read(text);
        EXPECT_FALSE(recipe) << text;
        if (recipe)
            return {};
        const auto &said = recipe.error().message;
        EXPECT_EQ(recipe.error().kind, ErrorKind::request);
        EXPECT_EQ(said.find('\n'), std::string::npos) << said;
        EXPECT_NE(said.find("mine.toml"), std::string::npos) << said;
        return said;
    }
    std::optional<TemporaryFolder> temporary_;
};

TEST_F(Recipes, OfTheRepositoryAreRead) {
    std::size_t count = 0;
    for (const auto &entry : fs::directory_iterator(sourceDir() / "training/recipes")) {
        if (entry.path().extension() != ".toml")
            continue;
        const auto recipe = readRecipe(entry.path());
        ASSERT_TRUE(recipe) << recipe.error().message;
        EXPECT_EQ(recipe->name, entry.path().stem());
        EXPECT_EQ(recipe->device == device::Kind::cuda, recipe->name != "tasks-cpu");
        EXPECT_GE(recipe->tasks, 1000u);
        EXPECT_LT(recipe->leastSeconds, recipe->mostSeconds);
        ++count;
    }
    EXPECT_GE(count, 2u);
}

TEST_F(Recipes, AreNamedAsTheirFileWhereTheyDoNotSay) {
    const auto recipe = read("");
    ASSERT_TRUE(recipe) << recipe.error().message;
    Recipe plain;
    plain.name = "mine";
    EXPECT_EQ(toJson(*recipe), toJson(plain));
}

TEST_F(Recipes, KeepEverythingThatIsSaid) {
    const auto recipe = read(R"(
name = "other"
seed = 8
tasks = 12
audited = 4
device = "cuda"
[time]
least_seconds = 0.25
most_seconds = 0.5
calls = 7
[memory]
gigabytes = 0.5
[compose]
sources = { endpoint = 1 }
operators = { 2 = 1 }
dtypes = { float16 = 3 }
backward = 0.75
irregular = 0.125
even = 0.375
skips = 0.625
[screen]
similarity = 0.5
variants = 2
[filter]
load_seconds = 5
check_seconds = 6
compile_seconds = 7
candidates_per_process = 8
[split]
held_out = 0.25
outer = 0.5
validation = 0.125
[endpoint]
attempts = 9
)");
    ASSERT_TRUE(recipe) << recipe.error().message;
    EXPECT_EQ(toJson(*recipe), Json::parse(R"({
        "name": "other", "seed": 8, "tasks": 12, "audited": 4, "device": "cuda",
        "seconds": [0.25, 0.5], "calls": 7, "memory_bytes": 536870912,
        "sources": {"endpoint": 1.0}, "operators": {"2": 1.0}, "dtypes": {"float16": 3.0},
        "backward": 0.75, "irregular": 0.125, "even": 0.375, "skips": 0.625,
        "similarity": 0.5, "variants": 2, "load_seconds": 5.0, "check_seconds": 6.0,
        "compile_seconds": 7.0, "candidates_per_process": 8, "held_out": 0.25, "outer": 0.5,
        "validation": 0.125, "endpoint_attempts": 9})"));
}

TEST_F(Recipes, NameTheFieldThatIsWrong) {
    const auto expect = [&](const char *text, const char *said) {
        EXPECT_NE(problem(text).find(said), std::string::npos) << problem(text);
    };
    expect("tsaks = 5", "there is no field 'tsaks'");
    expect("[tiem]\nleast_seconds = 1", "there is no field 'tiem'");
    expect("[time]\nleast = 1", "[time]: there is no field 'least'; there are calls,");
    expect("tasks = 0", "tasks must be a whole number");
    expect("time = 3", "time must be a table");
    expect("device = \"tpu\"", "device must be \"cpu\" or \"cuda\"");
    expect("device = 1", "device must be a text");
    expect("[compose]\nsources = { hub = 1 }", "[compose]: sources has no 'hub'");
    expect("[compose]\noperators = { 6 = 1 }", "operators has no '6'");
    expect("[compose]\ndtypes = { float64 = 1 }", "dtypes has no 'float64'");
    expect("[screen]\nvariants = 0", "[screen]: variants must");
    expect("[split]\nheld_out = 0.6", "[split]: held_out must");
    expect("[memory]\ngigabytes = 0", "[memory]: gigabytes must");
}

TEST_F(Recipes, WantARangeOfTimes) {
    for (const auto *text : {"[time]\nleast_seconds = 0.2\nmost_seconds = 0.1",
                             "[time]\nleast_seconds = 0.1", "[time]\nmost_seconds = 0.0005"})
        EXPECT_NE(problem(text).find("least_seconds must be less than most_seconds"),
                  std::string::npos);
}

TEST_F(Recipes, SayWhereTheyAreNoToml) {
    EXPECT_NE(problem("name = \"x\"\ntasks = = 3\n").find("mine.toml:2: not TOML: "),
              std::string::npos);
    EXPECT_NE(problem("name = \"\xff\"").find("mine.toml:1: not TOML"), std::string::npos);
    const auto missing = readRecipe(temporary_->path() / "none.toml");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().kind, ErrorKind::request);
}

} // namespace
} // namespace cuda_agent::synthesis
