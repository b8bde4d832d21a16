// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/transformer/model_process.h"

#include "core/base/temporary_folder.h"
#include "tests/source_dir.h"

#include <gtest/gtest.h>

#include <signal.h>

#include <chrono>
#include <future>
#include <thread>

namespace cuda_agent::policy {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class ModelProcessTest : public testing::Test {
  protected:
    Result<std::shared_ptr<ModelProcess>> start(const std::string &mode) {
        ModelOptions options;
        options.weights = folder_.path();
        options.device = "cpu";
        options.rows = 2;
        options.program = {"/usr/bin/env", "python3", "-B",
                           sourceDir() / "tests/core/policy/transformer/fake_model.py", mode};
        return ModelProcess::start(options, {});
    }
    std::unique_ptr<Conversation> open(const std::shared_ptr<ModelProcess> &process) {
        auto conversation = process->open({}, {});
        EXPECT_TRUE(conversation) << conversation.error().message;
        return conversation ? std::move(*conversation) : nullptr;
    }
    static Result<Written> write(Conversation &conversation, const std::string &text,
                                 std::uint64_t seed = 1, const std::stop_token &stop = {}) {
        return conversation.write({{chat::Author::context, text}}, {seed}, stop);
    }
    /// The error of a write in that mode.
    Error errorIn(const std::string &mode) {
        auto process = start(mode);
        EXPECT_TRUE(process) << process.error().message;
        if (!process)
            return {};
        const auto conversation = open(*process);
        const auto written = write(*conversation, "a");
        EXPECT_FALSE(written);
        if (written)
            return {};
        // And of everything after it.
        EXPECT_FALSE(write(*conversation, "b"));
        return written.error();
    }
    std::string heard() const { return readTextFile(folder_.path() / "heard.jsonl").value_or(""); }
    /// Waits until the process has heard it.
    bool hears(const std::string &what) const {
        for (const auto until = Clock::now() + 10s; Clock::now() < until;
             std::this_thread::sleep_for(10ms))
            if (heard().find(what) != std::string::npos)
                return true;
        return false;
    }

    TemporaryFolder folder_ = TemporaryFolder::make("fake-model").value();
};

TEST_F(ModelProcessTest, TellsWhatTheModelIsAndWritesItsTurns) {
    auto process = start("plain");
    ASSERT_TRUE(process) << process.error().message;
    const auto &facts = (*process)->facts();
    EXPECT_EQ(facts.name, "fake");
    EXPECT_EQ(facts.parameters, 1234);
    EXPECT_EQ(facts.context, 256);
    const auto conversation = open(*process);
    const auto written = write(*conversation, "a \"text\"\nof two lines", ~0ull);
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_EQ(written->text, "a \"text\"\nof two lines by 18446744073709551615<|im_end|>");
    EXPECT_EQ(written->end, Written::End::turn);
    EXPECT_EQ(written->readTokens, 10);
    EXPECT_EQ(written->writtenTokens, 5);
}

TEST_F(ModelProcessTest, PiecesComeWhileATurnIsWritten) {
    auto process = start("stream");
    ASSERT_TRUE(process) << process.error().message;
    std::string heard;
    std::thread::id where;
    const auto streamed = [&](const std::string &piece) -> Result<void> {
        heard += piece;
        where = std::this_thread::get_id();
        return {};
    };
    const auto conversation = (*process)->open({}, {}, streamed);
    ASSERT_TRUE(conversation) << conversation.error().message;
    const auto written = write(**conversation, "text");
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_EQ(written->text, "text by 1<|im_end|>");
    EXPECT_EQ(heard, "<think>\nhalf a word \u20ac");
    EXPECT_EQ(where, std::this_thread::get_id());
}

TEST_F(ModelProcessTest, AListenerMayEndTheTurn) {
    auto process = start("chatter");
    ASSERT_TRUE(process) << process.error().message;
    int pieces = 0;
    const auto full = [&](const std::string &) -> Result<void> {
        if (++pieces == 3)
            return machineError("the disk is full");
        return {};
    };
    const auto conversation = (*process)->open({}, {}, full);
    ASSERT_TRUE(conversation) << conversation.error().message;
    const auto written = write(**conversation, "text");
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().message, "the disk is full");
    EXPECT_EQ(pieces, 3);
    EXPECT_TRUE(hears("\"cancel\""));
    // A stop is heard in the middle of it, too.
    std::stop_source source;
    const auto stopping = [&](const std::string &) -> Result<void> {
        source.request_stop();
        return {};
    };
    const auto another = (*process)->open({}, {}, stopping);
    ASSERT_TRUE(another) << another.error().message;
    const auto stopped = write(**another, "text", 1, source.get_token());
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind, ErrorKind::stopped);
}

TEST_F(ModelProcessTest, AnswersComeInAnyOrder) {
    auto process = start("backwards");
    ASSERT_TRUE(process) << process.error().message;
    const auto one = open(*process), two = open(*process);
    for (int round = 0; round < 20; ++round) {
        auto first = std::async(std::launch::async, [&] { return write(*one, "one", 1); });
        auto second = std::async(std::launch::async, [&] { return write(*two, "two", 2); });
        const auto a = first.get(), b = second.get();
        ASSERT_TRUE(a && b);
        EXPECT_EQ(a->text, "one by 1<|im_end|>");
        EXPECT_EQ(b->text, "two by 2<|im_end|>");
    }
}

