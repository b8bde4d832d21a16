// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/line_log.h"

#include "core/base/temporary_folder.h"

#include <gtest/gtest.h>

namespace cuda_agent {
namespace {

class LineLogs : public testing::Test {
  protected:
    void SetUp() override {
        auto made = TemporaryFolder::make("line-log");
        ASSERT_TRUE(made);
        temporary_.emplace(std::move(*made));
        file_ = temporary_->path() / "log.jsonl";
    }
    Result<LineLog> open() {
        seen_.clear();
        return LineLog::open(file_, [this](const Json &json) -> Result<void> {
            if (json == "refused")
                return requestError("this one is refused");
            seen_.push_back(json);
            return {};
        });
    }
    std::string problem() {
        const auto log = open();
        EXPECT_FALSE(log);
        if (log)
            return {};
        EXPECT_EQ(log.error().kind, ErrorKind::request);
        return log.error().message;
    }
    void write(const std::string &text) { ASSERT_TRUE(writeFileAtomically(file_, text)); }
    std::string content() { return readTextFile(file_).value_or("unreadable"); }

    std::optional<TemporaryFolder> temporary_;
    std::filesystem::path file_;
    std::vector<Json> seen_;
};

TEST_F(LineLogs, KeepWhatWasAppendedOverReopening) {
    {
        auto log = open();
        ASSERT_TRUE(log) << log.error().message;
        EXPECT_TRUE(seen_.empty());
        EXPECT_TRUE(log->append(Json{{"n", 1}, {"text", "two\nlines"}}));
        EXPECT_EQ(content(), "{\"n\":1,\"text\":\"two\\nlines\"}\n");
    }
    {
        auto log = open();
        ASSERT_TRUE(log);
        EXPECT_EQ(seen_, (std::vector<Json>{{{"n", 1}, {"text", "two\nlines"}}}));
        EXPECT_TRUE(log->append(std::vector<Json>{2, "three"}));
        EXPECT_TRUE(log->append(std::vector<Json>{}));
    }
    ASSERT_TRUE(open());
    EXPECT_EQ(seen_, (std::vector<Json>{{{"n", 1}, {"text", "two\nlines"}}, 2, "three"}));
}

TEST_F(LineLogs, RemoveALastLineThatWasCutOff) {
    write("1\n2\n{\"n\": 3, \"te");
    {
        auto log = open();
        ASSERT_TRUE(log) << log.error().message;
        EXPECT_EQ(seen_, (std::vector<Json>{1, 2}));
        EXPECT_EQ(content(), "1\n2\n");
        EXPECT_TRUE(log->append(Json(4)));
    }
    EXPECT_EQ(content(), "1\n2\n4\n");
    write("half");
    ASSERT_TRUE(open());
    EXPECT_EQ(content(), "");
}

TEST_F(LineLogs, HaveOneWriter) {
    auto log = open();
    ASSERT_TRUE(log);
    EXPECT_NE(problem().find("another program writes to " + file_.string()), std::string::npos);
    const LineLog moved = std::move(*log); // the lock goes along
    EXPECT_FALSE(open());
}

TEST_F(LineLogs, FreeTheFileAtTheEnd) {
    { ASSERT_TRUE(open()); }
    EXPECT_TRUE(open());
}

TEST_F(LineLogs, NameTheLineThatIsBad) {
    write("1\n2\n{\"n\": \n4\n");
    EXPECT_NE(problem().find(file_.string() + ":3"), std::string::npos);
    EXPECT_EQ(content(), "1\n2\n{\"n\": \n4\n"); // nothing is lost by looking
    write("1\n\"refused\"\n3\n");
    EXPECT_EQ(problem(), file_.string() + ":2: this one is refused");
    write("1\n\n3\n");
    EXPECT_NE(problem().find(file_.string() + ":2"), std::string::npos);
}

TEST_F(LineLogs, WriteTextThatIsNoUtf8) {
    {
        auto log = open();
        ASSERT_TRUE(log);
        EXPECT_TRUE(log->append(Json("broken \xff")));
    }
    ASSERT_TRUE(open());
    EXPECT_EQ(seen_, (std::vector<Json>{"broken \xef\xbf\xbd"}));
}

TEST_F(LineLogs, SayWhereTheyCannotWrite) {
    file_ = temporary_->path() / "missing" / "log.jsonl";
    const auto log = open();
    ASSERT_FALSE(log);
    EXPECT_EQ(log.error().kind, ErrorKind::machine);
    EXPECT_NE(log.error().message.find(file_.string()), std::string::npos);
}

} // namespace
} // namespace cuda_agent
