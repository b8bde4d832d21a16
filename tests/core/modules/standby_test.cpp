// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/modules/standby.h"
#include "tests/core/modules/module_fixture.h"

#include <unistd.h>

#include <csignal>
#include <thread>

// How module workers are started, and those that wait for a candidate. That they judge as new ones
// do is what the tests of the judge show, which takes them.

namespace cuda_agent::modules {
namespace {

namespace fs = std::filesystem;

/// Whether a process descends from this one.
bool isOurs(int process) {
    while (process > 1 && process != ::getpid()) {
        std::ifstream file(fmt::format("/proc/{}/status", process));
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        const auto at = text.find("\nPPid:");
        process = at == text.npos ? 0 : std::atoi(text.c_str() + at + 6);
    }
    return process == ::getpid();
}

/// Ends all module workers that this process has started.
int killWorkers() {
    int killed = 0;
    for (const auto &entry : fs::directory_iterator("/proc")) {
        const auto name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != name.npos)
            continue;
        std::ifstream file(entry.path() / "cmdline", std::ios::binary);
        const std::string line{std::istreambuf_iterator<char>(file), {}};
        // Python alone, not the sandbox around it.
        if (line.starts_with(pythonProgram().string()) &&
            line.find("/reference/modules/main.py") != line.npos && isOurs(std::stoi(name)))
            killed += ::kill(std::stoi(name), SIGKILL) == 0;
    }
    return killed;
}

/// 600 folders there that were used long ago, which go with this.
class LongUnused {
  public:
    explicit LongUnused(fs::path root) : root_(std::move(root)) {
        const auto longAgo = fs::file_time_type::clock::now() - std::chrono::hours(24 * 365);
        for (int i = 0; i < count; ++i) {
            fs::create_directories(folder(i) / "cache");
            fs::last_write_time(folder(i), longAgo + std::chrono::seconds(i));
        }
    }
    ~LongUnused() {
        std::error_code ignored;
        for (int i = 0; i < count; ++i)
            fs::remove_all(folder(i), ignored);
    }
    /// Of the root, as many as are kept, but for what other tests may make meanwhile.
    void expectPruned() const {
        EXPECT_LE(std::distance(fs::directory_iterator(root_), fs::directory_iterator()), 512 + 8);
        EXPECT_FALSE(fs::exists(folder(0)));
    }

  private:
    static constexpr int count = 600;
    fs::path folder(int i) const { return root_ / fmt::format("unused-{}", i); }
    fs::path root_;
};

using LaunchTest = judge::ModuleTest;

TEST_F(LaunchTest, FoldersOfTextsThatAreNoLongerUsedGo) {
    const auto texts = cacheDir() / "modules";
    const LongUnused unused(texts);
    const Candidate single{
        folder_, Form::singleFile, {{modelFile, fmt::format("# {:x}\n", randomSeed())}}};
    const Compiled compiled{&single, {}, {}, {}, {}};
    const auto launched = launchSingleFile(compiled, judge_->spec(), judge_->deviceInfo(), {}, {});
    ASSERT_TRUE(launched) << launched.error().message;
    unused.expectPruned();
    const auto used = sha256Hex(fmt::format("{}\n{}\n{}", judge_->deviceInfo().name,
                                            pythonProgram().string(), single.files.at(modelFile)))
                          .substr(0, 32);
    EXPECT_TRUE(fs::exists(texts / used)) << "the one that was just used must stay";
    fs::remove_all(texts / used);
}

TEST_F(LaunchTest, FoldersThatKilledEnginesLeftBehindGo) {
    const LongUnused left(cacheDir() / "workers");
    const auto first = launch(judge_->spec(), judge_->deviceInfo(), {}, {});
    ASSERT_TRUE(first) << first.error().message;
    left.expectPruned();
    const auto second = launch(judge_->spec(), judge_->deviceInfo(), {}, {});
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_TRUE(fs::exists(first->candidate)) << "the one that is used must stay";
}

class StandbyTest : public judge::ModuleTest {
  protected:
    Standby standby_{judge_->spec(), judge_->deviceInfo(), {}};
};

TEST_F(StandbyTest, EachServesOne) {
    standby_.fill(2);
    standby_.fill(2); // they wait already
    for (int i = 0; i < 2; ++i) {
        const auto taken = standby_.take({});
        ASSERT_TRUE(taken);
        ASSERT_TRUE(*taken) << i;
        EXPECT_TRUE((*taken)->link->sound());
    }
    const auto none = standby_.take({});
    ASSERT_TRUE(none);
    EXPECT_FALSE(*none);
}

TEST_F(StandbyTest, AWorkspaceIsShownToItAndGoesWithIt) {
    auto candidate = readCandidate(folder_);
    ASSERT_TRUE(candidate);
    auto builder = Builder::make(judge_->deviceInfo(), {});
    ASSERT_TRUE(builder) << builder.error().message;
    const auto outcome = (*builder)->compile(*candidate, {});
    ASSERT_TRUE(outcome && std::holds_alternative<Compiled>(*outcome));
    standby_.fill(1);
    fs::path shown;
    {
        auto taken = standby_.take({});
        ASSERT_TRUE(taken && *taken);
        shown = (*taken)->candidate;
        EXPECT_TRUE(fs::is_empty(shown));
        ASSERT_TRUE(place(std::get<Compiled>(*outcome), **taken));
        EXPECT_EQ(readTextFile(shown / modelFile).value(), candidate->files.at(modelFile));
        EXPECT_TRUE((*taken)->link->ask({{"op", "ready"}}, std::chrono::seconds(10), "load"));
    }
    EXPECT_FALSE(fs::exists(shown.parent_path()));
}

TEST_F(StandbyTest, OneThatEndedMeanwhileIsPassedOver) {
    standby_.fill(1);
    ASSERT_TRUE(standby_.settle({}));
    ASSERT_GE(killWorkers(), 1);
    const auto taken = standby_.take({});
    ASSERT_TRUE(taken);
    EXPECT_FALSE(*taken);
    // And nobody's verdict is the worse for it.
    const auto given = verdict();
    ASSERT_TRUE(given) << given.error().message;
    EXPECT_TRUE(given->correct) << given->problem;
    // The judge's own, for the next candidate, wherever it stands.
    int killed = 0;
    for (int i = 0; killed == 0 && i < 1000; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        killed = killWorkers();
    }
    ASSERT_GE(killed, 1);
    const auto next = verdict();
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_TRUE(next->correct) << next->problem;
}

TEST_F(StandbyTest, AStopDoesNotWait) {
    std::stop_source stop;
    stop.request_stop();
    standby_.fill(1);
    const auto taken = standby_.take(stop.get_token());
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().kind, ErrorKind::stopped);
    standby_.fill(1);
    const auto settled = standby_.settle(stop.get_token());
    ASSERT_FALSE(settled);
    EXPECT_EQ(settled.error().kind, ErrorKind::stopped);
}

} // namespace
} // namespace cuda_agent::modules
