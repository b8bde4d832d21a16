// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.h"
#include "core/base/temporary_folder.h"
#include "core/learn/train/checkpoint.h"
#include "core/learn/train/muon.h"
#include "core/learn/train/optimiser.h"
#include "core/learn/train/stages.h"
#include "tests/source_dir.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace cuda_agent::learn {
namespace {

TEST(TrainRecipe, OfTheRepositoryAreRead) {
    namespace fs = std::filesystem;
    std::size_t count = 0;
    for (const auto &entry : fs::directory_iterator(sourceDir() / "training/recipes/policy")) {
        const auto recipe = readTrainRecipe(entry.path());
        ASSERT_TRUE(recipe) << recipe.error().message;
        EXPECT_EQ(recipe->name, "policy-" + entry.path().stem().string());
        const bool begun = entry.path().stem() == "ablations"; // with what another one has left
        EXPECT_EQ(recipe->device == "cuda", begun || entry.path().stem() == "h200");
        EXPECT_EQ(recipe->has(pretrainStage), !begun);
        const auto training = sourceDir() / "training";
        const bool tiny = entry.path().stem() == "tiny"; // whose corpus is kept
        const auto corpus = training / (tiny ? "data/tasks-tiny" : "corpus") / "corpus.jsonl.gz";
        EXPECT_EQ(recipe->corpus.lexically_normal(), begun ? fs::path() : corpus);
        EXPECT_EQ(fs::exists(recipe->corpus), tiny);
        EXPECT_EQ(fs::exists(recipe->actor / "config.json"), begun);
        EXPECT_EQ(fs::exists(recipe->rollout.tasks), !recipe->rollout.tasks.empty());
        EXPECT_EQ(recipe->rollout.tasks.empty(), entry.path().stem() == "cpu");
        auto config = recipe->model;
        config.vocabulary = recipe->vocabulary;
        EXPECT_TRUE(check(config));
        ++count;
    }
    EXPECT_GE(count, 3u);
}

TEST(TrainRecipe, IsScoredBehindTheStagesThatItNames) {
    const auto folder = TemporaryFolder::make("recipe").value();
    const auto file = folder.path() / "recipe.toml";
    const auto recipe = [&](const std::string &scoring) {
        EXPECT_TRUE(writeFileAtomically(file, "stages = [\"rft\", \"value-pretrain\"]\n"
                                              "[rollout]\ntasks = \"set.jsonl\"\n"
                                              "[model]\nactor = \"actor\"\n"
                                              "[scoring]\nsplits = [\"train\"]\n" +
                                                  scoring));
        return readTrainRecipe(file);
    };
    const auto all = recipe("");
    ASSERT_TRUE(all) << all.error().message;
    EXPECT_TRUE(all->scoring.behind("rft") && all->scoring.behind("value-pretrain"));
    EXPECT_DOUBLE_EQ(all->scoring.topP, 1);
    EXPECT_DOUBLE_EQ(all->scoring.freshTemperature, 1);
    EXPECT_DOUBLE_EQ(all->scoring.freshMinP, 0);
    EXPECT_TRUE(all->scoring.deviations);
    const auto one = recipe("stages = [\"rft\"]\ntop_p = 0.9\n"
                            "deviations = false\nfresh_temperature = 1.5\nfresh_min_p = 0.02\n");
    ASSERT_TRUE(one) << one.error().message;
    EXPECT_TRUE(one->scoring.behind("rft"));
    EXPECT_FALSE(one->scoring.behind("value-pretrain"));
    EXPECT_DOUBLE_EQ(one->scoring.topP, 0.9);
    EXPECT_DOUBLE_EQ(one->scoring.freshTemperature, 1.5);
    EXPECT_DOUBLE_EQ(one->scoring.freshMinP, 0.02);
    EXPECT_FALSE(one->scoring.deviations);
    const auto unknown = recipe("stages = [\"value\"]\n");
    ASSERT_FALSE(unknown);
    EXPECT_NE(unknown.error().message.find("[scoring] stages must be one of pretrain"),
              std::string::npos)
        << unknown.error().message;
}

TEST(LearningRate, RisesThenFallsByACosine) {
    OptimiserOptions options;
    options.learningRate = 2;
    options.finalShare = 0.25;
    options.warmUp = 4;
    EXPECT_DOUBLE_EQ(learningRate(options, 0, 104), 0.5);
    EXPECT_DOUBLE_EQ(learningRate(options, 3, 104), 2);
    EXPECT_DOUBLE_EQ(learningRate(options, 4, 104), 2);
    EXPECT_NEAR(learningRate(options, 54, 104), 2 * (0.25 + 0.75 / 2), 1e-12);
    EXPECT_NEAR(learningRate(options, 104, 104), 0.5, 1e-12);
    options.warmUp = 0;
    EXPECT_DOUBLE_EQ(learningRate(options, 0, 1), 2);
}

/// Documents of those sizes, one behind the other.
TokenSet setOf(const std::vector<std::int64_t> &sizes) {
    TokenSet set;
    for (const auto size : sizes) {
        set.begins.push_back(static_cast<std::int64_t>(set.tokens.size()));
        set.tokens.resize(set.tokens.size() + static_cast<std::size_t>(size));
    }
    return set;
}

std::vector<std::vector<Stretch>> sequencesOf(Sequences &sequences, std::int64_t from,
                                              std::int64_t to) {
    std::vector<std::vector<Stretch>> all;
    for (auto at = from; at < to; ++at)
        all.push_back(sequences.at(at));
    return all;
}

TEST(Sequences, EveryEpochHasEachDocumentOnceInOtherCompany) {
    std::vector<std::int64_t> sizes;
    for (std::int64_t i = 0; i < 500; ++i)
        sizes.push_back(2 + i * 7 % 61);
    const auto set = setOf(sizes);
    Sequences sequences(set, 99, 3), again(set, 99, 3), other(set, 99, 4);
    const auto size = sequences.size();
    const auto first = sequencesOf(sequences, 0, size);
    std::vector<std::int64_t> begins;
    std::int64_t filled = 0;
    for (const auto &sequence : first) {
        std::int64_t sum = 0;
        for (const auto &[begin, length] : sequence) {
            begins.push_back(begin);
            sum += length;
        }
        EXPECT_LE(sum, 100);
        filled += sum;
    }
    EXPECT_EQ(filled, static_cast<std::int64_t>(set.tokens.size()));
    EXPECT_GT(filled, size * 95) << "sequences are nearly full";
    EXPECT_NE(begins, set.begins);
    std::ranges::sort(begins);
    EXPECT_EQ(begins, set.begins) << "whole documents alone";
    const auto beginOf = [](Sequences &of, std::int64_t at) { return of.at(at).front().begin; };
    std::size_t same = 0;
    for (std::int64_t at = 0; at < size - 2; ++at) {
        same += beginOf(other, at) == first[static_cast<std::size_t>(at)].front().begin;
        same += beginOf(sequences, size + at) == first[static_cast<std::size_t>(at)].front().begin;
    }
    EXPECT_LT(same, 20u) << "by seed and by epoch";
    const auto later = beginOf(sequences, 3 * size + 5);
    EXPECT_EQ(beginOf(again, 3 * size + 5), later) << "from anywhere, as after a resume";
    EXPECT_EQ(beginOf(again, 2), first[2].front().begin) << "and back";
}

TEST(Sequences, LongDocumentsAreCutWhereTheyMeet) {
    const auto set = setOf({25, 1, 11, 10});
    Sequences sequences(set, 10, 1);
    std::map<std::int64_t, std::int64_t> stretches;
    std::set<std::int64_t> targets;
    for (const auto &sequence : sequencesOf(sequences, 0, sequences.size()))
        for (const auto &[begin, size] : sequence) {
            stretches[begin] = size;
            for (auto at = begin + 1; at < begin + size; ++at)
                EXPECT_TRUE(targets.insert(at).second) << at;
        }
    EXPECT_EQ(stretches, (std::map<std::int64_t, std::int64_t>{
                             {0, 11}, {10, 11}, {20, 5}, {26, 11}, {37, 10}}));
    EXPECT_EQ(targets.size(), 24u + 10 + 9) << "what one token alone would predict is not there";
}

TEST(AdamW, MovesAsItsPaperSays) {
    Parameters parameters({{"matrix", {2, 2}, true}, {"norm", {2}, false}}, at::kCPU, at::kFloat);
    {
        const at::NoGradGuard noGradients;
        parameters.values().fill_(1);
    }
    OptimiserOptions options;
    options.weightDecay = 0.5;
    options.clip = 0;
    Optimiser optimiser(parameters, options);
    double decayed = 1, kept = 1, mean = 0, square = 0;
    for (int step = 1; step <= 3; ++step) {
        optimiser.zeroGradients();
        const double slope = 0.1 * step;
        parameters.gradients().fill_(slope);
        const auto norm = optimiser.step(0.01).item<double>();
        EXPECT_NEAR(norm, slope * std::sqrt(6.0), 1e-6);
        mean = 0.9 * mean + 0.1 * slope;
        square = 0.95 * square + 0.05 * slope * slope;
        const double move = mean / (1 - std::pow(0.9, step)) /
                            (std::sqrt(square / (1 - std::pow(0.95, step))) + options.epsilon);
        decayed = decayed * (1 - 0.01 * 0.5) - 0.01 * move;
        kept -= 0.01 * move;
        EXPECT_NEAR(parameters.at("matrix")[1][1].item<double>(), decayed, 1e-6);
        EXPECT_NEAR(parameters.at("norm")[1].item<double>(), kept, 1e-6);
    }
}

TEST(AdamW, ClipsTheWholeNorm) {
    Parameters parameters({{"a", {3}, true}, {"b", {1}, false}}, at::kCPU, at::kFloat);
    OptimiserOptions options;
    options.clip = 1;
    options.weightDecay = 0;
    options.beta1 = 0; // the mean is the gradient
    Optimiser optimiser(parameters, options);
    parameters.gradients().fill_(10);
    EXPECT_NEAR(optimiser.step(0).item<double>(), 20, 1e-5);
    EXPECT_NEAR(optimiser.state().at("mean").norm().item<double>(), 1, 1e-5);
}

TEST(AdamW, KeepsFloatWeightsForAModelInBfloat16) {
    Parameters parameters({{"a", {4}, true}}, at::kCPU, at::kBFloat16);
    OptimiserOptions options;
    options.weightDecay = 0;
    options.clip = 0;
    {
        const at::NoGradGuard noGradients;
        parameters.values().fill_(1);
    }
    Optimiser optimiser(parameters, options);
    for (int i = 0; i < 20; ++i) { // each move is too small for bfloat16
        parameters.gradients().fill_(1);
        optimiser.step(0.001);
    }
    EXPECT_NEAR(parameters.at("a")[0].item<double>(), 0.98, 0.004);
    const auto state = optimiser.state();
    Optimiser other(parameters, options);
    ASSERT_TRUE(other.setState(state));
    EXPECT_TRUE(at::equal(other.state().at("weights"), state.at("weights")));
    auto wrong = state;
    wrong["mean"] = at::zeros({3});
    const auto refused = other.setState(wrong);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("mean"), std::string::npos);
}

