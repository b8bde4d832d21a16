// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/own_tries.h"

#include "core/base/temporary_folder.h"
#include "core/session/log.h"

#include <gtest/gtest.h>

namespace cuda_agent::learn {
namespace {

namespace fs = std::filesystem;
using session::EventType;

struct Told {
    std::string task = "relu", device = "cpu", kernels = "one", plan = R"({"version": 1})";
    bool correct = false, judged = true;
    std::string other = {}; ///< a further file
    bool called = false;    ///< with the call and what it was answered
};

class OwnTries : public testing::Test {
  protected:
    void SetUp() override {
        auto folder = TemporaryFolder::make("tries");
        ASSERT_TRUE(folder);
        folder_.emplace(std::move(*folder));
    }
    /// A session of one turn below the folder.
    void write(const std::string &name, const Told &told) {
        const auto place = folder_->path() / "rollouts" / name;
        fs::create_directories(place.parent_path());
        auto log = session::Log::create(place);
        ASSERT_TRUE(log) << log.error().message;
        const auto append = [&](EventType type, Json data) {
            ASSERT_TRUE(log->append(type, type == EventType::sessionStarted ? 0 : 1, data));
        };
        Json files = Json::object();
        const auto put = [&](const std::string &path, const std::string &text) {
            if (!text.empty())
                files[path] = log->putBlob(text).value();
        };
        put("plan.json", told.plan);
        put(kernelFile, told.kernels);
        put("kernels/more.cu", told.other);
        append(EventType::sessionStarted,
               {{"task", {{"name", told.task}, {"blob", log->putBlob("class Model").value()}}},
                {"device", {{"kind", told.device}, {"name", "A Device"}}}});
        append(EventType::taskDescribed, {{"described", true}});
        append(EventType::turnStarted, Json::object());
        append(EventType::thought, {{"text", "by " + name}});
        if (told.called)
            append(EventType::action,
                   {{"id", "1-1"}, {"tool", "Verify"}, {"arguments", Json::object()}});
        if (told.judged)
            append(EventType::verdictGiven,
                   {{"verdict", {{"correct", told.correct}}}, {"candidate", files}});
        if (told.called)
            append(EventType::observation, {{"id", "1-1"},
                                            {"ok", false},
                                            {"text", "no, by far"},
                                            {"seconds", 0},
                                            {"data", Json::object()}});
        append(EventType::turnEnded, Json::object());
    }
    auto read(TriesWanted wanted = TriesWanted::wrong) {
        return readOwnTries(folder_->path(), device::Kind::cpu, wanted);
    }

    std::optional<TemporaryFolder> folder_;
};

TEST_F(OwnTries, AreTheWrongFirstTurnsOfEachTask) {
    write("step-2/b", {.kernels = "two"});
    write("step-1/a", {});
    write("step-1/c", {.task = "softmax"});
    const auto tries = read();
    ASSERT_TRUE(tries) << tries.error().message;
    ASSERT_EQ(tries->size(), 2u);
    const auto &relu = tries->at("relu");
    ASSERT_EQ(relu.size(), 2u);
    EXPECT_EQ(relu[0].thought, "by step-1/a");
    EXPECT_EQ(relu[0].written.kernels, "one");
    EXPECT_EQ(relu[0].written.plan, Json({{"version", 1}}));
    EXPECT_EQ(relu[1].written.kernels, "two");
    EXPECT_EQ(tries->at("softmax").size(), 1u);
}

TEST_F(OwnTries, LeaveOutWhatIsNoneOrWasThere) {
    write("a", {});
    write("again", {});
    write("right", {.kernels = "good", .correct = true});
    write("unjudged", {.kernels = "new", .judged = false});
    write("elsewhere", {.device = "cuda", .kernels = "fast"});
    write("garbled", {.kernels = "k", .plan = "{"});
    write("bare", {.kernels = ""});
    write("two-files", {.kernels = "three", .other = "four"});
    fs::create_directories(folder_->path() / "torn");
    ASSERT_TRUE(writeFileAtomically(folder_->path() / "torn" / "session.jsonl", "no session"));
    const auto tries = read();
    ASSERT_TRUE(tries) << tries.error().message;
    ASSERT_EQ(tries->size(), 1u);
    ASSERT_EQ(tries->at("relu").size(), 1u);
    EXPECT_EQ(tries->at("relu")[0].thought, "by a");
}

TEST_F(OwnTries, VerifiedOnesComeWithWhatWasAnswered) {
    write("wrong", {.called = true});
    write("right", {.kernels = "good", .correct = true, .called = true});
    write("refused", {.kernels = "new", .judged = false, .called = true});
    write("not-called", {.kernels = "other"});
    const auto tries = read(TriesWanted::verified);
    ASSERT_TRUE(tries) << tries.error().message;
    const auto &relu = tries->at("relu");
    ASSERT_EQ(relu.size(), 3u);
    EXPECT_EQ(relu[0].thought, "by refused");
    EXPECT_FALSE(relu[0].verdict.compiled || relu[0].verdict.correct);
    EXPECT_TRUE(relu[1].verdict.correct);
    EXPECT_FALSE(relu[2].verdict.correct);
    EXPECT_EQ(relu[2].turn.by, chat::Author::policy);
    EXPECT_NE(relu[2].turn.text.find("by wrong\n</think>"), std::string::npos);
    EXPECT_NE(relu[2].turn.text.find("<function=Verify>"), std::string::npos);
    EXPECT_NE(relu[2].answer.text.find("no, by far"), std::string::npos);
    EXPECT_EQ(relu[2].source, "class Model");
    EXPECT_EQ(relu[2].device, "A Device");
    EXPECT_EQ(relu[2].description, Json({{"described", true}}));
}

TEST_F(OwnTries, AFolderWithoutAnyIsSaidSo) {
    write("right", {.correct = true});
    const auto none = read();
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::request);
    EXPECT_NE(none.error().message.find(folder_->path().string()), std::string::npos);
    EXPECT_EQ(
        readOwnTries(folder_->path() / "none", device::Kind::cpu, TriesWanted::wrong).error().kind,
        ErrorKind::request);
}

} // namespace
} // namespace cuda_agent::learn
