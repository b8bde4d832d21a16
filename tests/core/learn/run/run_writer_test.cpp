// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/run/event_file.h"
#include "core/learn/run/metrics_store.h"
#include "core/learn/run/run_writer.h"
#include "tests/core/session/temporary_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cuda_agent::learn {
namespace {

using session::readAll;
using session::TemporaryFolder;
using session::writeAll;
using Numbers = std::vector<double>;

RunInfo infoOf(const char *name) {
    RunInfo info;
    info.name = name;
    info.recipe = "seed = 1\n";
    return info;
}

/// Every event file of the folder, oldest first.
EventBatch eventsOf(const std::filesystem::path &folder) {
    std::vector<std::filesystem::path> files;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
        if (entry.path().filename().string().find("tfevents") != std::string::npos)
            files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    EventBatch batch;
    for (const auto &file : files) {
        EventFileReader reader;
        reader.feed(readAll(file), batch);
        EXPECT_EQ(reader.badRecords(), 0u);
        EXPECT_FALSE(reader.broken());
        EXPECT_EQ(reader.pending(), 0u);
    }
    return batch;
}

TEST(RunWriter, WritesRowsAndEvents) {
    const TemporaryFolder dir;
    const auto folder = dir.path() / "runs/a";
    {
        auto run = RunWriter::create(folder, infoOf("a"));
        ASSERT_TRUE(run) << run.error().message;
        ASSERT_TRUE(run->log(0, "pretrain", {{"train/loss", 2.5}, {"train/tokens", 100}}));
        ASSERT_TRUE(run->log(1, "pretrain", {{"train/loss", NAN}, {"x", INFINITY}}));
        ASSERT_TRUE(run->log(1, "rft", {{"x", -INFINITY}}));
        EXPECT_FALSE(run->log(0, "rft", {{"x", 1}}));
        EXPECT_FALSE(run->log(2, "rft", {}));
        EXPECT_FALSE(run->log(2, "rft", {{"", 1}}));
        EXPECT_FALSE(run->log(2, "rft", {{"a\nb", 1}}));
        EXPECT_FALSE(run->log(2, "rft", {{std::string(201, 'x'), 1}}));
    }
    EXPECT_EQ(readAll(recipeFile(folder)), "seed = 1\n");
    const std::string text = readAll(metricsFile(folder));
    EXPECT_TRUE(text.starts_with("{\"step\":0,\"stage\":\"pretrain\",\"time\":")) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
    MetricsStore store(folder);
    store.read();
    EXPECT_EQ(store.badCount(), 0u);
    const MetricSeries &loss = store.metrics().at("train/loss");
    EXPECT_EQ(loss.step, (Numbers{0, 1}));
    EXPECT_EQ(loss.value[0], 2.5);
    EXPECT_TRUE(std::isnan(loss.value[1]));
    EXPECT_EQ(loss.tokens[0], 100);
    EXPECT_TRUE(std::isnan(loss.tokens[1]));
    EXPECT_GT(loss.time[0], 1.7e9);
    EXPECT_EQ(store.metrics().at("x").value, (Numbers{INFINITY, -INFINITY}));
    ASSERT_EQ(store.stages().size(), 2u);
    EXPECT_EQ(store.stages()[0].stage, "pretrain");
    EXPECT_EQ(store.stages()[0].last.step, 1);
    EXPECT_EQ(store.stages()[1].stage, "rft");
    const EventBatch events = eventsOf(folder);
    ASSERT_EQ(events.scalars.size(), 5u);
    EXPECT_EQ(events.scalars[0].tag, "train/loss");
    EXPECT_EQ(events.scalars[0].value, 2.5);
    EXPECT_EQ(events.scalars[4].step, 1);
    EXPECT_EQ(events.scalars[4].value, -INFINITY);
}

TEST(RunWriter, OneAtATime) {
    const TemporaryFolder dir;
    const auto folder = dir.path() / "a";
    {
        auto first = RunWriter::create(folder, infoOf("a"));
        ASSERT_TRUE(first);
        EXPECT_TRUE(isHeld(folder));
        const auto second = RunWriter::resume(folder, 0);
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().kind, ErrorKind::request);
        EXPECT_NE(second.error().message.find("being written by another trainer (process " +
                                              std::to_string(::getpid())),
                  std::string::npos)
            << second.error().message;
        // Nor from another process.
        const pid_t child = ::fork();
        if (child == 0)
            ::_exit(RunWriter::resume(folder, 0) ? 1 : 0);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(WEXITSTATUS(status), 0);
    }
    EXPECT_FALSE(isHeld(folder));
    EXPECT_FALSE(RunWriter::create(folder, infoOf("a"))); // there is one already
    EXPECT_FALSE(RunWriter::resume(dir.path() / "b", 0));
    EXPECT_FALSE(std::filesystem::exists(dir.path() / "b"));
    EXPECT_TRUE(RunWriter::resume(folder, 0));
}

