// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synthesis/folder.h"

#include "core/base/gzip.h"
#include "core/base/temporary_folder.h"
#include "tests/core/synthesis/set_fixture.h"

#include <gtest/gtest.h>

namespace cuda_agent::synthesis {
namespace {

namespace fs = std::filesystem;
using Counts = std::map<std::string, std::size_t>;
using Indices = std::vector<std::size_t>;

class Folders : public testing::Test {
  protected:
    void SetUp() override {
        auto made = TemporaryFolder::make("synthesis");
        ASSERT_TRUE(made);
        temporary_.emplace(std::move(*made));
        path_ = temporary_->path() / "deep" / "set";
    }
    Folder open(const Recipe &recipe = {}) {
        auto folder = Folder::open(path_, recipe);
        EXPECT_TRUE(folder) << folder.error().message;
        return std::move(folder.value());
    }
    std::string problem(const Recipe &recipe = {}) {
        const auto folder = Folder::open(path_, recipe);
        EXPECT_FALSE(folder);
        if (folder)
            return {};
        EXPECT_EQ(folder.error().kind, ErrorKind::request);
        return folder.error().message;
    }
    /// Candidates 0 to `count` - 1.
    static void propose(Folder &folder, std::size_t count) {
        std::vector<Candidate> candidates;
        for (std::size_t i = 0; i < count; ++i)
            candidates.push_back(candidateOf(i));
        ASSERT_TRUE(folder.add(std::move(candidates)));
    }
    static void pass(Folder &folder, std::size_t index, Stage stage, std::string graph = {}) {
        ASSERT_TRUE(folder.add(checkedOf(folder.candidates().at(index), stage, std::move(graph))));
    }
    static Indices todo(const Folder &folder, Stage stage) {
        Indices indices;
        for (const auto *candidate : folder.todo(stage))
            indices.push_back(candidate->index);
        return indices;
    }
    std::optional<TemporaryFolder> temporary_;
    fs::path path_;
};

TEST_F(Folders, BeginEmpty) {
    const auto folder = open();
    EXPECT_FALSE(folder.hasCrawl());
    EXPECT_TRUE(folder.crawl().is_null());
    EXPECT_TRUE(folder.candidates().empty() && folder.entries().empty());
    EXPECT_EQ(folder.accepted(), 0u);
    EXPECT_TRUE(todo(folder, Stage::check).empty());
    const auto written = readJsonFile(path_ / "synthesis.json");
    ASSERT_TRUE(written);
    EXPECT_EQ((*written)["format"], 1);
    EXPECT_EQ((*written)["recipe"], toJson(Recipe()));
}

TEST_F(Folders, KeepEverythingForTheNextTime) {
    const Json crawl{{"operators", Json::array({{{"name", "gelu"}, {"kept", true}}})}};
    {
        auto folder = open();
        ASSERT_TRUE(folder.setCrawl(crawl));
        propose(folder, 4);
        auto repeated = candidateOf(4);
        repeated.exactHash = "exact1";
        ASSERT_TRUE(folder.add(std::vector<Candidate>{repeated}));
        pass(folder, 0, Stage::check);
        pass(folder, 1, Stage::check);
        ASSERT_TRUE(folder.add(refused(2, Stage::check, "unused")));
        pass(folder, 0, Stage::time);
        pass(folder, 0, Stage::compile);
        pass(folder, 0, Stage::again);
        pass(folder, 0, Stage::third);
    }
    ASSERT_TRUE(
        writeFileAtomically(path_ / "difficulty.json", R"({"id0": {"reward": 0.5, "turns": 3}})"));
    for (int time = 0; time < 2; ++time) {
        auto folder = open();
        EXPECT_EQ(folder.crawl(), crawl["operators"]);
        ASSERT_EQ(folder.candidates().size(), 5u);
        EXPECT_EQ(toJson(folder.candidates()[3]), toJson(candidateOf(3)));
        EXPECT_EQ(folder.candidates()[4].rejected, "duplicate");
        EXPECT_EQ(folder.rejected(), (Counts{{"duplicate", 1}, {"unused", 1}}));
        EXPECT_EQ(folder.done(Stage::check), 3u);
        EXPECT_EQ(folder.accepted(), 1u);
        EXPECT_EQ(todo(folder, Stage::check), Indices{3});
        EXPECT_EQ(todo(folder, Stage::time), Indices{1});
        const auto entries = folder.entries();
        ASSERT_EQ(entries.size(), 5u);
        ASSERT_TRUE(entries[0].checked && entries[0].timed && entries[0].compiled &&
                    entries[0].again && entries[0].third);
        EXPECT_EQ(entries[0].checked->figures, checkedOf(candidateOf(0), Stage::check).figures);
        EXPECT_EQ(entries[0].timed->seconds, 2e-3);
        EXPECT_EQ(entries[2].checked->outcome, Outcome::rejected);
        EXPECT_EQ(entries[2].checked->reason, "unused");
        EXPECT_FALSE(entries[1].timed);
        EXPECT_EQ(folder.difficulty().at("id0")["turns"], 3);
    }
    // The screen knows those of earlier runs.
    auto folder = open();
    auto again = candidateOf(5);
    again.exactHash = "exact3";
    ASSERT_TRUE(folder.add(std::vector<Candidate>{again}));
    EXPECT_EQ(folder.candidates()[5].rejected, "duplicate");
}

TEST_F(Folders, OfAnotherRecipeSayWhatDiffers) {
    Recipe recipe;
    { open(recipe); }
    auto other = recipe;
    other.seed = 9;
    EXPECT_NE(problem(other).find("with seed 1, not 9; use another --out folder"),
              std::string::npos);
    other = recipe;
    other.sources["torch"] = 2;
    EXPECT_NE(problem(other).find(" sources {"), std::string::npos);
    other = recipe;
    other.variants = 5;
    EXPECT_NE(problem(other).find("variants 4, not 5"), std::string::npos);
    { open(recipe); } // nothing of that has stayed
    // More tasks, and more patience, do not make another set.
    other = recipe;
    other.tasks = 5000;
    other.checkSeconds = 90;
    other.candidatesPerProcess = 7;
    other.endpointAttempts = 5;
    other.audited = 3;
    { open(other); }
    EXPECT_EQ(readJsonFile(path_ / "synthesis.json").value()["recipe"]["tasks"], 5000);
}

TEST_F(Folders, HaveOneWriter) {
    const auto folder = open();
    EXPECT_NE(problem().find("another program writes to"), std::string::npos);
}

TEST_F(Folders, TryAgainWhatTheMachineFailedAt) {
    {
        auto folder = open();
        propose(folder, 2);
        auto failed = checkedOf(candidateOf(0), Stage::check);
        failed.outcome = Outcome::machine;
        failed.detail = "no memory left on the device";
        ASSERT_TRUE(folder.add(failed));
        EXPECT_EQ(todo(folder, Stage::check), (Indices{0, 1}));
        EXPECT_EQ(folder.done(Stage::check), 0u);
        EXPECT_TRUE(folder.rejected().empty());
    }
    EXPECT_NE(readTextFile(path_ / "checked.jsonl").value().find("no memory left"),
              std::string::npos);
    auto folder = open();
    EXPECT_EQ(todo(folder, Stage::check), (Indices{0, 1}));
    pass(folder, 0, Stage::check);
    EXPECT_EQ(todo(folder, Stage::check), Indices{1});
    // Nor does it go on for ever.
    auto failed = checkedOf(candidateOf(1), Stage::check);
    failed.outcome = Outcome::machine;
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(todo(folder, Stage::check), Indices{1});
        ASSERT_TRUE(folder.add(failed));
    }
    EXPECT_EQ(todo(folder, Stage::check), Indices{});
    EXPECT_EQ(folder.rejected().at("the machine fails"), 1u);
}

TEST_F(Folders, LeadThroughTheStages) {
    auto folder = open();
    propose(folder, 4);
    EXPECT_EQ(todo(folder, Stage::check), (Indices{0, 1, 2, 3}));
    EXPECT_TRUE(todo(folder, Stage::time).empty());
    pass(folder, 3, Stage::check);
    pass(folder, 1, Stage::check);
    ASSERT_TRUE(folder.add(refused(0, Stage::check, "raises")));
    EXPECT_EQ(todo(folder, Stage::check), Indices{2});
    EXPECT_EQ(todo(folder, Stage::time), (Indices{1, 3}));
    EXPECT_TRUE(todo(folder, Stage::compile).empty());
    pass(folder, 1, Stage::time);
    ASSERT_TRUE(folder.add(refused(3, Stage::time, "too fast")));
    EXPECT_TRUE(todo(folder, Stage::time).empty());
    EXPECT_EQ(todo(folder, Stage::compile), Indices{1});
    ASSERT_TRUE(folder.add(refused(1, Stage::compile, "compile raises")));
    EXPECT_TRUE(todo(folder, Stage::compile).empty());
    EXPECT_TRUE(todo(folder, Stage::again).empty());
    EXPECT_EQ(folder.rejected(), (Counts{{"compile raises", 1}, {"raises", 1}, {"too fast", 1}}));
    EXPECT_EQ(folder.accepted(), 0u);
    EXPECT_EQ(folder.promising(), 0u);
}

TEST_F(Folders, LookAgainAtWhatIsLeft) {
    auto folder = open();
    propose(folder, 3);
    for (std::size_t i = 0; i < 3; ++i)
        for (const auto stage : {Stage::check, Stage::time, Stage::compile})
            pass(folder, i, stage);
    EXPECT_EQ(todo(folder, Stage::again), (Indices{0, 1, 2}));
    EXPECT_EQ(folder.promising(), 3u);
    EXPECT_EQ(folder.accepted(), 0u);
    pass(folder, 0, Stage::again);
    ASSERT_TRUE(folder.add(refused(1, Stage::again, "unused")));
    EXPECT_EQ(folder.promising(), 2u);
    EXPECT_EQ(folder.accepted(), 0u);
    EXPECT_EQ(todo(folder, Stage::again), Indices{2});
    pass(folder, 2, Stage::again);
    EXPECT_EQ(todo(folder, Stage::third), (Indices{0, 2}));
    pass(folder, 0, Stage::third);
    ASSERT_TRUE(folder.add(refused(2, Stage::third, "indistinct")));
    EXPECT_EQ(folder.promising(), 1u);
    EXPECT_EQ(folder.accepted(), 1u);
    EXPECT_TRUE(todo(folder, Stage::third).empty());
}

TEST_F(Folders, AGraphIsPromisingWhileOneOfItsCandidatesIs) {
    auto folder = open();
    propose(folder, 2);
    for (std::size_t i = 0; i < 2; ++i)
        for (const auto stage : {Stage::check, Stage::time, Stage::compile})
            pass(folder, i, stage, stage == Stage::check ? "same" : "");
    EXPECT_EQ(folder.promising(), 1u);
    ASSERT_TRUE(folder.add(refused(0, Stage::again, "unused")));
    EXPECT_EQ(folder.promising(), 1u);
    ASSERT_TRUE(folder.add(refused(1, Stage::again, "unused")));
    EXPECT_EQ(folder.promising(), 0u);
    ASSERT_TRUE(folder.add(refused(1, Stage::again, "unused")));
    EXPECT_EQ(folder.promising(), 0u);
}

TEST_F(Folders, CountEachGraphOnce) {
    const std::vector<std::string> graphs{"one", "two", "one", "three"};
    {
        auto folder = open();
        propose(folder, 5);
        for (std::size_t i = 0; i < graphs.size(); ++i)
            for (const auto stage : stages)
                pass(folder, i, stage, stage == Stage::check ? graphs[i] : "");
        auto without = checkedOf(candidateOf(4), Stage::check);
        without.figures.erase("graph_hash");
        ASSERT_TRUE(folder.add(without));
        EXPECT_EQ(folder.accepted(), 3u); // passed() alone is not enough
        pass(folder, 4, Stage::time);
        pass(folder, 4, Stage::compile);
        EXPECT_EQ(folder.accepted(), 3u);
        EXPECT_EQ(folder.promising(), 4u);
        pass(folder, 4, Stage::again);
        EXPECT_EQ(folder.accepted(), 3u);
        pass(folder, 4, Stage::third);
        EXPECT_EQ(folder.accepted(), 4u);
        EXPECT_EQ(folder.rejected(), (Counts{{"same graph", 1}}));
    }
    const auto folder = open();
    EXPECT_EQ(folder.accepted(), 4u);
    EXPECT_EQ(assemble({}, folder.entries(), {}).tasks.size(), folder.accepted());
}

TEST_F(Folders, MendWhatAKillHasCutOff) {
    {
        auto folder = open();
        propose(folder, 2);
        pass(folder, 0, Stage::check);
        pass(folder, 1, Stage::check);
    }
    const auto file = path_ / "checked.jsonl";
    const auto text = readTextFile(file).value();
    ASSERT_TRUE(writeFileAtomically(file, text.substr(0, text.size() - 9)));
    const auto folder = open();
    EXPECT_EQ(todo(folder, Stage::check), Indices{1});
    EXPECT_EQ(todo(folder, Stage::time), Indices{0});
}

TEST_F(Folders, ThatAreDamagedSayWhere) {
    {
        auto folder = open();
        propose(folder, 3);
        pass(folder, 0, Stage::check);
    }
    const auto damaged = [&](const char *name, const std::string &text) {
        const auto before = readTextFile(path_ / name).value_or("");
        EXPECT_TRUE(writeFileAtomically(path_ / name, text));
        const auto said = problem();
        if (before.empty())
            fs::remove(path_ / name);
        else
            EXPECT_TRUE(writeFileAtomically(path_ / name, before));
        return said;
    };
    const auto line = [](std::size_t index) { return toJson(candidateOf(index)).dump() + "\n"; };
    EXPECT_NE(damaged("candidates.jsonl", line(0) + line(2))
                  .find("candidates.jsonl:2: candidate 1 is missing"),
              std::string::npos);
    EXPECT_NE(damaged("candidates.jsonl", line(0) + "{\"index\": 1}\n").find("candidates.jsonl:2"),
              std::string::npos);
    EXPECT_NE(damaged("checked.jsonl", toJson(refused(3, Stage::check, "unused")).dump() + "\n")
                  .find("checked.jsonl:1: there is no candidate 3"),
              std::string::npos);
    EXPECT_NE(
        damaged("checked.jsonl", "{\"index\": 0, \"stage\": \"x\", \"outcome\": \"passed\"}\n")
            .find("checked.jsonl:1"),
        std::string::npos);
    for (const auto *text : {"[]", "{}", "{\"recipe\": 1}"})
        EXPECT_NE(damaged("synthesis.json", text).find("synthesis.json holds no recipe"),
                  std::string::npos);
    for (const auto *text : {"[]", "{}", "{\"operators\": 1}"})
        EXPECT_NE(damaged("crawl.json", text).find("crawl.json has no list"), std::string::npos);
    EXPECT_EQ(open().candidates().size(), 3u);
}

TEST_F(Folders, KnowTheCardOfTheirSet) {
    Recipe recipe;
    {
        auto folder = open(recipe);
        propose(folder, 3);
        for (std::size_t i = 0; i < 3; ++i)
            for (const auto stage : stages)
                pass(folder, i, stage);
    }
    const auto written = [&](const Folder &folder, const Recipe &of, std::size_t tasks) {
        auto set = assemble(of, folder.entries(), folder.difficulty());
        set.tasks.resize(tasks);
        std::string text;
        for (const auto &task : set.tasks)
            text += task.toJson().dump() + "\n";
        EXPECT_TRUE(writeFileAtomically(path_ / "set.jsonl.gz", gzip(text)));
        const auto card = cardOf(of, set, 3, {}, {}, {1, 0, 2, 30, 4, 5, 6, 7, {"x"}}, {});
        EXPECT_TRUE(writeFileAtomically(path_ / "card.json", card.dump()));
        return card;
    };
    auto folder = open(recipe);
    auto set = assemble(recipe, folder.entries(), {});
    EXPECT_TRUE(folder.cardFor(set).empty());
    const auto card = written(folder, recipe, 3);
    EXPECT_EQ(folder.cardFor(set), card);
    const auto audit = auditFromJson(card["audit"]);
    ASSERT_TRUE(audit);
    EXPECT_EQ(toJson(*audit), card["audit"]);
    EXPECT_FALSE(auditFromJson({{"run", "many"}}));
    // What is measured of their difficulty leaves the tasks as they are.
    ASSERT_TRUE(folder.addDifficulty({{"id1", {{"reward", -1}, {"turns", 9}}}}));
    ASSERT_TRUE(folder.addDifficulty({{"id2", {{"reward", 2}, {"turns", 3}}}}));
    const auto harder = assemble(recipe, folder.entries(), folder.difficulty());
    EXPECT_EQ(harder.tasks[1].level, set.tasks[1].level + 1);
    EXPECT_EQ(harder.tasks[2].difficulty["turns"], 3);
    EXPECT_EQ(folder.cardFor(harder), card);
    // Other tasks, another audit or another kind of file are not what was written.
    set.tasks[1].name += "_";
    EXPECT_TRUE(folder.cardFor(set).empty());
    written(folder, recipe, 2);
    EXPECT_TRUE(folder.cardFor(harder).empty());
    set = assemble(recipe, folder.entries(), {});
    set.tasks.resize(1);
    EXPECT_TRUE(folder.cardFor(set).empty());
    auto other = recipe;
    other.audited = 7;
    written(folder, other, 3);
    EXPECT_TRUE(folder.cardFor(harder).empty());
    ASSERT_TRUE(writeFileAtomically(path_ / "card.json", "[3]"));
    EXPECT_TRUE(folder.cardFor(harder).empty());
}

TEST_F(Folders, KeepMeasuredDifficulty) {
    {
        auto folder = open();
        ASSERT_TRUE(folder.addDifficulty({{"id0", {{"reward", 3}, {"turns", 1}}}}));
    }
    EXPECT_EQ(open().difficulty().at("id0")["reward"], 3);
}

} // namespace
} // namespace cuda_agent::synthesis