TEST(Optimiser, MuonMovesProjectionsAndAdamWTheOthers) {
    // Two projections of one size, one of another, and an embedding that none is.
    const std::vector<Parameters::Shape> shapes{{"embedding", {6, 4}, true},
                                                {"norm", {4}, false},
                                                {"keysAndValues", {6, 4}, true, {3, 3}},
                                                {"out", {4, 3}, true, {4}}};
    Parameters parameters(shapes, at::kCPU, at::kFloat), others(shapes, at::kCPU, at::kFloat);
    at::manual_seed(3);
    const auto slopes = at::randn_like(parameters.gradients());
    OptimiserOptions options;
    options.clip = 0;
    Optimiser adamw(others, options);
    options.kind = "muon";
    Optimiser muon(parameters, options);
    for (const auto *each : {&parameters, &others})
        each->gradients().copy_(slopes);
    muon.step(0.01);
    adamw.step(0.01);
    for (const char *name : {"embedding", "norm"})
        EXPECT_TRUE(at::equal(parameters.at(name), others.at(name))) << name;
    const auto moved = [&](const at::Tensor &value) { // singular values, in steps of that size
        return std::get<1>(
            at::linalg_svd(value.detach() / (-0.01 * muonScale(value.size(0), value.size(1)))));
    };
    const auto both = parameters.at("keysAndValues");
    for (const auto &value : {both.narrow(0, 0, 3), both.narrow(0, 3, 3), parameters.at("out")}) {
        EXPECT_GT(moved(value).min().item<double>(), 0.6) << moved(value);
        EXPECT_LT(moved(value).max().item<double>(), 1.3) << moved(value);
    }
    EXPECT_EQ(muon.state().at("square").count_nonzero().item<std::int64_t>(), 6 * 4 + 4);
}