TEST(RunWriter, ResumingCutsWhatComesLater) {
    const TemporaryFolder dir;
    const auto folder = dir.path() / "a";
    {
        auto run = RunWriter::create(folder, infoOf("a"));
        ASSERT_TRUE(run);
        for (int step = 0; step < 10; ++step) {
            ASSERT_TRUE(run->log(step, step < 8 ? "pretrain" : "rft", {{"a", step}}));
            ASSERT_TRUE(run->addRollout({step, "task", 1, 2, "s", ""}));
        }
        RunStatus status;
        status.state = RunState::failed;
        status.error = "out of memory";
        status.tokens = 77;
        ASSERT_TRUE(run->setStatus(status));
    }
    MetricsStore store(folder); // one that follows all the time
    store.read();
    writeAll(metricsFile(folder), readAll(metricsFile(folder)) + "{\"step\":10,\"sta");
    const std::string before = readStatus(folder)->start;
    {
        auto run = RunWriter::resume(folder, 6);
        ASSERT_TRUE(run) << run.error().message;
        EXPECT_EQ(run->info().name, "a");
        EXPECT_EQ(run->status().tokens, 77);
        EXPECT_EQ(run->status().state, RunState::running);
        EXPECT_FALSE(run->log(4, "pretrain", {{"a", 1}}));
        ASSERT_TRUE(run->log(6, "pretrain", {{"a", 60}}));
        ASSERT_TRUE(run->log(7, "pretrain", {{"a", 70}}));
        const auto status = readStatus(folder);
        ASSERT_TRUE(status);
        EXPECT_EQ(status->error, "");
        EXPECT_NE(status->start, before);
    }
    store.read();
    EXPECT_EQ(store.metrics().at("a").value, (Numbers{0, 1, 2, 3, 4, 5, 60, 70}));
    EXPECT_EQ(store.badCount(), 0u);
    ASSERT_EQ(store.stages().size(), 1u);
    EXPECT_FALSE(std::filesystem::exists(rolloutFolder(folder, 6)));
    EXPECT_TRUE(std::filesystem::exists(rolloutFolder(folder, 5)));
    const EventBatch events = eventsOf(folder);
    ASSERT_EQ(events.purges.size(), 2u);
    EXPECT_EQ(events.purges[0].at, 0u);
    EXPECT_EQ(events.purges[1].at, 10u);
    EXPECT_EQ(events.purges[1].step, 6);
    ASSERT_EQ(events.scalars.size(), 12u);
    EXPECT_EQ(events.scalars.back().value, 70);
    // Without metrics.jsonl the event files tell the same.
    std::filesystem::remove(metricsFile(folder));
    MetricsStore other(folder);
    other.read();
    EXPECT_EQ(other.metrics().at("a").value, (Numbers{0, 1, 2, 3, 4, 5, 60, 70}));
    // From a folder that lost its rows, and from the begin.
    EXPECT_TRUE(RunWriter::resume(folder, 0));
    EXPECT_EQ(readAll(metricsFile(folder)), "");
}

