// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/gzip.h"
#include "core/learn/corpus/corpus.h"
#include "core/learn/corpus/repair.h"

#include <gtest/gtest.h>

namespace cuda_agent::learn {
namespace {

namespace fs = std::filesystem;

/// y = relu(x) in a few lines.
CandidateText reluCandidate() {
    CandidateText text;
    text.kernels = R"(extern "C" __global__ void relu(const float *x, float *y, long long n) {
    for (long long i = 0; i < n; ++i) {
        y[i] = x[i] < 0.0f ? 0.0f : x[i];
    }
})";
    text.plan = {
        {"version", 1},
        {"buffers",
         {{{"name", "in0"}, {"role", "input"}, {"index", 0}},
          {{"name", "out0"},
           {"role", "output"},
           {"index", 0},
           {"dtype", "float32"},
           {"shape", {"in0.shape[0]"}}}}},
        {"steps",
         {{{"kind", "kernel"},
           {"source", kernelFile},
           {"entry", "relu"},
           {"grid", {"1"}},
           {"block", {1}},
           {"args", {{{"buffer", "in0"}}, {{"buffer", "out0"}}, {{"int64", "in0.shape[0]"}}}}}}}};
    return text;
}

constexpr const char *reluTask = R"(import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.randn(4096)]


def get_init_inputs():
    return []
)";

/// The sound one with one line another.
Draft draftOf(const char *kind, const std::string &where, const std::string &became) {
    Draft draft;
    draft.name = kind;
    draft.thought = "One thread does it all.";
    draft.sound = draft.written = reluCandidate();
    if (where != became) {
        draft.mutation = Mutation{kind, where, became};
        auto &kernels = draft.written.kernels;
        kernels.replace(kernels.find(where), where.size(), became);
    }
    return draft;
}

class Played : public testing::Test {
  protected:
    void SetUp() override {
        auto folder = TemporaryFolder::make("played");
        ASSERT_TRUE(folder);
        folder_.emplace(std::move(*folder));
        ASSERT_TRUE(writeFileAtomically(folder_->path() / "relu.py", reluTask));
        observations_.emplace(folder_->path() / "verdicts.gz");
    }
    TaskJudge::Setting setting() {
        TaskJudge::Setting setting;
        setting.spec = task::openSpec(folder_->path() / "relu.py", {}).value();
        setting.code = reluTask;
        setting.device = device::openCpu().value()->info();
        setting.judge.timing = false; // what is timed is a corpus below
        setting.open = [this] {
            ++opened_;
            return device::openCpu();
        };
        setting.known = &*observations_;
        return setting;
    }
    static Document head() {
        Document head;
        head.task = "relu";
        head.segments.push_back({chat::Author::context, "prompt"});
        return head;
    }
    Result<JudgedDocuments> play(const std::vector<Draft> &drafts, TaskJudge &judge,
                                 std::size_t mostBytes = 12000) {
        std::mt19937_64 random(1);
        JudgedOptions options;
        options.mostBytes = mostBytes;
        return playDrafts(drafts, head(), judge, options, random, {});
    }

    std::optional<TemporaryFolder> folder_;
    std::optional<Observations> observations_;
    int opened_ = 0;
};