TEST_F(ModelProcessTest, ADeathIsToldWithTheLastWords) {
    const auto error = errorIn("die");
    EXPECT_EQ(error.kind, ErrorKind::machine);
    EXPECT_NE(error.message.find("signal 9"), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("the first line /   what went ?[31mwrong"), std::string::npos)
        << error.message;
}

TEST_F(ModelProcessTest, ADeathEndsAllThatWait) {
    auto process = start("patient");
    ASSERT_TRUE(process) << process.error().message;
    const auto one = open(*process), two = open(*process);
    auto first = std::async(std::launch::async, [&] { return write(*one, "slow"); });
    auto second = std::async(std::launch::async, [&] { return write(*two, "slow"); });
    ASSERT_TRUE(hears("\"conversation\": 1") && hears("\"conversation\": 2"));
    ::kill((*process)->pid(), SIGKILL);
    for (auto *each : {&first, &second}) {
        const auto written = each->get();
        ASSERT_FALSE(written);
        EXPECT_EQ(written.error().kind, ErrorKind::machine);
    }
    const auto late = (*process)->open({}, {});
    ASSERT_FALSE(late);
    EXPECT_NE(late.error().message.find("signal 9"), std::string::npos) << late.error().message;
}

TEST_F(ModelProcessTest, GarbageEndsIt) {
    EXPECT_NE(errorIn("garbage").message.find("was ended, for the worker sent a malformed frame"),
              std::string::npos);
    EXPECT_NE(errorIn("no-object").message.find("not a JSON object"), std::string::npos);
}

TEST_F(ModelProcessTest, NonsenseIsNoAnswer) {
    auto process = start("nonsense");
    ASSERT_TRUE(process) << process.error().message;
    const auto conversation = open(*process);
    const auto written = write(*conversation, "a");
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, ErrorKind::machine);
    EXPECT_NE(written.error().message.find("without a text"), std::string::npos);
}

TEST_F(ModelProcessTest, AStopCancelsOneTurnOnly) {
    auto process = start("patient");
    ASSERT_TRUE(process) << process.error().message;
    const auto one = open(*process), two = open(*process);
    std::stop_source source;
    auto slow =
        std::async(std::launch::async, [&] { return write(*one, "slow", 1, source.get_token()); });
    ASSERT_TRUE(hears("\"slow\""));
    const auto begin = Clock::now();
    source.request_stop();
    const auto stopped = slow.get();
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind, ErrorKind::stopped);
    EXPECT_LT(Clock::now() - begin, 5s);
    EXPECT_TRUE(hears("\"cancel\""));
    const auto written = write(*two, "quick", 3);
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_EQ(written->text, "quick by 3<|im_end|>");
}

TEST_F(ModelProcessTest, WhatIsOpenedTooLateIsClosed) {
    auto process = start("slow-open");
    ASSERT_TRUE(process) << process.error().message;
    std::stop_source source;
    auto late =
        std::async(std::launch::async, [&] { return (*process)->open({}, source.get_token()); });
    ASSERT_TRUE(hears("\"open\""));
    source.request_stop();
    EXPECT_FALSE(late.get());
    EXPECT_TRUE(hears(R"("conversation": 1, "op": "close")"));
}

TEST_F(ModelProcessTest, ConversationsAreClosedAndKeepTheProcess) {
    auto process = start("plain");
    ASSERT_TRUE(process) << process.error().message;
    const int pid = (*process)->pid();
    auto one = open(*process), two = open(*process);
    one.reset();
    EXPECT_TRUE(hears(R"("conversation": 1, "op": "close")"));
    process->reset();
    EXPECT_TRUE(write(*two, "still there"));
    EXPECT_EQ(::kill(pid, 0), 0);
    two.reset();
    EXPECT_EQ(::kill(pid, 0), -1) << "it ends with those who use it";
}

TEST_F(ModelProcessTest, WhatKeepsItFromStartingIsTold) {
    const auto problem = [&](const std::string &mode) {
        const auto process = start(mode);
        return process ? Error{ErrorKind::failed, ""} : process.error();
    };
    const auto refused = problem("refuse");
    EXPECT_EQ(refused.kind, ErrorKind::request);
    EXPECT_EQ(refused.message, "these weights are no good");
    const auto libraries = problem("no-libraries");
    EXPECT_EQ(libraries.kind, ErrorKind::machine);
    EXPECT_NE(libraries.message.find("exit code 127"), std::string::npos) << libraries.message;
    EXPECT_NE(libraries.message.find("libtorch_cpu.so"), std::string::npos);
    EXPECT_NE(libraries.message.find("LD_LIBRARY_PATH"), std::string::npos);
    EXPECT_NE(problem("no-facts").message.find("does not tell its sha256"), std::string::npos);
}

TEST_F(ModelProcessTest, AMissingProgramIsNamed) {
    ::setenv("CUDA_AGENT_BIN", folder_.path().c_str(), 1);
    ModelOptions options;
    options.weights = folder_.path();
    const auto process = ModelProcess::start(options, {});
    ::unsetenv("CUDA_AGENT_BIN");
    ASSERT_FALSE(process);
    EXPECT_EQ(process.error().kind, ErrorKind::machine);
    EXPECT_NE(process.error().message.find("cuda-agent-learn"), std::string::npos);
    EXPECT_NE(process.error().message.find("packaging/setup"), std::string::npos)
        << process.error().message;
}

} // namespace
} // namespace cuda_agent::policy