TEST(Checkpoint, TheNewestWholeOneIsFoundAndOldOnesGo) {
    const auto folder = TemporaryFolder::make("checkpoint-test");
    ASSERT_TRUE(folder);
    EXPECT_FALSE(newestCheckpoint(folder->path()));
    const auto write = [&](std::int64_t step) {
        return writeCheckpoint(folder->path(), step, {{"at", step}}, 2,
                               [&](const std::filesystem::path &in) -> Result<void> {
                                   std::filesystem::create_directories(in / "sub");
                                   return writeFileAtomically(in / "sub/data",
                                                              fmt::format("data {}", step));
                               });
    };
    for (const std::int64_t step : {5, 10, 100})
        ASSERT_TRUE(write(step));
    const auto last = newestCheckpoint(folder->path());
    ASSERT_TRUE(last);
    EXPECT_EQ(last->step, 100);
    EXPECT_EQ(last->state, (Json{{"at", 100}}));
    EXPECT_FALSE(std::filesystem::exists(folder->path() / "checkpoints/step-5")) << "two are kept";
    // What a kill leaves: a part beside, or a folder without its manifest.
    std::filesystem::create_directories(folder->path() / "checkpoints/.step-200.part");
    std::filesystem::create_directories(folder->path() / "checkpoints/step-150");
    ASSERT_TRUE(writeFileAtomically(folder->path() / "checkpoints/step-100/sub/data", "other"));
    std::vector<std::string> notes;
    const auto before =
        newestCheckpoint(folder->path(), [&](const std::string &note) { notes.push_back(note); });
    ASSERT_TRUE(before);
    EXPECT_EQ(before->step, 10);
    EXPECT_EQ(notes.size(), 2u);
    // One that cannot be written leaves the others alone.
    EXPECT_FALSE(writeCheckpoint(
        folder->path(), 300, {}, 1,
        [](const std::filesystem::path &) -> Result<void> { return machineError("disk full"); }));
    EXPECT_EQ(newestCheckpoint(folder->path())->step, 10);
}

} // namespace
} // namespace cuda_agent::learn
