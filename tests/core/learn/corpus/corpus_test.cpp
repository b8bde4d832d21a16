// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/corpus.h"

#include "core/base/temporary_folder.h"
#include "core/learn/corpus/descriptions.h"
#include "core/plan/runner.h"
#include "core/session/log.h"
#include "core/toolchain/compiler.h"
#include "small_set.h"

#include <gtest/gtest.h>

#include <set>

namespace cuda_agent::learn {
namespace {

namespace fs = std::filesystem;

class Corpus : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        auto folder = TemporaryFolder::make("corpus");
        ASSERT_TRUE(folder);
        folder_ = new TemporaryFolder(std::move(*folder));
        set_ = writeSmallSet(folder_->path());
    }
    static void TearDownTestSuite() {
        delete folder_;
        folder_ = nullptr;
    }
    static CorpusOptions options(const char *name, unsigned jobs) {
        CorpusOptions options;
        options.set = set_;
        options.out = folder_->path() / name;
        options.splits = {};
        options.perTask = 6;
        options.brokenShare = 0.4;
        options.jobs = jobs;
        return options;
    }
    static std::vector<Document> documents(const CorpusOptions &options) {
        auto summary = makeCorpus(options, {}, {});
        EXPECT_TRUE(summary) << summary.error().message;
        auto read = readCorpus(options.out / "corpus.jsonl.gz");
        EXPECT_TRUE(read) << read.error().message;
        EXPECT_EQ(read->size(), summary->documents);
        return read.value_or(std::vector<Document>());
    }
    /// The files that the document's turn writes.
    static std::map<std::string, std::string> filesOf(const Document &document) {
        std::map<std::string, std::string> files;
        const auto step = chat::stepOf(document.segments.at(1).text, 1);
        EXPECT_TRUE(step) << step.error().message;
        if (!step)
            return files;
        EXPECT_EQ(step->calls.back().tool, "Verify");
        for (const auto &call : step->calls)
            if (call.tool == "Write")
                files[call.arguments["file_path"]] = call.arguments["content"];
        return files;
    }

    static TemporaryFolder *folder_;
    static fs::path set_;
};
TemporaryFolder *Corpus::folder_ = nullptr;
fs::path Corpus::set_;

TEST_F(Corpus, DependsOnSetAndSeedAlone) {
    const auto one = options("one", 1), two = options("two", 2);
    const auto documentsOfOne = documents(one);
    ASSERT_GE(documentsOfOne.size(), 12u);
    (void)documents(two);
    const auto bytes = readTextFile(one.out / "corpus.jsonl.gz").value();
    EXPECT_EQ(bytes, readTextFile(two.out / "corpus.jsonl.gz").value());
    const auto again = makeCorpus(two, {}, {});
    ASSERT_TRUE(again);
    EXPECT_EQ(again->described, 0u); // the file knew them
    EXPECT_EQ(bytes, readTextFile(two.out / "corpus.jsonl.gz").value());
    auto other = options("two", 2);
    other.seed = 2;
    (void)documents(other);
    EXPECT_NE(bytes, readTextFile(two.out / "corpus.jsonl.gz").value());
    auto training = options("train", 1);
    training.splits = {"train"};
    for (const auto &document : documents(training))
        EXPECT_EQ(document.split, "train");
}

TEST_F(Corpus, WritesPlansThatHoldAndMarksThoseThatAreBroken) {
    const auto made = documents(options("plans", 2));
    std::size_t broken = 0;
    std::set<std::string> candidates;
    for (const auto &document : made) {
        SCOPED_TRACE(document.task + " " + document.candidate);
        EXPECT_TRUE(candidates.insert(document.task + document.candidate).second);
        ASSERT_EQ(document.segments.size(), 2u);
        EXPECT_EQ(document.segments[0].by, chat::Author::context);
        EXPECT_EQ(document.segments[1].by, chat::Author::policy);
        EXPECT_EQ(toJson(documentFromJson(toJson(document)).value()), toJson(document));
        EXPECT_LE(document.bytes(), 12000u);
        const auto files = filesOf(document);
        ASSERT_TRUE(files.contains("plan.json"));
        EXPECT_EQ(files.at("plan.json").find('\n'), std::string::npos);
        if (document.mutation) {
            ++broken;
            continue;
        }
        const auto plan = plan::planFromJson(parseJson(files.at("plan.json"), "plan").value());
        EXPECT_TRUE(plan) << plan.error().message;
    }
    EXPECT_GT(broken, 0u);
    EXPECT_LT(broken, made.size());
}

TEST_F(Corpus, MutatedOnesDifferFromTheirCandidates) {
    auto whole = options("whole", 2), broken = options("broken", 2);
    whole.brokenShare = 0;
    broken.brokenShare = 1;
    // The generator goes another way behind a mutation, so only the first ones are the same.
    whole.perTask = broken.perTask = 1;
    const auto good = documents(whole), bad = documents(broken);
    ASSERT_EQ(good.size(), bad.size());
    for (std::size_t i = 0; i < good.size(); ++i) {
        EXPECT_EQ(good[i].candidate, bad[i].candidate);
        EXPECT_FALSE(good[i].mutation);
        ASSERT_TRUE(bad[i].mutation);
        EXPECT_NE(filesOf(good[i]), filesOf(bad[i])) << bad[i].mutation->kind;
    }
}

