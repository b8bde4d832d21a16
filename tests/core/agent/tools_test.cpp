// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/agent/tools.h"
#include "core/base/hash.h"

#include <gtest/gtest.h>

namespace cuda_agent::agent {
namespace {

namespace fs = std::filesystem;

class ToolsTest : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::path(testing::TempDir()) / fmt::format("tools-{:x}", randomSeed());
        auto log = session::Log::create(folder_);
        ASSERT_TRUE(log) << log.error().message;
        recorder_.emplace(std::move(*log), session::State());
        workspace_ = {folder_ / "candidate", nullptr, &*recorder_};
    }
    void TearDown() override { fs::remove_all(folder_); }

    session::Observation call(const std::string &tool, Json arguments) {
        auto observation = callTool(workspace_, {"call-1", tool, std::move(arguments)}, 1, {});
        EXPECT_TRUE(observation);
        return observation.value_or(session::Observation{});
    }

    fs::path folder_;
    std::optional<Recorder> recorder_;
    Workspace workspace_;
};

TEST_F(ToolsTest, WritesAFileAndLogsIt) {
    const auto observation = call("Write", {{"path", "kernels/a.cu"}, {"content", "text"}});
    EXPECT_TRUE(observation.ok);
    EXPECT_EQ(observation.id, "call-1");
    EXPECT_EQ(readTextFile(folder_ / "candidate/kernels/a.cu").value(), "text");
    const auto &files = recorder_->state().files;
    ASSERT_EQ(files.size(), 1u);
    EXPECT_EQ(session::readBlob(folder_, files.at("kernels/a.cu")).value(), "text");
}

TEST_F(ToolsTest, KeepsWritesInsideTheCandidate) {
    for (const auto *path : {"../a.cu", "/etc/a.cu", "kernels/../../a.cu", "", ".hidden.cu",
                             "kernels/.git/a.cu", "run.sh", "model.py", "kernels/plan.json"}) {
        const auto observation = call("Write", {{"path", path}, {"content", "text"}});
        EXPECT_FALSE(observation.ok) << path;
        EXPECT_NE(observation.text.find("kernels/fused.cu"), std::string::npos) << path;
    }
    EXPECT_TRUE(recorder_->state().files.empty());
}

TEST_F(ToolsTest, AnswersBadArgumentsWithWhatToChange) {
    EXPECT_NE(call("Write", {{"path", "plan.json"}}).text.find("content"), std::string::npos);
    EXPECT_NE(call("Write", Json::array()).text.find("object"), std::string::npos);
    EXPECT_NE(call("Paint", Json::object()).text.find("Write, Compile or Verify"),
              std::string::npos);
    EXPECT_NE(call("Verify", {{"strength", "some"}}).text.find("training"), std::string::npos);
    EXPECT_NE(call("Compile", Json::object()).text.find("plan.json"), std::string::npos);
    EXPECT_FALSE(
        call("Write", {{"path", "plan.json"}, {"content", std::string(2u << 20, 'x')}}).ok);
}

TEST(ToolSchemas, NameEveryToolThatCallToolKnows) {
    std::vector<std::string> names;
    for (const auto &schema : toolSchemas())
        names.push_back(schema.at("function").at("name"));
    EXPECT_EQ(names, (std::vector<std::string>{"Write", "Compile", "Verify"}));
}

TEST(Summary, SaysWhatAPersonWantsToKnow) {
    EXPECT_EQ(summaryOf({{"correct", false}, {"problem", "guard zones: wrote outside"}}),
              "guard zones: wrote outside");
    EXPECT_EQ(summaryOf({{"correct", true},
                         {"reward", 3},
                         {"times", {{"candidate", {{"seconds", 0.00125}}}}},
                         {"speedup", {{"eager", 2.5}, {"compile", 1.5}}},
                         {"fraction_of_limit", 0.91}}),
              "correct, reward 3: 1.250 ms, 2.50x eager, 1.50x torch.compile, 91 % of this "
              "machine's limit");
    EXPECT_EQ(formatSeconds(1.5e-5), "15.0 us");
    EXPECT_EQ(formatSeconds(2), "2.00 s");
}

} // namespace
} // namespace cuda_agent::agent
