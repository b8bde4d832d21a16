// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/from_session.h"

#include "core/session/log.h"
#include "tests/core/export/export_fixture.h"

#include <unistd.h>

namespace cuda_agent::exporter {
namespace {

using session::EventType;

class FromSession : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "export-test-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        log_.emplace(session::Log::create(folder_ / "session").value());
    }
    void TearDown() override {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    std::string put(const std::string &text) { return log_->putBlob(text).value(); }

    void begin() {
        ASSERT_TRUE(log_->append(
            EventType::sessionStarted, 0,
            {{"task", {{"name", "mixed"}, {"blob", put(mixed_.text)}}},
             {"overrides", {{"rows", "12"}}},
             {"numerics", "tf32"},
             {"device", {{"kind", "cuda"}, {"name", "NVIDIA H200"}, {"architecture", "sm_90"}}}}));
        ASSERT_TRUE(log_->append(EventType::taskDescribed, 0, mixed_.description.toJson()));
    }

    void turn(int number, bool correct, double seconds) {
        const Json plan = plan::toJson(mixed_.plan);
        Json verdict{{"correct", correct}, {"strength", "full"}};
        if (correct)
            verdict["times"]["candidate"]["seconds"] = seconds;
        ASSERT_TRUE(log_->append(EventType::turnStarted, number, Json::object()));
        ASSERT_TRUE(log_->append(
            EventType::verdictGiven, number,
            {{"verdict", verdict},
             {"candidate",
              {{"plan.json", put(plan.dump())},
               {"kernels/softmax.cu",
                put(fmt::format("// {}\n", number) + mixed_.kernels.at("kernels/softmax.cu"))}}}}));
        ASSERT_TRUE(log_->append(EventType::turnEnded, number, Json::object()));
    }

    Result<Source> read(int number = 0) { return sourceFromSession(folder_ / "session", number); }

    std::filesystem::path folder_;
    std::optional<session::Log> log_;
    Source mixed_ = mixedSource();
};

TEST_F(FromSession, TheBestCandidate) {
    begin();
    turn(1, true, 3e-3);
    turn(2, true, 2e-3);
    turn(3, false, 0);
    const auto source = read();
    ASSERT_TRUE(source) << source.error().message;
    EXPECT_TRUE(source->kernels.at("kernels/softmax.cu").starts_with("// 2\n"));
    EXPECT_EQ(source->task, "mixed");
    EXPECT_EQ(source->device, device::Kind::cuda);
    EXPECT_EQ(source->numerics, task::Numerics::tf32);
    EXPECT_EQ(source->plan.steps.size(), 6u);
    const auto extension = makeExtension(*source);
    ASSERT_TRUE(extension) << extension.error().message;
    EXPECT_TRUE(contains(extension->files.at("src/mixed_extension/reference.py"), "\nrows = 12\n"));
    EXPECT_TRUE(read(1)->kernels.at("kernels/softmax.cu").starts_with("// 1\n"));
}

TEST_F(FromSession, WithoutACorrectCandidateThereIsNothing) {
    begin();
    turn(1, false, 0);
    for (const int number : {0, 1}) {
        const auto source = read(number);
        ASSERT_FALSE(source);
        EXPECT_EQ(source.error().kind, ErrorKind::failed);
        EXPECT_TRUE(contains(source.error().message, "no correct candidate"));
    }
    EXPECT_EQ(read(2).error().kind, ErrorKind::request);
}

TEST_F(FromSession, AFolderWithoutALogIsARequestError) {
    const auto source = sourceFromSession(folder_ / "nothing");
    ASSERT_FALSE(source);
    EXPECT_EQ(source.error().kind, ErrorKind::request);
}

TEST_F(FromSession, ALogThatDoesNotTellItsTaskIsARequestError) {
    turn(1, true, 1e-3);
    const auto source = read();
    ASSERT_FALSE(source);
    EXPECT_EQ(source.error().kind, ErrorKind::request);
}

} // namespace
} // namespace cuda_agent::exporter
