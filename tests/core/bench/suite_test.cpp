// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/bench/suite.h"

#include "core/base/gzip.h"
#include "core/base/json.h"
#include "core/base/temporary_folder.h"

#include <gtest/gtest.h>

namespace cuda_agent::bench {
namespace {

namespace fs = std::filesystem;

class Suites : public testing::Test {
  protected:
    void SetUp() override {
        auto made = TemporaryFolder::make("suite");
        ASSERT_TRUE(made);
        temporary_.emplace(std::move(*made));
        folder_ = temporary_->path();
    }
    fs::path write(const std::string &name, const std::string &text = "x = 1\n") {
        const fs::path path = folder_ / name;
        fs::create_directories(path.parent_path());
        EXPECT_TRUE(writeFileAtomically(path, text));
        return path;
    }
    std::vector<std::string> ids(const fs::path &source, const Selection &selection = {}) {
        const auto suite = openSuite(source, selection);
        EXPECT_TRUE(suite) << (suite ? "" : suite.error().message);
        std::vector<std::string> all;
        if (suite)
            for (const auto &task : suite->tasks)
                all.push_back(task.id);
        return all;
    }
    std::string problem(const fs::path &source, const Selection &selection = {}) {
        const auto suite = openSuite(source, selection);
        EXPECT_FALSE(suite);
        if (suite)
            return {};
        EXPECT_EQ(suite.error().kind, ErrorKind::request);
        return suite.error().message;
    }

    std::optional<TemporaryFolder> temporary_;
    fs::path folder_;
};

using Ids = std::vector<std::string>;

TEST_F(Suites, LevelsAndNumbersGiveTheOrder) {
    for (const char *name :
         {"level2/1_a.py", "level1/10_b.py", "level1/2_c.py", "level1/README.md",
          "level1/__init__.py", "level10/1_d.py", "other/1_e.py", "level3/plain.py"})
        write(name);
    EXPECT_EQ(ids(folder_), (Ids{"1/2", "1/10", "2/1", "3/plain", "10/1"}));
    EXPECT_EQ(ids(folder_ / "level1"), (Ids{"1/2", "1/10"}));
    EXPECT_EQ(ids(folder_, {{"1", "3"}, {}}), (Ids{"1/2", "1/10", "3/plain"}));
    EXPECT_EQ(ids(folder_, {{}, {"2/1", "10_b"}}), (Ids{"1/10", "2/1"}));
}

TEST_F(Suites, AListKeepsItsOrder) {
    write("b.py");
    write("a/19_relu.py");
    const auto list = write("list.txt", "# mine\n b.py  # first\n\na/19_relu.py\n");
    EXPECT_EQ(ids(list), (Ids{"b", "19_relu"}));
    EXPECT_EQ(ids(folder_ / "b.py"), Ids{"b"});
}

TEST_F(Suites, SayWhatIsWrong) {
    EXPECT_NE(problem(folder_ / "nothing").find("neither a folder of tasks"), std::string::npos);
    EXPECT_NE(problem(folder_).find("holds no tasks"), std::string::npos);
    write("level1/1_a.py");
    EXPECT_NE(problem(folder_, {{"2"}, {}}).find("no tasks of level 2"), std::string::npos);
    EXPECT_NE(problem(folder_, {{}, {"1/7"}}).find("no task '1/7'; tasks are named as '1/1'"),
              std::string::npos);
    const auto list = write("list.txt", "level1/1_a.py\nlevel1/9_b.py\n");
    EXPECT_NE(problem(list).find("list.txt:2: 'level1/9_b.py' is no .py file"), std::string::npos);
    write("level1/1_b.py");
    EXPECT_NE(problem(folder_).find("are both task 1/1"), std::string::npos);
}

TEST_F(Suites, CandidatesAreMatchedByName) {
    for (const char *name : {"tasks/level1/19_ReLU.py", "tasks/level1/1_Square.py",
                             "tasks/level2/19_Conv.py", "tasks/level2/3_Other.py"})
        write(name);
    const auto suite = openSuite(folder_ / "tasks", {});
    ASSERT_TRUE(suite);
    for (const char *name :
         {"mine/level_1_problem_19_sample_0_kernel.py", "mine/level_1_problem_19_sample_2.py",
          "mine/level1/1_Square/plan.json", "mine/level2/19_anything.py", "mine/notes.txt",
          "mine/3_Other_sample_1.py", "mine/unrelated.py"})
        write(name);
    const auto found = matchSamples(folder_ / "mine", *suite);
    ASSERT_TRUE(found) << found.error().message;
    Ids all;
    for (const auto &[task, samples] : *found)
        for (const auto &sample : samples)
            all.push_back(
                fmt::format("{} {} {}", task, sample.number, sample.path.filename().string()));
    EXPECT_EQ(all, (Ids{"1/1 0 1_Square", "1/19 0 level_1_problem_19_sample_0_kernel.py",
                        "1/19 2 level_1_problem_19_sample_2.py", "2/19 0 19_anything.py",
                        "2/3 1 3_Other_sample_1.py"}));
}

TEST_F(Suites, CandidatesThatFitNothingOrTwiceAreRefused) {
    write("tasks/level1/19_ReLU.py");
    const auto suite = openSuite(folder_ / "tasks", {});
    ASSERT_TRUE(suite);
    write("mine/7_other.py");
    auto found = matchSamples(folder_ / "mine", *suite);
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().message.find("nothing in"), std::string::npos);
    write("mine/19_ReLU.py");
    write("mine/level_1_problem_19_sample_0_kernel.py");
    found = matchSamples(folder_ / "mine", *suite);
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().message.find("both sample 0 of task 1/19"), std::string::npos);
    EXPECT_FALSE(matchSamples(folder_ / "none", *suite));
}

