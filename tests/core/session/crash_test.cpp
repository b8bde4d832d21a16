// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/log.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <csignal>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

namespace cuda_agent::session {
namespace {

constexpr int kills = 30;

std::string textOf(std::int64_t sequence) {
    return fmt::format("event {} {}", sequence,
                       std::string(static_cast<std::size_t>(sequence * 37 % 5000), 'x'));
}

/// Appends until it is killed; tells through `progress` how many appends have returned.
[[noreturn]] void writeForever(const std::filesystem::path &folder, int progress) {
    auto log = Log::open(folder);
    if (!log)
        ::_exit(1);
    for (;;) {
        const std::int64_t sequence = log->nextSequence();
        const auto type = sequence % 50 == 0 ? EventType::verdictGiven : EventType::thought;
        if (!log->putBlob(textOf(sequence)) || !log->append(type, 1, {{"text", textOf(sequence)}}))
            ::_exit(2);
        if (::write(progress, &sequence, sizeof sequence) != sizeof sequence)
            ::_exit(3);
    }
}

TEST(Crash, AKilledWriterLosesNothingThatWasAppended) {
    TemporaryFolder folder;
    { ASSERT_TRUE(Log::create(folder.path())); }
    std::mt19937 random(7);
    std::size_t before = 0;
    for (int round = 0; round < kills; ++round) {
        SCOPED_TRACE(round);
        int pipe[2];
        ASSERT_EQ(::pipe(pipe), 0);
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            ::close(pipe[0]);
            writeForever(folder.path(), pipe[1]);
        }
        ::close(pipe[1]);
        std::int64_t acknowledged = -1; // waits for the first append, so that each round writes
        ASSERT_EQ(::read(pipe[0], &acknowledged, sizeof acknowledged),
                  static_cast<ssize_t>(sizeof acknowledged));
        ::usleep(random() % 4000);
        ASSERT_EQ(::kill(child, SIGKILL), 0);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself: " << status;
        for (std::int64_t next; ::read(pipe[0], &next, sizeof next) == sizeof next;)
            acknowledged = next;
        ::close(pipe[0]);

        const auto contents = readLog(folder.path());
        ASSERT_TRUE(contents) << contents.error().message;
        EXPECT_GE(contents->events.size(), static_cast<std::size_t>(acknowledged) + 1);
        EXPECT_GT(contents->events.size(), before);
        before = contents->events.size();
        for (std::size_t i = 0; i < contents->events.size(); ++i)
            ASSERT_EQ(contents->events[i].data["text"], textOf(static_cast<std::int64_t>(i)));
    }
    auto log = Log::open(folder.path());
    ASSERT_TRUE(log) << log.error().message;
    ASSERT_TRUE(log->append(EventType::note, 0, {{"text", "it goes on"}}));
    EXPECT_EQ(readLog(folder.path())->events.size(), before + 1);
}

TEST(Crash, ALockDiesWithItsWriter) {
    TemporaryFolder folder;
    { ASSERT_TRUE(Log::create(folder.path())); }
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const auto log = Log::open(folder.path());
        const char ready = log ? 'y' : 'n';
        std::ignore = ::write(pipe[1], &ready, 1);
        ::pause();
        ::_exit(0);
    }
    char ready = 0;
    ASSERT_EQ(::read(pipe[0], &ready, 1), 1);
    ASSERT_EQ(ready, 'y');
    const auto second = Log::open(folder.path());
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message.find(std::to_string(child)), std::string::npos)
        << second.error().message;
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(Log::open(folder.path()));
    ::close(pipe[0]);
    ::close(pipe[1]);
}

} // namespace
} // namespace cuda_agent::session
