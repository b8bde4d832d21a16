// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/knowledge/knowledge_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

namespace cuda_agent::knowledge {
namespace {

TEST_F(KnowledgeTest, GivesBackWhatItWasGiven) {
    const Record given = record("a");
    ASSERT_TRUE(open().add({given, failure("b", "determinism: two runs differ")}));
    auto store = open(); // another connection
    auto listed = store.list({});
    ASSERT_TRUE(listed);
    ASSERT_EQ(listed->size(), 2u);
    Record back = listed->back(); // newest first, the same second: by number
    EXPECT_GT(back.id, 0);
    back.id = 0;
    EXPECT_EQ(toJson(back), toJson(given));
    EXPECT_EQ(listed->front().problem, "determinism: two runs differ");
    EXPECT_FALSE(listed->front().correct);
}

TEST_F(KnowledgeTest, TheLastVerdictOnACandidateStands) {
    auto store = open();
    Record training = record("a", 9);
    training.full = false;
    ASSERT_TRUE(store.add({record("a", 1.5)}));
    ASSERT_TRUE(store.add({training})); // does not outrank the full one
    EXPECT_EQ(store.list({})->at(0).againstEager, 1.5);
    Record refuted = failure("a", "nan: wrong");
    refuted.full = true;
    ASSERT_TRUE(store.add({refuted}));
    ASSERT_EQ(*store.count({}), 1);
    EXPECT_FALSE(store.list({})->at(0).correct);
    Record elsewhere = record("a");
    elsewhere.device = "NVIDIA B200";
    ASSERT_TRUE(store.add({elsewhere}));
    EXPECT_EQ(*store.count({}), 2);
}

TEST_F(KnowledgeTest, NearestComeFirst) {
    const auto with = [](const std::string &hash, double speed, auto change) {
        Record changed = record(hash, speed);
        change(changed);
        return changed;
    };
    ASSERT_TRUE(open().add({
        with("same dominant elsewhere", 9,
             [](Record &r) {
                 r.task.operators = "gemm";
                 r.device = "NVIDIA A100";
             }),
        with("same dominant", 8, [](Record &r) { r.task.operators = "gemm+softmax"; }),
        with("elsewhere", 7, [](Record &r) { r.device = "NVIDIA A100"; }),
        with("far size", 6, [](Record &r) { r.task.bytes = 3; }),
        with("other dtype", 5, [](Record &r) { r.task.dtype = "float16"; }),
        with("slower", 1.1, [](Record &) {}),
        with("fastest", 2, [](Record &) {}),
        with("another operator", 9,
             [](Record &r) { r.task.operators = r.task.dominant = "softmax"; }),
        with("a cpu", 9,
             [](Record &r) {
                 r.deviceKind = "cpu";
                 r.device = "some CPU";
             }),
        with("no graph", 9, [](Record &r) { r.task.operators = ""; }),
        failure("failed", "wrong"),
    }));
    auto store = open();
    const auto found = store.near(query(), true);
    ASSERT_TRUE(found) << found.error().message;
    std::vector<std::string> order;
    for (const Near &near : *found)
        order.push_back(near.record.hash);
    EXPECT_EQ(order,
              (std::vector<std::string>{"fastest", "slower", "far size", "other dtype", "elsewhere",
                                        "same dominant", "same dominant elsewhere"}));
    EXPECT_EQ(found->front().nearness, Nearness::sameDevice);
    EXPECT_EQ(found->back().nearness, Nearness::sameDominant);
    const auto failed = store.near(query(), false);
    ASSERT_EQ(failed->size(), 1u);
    EXPECT_EQ(failed->front().record.hash, "failed");
}

TEST_F(KnowledgeTest, AClassKeepsItsBest) {
    std::vector<Record> many;
    for (int i = 0; i < mostOfAClass + 10; ++i)
        many.push_back(record(fmt::format("{:03}", i), 1 + i));
    auto store = open();
    ASSERT_TRUE(store.add(many));
    EXPECT_EQ(*store.count({}), mostOfAClass);
    const auto found = store.near(query(), true, 1);
    EXPECT_EQ(found->at(0).record.againstEager, mostOfAClass + 10);
}

TEST_F(KnowledgeTest, ForgetsWhatIsChosen) {
    Record other = record("b");
    other.task.operators = "softmax";
    auto store = open();
    ASSERT_TRUE(store.add({record("a"), other}));
    EXPECT_EQ(*store.count({"softmax", ""}), 1);
    EXPECT_EQ(*store.forget({"softmax", ""}), 1);
    EXPECT_EQ(*store.forget({"", "NVIDIA A100"}), 0);
    EXPECT_EQ(*store.count({}), 1);
    EXPECT_EQ(*store.forget({}), 1);
    EXPECT_EQ(*store.count({}), 0);
}

TEST_F(KnowledgeTest, TwoProcessesWriteAtOnce) {
    constexpr int each = 30;
    std::vector<pid_t> children;
    for (int child = 0; child < 3; ++child) {
        const pid_t pid = fork();
        ASSERT_GE(pid, 0);
        if (pid == 0) { // also creates the file, at the same time as the others
            for (int i = 0; i < each; ++i) {
                Record one = record(fmt::format("{}-{}", child, i));
                one.task.row = i; // a class of its own, so that nothing is forgotten
                auto store = Store::open(file_);
                if (!store || !store->add({one}))
                    _exit(1);
            }
            _exit(0);
        }
        children.push_back(pid);
    }
    for (const pid_t child : children) {
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(*open().count({}), 3 * each);
}

TEST_F(KnowledgeTest, AKilledWriterLeavesAWholeFile) {
    ASSERT_TRUE(open().add({record("a")}));
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
        auto database = Database::open(file_);
        if (database && database->run("BEGIN IMMEDIATE") && database->run("DELETE FROM records"))
            _exit(9); // without an end of the transaction or a close
        _exit(1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    ASSERT_EQ(WEXITSTATUS(status), 9);
    EXPECT_EQ(*open().count({}), 1);
}

TEST_F(KnowledgeTest, RefusesWhatIsNoRecord) {
    std::filesystem::create_directories(folder_);
    ASSERT_TRUE(writeFileAtomically(file_, std::string(5000, 'x')));
    auto store = Store::open(file_);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().kind, ErrorKind::request);
    EXPECT_NE(store.error().message.find("no record of this program"), std::string::npos)
        << store.error().message;
}

TEST_F(KnowledgeTest, SaysWhenTheFileIsDamaged) {
    std::vector<Record> many;
    for (int i = 0; i < 200; ++i) {
        many.push_back(record(fmt::format("{}", i)));
        many.back().task.row = i;
    }
    ASSERT_TRUE(open().add(many));
    auto bytes = readTextFile(file_);
    ASSERT_TRUE(bytes);
    ASSERT_GT(bytes->size(), 20'000u);
    std::fill(bytes->begin() + 4096, bytes->end(), '\x5a'); // all but the header's page
    ASSERT_TRUE(writeFileAtomically(file_, *bytes));
    auto store = Store::open(file_);
    ASSERT_TRUE(store) << store.error().message;
    const auto found = store->near(query(), true);
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().message.find("damaged"), std::string::npos) << found.error().message;
    EXPECT_FALSE(store->add({record("new")}));
}

TEST_F(KnowledgeTest, RefusesANewerSchemaAndAnotherProgramsFile) {
    ASSERT_TRUE(open().add({record("a")}));
    {
        auto database = Database::open(file_);
        ASSERT_TRUE(database->run("PRAGMA user_version = 2"));
    }
    auto newer = Store::open(file_);
    ASSERT_FALSE(newer);
    EXPECT_NE(newer.error().message.find("newer program"), std::string::npos);

    const auto foreign = folder_ / "foreign.db";
    {
        auto database = Database::open(foreign);
        ASSERT_TRUE(database->run("CREATE TABLE bookmarks (url TEXT)"));
    }
    auto other = Store::open(foreign);
    ASSERT_FALSE(other);
    EXPECT_NE(other.error().message.find("another program's"), std::string::npos);
}

TEST_F(KnowledgeTest, SaysWhenItCannotBeWritten) {
    std::filesystem::create_directories(folder_);
    ASSERT_TRUE(writeFileAtomically(folder_ / "plain", "no folder"));
    auto store = Store::open(folder_ / "plain" / "knowledge.db");
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().kind, ErrorKind::machine);
    EXPECT_NE(store.error().message.find("--memory"), std::string::npos);
}

} // namespace
} // namespace cuda_agent::knowledge
