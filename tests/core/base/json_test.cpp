// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/hash.h"
#include "core/base/json.h"

#include <gtest/gtest.h>

#include <fstream>

namespace cuda_agent {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
  protected:
    fs::path folder = fs::path(testing::TempDir()) / ("json_test_" + std::to_string(randomSeed()));
    void SetUp() override { fs::create_directories(folder); }
    void TearDown() override { fs::remove_all(folder); }
};

TEST(Json, NamesLineAndColumn) {
    auto json = parseJson("{\n  \"a\": 1,\n  oops\n}", "plan.json");
    ASSERT_FALSE(json);
    EXPECT_EQ(json.error().kind, ErrorKind::request);
    EXPECT_NE(json.error().message.find("plan.json is not JSON: line 3, column 3"),
              std::string::npos)
        << json.error().message;
}

TEST_F(Files, WritesAtomicallyAndReadsBack) {
    const auto path = folder / "deep" / "file.txt";
    ASSERT_TRUE(writeFileAtomically(path, "one"));
    ASSERT_TRUE(writeFileAtomically(path, "two"));
    EXPECT_EQ(readTextFile(path).value(), "two");
    EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), {}), 1);
}

TEST_F(Files, RefusesWhatIsNotAReadableFile) {
    EXPECT_EQ(readTextFile(folder / "none").error().kind, ErrorKind::request);
    EXPECT_EQ(readTextFile(folder).error().kind, ErrorKind::request);
    std::ofstream(folder / "big") << std::string(100, 'x');
    EXPECT_FALSE(readTextFile(folder / "big", 99));
    EXPECT_TRUE(readTextFile(folder / "big", 100));
}

TEST_F(Files, SaysWhyItCannotWrite) {
    std::ofstream(folder / "file") << "x";
    auto written = writeFileAtomically(folder / "file" / "below", "y");
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, ErrorKind::machine);
}

TEST(Hash, MatchesThePublishedVector) { // FIPS 180-2, appendix B.1
    EXPECT_EQ(sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

} // namespace
} // namespace cuda_agent
