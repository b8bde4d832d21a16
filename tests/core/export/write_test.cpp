// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/export/export_fixture.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace cuda_agent::exporter {
namespace {

namespace fs = std::filesystem;

class Write : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "export-test-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        extension_.files = {{"README.md", "text\n"}, {"csrc/kernels/a.cu", "kernel\n"}};
    }
    void TearDown() override {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    fs::path folder_;
    Extension extension_;
};

TEST_F(Write, MakesFoldersAndFiles) {
    ASSERT_TRUE(writeExtension(extension_, folder_ / "new/one", false));
    EXPECT_EQ(readTextFile(folder_ / "new/one/csrc/kernels/a.cu").value(), "kernel\n");
    EXPECT_TRUE(writeExtension(extension_, folder_ / "new/one", true));
}

TEST_F(Write, AFolderWithSomethingInItIsRefused) {
    std::ofstream(folder_ / "mine.txt") << "mine";
    const auto written = writeExtension(extension_, folder_, false);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, ErrorKind::request);
    EXPECT_TRUE(contains(written.error().message, "--force"));
    EXPECT_FALSE(fs::exists(folder_ / "README.md"));
}

TEST_F(Write, ForceReplacesAnEarlierExportAndNothingElse) {
    ASSERT_TRUE(writeExtension(extension_, folder_, false));
    std::ofstream(folder_ / "mine.txt") << "mine";
    Extension other;
    other.files = {{"setup.py", "new\n"}};
    ASSERT_TRUE(writeExtension(other, folder_, true));
    EXPECT_FALSE(fs::exists(folder_ / "csrc/kernels/a.cu"));
    EXPECT_FALSE(fs::exists(folder_ / "README.md"));
    EXPECT_TRUE(fs::exists(folder_ / "mine.txt"));
    EXPECT_EQ(readTextFile(folder_ / "setup.py").value(), "new\n");
}

TEST_F(Write, AListThatLeadsOutsideIsNotFollowed) {
    fs::create_directories(folder_ / "inside");
    std::ofstream(folder_ / "mine.txt") << "mine";
    std::ofstream(folder_ / "inside/.exported") << "../mine.txt\n"
                                                << (folder_ / "mine.txt").string();
    ASSERT_TRUE(writeExtension(extension_, folder_ / "inside", true));
    EXPECT_TRUE(fs::exists(folder_ / "mine.txt"));
}

TEST_F(Write, AFileIsNoFolder) {
    std::ofstream(folder_ / "file") << "text";
    const auto written = writeExtension(extension_, folder_ / "file", true);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, ErrorKind::request);
}

TEST_F(Write, WhatCannotBeWrittenIsTheMachines) {
    const auto written = writeExtension(extension_, "/proc/nowhere", false);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, ErrorKind::machine);
}

} // namespace
} // namespace cuda_agent::exporter