TEST_F(Suites, SetsOfTasksBecomeFiles) {
    ::setenv("CUDA_AGENT_CACHE", (folder_ / "cache").c_str(), 1);
    const std::string lines =
        R"({"name": "1_relu", "level": "1", "split": "train", "code": "x = 1\n"})"
        "\n\n"
        R"({"name": "2_norm", "level": "2", "split": "held_out", "code": "x = 2\n"})"
        "\n";
    for (const auto &set : {write("set.jsonl", lines), write("set.jsonl.gz", gzip(lines))}) {
        EXPECT_EQ(ids(set), (Ids{"1_relu", "2_norm"}));
        EXPECT_EQ(ids(set, {{"2"}, {}}), Ids{"2_norm"});
        EXPECT_EQ(ids(set, {{}, {}, {"train"}}), Ids{"1_relu"});
        EXPECT_NE(problem(set, {{}, {}, {"outer"}}).find("no tasks of the split outer"),
                  std::string::npos);
        const auto suite = openSuite(set, {{}, {"2_norm"}});
        ASSERT_TRUE(suite);
        EXPECT_EQ(suite->tasks[0].split, "held_out");
        EXPECT_EQ(*readTextFile(suite->tasks[0].file), "x = 2\n");
        EXPECT_EQ(suite->tasks[0].file.extension(), ".py");
    }
    // A folder that has one is that set, whatever else lies there.
    write("made/set.jsonl.gz", gzip(lines));
    write("made/1_other.py");
    EXPECT_EQ(ids(folder_ / "made"), (Ids{"1_relu", "2_norm"}));
    // A set from elsewhere does not choose where files go.
    for (const char *name : {"../up", "/etc/x", "", ".hidden", "a b"})
        EXPECT_NE(problem(write("bad.jsonl", Json{{"name", name}, {"code", "x"}}.dump() + "\n"))
                      .find("bad.jsonl:1: no task"),
                  std::string::npos)
            << name;
    EXPECT_NE(problem(write("bad.jsonl", "[1]\n")).find("no task"), std::string::npos);
    EXPECT_NE(problem(write("bad.jsonl", "{\n")).find("bad.jsonl:1"), std::string::npos);
    EXPECT_NE(problem(write("cut.jsonl.gz", gzip(lines).substr(0, 30))).find("no whole gzip"),
              std::string::npos);
    ::unsetenv("CUDA_AGENT_CACHE");
}

TEST_F(Suites, TasksOfASetAreCutToTheMemoryAskedFor) {
    ::setenv("CUDA_AGENT_CACHE", (folder_ / "cache").c_str(), 1);
    const auto line = [](const char *name, std::uint64_t bytes, const std::string &code) {
        return Json{{"name", name}, {"memory_bytes", bytes}, {"code", code}}.dump() + "\n";
    };
    const std::string batched = "import torch\nbatch_size = 1000\nwidth = 7\n";
    const auto set = write("set.jsonl", line("large", 4'000'000'000, batched) +
                                            line("small", 500'000'000, batched) +
                                            line("huge", 4'000'000'000'000'000, batched) +
                                            line("fixed", 4'000'000'000, "width = 7\n") +
                                            line("inner", 4'000'000'000,
                                                 "other_batch_size = 3\nif width:\n    "
                                                 "batch_size = 1000\n"));
    Selection selection;
    selection.mostBytes = bytesOf(1);
    const auto suite = openSuite(set, selection);
    ASSERT_TRUE(suite);
    EXPECT_EQ(suite->mostBytes, 1'000'000'000u);
    const auto &tasks = suite->tasks;
    ASSERT_EQ(tasks.size(), 5u);
    EXPECT_EQ(*readTextFile(tasks[0].file), "import torch\nbatch_size = 250\nwidth = 7\n");
    EXPECT_EQ(tasks[0].memoryBytes, 1'000'000'000u);
    EXPECT_EQ(*readTextFile(tasks[1].file), batched);
    EXPECT_EQ(tasks[1].memoryBytes, 500'000'000u);
    EXPECT_EQ(*readTextFile(tasks[2].file), "import torch\nbatch_size = 1\nwidth = 7\n");
    EXPECT_EQ(*readTextFile(tasks[3].file), "width = 7\n");
    EXPECT_EQ(tasks[3].memoryBytes, 4'000'000'000u);
    EXPECT_NE(readTextFile(tasks[4].file)->find("    batch_size = 1000"), std::string::npos);
    // As they are, they are other files.
    const auto whole = openSuite(set, {});
    ASSERT_TRUE(whole);
    EXPECT_EQ(*readTextFile(whole->tasks[0].file), batched);
    EXPECT_EQ(whole->tasks[0].memoryBytes, 4'000'000'000u);
    // Only a set knows.
    write("tasks/1_relu.py");
    EXPECT_NE(problem(folder_ / "tasks", selection).find("does not say what memory"),
              std::string::npos);
    ::unsetenv("CUDA_AGENT_CACHE");
}

} // namespace
} // namespace cuda_agent::bench