TEST_F(Corpus, OfSeveralDrawsHasTheOneThatThePlannerExpectsToBeFastest) {
    auto any = options("any", 2), best = options("best", 2);
    any.brokenShare = best.brokenShare = any.renamedShare = best.renamedShare = 0;
    any.perTask = best.perTask = 1;
    best.bestOf = 100;
    auto first = options("first", 2);
    first.brokenShare = first.renamedShare = 0;
    first.perTask = 1;
    first.bestOf = 0;
    const auto drawn = documents(any), chosen = documents(best), firsts = documents(first);
    ASSERT_EQ(drawn.size(), smallTasks().size());
    ASSERT_EQ(firsts.size(), smallTasks().size());
    ASSERT_EQ(chosen.size(), smallTasks().size());
    Descriptions descriptions(best.out / "descriptions-cuda.gz", device::Kind::cuda);
    double before = 0, after = 0;
    for (std::size_t i = 0; i < drawn.size(); ++i) {
        const auto &task = smallTasks()[i];
        const auto described = descriptions.of(task.name, smallCode(task), {});
        ASSERT_TRUE(described) << described.error().message;
        const auto space = policy::SearchSpace::make(*described, best.target.info,
                                                     best.target.ceilings, best.numerics);
        ASSERT_TRUE(space) << space.error().message;
        EXPECT_EQ(firsts[i].candidate, *space->next({}));
        before += space->expectedSeconds(drawn[i].candidate);
        after += space->expectedSeconds(chosen[i].candidate);
        EXPECT_NEAR(space->expectedSeconds(chosen[i].candidate),
                    space->expectedSeconds(*space->next({})),
                    0.1 * space->expectedSeconds(chosen[i].candidate))
            << "what it would try first, or nearly";
    }
    EXPECT_LT(after, before);
}

TEST_F(Corpus, BatchesAreCutToSizesThatAreNoRoundOnes) {
    // softmax of batch_size = 4096, by several names
    auto code = smallCode({"softmax", {{"rows = 2048", "rows = 4096"}}, "train"});
    for (auto at = code.find("rows"); at != code.npos; at = code.find("rows", at))
        code.replace(at, 4, "batch_size");
    std::string lines;
    for (const char *name : {"a", "b", "c", "d"})
        lines += Json{{"name", name}, {"code", code}, {"split", "train"}}.dump() + "\n";
    auto cut = options("cut", 2);
    cut.set = folder_->path() / "batched.jsonl";
    ASSERT_TRUE(writeFileAtomically(cut.set, lines));
    cut.perTask = 1;
    cut.resizedShare = 1;
    const auto batches = [&] {
        std::map<std::string, int> result;
        for (const auto &document : documents(cut)) {
            const auto &prompt = document.segments.at(0).text;
            const std::string constant = "batch_size = ";
            const auto at = prompt.find(constant);
            EXPECT_NE(at, prompt.npos);
            const int batch = std::stoi(prompt.substr(at + constant.size()));
            EXPECT_NE(prompt.find(fmt::format("[{}, 1000]", batch)), prompt.npos) << prompt;
            result[document.task] = batch;
        }
        EXPECT_EQ(result.size(), 4u);
        return result;
    };
    const auto first = batches();
    std::set<int> different;
    for (const auto &[task, batch] : first) {
        EXPECT_GE(batch, 4096 / 16);
        EXPECT_LT(batch, 4096);
        different.insert(batch);
    }
    EXPECT_GT(different.size(), 2u);
    cut.seed = 2;
    EXPECT_EQ(batches(), first) << "of another seed, too";
    const auto again = makeCorpus(cut, {}, {});
    ASSERT_TRUE(again);
    EXPECT_EQ(again->described, 0u);
    cut.resizedShare = 0;
    for (const auto &[task, batch] : batches())
        EXPECT_EQ(batch, 4096);
}

/// A session of one turn at softmax, for whose candidate the tools answered that verdict.
void writeSession(const fs::path &place, const task::Description &task, const Json &verdict) {
    fs::create_directories(place.parent_path());
    auto log = session::Log::create(place);
    ASSERT_TRUE(log) << log.error().message;
    const auto append = [&](session::EventType type, const Json &data) {
        ASSERT_TRUE(log->append(type, type == session::EventType::sessionStarted ? 0 : 1, data));
    };
    append(session::EventType::sessionStarted,
           {{"task", {{"name", "softmax"}, {"blob", log->putBlob("class Cut").value()}}},
            {"device", {{"kind", "cuda"}, {"name", "Another Card"}}}});
    append(session::EventType::taskDescribed, task.toJson());
    append(session::EventType::turnStarted, Json::object());
    append(session::EventType::thought, {{"text", "by " + place.filename().string()}});
    append(session::EventType::action,
           {{"id", "1-1"}, {"tool", "Verify"}, {"arguments", Json::object()}});
    append(session::EventType::verdictGiven, {{"verdict", verdict}, {"candidate", Json::object()}});
    append(session::EventType::observation, {{"id", "1-1"},
                                             {"ok", true},
                                             {"text", "told"},
                                             {"seconds", 0},
                                             {"data", {{"verdict", verdict}}}});
    append(session::EventType::turnEnded, Json::object());
}

