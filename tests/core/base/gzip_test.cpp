// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/gzip.h"

#include "core/base/json.h"
#include "core/base/temporary_folder.h"

#include <gtest/gtest.h>

#include <random>

namespace cuda_agent {
namespace {

/// Bytes that do not get shorter.
std::string noise(std::size_t size) {
    std::mt19937_64 random(7);
    std::string text(size, 0);
    for (auto &c : text)
        c = static_cast<char>(random());
    return text;
}

class Gzip : public testing::Test {
  protected:
    void SetUp() override {
        auto made = TemporaryFolder::make("gzip");
        ASSERT_TRUE(made);
        temporary_.emplace(std::move(*made));
    }
    Result<std::string> read(const std::string &bytes, std::size_t limit = 1u << 30) {
        const auto file = temporary_->path() / "file.gz";
        EXPECT_TRUE(writeFileAtomically(file, bytes));
        return readGzipFile(file, limit);
    }
    std::string problem(const std::string &bytes, std::size_t limit = 1u << 30) {
        const auto text = read(bytes, limit);
        EXPECT_FALSE(text);
        if (text)
            return {};
        EXPECT_EQ(text.error().kind, ErrorKind::request);
        return text.error().message;
    }
    std::optional<TemporaryFolder> temporary_;
};

TEST_F(Gzip, GivesBackWhatWentIn) {
    // Nothing, a line, around the size of a piece, and what packs to many times less and not at
    // all.
    for (const auto &text : {std::string(), std::string("one line\n"), noise((1u << 16) - 1),
                             noise(1u << 16), noise((1u << 16) + 1), std::string(5'000'000, 'a'),
                             noise(300'000) + std::string(300'000, '\0')}) {
        const auto packed = gzip(text);
        const auto again = read(packed);
        ASSERT_TRUE(again) << text.size() << ": " << again.error().message;
        EXPECT_TRUE(*again == text) << text.size();
    }
    EXPECT_LT(gzip(std::string(5'000'000, 'a')).size(), 10'000u);
}

TEST_F(Gzip, IsTheSameForTheSameText) {
    const auto text = noise(100'000);
    const auto packed = gzip(text);
    EXPECT_TRUE(gzip(text) == packed);
    ASSERT_GT(packed.size(), 10u);
    EXPECT_EQ(packed.substr(0, 3), "\x1f\x8b\x08");
    EXPECT_EQ(packed.substr(3, 5), std::string(5, '\0')); // neither a name nor a time
}

TEST_F(Gzip, ReadsAllMembers) {
    const auto big = noise(200'000);
    const auto text = read(gzip("a\n") + gzip("") + gzip(big) + gzip("z"));
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_TRUE(*text == "a\n" + big + "z");
}

TEST_F(Gzip, RefusesWhatIsCutOff) {
    const auto packed = gzip("some text that is there as a whole");
    for (std::size_t size = 0; size < packed.size(); ++size)
        EXPECT_NE(problem(packed.substr(0, size)).find("no whole gzip file"), std::string::npos)
            << size;
    const auto large = gzip(noise(200'000));
    for (const auto size : {std::size_t{1} << 16, std::size_t{2} << 16, large.size() - 1})
        EXPECT_NE(problem(large.substr(0, size)).find("no whole gzip file"), std::string::npos);
    EXPECT_NE(problem(gzip("whole") + packed.substr(0, 12)).find("no whole gzip file"),
              std::string::npos);
}

TEST_F(Gzip, RefusesWhatIsNone) {
    EXPECT_NE(problem("{\"index\": 0}\n").find("no whole gzip file"), std::string::npos);
    EXPECT_NE(problem(gzip("a") + "rest").find("no whole gzip file"), std::string::npos);
    auto changed = gzip("some text");
    changed[changed.size() - 6] ^= 1; // of its checksum
    EXPECT_NE(problem(changed).find("no whole gzip file"), std::string::npos);
    EXPECT_FALSE(readGzipFile(temporary_->path() / "nothing.gz"));
    EXPECT_FALSE(readGzipFile(temporary_->path()));
}

TEST_F(Gzip, HasALimit) {
    const std::string text(3u << 20, 'a');
    const auto packed = gzip(text);
    EXPECT_TRUE(read(packed, text.size()));
    EXPECT_NE(problem(packed, text.size() - 1).find("holds more than 2 MB"), std::string::npos);
    EXPECT_NE(problem(packed, 1u << 20).find("holds more than 1 MB"), std::string::npos);
    EXPECT_FALSE(problem(noise(2000), 1000).empty()); // the file alone
}

TEST_F(Gzip, ReadsLineByLine) {
    const auto file = temporary_->path() / "lines.gz";
    std::string text = "first\n\n" + std::string(200'000, 'x') + "\n"; // over several pieces
    for (int i = 0; i < 30'000; ++i)
        text += fmt::format("{}\n", i);
    ASSERT_TRUE(writeFileAtomically(file, gzip(text) + gzip("the end")));
    std::vector<std::string> lines;
    const auto take = [&](std::string_view line, std::size_t number) -> Result<void> {
        lines.emplace_back(line);
        EXPECT_EQ(number, lines.size());
        return {};
    };
    const auto read = eachGzipLine(file, take);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(lines.size(), 30'004u);
    EXPECT_EQ(lines[1], "");
    EXPECT_EQ(lines[2].size(), 200'000u);
    EXPECT_EQ(lines[3 + 12'345], "12345");
    EXPECT_EQ(lines.back(), "the end");
    const auto pass = [](std::string_view, std::size_t) { return Result<void>(); };
    EXPECT_FALSE(eachGzipLine(file, pass, 100'000)) << "a line is longer";
    const auto ended = eachGzipLine(file, [](std::string_view, std::size_t number) -> Result<void> {
        return number < 2 ? Result<void>() : failedError("enough");
    });
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().message, "enough");
    ASSERT_TRUE(writeFileAtomically(file, gzip(text).substr(0, 500)));
    EXPECT_FALSE(eachGzipLine(file, pass));
    EXPECT_FALSE(eachGzipLine(temporary_->path() / "nothing.gz", pass));
}

} // namespace
} // namespace cuda_agent
