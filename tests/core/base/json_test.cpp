// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/base/untrusted_json.h"

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

TEST(Json, NumbersBeyondAllBoundsAreRefused) {
    const auto json = parseJson("{\"a\": 1e999}", "plan.json");
    ASSERT_FALSE(json);
    EXPECT_EQ(json.error().kind, ErrorKind::request);
    EXPECT_NE(json.error().message.find("plan.json is not taken"), std::string::npos);
    EXPECT_TRUE(parseUntrusted("[-1e999]").is_discarded());
}

TEST(Json, TextThatWouldUseUpTheStackIsRefused) {
    const auto nested = [](int levels) {
        const auto count = static_cast<std::size_t>(levels);
        return std::string(count, '[') + "\"]]\\\"[\"" + std::string(count, ']');
    };
    EXPECT_TRUE(parseJson(nested(deepestJson), "plan.json"));
    EXPECT_FALSE(parseUntrusted(nested(deepestJson)).is_discarded());
    for (const auto &deep : {nested(deepestJson + 1), std::string(5 << 20, '['),
                             "{\"a\":" + nested(deepestJson) + "}"}) {
        EXPECT_TRUE(parseUntrusted(deep).is_discarded());
        const auto json = parseJson(deep, "plan.json");
        ASSERT_FALSE(json);
        EXPECT_EQ(json.error().kind, ErrorKind::request);
        EXPECT_NE(json.error().message.find("nest deeper than 500"), std::string::npos)
            << json.error().message;
    }
    // Neither more levels side by side nor brackets in a text count.
    std::string wide = "[";
    for (int i = 0; i < 2000; ++i)
        wide += "[1],";
    EXPECT_TRUE(parseJson(wide + "\"" + std::string(2000, '[') + "\"]", "plan.json"));
    EXPECT_TRUE(parseUntrusted("[1").is_discarded());
    EXPECT_TRUE(parseUntrusted("\"\\").is_discarded());
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
