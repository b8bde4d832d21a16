// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/task/task.h"

#include <gtest/gtest.h>

#include <fstream>

using namespace cuda_agent;
using namespace cuda_agent::task;

namespace {

class SpecTest : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (std::filesystem::temp_directory_path() / "task.XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::filesystem::path write(const std::string &name, const std::string &text) {
        std::ofstream(folder_ / name) << text;
        return folder_ / name;
    }
    std::string problem(const std::filesystem::path &file,
                        const std::vector<std::string> &sets = {}) {
        const auto spec = openSpec(file, sets);
        if (spec)
            return "no error";
        EXPECT_EQ(spec.error().kind, ErrorKind::request);
        return spec.error().message;
    }
    std::filesystem::path folder_;
};

TEST_F(SpecTest, opensAFileWithOverrides) {
    const auto file = write("row_sum.py", "class Model: pass\n");
    const auto spec = openSpec(file, {"batch_size=16", "shape=(3, 4)", "batch_size=32"});
    ASSERT_TRUE(spec) << spec.error().message;
    EXPECT_EQ(spec->name(), "row_sum");
    EXPECT_TRUE(spec->file.is_absolute());
    EXPECT_EQ(spec->overrides.at("batch_size"), "32");
    EXPECT_EQ(spec->overrides.at("shape"), "(3, 4)");
}

TEST_F(SpecTest, keepsAnEqualsSignInTheValue) {
    const auto spec = openSpec(write("a.py", ""), {"mode='a=b'"});
    ASSERT_TRUE(spec);
    EXPECT_EQ(spec->overrides.at("mode"), "'a=b'");
}

TEST_F(SpecTest, refusesWhatIsNoTaskFile) {
    EXPECT_NE(problem(folder_ / "missing.py").find("there is no task file"), std::string::npos);
    EXPECT_NE(problem(folder_).find("is a folder"), std::string::npos);
    EXPECT_NE(problem(write("notes.txt", "x")).find(".py"), std::string::npos);
    EXPECT_NE(problem(write("big.py", std::string((4u << 20) + 1, '#'))).find("4194305"),
              std::string::npos);
    EXPECT_NE(problem("/dev/null").find("not a regular file"), std::string::npos);
}

TEST_F(SpecTest, refusesMalformedOverrides) {
    const auto file = write("a.py", "");
    EXPECT_NE(problem(file, {"batch_size"}).find("NAME=VALUE"), std::string::npos);
    EXPECT_NE(problem(file, {"2x=1"}).find("'2x'"), std::string::npos);
    EXPECT_NE(problem(file, {"=1"}).find("not a Python name"), std::string::npos);
    EXPECT_NE(problem(file, {"a.b=1"}).find("not a Python name"), std::string::npos);
    EXPECT_NE(problem(file, {"n="}).find("no value"), std::string::npos);
    EXPECT_NE(problem(file, {"n=1\nimport os"}).find("one line"), std::string::npos);
}

TEST(NumericsTest, namesRoundTrip) {
    for (const auto numerics : {Numerics::standard, Numerics::tf32, Numerics::published})
        EXPECT_EQ(numericsFromName(nameOf(numerics)).value(), numerics);
    EXPECT_EQ(nameOf(Numerics::standard), "default");
    EXPECT_FALSE(numericsFromName("fp8"));
}

} // namespace