TEST(RunWriter, KeepsLinesOfOthersWhenResuming) {
    const TemporaryFolder dir;
    const auto folder = dir.path() / "a";
    { ASSERT_TRUE(RunWriter::create(folder, infoOf("a"))); }
    const std::string kept = "{\"step\":1,\"metrics\":{\"a\":1}}\nnonsense\n[1]\n";
    writeAll(metricsFile(folder), kept + "{\"step\":5,\"metrics\":{\"a\":1}}\nmore\n");
    EXPECT_TRUE(RunWriter::resume(folder, 5));
    EXPECT_EQ(readAll(metricsFile(folder)), kept);
}

TEST(RunWriter, StatusIsWrittenOnceASecondAndAtOnceWhenItMatters) {
    const TemporaryFolder dir;
    const auto folder = dir.path() / "a";
    {
        auto run = RunWriter::create(folder, infoOf("a"));
        ASSERT_TRUE(run);
        RunStatus status;
        status.stage = "pretrain";
        ASSERT_TRUE(run->setStatus(status));
        EXPECT_EQ(readStatus(folder)->stage, "pretrain");
        const auto inode = [&] {
            struct stat found {};
            ::stat(statusFile(folder).c_str(), &found);
            return std::pair(found.st_ino, found.st_mtim.tv_nsec);
        };
        const auto before = inode();
        for (status.step = 1; status.step < 500; ++status.step)
            ASSERT_TRUE(run->setStatus(status));
        EXPECT_EQ(inode(), before);
        status.state = RunState::done;
        ASSERT_TRUE(run->setStatus(status));
        EXPECT_NE(inode(), before);
        EXPECT_EQ(readStatus(folder)->state, RunState::done);
        status.step = 501;
        ASSERT_TRUE(run->setStatus(status));
        EXPECT_EQ(readStatus(folder)->step, 500);
    }
    EXPECT_EQ(readStatus(folder)->step, 501); // at the end at the latest
}

