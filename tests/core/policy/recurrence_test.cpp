// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/recurrence.h"

#include <gtest/gtest.h>

// How recurrences are shared out, and the text of their kernels; that they are right is tried on
// fixtures (run_fixture_test.cpp).

namespace cuda_agent::policy {
namespace {

class Recurrences : public testing::Test {
  protected:
    Program program_;

    int buffer(const char *name, Shape shape) {
        BufferInfo info;
        info.name = name;
        info.dtype = DType::float32;
        info.shape = std::move(shape);
        return program_.addBuffer(std::move(info));
    }
    /// A program with one layer.
    void make(const char *cell, std::int64_t batch, std::int64_t hidden, int directions = 1) {
        Recurrence r;
        r.cell = cell;
        r.steps = 7;
        r.batch = batch;
        r.hidden = hidden;
        for (int d = 0; d < directions; ++d) {
            r.gates.push_back(buffer(d ? "gates1" : "gates0", {}));
            r.weights.push_back(buffer(d ? "weight1" : "weight0", {}));
        }
        r.first = buffer("first", {});
        if (r.cell == "lstm")
            r.firstCell = buffer("firstCell", {});
        LibraryStep step;
        step.writes = buffer("out", {});
        step.recurrence = std::move(r);
        program_.library.push_back(std::move(step));
    }
    Result<void> schedule(int choice = 0, device::Kind kind = device::Kind::cuda) {
        device::Info info;
        info.kind = kind;
        info.multiprocessors = kind == device::Kind::cpu ? 2 : 132;
        info.sharedBytesPerBlock = 227 << 10;
        return scheduleRecurrences(program_, info, choice);
    }
    const RecurrenceSchedule &found() const { return program_.library[0].recurrence->schedule; }
};

TEST_F(Recurrences, KeepWeightsInRegisters) {
    make("lstm", 10, 256);
    ASSERT_TRUE(schedule());
    EXPECT_EQ(found().blocks, 64);
    EXPECT_EQ(found().units, 4);
    EXPECT_EQ(found().threads, 256);
    EXPECT_TRUE(found().kept);
    EXPECT_TRUE(found().tagged);
    ASSERT_TRUE(schedule(1));
    EXPECT_EQ(found().blocks, 64);
    EXPECT_FALSE(found().tagged);
    ASSERT_TRUE(schedule(2));
    EXPECT_EQ(found().blocks, 32);
    EXPECT_TRUE(found().kept);
    EXPECT_TRUE(found().tagged);
}

/// What they took on an H200, to within a tenth, in the order that was measured there.
TEST_F(Recurrences, SecondsAreThoseMeasured) {
    for (const auto &[cell, directions, choice, seconds] : {std::tuple{"gru", 1, 0, 2.23e-6},
                                                            {"lstm", 1, 0, 2.31e-6},
                                                            {"gru", 1, 1, 3.34e-6},
                                                            {"lstm", 1, 1, 3.43e-6},
                                                            {"gru", 1, 3, 3.09e-6},
                                                            {"lstm", 1, 3, 3.24e-6},
                                                            {"gru", 2, 0, 2.68e-6},
                                                            {"gru", 2, 1, 3.80e-6}}) {
        program_ = {};
        make(cell, 10, 256, directions);
        ASSERT_TRUE(schedule(choice));
        const auto &r = *program_.library[0].recurrence;
        EXPECT_NEAR(secondsOf(r) / static_cast<double>(r.steps), seconds, 0.1 * seconds)
            << cell << " " << directions << " " << choice;
    }
}

TEST_F(Recurrences, BlocksOfAllDirectionsRunAtOnce) {
    for (const std::int64_t hidden : {8, 100, 256, 1000, 2048}) {
        for (const int directions : {1, 2}) {
            program_ = {};
            make("gru", 4, hidden, directions);
            for (int choice = 0; choice < recurrenceChoices; ++choice) {
                ASSERT_TRUE(schedule(choice));
                EXPECT_LE(found().blocks * directions, 132) << hidden;
                EXPECT_GE(found().blocks * found().units, hidden);
            }
        }
    }
}

TEST_F(Recurrences, WeightsThatAreTooManyAreRead) {
    make("lstm", 4, 2048);
    ASSERT_TRUE(schedule());
    EXPECT_FALSE(found().kept);
    EXPECT_EQ(found().threads, 512);
    program_ = {};
    make("lstm", 8, 1024);
    ASSERT_TRUE(schedule());
    EXPECT_TRUE(found().kept) << "by more and larger blocks";
    EXPECT_GT(found().blocks, 64);
}

TEST_F(Recurrences, StatesHaveToFit) {
    make("gru", 4096, 256);
    const auto refused = schedule();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::failed);
    EXPECT_EQ(refused.error().message,
              "the states of 4096 rows of 256 do not fit a multiprocessor");
}

TEST_F(Recurrences, AThreadTakesARowOnACpu) {
    make("rnn_relu", 6, 20, 2);
    ASSERT_TRUE(schedule(0, device::Kind::cpu));
    EXPECT_TRUE(found().alone());
    const auto source = writeRecurrence(program_, program_.library[0], "layer");
    ASSERT_EQ(source.launches.size(), 1u);
    EXPECT_EQ(source.launches[0].grid[0], "6");
    EXPECT_EQ(source.launches[0].grid[1], "2");
    EXPECT_EQ(source.launches[0].block[0], 1);
    EXPECT_TRUE(source.zeroed.empty());
    EXPECT_EQ(source.helpers, std::set<std::string>{"recurAlone"});
    EXPECT_NE(source.text.find("recurAlone<ReluCell, 7, 6, 20, 2>("), std::string::npos)
        << source.text;
    EXPECT_NE(source.text.find("direction ? gates1 : gates0"), std::string::npos);
}

TEST_F(Recurrences, WhatBlocksTellEachOtherStartsAsZero) {
    make("lstm", 10, 256, 2);
    for (const int choice : {0, 1}) {
        ASSERT_TRUE(schedule(choice));
        const auto source = writeRecurrence(program_, program_.library[0], "layer");
        EXPECT_EQ(source.zeroed, std::vector<std::string>{"layer_told"});
        ASSERT_EQ(source.scratch.size(), 1u);
        EXPECT_EQ(source.scratch[0].dtype, choice == 0 ? DType::int64 : DType::int32);
        EXPECT_EQ(source.scratch[0].expressions,
                  std::vector<std::string>{choice == 0 ? "10240" : "14"})
            << "two states of each unit and row, or a count for each step";
        EXPECT_EQ(source.launches[0].grid[0], "128");
        EXPECT_NE(source.text.find("recurInBlocks<LstmCell, 7, 10, 256, 2, 4, 64, 256, true, " +
                                   std::string(choice == 0 ? "true>" : "false>")),
                  std::string::npos)
            << source.text;
        // The last cells lie behind all outputs.
        EXPECT_NE(source.text.find("lastCell = out + 35840 + direction * 2560"), std::string::npos)
            << source.text;
        EXPECT_FALSE(describe(*program_.library[0].recurrence).empty());
    }
}

} // namespace
} // namespace cuda_agent::policy
