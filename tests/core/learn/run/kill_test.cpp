// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/run/run_reader.h"
#include "core/learn/run/run_writer.h"
#include "tests/core/session/temporary_folder.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

namespace cuda_agent::learn {
namespace {

constexpr int kills = 25;

double valueAt(std::int64_t step) {
    return static_cast<double>(step) * 0.5;
}

/// Trains until it is killed; tells through `progress` each step whose row was logged.
[[noreturn]] void trainForever(const std::filesystem::path &folder, std::int64_t from,
                               int progress) {
    auto run = RunWriter::resume(folder, from);
    if (!run)
        ::_exit(1);
    for (std::int64_t step = from;; ++step) {
        RunStatus status;
        status.stage = step % 7 ? "a" : "b"; // another one each time, so that it is written
        status.step = step;
        if (!run->log(step, status.stage, {{"x", valueAt(step)}, {"long/name/of/a/metric", 1}}) ||
            !run->setStatus(status) || !run->addRollout({step, "t", 1, 1, "s", ""}))
            ::_exit(2);
        if (::write(progress, &step, sizeof step) != sizeof step)
            ::_exit(3);
    }
}

TEST(Kill, AKilledTrainerLosesNothingThatWasLogged) {
    const session::TemporaryFolder dir;
    const auto folder = dir.path() / "run";
    { ASSERT_TRUE(RunWriter::create(folder, {})); }
    RunReader follower(folder); // reads all the time, as the window does
    std::mt19937 random(11);
    std::int64_t from = 0;
    for (int round = 0; round < kills; ++round) {
        SCOPED_TRACE(round);
        int pipe[2];
        ASSERT_EQ(::pipe(pipe), 0);
        // So far ahead of a slow reader it gets: a page of steps.
        ASSERT_GE(::fcntl(pipe[1], F_SETPIPE_SZ, 4096), 4096);
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            ::close(pipe[0]);
            trainForever(folder, from, pipe[1]);
        }
        ::close(pipe[1]);
        std::int64_t logged = -1;
        ASSERT_EQ(::read(pipe[0], &logged, sizeof logged), static_cast<ssize_t>(sizeof logged));
        const auto wait = random() % 4000;
        for (unsigned slept = 0; slept < wait; slept += 500) {
            follower.read();
            EXPECT_EQ(follower.problem(), "");
            ::usleep(500);
        }
        ASSERT_EQ(::kill(child, SIGKILL), 0);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status));
        for (std::int64_t next; ::read(pipe[0], &next, sizeof next) == sizeof next;)
            logged = next;
        ::close(pipe[0]);
        // Every row that was acknowledged is there, in order and right.
        RunReader reader(folder);
        reader.read();
        const auto &series = reader.metrics().metrics().at("x");
        ASSERT_GE(static_cast<std::int64_t>(series.size()), logged + 1);
        for (std::size_t i = 0; i < series.size(); ++i) {
            ASSERT_EQ(series.step[i], static_cast<double>(i));
            ASSERT_EQ(series.value[i], valueAt(static_cast<std::int64_t>(i)));
        }
        EXPECT_EQ(reader.metrics().badCount(), 0u);
        EXPECT_EQ(reader.problem(), "");
        EXPECT_EQ(reader.status()->state, RunState::running); // it could not say otherwise
        EXPECT_FALSE(isHeld(folder));
        follower.read();
        ASSERT_EQ(follower.metrics().metrics().at("x").value, series.value);
        EXPECT_EQ(follower.rollouts().rows().size(), reader.rollouts().rows().size());
        // It goes on from an earlier checkpoint, or right there.
        from = logged + 1 - static_cast<std::int64_t>(random() % 3);
        from = std::max<std::int64_t>(from, 0);
    }
    for (const auto &entry : std::filesystem::directory_iterator(folder))
        EXPECT_FALSE(entry.path().filename().string().starts_with("run.json."));
}

} // namespace
} // namespace cuda_agent::learn
