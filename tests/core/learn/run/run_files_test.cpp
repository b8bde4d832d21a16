// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/run/metric_names.h"
#include "core/learn/run/run_files.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace cuda_agent::learn {
namespace {

TEST(RunFiles, WhatIsWrittenIsRead) {
    RunInfo info;
    info.name = "tiny \"ä\"";
    info.seed = ~std::uint64_t{0};
    info.device = "cpu";
    info.versions = {{"torch", "2.11.0"}, {"program", "1"}};
    info.stages = {{"pretrain", 100}, {"agentic-ppo", 0}};
    info.started = 1.7e9 + 0.25;
    const auto read = parseRunInfo(formatRunInfo(info), "run.json");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->name, info.name);
    EXPECT_EQ(read->seed, info.seed);
    EXPECT_EQ(read->device, info.device);
    EXPECT_EQ(read->versions, info.versions);
    EXPECT_EQ(read->stages, info.stages);
    EXPECT_EQ(read->started, info.started);

    RunStatus status;
    status.state = RunState::failed;
    status.stage = "rft";
    status.step = 12;
    status.stageStep = 2;
    status.stageSteps = 30;
    status.tokens = 5'000'000'000;
    status.seconds = 12.5;
    status.error = "out of memory";
    status.start = "a";
    status.answered = "b";
    status.written = 3;
    auto again = parseStatus(formatStatus(status), "status.json");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->state, status.state);
    EXPECT_EQ(again->stage, status.stage);
    EXPECT_EQ(again->step, 12);
    EXPECT_EQ(again->stageStep, 2);
    EXPECT_EQ(again->stageSteps, 30);
    EXPECT_EQ(again->tokens, status.tokens);
    EXPECT_EQ(again->seconds, 12.5);
    EXPECT_TRUE(std::isnan(again->secondsLeft));
    EXPECT_EQ(again->error, status.error);
    EXPECT_EQ(again->start, "a");
    EXPECT_EQ(again->answered, "b");
    status.secondsLeft = 7;
    again = parseStatus(formatStatus(status), "status.json");
    ASSERT_TRUE(again);
    EXPECT_EQ(again->secondsLeft, 7);

    const auto request =
        parseRequest(formatRequest({RunOrder::goOn, "id", "start"}), "control.json");
    ASSERT_TRUE(request);
    EXPECT_EQ(request->order, RunOrder::goOn);
    EXPECT_EQ(request->id, "id");
    EXPECT_EQ(request->start, "start");

    const auto row = parseRollout(formatRollout({3, "task", -1, 4, "a/b", "gave up"}), "row");
    ASSERT_TRUE(row);
    EXPECT_EQ(row->step, 3);
    EXPECT_EQ(row->task, "task");
    EXPECT_EQ(row->reward, -1);
    EXPECT_EQ(row->turns, 4);
    EXPECT_EQ(row->session, "a/b");
    EXPECT_EQ(row->note, "gave up");
}

TEST(RunFiles, BrokenAndHostileTextIsOneClearError) {
    const std::string good = formatStatus({});
    for (std::size_t cut = 0; cut + 2 < good.size(); ++cut)
        EXPECT_FALSE(parseStatus(good.substr(0, cut), "status.json"));
    const auto error = [](std::string_view text) {
        const auto read = parseStatus(text, "status.json");
        return read ? std::string("read") : read.error().message;
    };
    EXPECT_EQ(error("[]"), "status.json is not a JSON object");
    EXPECT_EQ(error("{}"), "status.json: \"format\" is missing");
    EXPECT_NE(error("{\"format\":2}").find("newer version"), std::string::npos);
    EXPECT_EQ(error("{\"format\":1,\"state\":\"asleep\"}"),
              "status.json: \"state\" is none of the words known");
    EXPECT_EQ(error("{\"format\":1,\"state\":\"done\",\"step\":-1}"),
              "status.json: \"step\" is no whole number of 0 or more");
    EXPECT_EQ(error("{\"format\":1,\"state\":\"done\",\"step\":1e300}"),
              "status.json: \"step\" is no whole number of 0 or more");
    EXPECT_EQ(error("{\"format\":1,\"state\":\"done\",\"step\":\"1\"}"),
              "status.json: \"step\" is no number");
    EXPECT_EQ(
        error("{\"format\":1,\"state\":\"done\",\"error\":\"" + std::string(5000, 'x') + "\"}"),
        "status.json: \"error\" is no text of at most 4096 bytes");
    EXPECT_EQ(error(std::string(100'000, '[')), "status.json is not a JSON object");
    EXPECT_FALSE(parseRunInfo("{\"format\":1,\"stages\":[1]}", "run.json"));
    EXPECT_FALSE(parseRunInfo("{\"format\":1,\"seed\":\"1x\"}", "run.json"));
    // A session does not lead out of the run.
    for (const char *path : {"/etc", "../x", "a/../../x"})
        EXPECT_FALSE(parseRollout(formatRollout({1, "t", 1, 1, path, ""}), "row")) << path;
}

TEST(RunFiles, NamesOfSteps) {
    EXPECT_EQ(stepOfName("step-0"), 0);
    EXPECT_EQ(stepOfName("step-1200"), 1200);
    EXPECT_EQ(stepOfName(rolloutFolder("/run", 12).filename().string()), 12);
    EXPECT_EQ(stepOfName(checkpointFolder("/run", 34).filename().string()), 34);
    for (const char *name : {"", "step-", "step--1", "step-1x", "12", "step-99999999999999999"})
        EXPECT_EQ(stepOfName(name), -1) << name;
}

TEST(MetricNames, AreUniqueAndKnow) {
    std::set<std::string_view> seen;
    for (const MetricName &entry : metricNames()) {
        EXPECT_TRUE(seen.insert(entry.name).second) << entry.name;
        EXPECT_TRUE(entry.text.ends_with('.')) << entry.name;
        EXPECT_EQ(findMetricName(entry.name), &entry);
    }
    ASSERT_TRUE(findMetricName("timing_s/something"));
    EXPECT_EQ(findMetricName("timing_s/something")->name, "timing_s/*");
    EXPECT_EQ(findMetricName("timing_s/gen")->unit, "s");
    EXPECT_EQ(findMetricName("val-aux/held_out/memorised")->unit, "share");
    EXPECT_EQ(findMetricName("val-aux/held_out/unmemorised/pass_rate")->name,
              "val-aux/*/unmemorised/pass_rate");
    EXPECT_EQ(findMetricName("val-aux/held_out/num_turns/mean")->name, "val-aux/*");
    EXPECT_EQ(findMetricName("timing_s"), nullptr);
    EXPECT_EQ(findMetricName("loss"), nullptr);
    for (const char *name :
         {"critic/score/mean", "critic/vf_explained_var", "actor/pg_loss", "actor/ppo_kl",
          "actor/pg_clipfrac_lower", "response_length/clip_ratio", "num_turns/mean",
          "perf/throughput", "train/loss", "val/loss", "reward/pass_rate",
          "reward/faster_than_compile", "tools/error_rate", "env/stragglers"})
        EXPECT_NE(findMetricName(name), nullptr) << name;
}

} // namespace
} // namespace cuda_agent::learn