TEST_F(Corpus, GoesOnFromWhatAPolicyTried) {
    const auto described = options("described", 1);
    documents(described);
    Descriptions descriptions(described.out / "descriptions-cuda.gz", device::Kind::cuda);
    const auto task = descriptions.of("softmax", smallCode(smallTasks()[1]), {});
    ASSERT_TRUE(task) << task.error().message;
    const auto folder = folder_->path() / "sessions";
    writeSession(folder / "wrong", *task, {{"compiled", true}, {"correct", false}, {"reward", -1}});
    const auto timed = [](int reward) {
        return Json{{"compiled", true},
                    {"correct", true},
                    {"reward", reward},
                    {"times", {{"candidate", {{"seconds", 0.001}}}}}};
    };
    writeSession(folder / "best", *task, timed(3));
    writeSession(folder / "slow", *task, timed(1));
    writeSession(folder / "untimed", *task, {{"compiled", true}, {"correct", true}, {"reward", 1}});
    auto own = options("own", 2);
    own.tries = folder;
    std::map<std::string, std::string> went;
    for (const auto &document : documents(own)) {
        ASSERT_EQ(document.segments.size(), 4u);
        EXPECT_EQ(document.task, "softmax");
        EXPECT_NE(document.segments[0].text.find("Another Card"), std::string::npos);
        EXPECT_NE(document.segments[0].text.find("class Cut"), std::string::npos);
        const auto tried = chat::stepOf(document.segments[1].text, 1);
        const auto next = chat::stepOf(document.segments[3].text, 2);
        ASSERT_TRUE(tried && next);
        went[tried->thought] = next->finished ? next->reason : next->thought;
        EXPECT_EQ(document.segments[1].by,
                  next->finished ? chat::Author::policy : chat::Author::context);
        EXPECT_EQ(document.candidate.empty(), next->finished);
    }
    ASSERT_EQ(went.size(), 4u);
    EXPECT_EQ(went["by best"], "It is correct and faster than torch.compile.");
    EXPECT_EQ(went["by untimed"], "It is correct.");
    EXPECT_TRUE(went["by wrong"].starts_with("It is wrong. Another way. ")) << went["by wrong"];
    EXPECT_TRUE(went["by slow"].starts_with("It is correct; another schedule may be faster. "))
        << went["by slow"];
}

TEST_F(Corpus, CompilesForHopper) {
    auto whole = options("compiled", 2);
    whole.brokenShare = 0;
    whole.perTask = 3;
    const auto compiler = toolchain::makeCudaCompiler("sm_90");
    if (!compiler)
        GTEST_SKIP() << compiler.error().message;
    for (const auto &document : documents(whole)) {
        SCOPED_TRACE(document.task + " " + document.candidate);
        const auto folder = folder_->path() / "candidate";
        fs::remove_all(folder);
        fs::create_directories(folder / "kernels");
        for (const auto &[path, text] : filesOf(document))
            ASSERT_TRUE(writeFileAtomically(folder / path, text));
        const auto candidate = plan::readCandidate(folder);
        ASSERT_TRUE(candidate) << candidate.error().message;
        const auto outcome = plan::compile(*candidate, **compiler);
        ASSERT_TRUE(outcome) << outcome.error().message;
        if (const auto *rejection = std::get_if<toolchain::Rejection>(&*outcome))
            FAIL() << rejection->log;
    }
}

TEST_F(Corpus, EndsByTimeWithWhatThereIs) {
    auto request = options("late", 1);
    request.seconds = 1e-9;
    const auto none = makeCorpus(request, {}, {});
    ASSERT_TRUE(none) << none.error().message;
    EXPECT_EQ(none->documents, 0u);
    EXPECT_EQ(none->reasons.at("its turn did not come within the time given"), none->tasks);
    EXPECT_TRUE(fs::exists(request.out / "corpus.jsonl.gz"));
    request.seconds = 1e6;
    const auto all = makeCorpus(request, {}, {});
    ASSERT_TRUE(all) << all.error().message;
    EXPECT_GT(all->documents, 0u);
}

TEST_F(Corpus, StopsAndGoesOn) {
    std::stop_source stop;
    auto request = options("stopped", 1);
    const auto ended = makeCorpus(
        request, [&](const CorpusProgress &) { stop.request_stop(); }, stop.get_token());
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().kind, ErrorKind::stopped);
    EXPECT_FALSE(fs::exists(request.out / "corpus.jsonl.gz"));
    const auto whole = makeCorpus(request, {}, {});
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_EQ(whole->described, smallTasks().size() - 1);
    request.splits = {"nonesuch"};
    const auto none = makeCorpus(request, {}, {});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::request);
}

} // namespace
} // namespace cuda_agent::learn