TEST_F(Played, MistakesAreObservedAndMended) {
    const std::vector drafts{
        draftOf("sound", "x", "x"), draftOf("wrong operator", "x[i] < 0.0f", "x[i] > 0.0f"),
        draftOf("syntax slip", ": x[i];", ": x[i]"),
        draftOf("bound off by one", "x[i] < 0.0f", "x[i] <= 0.0f")}; // computes the same
    TaskJudge judge(setting());
    const auto made = play(drafts, judge);
    ASSERT_TRUE(made) << made.error().message;
    ASSERT_EQ(made->documents.size(), 4u) << toJson(made->counts).dump() << made->machineProblem
                                          << toJson(made->documents.at(0)).dump(1);
    const auto textOf = [&](std::size_t document, std::size_t segment) {
        return made->documents.at(document).segments.at(segment).text;
    };
    // Sound: prompt, turn, answers, end.
    const auto &sound = made->documents[0];
    ASSERT_EQ(sound.segments.size(), 4u);
    ASSERT_EQ(sound.verdicts.size(), 1u);
    EXPECT_TRUE(sound.verdicts[0].correct) << sound.verdicts[0].problem;
    EXPECT_NE(textOf(0, 2).find("<tool_response>\ncorrect, reward 1"), std::string::npos);
    const auto end = chat::stepOf(textOf(0, 3), 2);
    ASSERT_TRUE(end) << end.error().message;
    EXPECT_TRUE(end->finished);
    EXPECT_FALSE(end->reason.empty());
    // Wrong: what the judge found, an Edit, the verdict on what it made, end.
    for (const std::size_t i : {1u, 2u}) {
        SCOPED_TRACE(i);
        const auto &document = made->documents[i];
        ASSERT_EQ(document.segments.size(), 6u);
        ASSERT_EQ(document.verdicts.size(), 2u);
        EXPECT_EQ(document.verdicts[0].compiled, i == 1);
        EXPECT_FALSE(document.verdicts[0].correct);
        EXPECT_EQ(document.verdicts[0].reward, -1);
        EXPECT_TRUE(document.verdicts[1].correct);
        EXPECT_NE(textOf(i, 2).find(document.verdicts[0].problem), std::string::npos)
            << textOf(i, 2);
        const auto repair = chat::stepOf(textOf(i, 3), 2);
        ASSERT_TRUE(repair) << repair.error().message;
        ASSERT_EQ(repair->calls.size(), 2u);
        EXPECT_EQ(repair->calls[0].tool, "Edit");
        EXPECT_NE(textOf(i, 4).find("correct, reward 1"), std::string::npos) << textOf(i, 4);
        EXPECT_TRUE(chat::stepOf(textOf(i, 5), 3)->finished);
        EXPECT_EQ(toJson(documentFromJson(toJson(document)).value()), toJson(document));
    }
    EXPECT_NE(textOf(2, 2).find("kernels/fused.cu:3:"), std::string::npos) << textOf(2, 2);
    // A mistake that changes nothing is a correct document.
    EXPECT_EQ(made->documents[3].segments.size(), 4u);
    EXPECT_TRUE(made->documents[3].mutation);
    const auto counts = made->counts;
    EXPECT_EQ(counts.correct, 2u);
    EXPECT_EQ(counts.wrong, 1u);
    EXPECT_EQ(counts.notCompiled, 1u);
    EXPECT_EQ(counts.repaired, 2u);
    EXPECT_EQ(counts.unfound, 1u);
    EXPECT_EQ(counts.machine + counts.refused, 0u);
    EXPECT_EQ(counts.turns, (std::map<std::string, std::size_t>{{"2", 2}, {"3", 2}}));
    EXPECT_EQ(opened_, 1);
    EXPECT_EQ(observations_->added(), 4u); // the sound one once, however often it is played

    // What is known needs no judge, from its file either; a document that got too long is dropped.
    ASSERT_TRUE(observations_->save());
    observations_.emplace(folder_->path() / "verdicts.gz");
    TaskJudge other(setting());
    const auto again = play(drafts, other, made->documents[3].bytes());
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_EQ(again->documents.size(), 2u);
    EXPECT_EQ(toJson(again->documents[0]), toJson(sound));
    EXPECT_EQ(again->counts.tooLong, 2u);
    EXPECT_EQ(opened_, 1);
}

TEST_F(Played, APolicysOwnTryGoesOnWithASoundCandidate) {
    // One that is wrong, and one that by now is right.
    auto own = draftOf("sound", "x[i] < 0.0f", "x[i] > 0.0f");
    own.mutation.reset();
    own.thought = "I think so.";
    own.instead = "One thread does it all.";
    auto right = own;
    right.written = right.sound;
    TaskJudge judge(setting());
    const auto made = play({own, right}, judge);
    ASSERT_TRUE(made) << made.error().message;
    ASSERT_EQ(made->documents.size(), 2u) << toJson(made->counts).dump();
    const auto &segments = made->documents[0].segments;
    ASSERT_EQ(segments.size(), 6u);
    const auto first = chat::stepOf(segments[1].text, 1),
               second = chat::stepOf(segments[3].text, 2);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->thought, "I think so.");
    EXPECT_EQ(second->thought, "It is wrong. Another way. One thread does it all.");
    ASSERT_EQ(second->calls.size(), 3u);
    EXPECT_EQ(second->calls[0].tool, "Write");
    EXPECT_NE(segments[4].text.find("correct, reward 1"), std::string::npos);
    EXPECT_EQ(made->documents[1].segments.size(), 4u);
    EXPECT_EQ(made->counts.own, 1u);
    EXPECT_EQ(made->counts.repaired, 1u);
    EXPECT_EQ(made->counts.correct, 1u);
}

TEST_F(Played, WhatTheMachineFailsAtIsDroppedAndCountedApart) {
    auto broken = setting();
    broken.open = [this]() -> Result<std::unique_ptr<device::Device>> {
        ++opened_;
        return machineError("the device is gone");
    };
    TaskJudge judge(std::move(broken));
    const auto made = play({draftOf("sound", "x", "x"), draftOf("slip", "y[i] =", "y[i]")}, judge);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_TRUE(made->documents.empty());
    EXPECT_EQ(made->counts.machine, 2u);
    EXPECT_EQ(made->counts.wrong + made->counts.notCompiled, 0u);
    EXPECT_EQ(made->machineProblem, "the device is gone");
    EXPECT_EQ(opened_, 1);
    EXPECT_EQ(observations_->added(), 0u);
    std::stop_source stop;
    stop.request_stop();
    TaskJudge stopped(setting());
    std::mt19937_64 random(1);
    const auto ended =
        playDrafts({draftOf("sound", "x", "x")}, head(), stopped, {}, random, stop.get_token());
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().kind, ErrorKind::stopped);
}