TEST(RunWriter, ObeysRequestsMeantForIt) {
    const TemporaryFolder dir;
    const auto folder = dir.path() / "a";
    EXPECT_FALSE(askRun(folder, RunOrder::stop));
    RunRequest old;
    {
        auto run = RunWriter::create(folder, infoOf("a"));
        ASSERT_TRUE(run);
        EXPECT_EQ(run->requested(), RunWriter::Asked::nothing);
        const auto request = askRun(folder, RunOrder::stop);
        ASSERT_TRUE(request) << request.error().message;
        old = *request;
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        EXPECT_EQ(run->requested(), RunWriter::Asked::stop);
        EXPECT_EQ(readStatus(folder)->answered, request->id);
    }
    // The same request, still lying there, is not for the next start.
    auto run = RunWriter::resume(folder, 0);
    ASSERT_TRUE(run);
    EXPECT_EQ(readRequest(folder)->id, old.id);
    EXPECT_EQ(run->requested(), RunWriter::Asked::nothing);
    // Nonsense is passed over.
    for (const char *text : {"", "{", "[1]", "{\"format\":1,\"request\":\"dance\"}"}) {
        writeAll(controlFile(folder), text);
        std::this_thread::sleep_for(std::chrono::milliseconds(260));
        EXPECT_EQ(run->requested(), RunWriter::Asked::nothing) << text;
    }
    // Pause waits for the word to go on.
    ASSERT_TRUE(askRun(folder, RunOrder::pause));
    std::this_thread::sleep_for(std::chrono::milliseconds(260));
    std::thread other([&] {
        for (int i = 0; i < 500 && readStatus(folder)->state != RunState::paused; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        EXPECT_EQ(readStatus(folder)->state, RunState::paused);
        EXPECT_TRUE(askRun(folder, RunOrder::goOn));
    });
    EXPECT_EQ(run->waitWhilePaused({}), RunWriter::Asked::nothing);
    other.join();
    EXPECT_EQ(readStatus(folder)->state, RunState::running);
    // A pause ends by a stop token, too.
    ASSERT_TRUE(askRun(folder, RunOrder::pause));
    std::this_thread::sleep_for(std::chrono::milliseconds(260));
    std::stop_source stop;
    std::thread third([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        stop.request_stop();
    });
    EXPECT_EQ(run->waitWhilePaused(stop.get_token()), RunWriter::Asked::stop);
    third.join();
    // One that has ended is not asked.
    RunStatus status;
    status.state = RunState::done;
    ASSERT_TRUE(run->setStatus(status));
    EXPECT_FALSE(askRun(folder, RunOrder::pause));
}

TEST(RunWriter, AFullDiskLosesOnlyTheRow) {
    const TemporaryFolder dir;
    const auto folder = dir.path() / "a";
    { ASSERT_TRUE(RunWriter::create(folder, infoOf("a"))); }
    const pid_t child = ::fork();
    if (child == 0) {
        std::signal(SIGXFSZ, SIG_IGN);
        auto run = RunWriter::resume(folder, 0);
        if (!run || !run->log(0, "s", {{"a", 0}}))
            ::_exit(1);
        struct rlimit limit {};
        ::getrlimit(RLIMIT_FSIZE, &limit);
        limit.rlim_cur = 100; // a row fits once
        ::setrlimit(RLIMIT_FSIZE, &limit);
        if (run->log(1, "s", {{"a", 1}}))
            ::_exit(2);
        limit.rlim_cur = RLIM_INFINITY;
        ::setrlimit(RLIMIT_FSIZE, &limit);
        ::_exit(run->log(2, "s", {{"a", 2}}) ? 0 : 3);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_EQ(WEXITSTATUS(status), 0);
    MetricsStore store(folder);
    store.read();
    EXPECT_EQ(store.metrics().at("a").value, (Numbers{0, 2}));
    EXPECT_EQ(store.badCount(), 0u);
    eventsOf(folder);
}

TEST(RunWriter, ThousandsOfRowsAreFast) {
    const TemporaryFolder dir;
    const auto folder = dir.path() / "a";
    constexpr int rows = 5000;
    Metrics metrics;
    for (int i = 0; i < 40; ++i)
        metrics[fmt::format("group/metric_{}", i)] = i * 0.1;
    const auto begin = std::chrono::steady_clock::now();
    {
        auto run = RunWriter::create(folder, infoOf("a"));
        ASSERT_TRUE(run);
        for (int step = 0; step < rows; ++step) {
            ASSERT_TRUE(run->log(step, "pretrain", metrics));
            RunStatus status;
            status.stage = "pretrain";
            status.step = step;
            ASSERT_TRUE(run->setStatus(status));
            EXPECT_EQ(run->requested(), RunWriter::Asked::nothing);
        }
    }
    const auto written = std::chrono::steady_clock::now();
    MetricsStore store(folder);
    while (store.read().more) {
    }
    EXPECT_EQ(store.metrics().at("group/metric_39").size(), std::size_t{rows});
    ASSERT_TRUE(RunWriter::resume(folder, rows / 2));
    const auto seconds = [](auto duration) {
        return std::chrono::duration<double>(duration).count();
    };
    const double writing = seconds(written - begin);
    const double reading = seconds(std::chrono::steady_clock::now() - written);
    RecordProperty("writing_us_a_row", static_cast<int>(writing / rows * 1e6));
    RecordProperty("reading_us_a_row", static_cast<int>(reading / rows * 1e6));
    // Far above what was measured (0.1 ms a row), for slow machines and sanitizers.
    EXPECT_LT(writing, 20);
    EXPECT_LT(reading, 20);
}

} // namespace
} // namespace cuda_agent::learn
