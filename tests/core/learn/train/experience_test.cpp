// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/temporary_folder.h"
#include "core/learn/corpus/document.h"
#include "core/learn/train/experience.h"
#include "core/learn/train/rollout_metrics.h"
#include "core/learn/train/shuffle.h"
#include "core/learn/train/stages.h"
#include "tests/core/learn/model/tiny_model.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace cuda_agent::learn {
namespace {

Transformer tinyActor(Transformer::Head head = Transformer::Head::logits) {
    auto config = tinyConfig();
    config.vocabulary = 40;
    config.positions = 64;
    config.initialRange = 0.3;
    return Transformer::drawn(config, head, 4, at::kCPU, at::kFloat);
}

/// A conversation of `read` tokens of context and `written` ones, twice.
Trajectory conversation(std::int32_t word, std::size_t read, std::size_t written, double reward) {
    Trajectory one;
    one.task = fmt::format("task{}", word);
    one.reward = reward;
    auto &record = one.record;
    for (int turn = 0; turn < 2; ++turn)
        for (std::size_t i = 0; i < read + written; ++i) {
            const bool own = i >= read;
            record.tokens.push_back(static_cast<std::int32_t>((word + 7 * i) % 40));
            record.byPolicy.push_back(own);
            record.logProbabilities.push_back(own ? -0.5f - static_cast<float>(i) : 0.0f);
            record.entropy.push_back(own ? 1.0f : 0.0f);
        }
    record.turns = 2;
    one.episode.turns = 2;
    if (reward > 0)
        one.episode.verdict = Json::object();
    one.episode.milestone = static_cast<int>(reward);
    return one;
}

std::vector<Trajectory> conversations() {
    return {conversation(1, 3, 5, 2), conversation(2, 8, 2, -1), conversation(3, 1, 9, 1)};
}

/// Of one conversation alone: its own tokens' log-probabilities by the whole model.
std::vector<float> alone(const Transformer &actor, const TokenRecord &record) {
    const auto tokens = at::tensor(record.tokens).to(at::kLong).unsqueeze(0);
    const auto all = at::log_softmax(actor.logits(actor.hidden(tokens))[0], -1);
    std::vector<float> own;
    for (std::size_t i = 1; i < record.tokens.size(); ++i)
        if (record.byPolicy[i] != 0)
            own.push_back(all[static_cast<std::int64_t>(i) - 1][record.tokens[i]].item<float>());
    return own;
}

TEST(Experience, TellsOfEachConversationWhatTheModelSaysOfItAlone) {
    const at::NoGradGuard noGradients;
    const auto actor = tinyActor();
    const auto trajectories = conversations();
    for (const std::int64_t microTokens : {1, 40, 1000}) { // one by one, two, all together
        const Experience experience(trajectories, at::kCPU, microTokens);
        const auto table = experience.table(experience.all(), [&](const TrajectoryBatch &batch) {
            return batch.logProbabilities(actor, {});
        });
        ASSERT_EQ(table.size(1), 18) << "own tokens of the one that wrote most";
        for (std::size_t row = 0; row < trajectories.size(); ++row) {
            const auto own = alone(actor, trajectories[row].record);
            ASSERT_EQ(experience.mask()[static_cast<std::int64_t>(row)].sum().item<std::int64_t>(),
                      static_cast<std::int64_t>(own.size()));
            for (std::size_t i = 0; i < 18; ++i)
                EXPECT_NEAR(table[static_cast<std::int64_t>(row)][static_cast<std::int64_t>(i)]
                                .item<float>(),
                            i < own.size() ? own[i] : 0.0f, 2e-5)
                    << row << " " << i;
        }
    }
}

TEST(Experience, PutsRewardsAtTheLastOwnTokenAndKeepsWhatWasDrawn) {
    const auto trajectories = conversations();
    const Experience experience(trajectories, at::kCPU, 100);
    const auto rewards = experience.rewards();
    EXPECT_EQ(rewards[0][9].item<float>(), 2);
    EXPECT_EQ(rewards[1][3].item<float>(), -1);
    EXPECT_EQ(rewards[2][17].item<float>(), 1);
    EXPECT_EQ(rewards.abs().sum().item<float>(), 4);
    EXPECT_EQ(experience.rewards({2, 0}).sum().item<float>(), 3);
    EXPECT_EQ(experience.drawn()[0][0].item<float>(), -3.5f);
    EXPECT_EQ(experience.drawn()[1][2].item<float>(), -8.5f) << "of its second turn";
    const auto groups = experience.groups({1, 2});
    std::vector<std::size_t> both;
    for (const auto &group : groups)
        both.insert(both.end(), group.begin(), group.end());
    std::ranges::sort(both);
    EXPECT_EQ(both, (std::vector<std::size_t>{1, 2}));
}

TEST(Experience, GradientsInGroupsAreThoseOfAll) {
    const auto trajectories = conversations();
    std::vector<at::Tensor> gradients;
    for (const std::int64_t microTokens : {1, 1000}) {
        const auto actor = tinyActor();
        const Experience experience(trajectories, at::kCPU, microTokens);
        for (const auto &group : experience.groups({0, 1, 2}))
            (-experience.batch(group).logProbabilities(actor, {}).sum()).backward();
        gradients.push_back(actor.parameters().gradients().clone());
    }
    EXPECT_GT(gradients[0].norm().item<float>(), 1);
    EXPECT_LT((gradients[0] - gradients[1]).norm().item<float>(),
              1e-4 * gradients[0].norm().item<float>());
}

TEST(Experience, IsSharedByProcessesWithoutAChangeOfItsTables) {
    const at::NoGradGuard noGradients;
    auto trajectories = conversations();
    for (std::int32_t word = 4; word < 11; ++word)
        trajectories.push_back(conversation(word, 2, static_cast<std::size_t>(word), 1));
    const auto actor = tinyActor();
    const Experience experience(trajectories, at::kCPU, 60);
    const auto of = [&](const TrajectoryBatch &batch) { return batch.logProbabilities(actor, {}); };
    const auto whole = experience.table(experience.all(), of);
    EXPECT_EQ(experience.share({7, 3, 5}, 0, 1), (std::vector<std::size_t>{7, 3, 5})) << "alone";
    for (const std::int64_t size : {2, 3, 20}) {
        auto sum = at::zeros_like(whole);
        std::vector<std::size_t> everybody;
        std::vector<std::int64_t> tokens;
        for (std::int64_t rank = 0; rank < size; ++rank) {
            const auto mine = experience.share(experience.all(), rank, size);
            everybody.insert(everybody.end(), mine.begin(), mine.end());
            std::int64_t own = 0;
            for (const auto i : mine)
                own += static_cast<std::int64_t>(trajectories[i].record.tokens.size());
            tokens.push_back(own);
            sum += experience.table(mine, of);
        }
        std::ranges::sort(everybody);
        EXPECT_EQ(everybody, experience.all()) << "each once";
        EXPECT_LT((sum - whole).abs().max().item<float>(), 2e-5);
        if (size == 2) {
            EXPECT_LT(std::abs(tokens[0] - tokens[1]), 24) << "less than the longest";
        }
    }
}

TEST(MicroBatches, HoldAtMostSoManyTokensWithPadding) {
    const std::vector<std::int64_t> lengths{5, 30, 7, 100, 8, 29};
    std::vector<std::size_t> all;
    for (const auto &group : microBatches(lengths, 64)) {
        std::int64_t longest = 0;
        for (const auto i : group) {
            longest = std::max(longest, lengths[i]);
            all.push_back(i);
        }
        EXPECT_TRUE(group.size() == 1 || longest * static_cast<std::int64_t>(group.size()) <= 64);
    }
    std::ranges::sort(all);
    EXPECT_EQ(all, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(microBatches(lengths, 64).size(), 3u) << "100 | 30 29 | 8 7 5";
}

TEST(Trajectories, AreReadAsTheyWereWritten) {
    const auto folder = TemporaryFolder::make("trajectories").value();
    auto written = conversations();
    written[0].session = "000-relu-0";
    written[0].episode.overCompile = 1.25;
    written[0].episode.ofLimit = 0.9;
    written[0].episode.refused = 3;
    written[0].episode.bestTurn = 2;
    written[1].place = 7;
    written[1].record.cut = true;
    written[1].episode.reason = "bytes that are no UTF-8: \xff";
    const auto file = folder.path() / "a" / "step-0.safetensors";
    ASSERT_TRUE(writeTrajectories(file, written));
    const auto read = readTrajectories(file);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->size(), written.size());
    for (std::size_t i = 0; i < written.size(); ++i) {
        const auto &a = (*read)[i], &b = written[i];
        EXPECT_EQ(a.record.tokens, b.record.tokens);
        EXPECT_EQ(a.record.byPolicy, b.record.byPolicy);
        EXPECT_EQ(a.record.logProbabilities, b.record.logProbabilities);
        EXPECT_EQ(a.record.entropy, b.record.entropy);
        EXPECT_EQ(a.record.cut, b.record.cut);
        EXPECT_EQ(a.reward, b.reward);
        EXPECT_EQ(a.task, b.task);
        EXPECT_EQ(a.episode.correct(), b.episode.correct());
    }
    EXPECT_EQ((*read)[0].episode.overCompile, 1.25);
    EXPECT_EQ((*read)[0].episode.ofLimit, 0.9);
    EXPECT_EQ((*read)[0].episode.refused, 3);
    EXPECT_EQ((*read)[0].episode.bestTurn, 2);
    EXPECT_EQ((*read)[0].session, "000-relu-0");
    EXPECT_EQ((*read)[1].place, 7);

    auto content = readSafetensors(file).value();
    content.tensors["begins"] = at::tensor({0, 5, 2, 900}, at::kLong);
    ASSERT_TRUE(writeSafetensors(file, content));
    EXPECT_FALSE(readTrajectories(file)) << "places beyond the tokens";
    content.tensors.erase("rewards");
    ASSERT_TRUE(writeSafetensors(file, content));
    EXPECT_FALSE(readTrajectories(file));
}

TEST(WholeEpisodes, AreWhatTheirConversationsCameToTogether) {
    auto all = conversations();
    all.resize(3);
    all[0].place = all[1].place = 2;
    all[2].place = 3;
    const auto set = [](Trajectory &one, double reward, double seconds, int turns, int best) {
        one.reward = reward;
        one.episode = {};
        one.episode.turns = one.episode.calls = turns;
        one.episode.refused = 1;
        if (reward < 0)
            return;
        one.episode.verdict = Json::object();
        one.episode.milestone = static_cast<int>(reward);
        one.episode.seconds = seconds;
        one.episode.bestTurn = best;
        one.episode.overCompile = 1 / seconds;
    };
    set(all[0], 2, 0.5, 3, 2);
    set(all[1], 3, 0.25, 2, 1);
    set(all[2], -1, 0, 4, 0);
    const auto whole = wholeEpisodes(all);
    ASSERT_EQ(whole.size(), 2u);
    EXPECT_EQ(whole[0].last, &all[1]);
    EXPECT_EQ(whole[0].reward, 3);
    EXPECT_EQ(whole[0].episode.turns, 5);
    EXPECT_EQ(whole[0].episode.bestTurn, 4);
    EXPECT_EQ(whole[0].episode.overCompile, 4);
    EXPECT_EQ(whole[0].episode.refused, 2);
    EXPECT_FALSE(whole[1].episode.correct());
    Collected collected;
    collected.trajectories = all;
    const auto metrics = metricsOf(collected);
    EXPECT_DOUBLE_EQ(metrics.at("reward/pass_rate"), 0.5);
    EXPECT_DOUBLE_EQ(metrics.at("critic/score/mean"), 1);
    EXPECT_DOUBLE_EQ(metrics.at("num_turns/mean"), 4.5);
    set(all[1], -1, 0, 2, 0);
    EXPECT_EQ(wholeEpisodes(all)[0].episode.bestTurn, 2);
    EXPECT_EQ(wholeEpisodes(all)[0].reward, 2);
}

TEST(Memorised, ScoresWhatIsNotInTheCorpusApart) {
    Document shown;
    shown.split = "train";
    policy::Step step;
    step.calls = {{"", "Write", {{"file_path", "kernels/a.cu"}, {"content", "known"}}}};
    shown.segments = {chat::segmentOf(step).value()};
    CandidateIndex corpus;
    corpus.add(shown);
    Collected collected;
    const auto add = [&](const char *kernel, double overCompile, double ofLimit = 0.5) {
        auto one = conversation(1, 2, 2, kernel ? 1 : -1);
        if (kernel)
            one.episode.candidate = {{"kernels/b.cu", kernel}, {"plan.json", "{}"}};
        one.episode.overCompile = overCompile;
        one.episode.ofLimit = ofLimit;
        one.episode.seconds = kernel ? 1e-3 : 0;
        one.place = static_cast<std::int64_t>(collected.trajectories.size());
        collected.trajectories.push_back(std::move(one));
    };
    add("known  \n", 3);
    add("known", 3);
    add("own", 1.2);
    add("another", 0.3, 0.96);
    add(nullptr, 0);
    const auto metrics = memorisedOf(collected, corpus);
    EXPECT_DOUBLE_EQ(metrics.at("memorised"), 0.4);
    EXPECT_DOUBLE_EQ(metrics.at("unmemorised/pass_rate"), 2.0 / 3);
    EXPECT_DOUBLE_EQ(metrics.at("unmemorised/faster_than_compile"), 1.0 / 3);
    EXPECT_DOUBLE_EQ(metrics.at("unmemorised/faster_or_at_limit"), 2.0 / 3);
    EXPECT_NEAR(metrics.at("unmemorised/geomean_speedup"), 0.6, 1e-12);
    EXPECT_DOUBLE_EQ(metricsOf(collected).at("reward/pass_rate"), 0.8);
    collected.trajectories.resize(2);
    EXPECT_EQ(memorisedOf(collected, corpus), (Metrics{{"memorised", 1}})) << "no others";
    for (auto &one : collected.trajectories) { // verified alone
        one.episode.seconds = one.episode.overCompile = one.episode.ofLimit = 0;
    }
    const auto untimed = metricsOf(collected);
    EXPECT_DOUBLE_EQ(untimed.at("reward/pass_rate"), 1);
    EXPECT_FALSE(untimed.contains("reward/faster_than_compile"));
    EXPECT_FALSE(untimed.contains("reward/faster_or_at_limit"));
}

TEST(WorkShares, AreOfAllSecondsWhateverRanBesideWhat) {
    Collected collected;
    collected.asked = 4;
    collected.seconds = 10;
    collected.writing = 6;
    collected.preparing = 8;
    collected.phases = {{"compile", 4}, {"start", 1},     {"verification", 2}, {"hidden shapes", 1},
                        {"timing", 5},  {"baselines", 1}, {"waiting", 100}};
    auto metrics = metricsOf(collected);
    EXPECT_DOUBLE_EQ(metrics.at("timing_s/prepare"), 8);
    EXPECT_DOUBLE_EQ(metrics.at("timing_s/compile"), 4);
    EXPECT_DOUBLE_EQ(metrics.at("timing_s/verify"), 4);
    EXPECT_DOUBLE_EQ(metrics.at("timing_s/time"), 6);
    EXPECT_DOUBLE_EQ(metrics.at("timing_s/device_wait"), 100) << "is no work";
    metrics["timing_s/update_actor"] = 3;
    metrics["timing_s/values"] = 1;
    workSharesInto(metrics);
    double sum = 0;
    for (const auto *part : {"decode", "prepare", "compile", "verify", "time", "update"})
        sum += metrics.at(fmt::format("perf/work_share/{}", part));
    EXPECT_DOUBLE_EQ(sum, 1);
    EXPECT_DOUBLE_EQ(metrics.at("perf/work_share/prepare"), 0.25);
    EXPECT_DOUBLE_EQ(metrics.at("perf/work_share/update"), 0.125);
    Metrics nothing;
    workSharesInto(nothing);
    EXPECT_TRUE(nothing.empty());
}

TEST(GoodOnes, AreCorrectWithoutWaste) {
    auto trajectories = conversations();
    for (auto &one : trajectories) {
        one.reward = 2;
        one.episode.bestTurn = 2;
    }
    RftOptions options;
    EXPECT_EQ(goodOnes(trajectories, options).size(), 3u);
    trajectories[0].reward = -1;
    trajectories[1].episode.refused = 1;
    EXPECT_EQ(goodOnes(trajectories, options), (std::vector<std::size_t>{2}));
    trajectories[2].episode.turns = 4; // two after its best one
    EXPECT_TRUE(goodOnes(trajectories, options).empty());
    options.mostIdleTurns = 2;
    options.mostRefused = 1;
    EXPECT_EQ(goodOnes(trajectories, options), (std::vector<std::size_t>{1, 2}));
    trajectories[2].record.cut = true;
    EXPECT_EQ(goodOnes(trajectories, options), (std::vector<std::size_t>{1}));
    trajectories[2].record.cut = false;
    trajectories[2].task = trajectories[1].task;
    trajectories[2].reward = 3;
    options.mostOfATask = 1;
    EXPECT_EQ(goodOnes(trajectories, options), (std::vector<std::size_t>{2})) << "the better";
    trajectories[1].reward = 3;
    trajectories[1].episode.overCompile = 2;
    EXPECT_EQ(goodOnes(trajectories, options), (std::vector<std::size_t>{1})) << "the faster";
}

TEST(Rounds, NameEachOnceARoundInOrdersOfTheirOwn) {
    Rounds rounds(10, 5), again(10, 5), other(10, 6);
    std::vector<std::int64_t> first, second, stranger;
    for (std::int64_t i = 0; i < 10; ++i) {
        first.push_back(rounds[i]);
        second.push_back(again[10 + i]);
        stranger.push_back(other[i]);
    }
    EXPECT_NE(first, second);
    EXPECT_NE(first, stranger);
    EXPECT_EQ(rounds[13], second[3]);
    EXPECT_EQ(rounds[4], first[4]) << "also backwards";
    std::ranges::sort(first);
    for (std::int64_t i = 0; i < 10; ++i)
        EXPECT_EQ(first[static_cast<std::size_t>(i)], i);
}

TEST(Copy, ACriticBeginsAsTheActorAndSaysTheMiddle) {
    const at::NoGradGuard noGradients;
    auto actor = tinyActor();
    const auto critic = actor.copy(Transformer::Head::value);
    const auto same = actor.copy();
    const auto tokens = at::arange(20).unsqueeze(0);
    EXPECT_TRUE(at::equal(critic.hidden(tokens), actor.hidden(tokens)));
    EXPECT_TRUE(at::equal(same.logits(same.hidden(tokens)), actor.logits(actor.hidden(tokens))));
    const auto values = critic.value(critic.hidden(tokens));
    EXPECT_NEAR(values.min().item<float>(), (Transformer::leastValue + Transformer::mostValue) / 2,
                1e-5);
    EXPECT_EQ(values.min().item<float>(), values.max().item<float>());
    const auto before = critic.hidden(tokens).clone();
    actor.parameters().values().zero_();
    EXPECT_TRUE(at::equal(critic.hidden(tokens), before)) << "it has buffers of its own";
}

} // namespace
} // namespace cuda_agent::learn