TEST_F(Played, ACorpusIsTimedAndKnownAgain) {
    CorpusOptions options;
    options.set = folder_->path() / "set.jsonl";
    ASSERT_TRUE(writeFileAtomically(
        options.set, Json{{"name", "relu"}, {"code", reluTask}, {"split", "train"}}.dump() + "\n"));
    options.out = folder_->path() / "out";
    options.target = cpuTarget();
    options.judge = true;
    options.perTask = 5;
    options.brokenShare = 0.5;
    options.baselines = folder_->path() / "baselines";
    std::size_t verdicts = 0;
    const auto first =
        makeCorpus(options, [&](const CorpusProgress &now) { verdicts = now.verdicts; }, {});
    ASSERT_TRUE(first) << first.error().message;
    ASSERT_TRUE(first->judged);
    const auto &judged = *first->judged;
    EXPECT_EQ(judged.correct + judged.wrong + judged.notCompiled, first->documents);
    EXPECT_EQ(first->documents + judged.machine + judged.tooLong + judged.unmended, 5u);
    EXPECT_EQ(judged.refused, 0u);
    EXPECT_GT(judged.correct, 0u);
    EXPECT_GT(judged.verdicts, 0u);
    EXPECT_EQ(verdicts, judged.verdicts);
    const auto text = readTextFile(options.out / "corpus.jsonl.gz").value();
    const auto documents = readCorpus(options.out / "corpus.jsonl.gz");
    ASSERT_TRUE(documents) << documents.error().message;
    for (const auto &document : *documents) {
        SCOPED_TRACE(document.candidate);
        EXPECT_EQ(document.verdicts.size() + 1, document.turns());
        EXPECT_TRUE(document.verdicts.back().correct);
        EXPECT_GE(document.verdicts.back().reward, 1);
        EXPECT_GT(document.verdicts.back().seconds, 0);
        EXPECT_GT(document.verdicts.back().overEager, 0);
        EXPECT_GT(document.verdicts.back().overCompile, 0);
    }
    EXPECT_FALSE(fs::is_empty(options.baselines));
    const auto again = makeCorpus(options, {}, {});
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->judged->verdicts, 0u);
    EXPECT_EQ(readTextFile(options.out / "corpus.jsonl.gz").value(), text);
    const auto summary =
        parseJson(readTextFile(options.out / "summary.json").value(), "summary").value();
    EXPECT_EQ(summary["judged"]["correct"], judged.correct);
}

TEST(CorpusDocument, ReadsVerdictsWhereThereAreSome) {
    Document document;
    document.task = "t";
    EXPECT_FALSE(toJson(document).contains("verdicts")); // as corpora were before
    EXPECT_TRUE(documentFromJson(toJson(document))->verdicts.empty());
    document.verdicts = {{true, true, 3, 2e-6, 1e-6, 3e-6, 1.5, 1.25, ""},
                         {false, false, -1, 0, 0, 0, 0, 0, "does not compile"}};
    auto json = toJson(document);
    EXPECT_EQ(documentFromJson(json)->verdicts, document.verdicts);
    json["verdicts"][0].erase("reward");
    EXPECT_FALSE(documentFromJson(json));
    json["verdicts"] = 3;
    EXPECT_FALSE(documentFromJson(json));
}

TEST(CorpusObservations, AreKeptAndAFileThatIsNoneIsEmpty) {
    const auto folder = TemporaryFolder::make("observations");
    ASSERT_TRUE(folder);
    const auto file = folder->path() / "verdicts.gz";
    Observations one(file);
    ASSERT_TRUE(one.save());
    EXPECT_FALSE(fs::exists(file));
    one.add("key", {"1-2", false, "two\nlines", {{"verdict", {{"correct", false}}}}, 3.0});
    ASSERT_TRUE(one.save());
    const Observations other(file);
    const auto found = other.find("key");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->text, "two\nlines");
    EXPECT_FALSE(found->ok);
    EXPECT_EQ(found->data["verdict"]["correct"], false);
    EXPECT_FALSE(other.find("another"));
    ASSERT_TRUE(writeFileAtomically(file, gzip("key {\"ok\": 1}\nk\n\n")));
    EXPECT_FALSE(Observations(file).find("key"));
    ASSERT_TRUE(writeFileAtomically(file, "no gzip"));
    EXPECT_FALSE(Observations(file).find("key"));
}

} // namespace
} // namespace cuda_agent::learn
