// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/run/run_reader.h"
#include "core/learn/run/run_writer.h"
#include "tests/core/session/temporary_folder.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>

namespace cuda_agent::learn {
namespace {

using session::TemporaryFolder;
using session::writeAll;

/// Makes a file look as if it had been written that many seconds ago.
void age(const std::filesystem::path &path, double seconds) {
    std::filesystem::last_write_time(
        path, std::filesystem::file_time_type::clock::now() -
                  std::chrono::milliseconds(static_cast<int>(seconds * 1000)));
}

TEST(RunReader, FollowsARunFromBeginToEnd) {
    const TemporaryFolder dir;
    const auto folder = dir.path() / "run";
    RunReader reader(folder);
    EXPECT_FALSE(reader.read().metrics.any());
    EXPECT_EQ(reader.life(), RunReader::Life::none);
    EXPECT_FALSE(reader.info());
    EXPECT_EQ(reader.problem(), "");
    {
        RunInfo info;
        info.name = "tiny";
        info.recipe = "seed = 3\n";
        info.stages = {{"pretrain", 2}, {"rft", 1}};
        auto run = RunWriter::create(folder, info);
        ASSERT_TRUE(run);
        EXPECT_TRUE(reader.read().state);
        EXPECT_EQ(reader.life(), RunReader::Life::alive);
        EXPECT_EQ(reader.info()->name, "tiny");
        EXPECT_EQ(reader.info()->recipe, "seed = 3\n");
        EXPECT_EQ(reader.info()->stages.size(), 2u);
        EXPECT_FALSE(reader.read().state);
        ASSERT_TRUE(run->log(0, "pretrain", {{"train/loss", 1}}));
        EXPECT_TRUE(reader.read().metrics.any());
        ASSERT_TRUE(run->addRollout({0, "task", 3, 5, "session-1", ""}));
        EXPECT_TRUE(reader.read().rollouts);
        EXPECT_FALSE(reader.read().rollouts);
        ASSERT_EQ(reader.rollouts().rows().size(), 1u);
        EXPECT_EQ(reader.rollouts().sessionFolder(reader.rollouts().rows()[0]),
                  folder / "rollouts/step-0/session-1");
        // A request that has not been read yet.
        const auto request = askRun(folder, RunOrder::stop);
        ASSERT_TRUE(request);
        EXPECT_TRUE(reader.read().state);
        ASSERT_TRUE(reader.openRequest());
        EXPECT_EQ(reader.openRequest()->id, request->id);
        EXPECT_EQ(run->requested(), RunWriter::Asked::stop);
        EXPECT_TRUE(reader.read().state);
        EXPECT_FALSE(reader.openRequest());
        // A trainer in a long step: the lock says that it is there.
        age(statusFile(folder), 100);
        reader.read();
        EXPECT_EQ(reader.life(), RunReader::Life::silent);
    }
    // It went without a word.
    reader.read();
    EXPECT_EQ(reader.life(), RunReader::Life::lost);
    {
        auto run = RunWriter::resume(folder, 0);
        ASSERT_TRUE(run);
        RunStatus status;
        status.state = RunState::stopped;
        ASSERT_TRUE(run->setStatus(status));
    }
    reader.read();
    EXPECT_EQ(reader.life(), RunReader::Life::ended);
    EXPECT_EQ(reader.rollouts().rows().size(), 0u);
}

TEST(RunReader, BrokenFilesAreToldAndTheLastGoodContentStays) {
    const TemporaryFolder dir;
    const auto folder = dir.path() / "run";
    { ASSERT_TRUE(RunWriter::create(folder, {})); }
    RunReader reader(folder);
    reader.read();
    ASSERT_TRUE(reader.status());
    const std::string start = reader.status()->start;
    for (const std::string &text :
         {std::string(), std::string("{"), std::string(1000, '['), std::string("\xff\xfe"),
          std::string("{\"format\":1,\"state\":1}"), std::string(2u << 20, 'x')}) {
        writeAll(statusFile(folder), text);
        reader.read();
        EXPECT_NE(reader.problem().find("status.json"), std::string::npos) << reader.problem();
        EXPECT_EQ(reader.problem().find('\n'), std::string::npos);
        ASSERT_TRUE(reader.status());
        EXPECT_EQ(reader.status()->start, start);
    }
    writeAll(runInfoFile(folder), "{\"format\":9}");
    reader.read();
    EXPECT_NE(reader.problem().find("newer version"), std::string::npos) << reader.problem();
    // A folder and a pipe in place of files stop nobody.
    std::filesystem::remove(statusFile(folder));
    ASSERT_EQ(::mkfifo(statusFile(folder).c_str(), 0600), 0);
    std::filesystem::remove(metricsFile(folder));
    std::filesystem::create_directory(metricsFile(folder));
    reader.read();
    EXPECT_FALSE(reader.problem().empty());
    // All gone.
    std::filesystem::remove_all(folder);
    reader.read();
    EXPECT_EQ(reader.problem(), "");
    EXPECT_TRUE(reader.metrics().metrics().empty());
}

TEST(RolloutIndex, TornAndBrokenLines) {
    const TemporaryFolder dir;
    RolloutIndex index(dir.path());
    EXPECT_FALSE(index.read());
    const auto file = rolloutFolder(dir.path(), 3) / "index.jsonl";
    std::filesystem::create_directories(file.parent_path());
    const std::string row = formatRollout({3, "t", 1, 2, "s", ""});
    std::string text;
    for (const char c : row + row) { // byte by byte
        writeAll(file, text += c);
        index.read();
        EXPECT_EQ(index.badLines(), 0u);
        EXPECT_EQ(index.rows().size(), text.size() / row.size());
    }
    writeAll(file, text + "nonsense\n" + formatRollout({4, "other step", 1, 1, "s", ""}) + row);
    EXPECT_TRUE(index.read());
    EXPECT_EQ(index.rows().size(), 3u);
    EXPECT_EQ(index.badLines(), 2u);
    EXPECT_NE(index.problem().find("index.jsonl:3"), std::string::npos) << index.problem();
    // Many steps; the newest is still followed, one that shrank begins anew.
    for (int step = 10; step < 40; ++step) {
        std::filesystem::create_directories(rolloutFolder(dir.path(), step));
        writeAll(rolloutFolder(dir.path(), step) / "index.jsonl",
                 formatRollout({step, "t", 1, 2, "s", ""}));
    }
    EXPECT_TRUE(index.read());
    EXPECT_EQ(index.rows().size(), 33u);
    EXPECT_EQ(index.rows().back().step, 39);
    writeAll(rolloutFolder(dir.path(), 39) / "index.jsonl", "");
    EXPECT_TRUE(index.read());
    EXPECT_EQ(index.rows().size(), 32u);
    std::filesystem::remove_all(rolloutFolder(dir.path(), 3));
    EXPECT_TRUE(index.read());
    EXPECT_EQ(index.rows().size(), 29u);
    EXPECT_EQ(index.badLines(), 0u);
}

TEST(RolloutIndex, AStepSeenTooEarlyIsReadWhenManyCameAfterIt) {
    const TemporaryFolder dir;
    RolloutIndex index(dir.path());
    const auto write = [&](int step, const std::string &text) {
        std::filesystem::create_directories(rolloutFolder(dir.path(), step));
        writeAll(rolloutFolder(dir.path(), step) / "index.jsonl", text);
    };
    const auto row = [](int step) { return formatRollout({step, "t", 1, 2, "s", ""}); };
    std::filesystem::create_directories(rolloutFolder(dir.path(), 0)); // without its file yet
    write(1, "");
    write(2, row(2).substr(0, 10));
    EXPECT_FALSE(index.read());
    for (int step = 0; step < 30; ++step) // all of them before the next look
        write(step, row(step));
    EXPECT_TRUE(index.read());
    EXPECT_EQ(index.rows().size(), 30u);
    EXPECT_EQ(index.badLines(), 0u);
    EXPECT_FALSE(index.read());
}

} // namespace
} // namespace cuda_agent::learn
