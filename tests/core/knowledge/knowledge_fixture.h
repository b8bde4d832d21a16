// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/hash.h"
#include "core/knowledge/offer.h"

#include <gtest/gtest.h>

namespace cuda_agent::knowledge {

/// A folder for the file of a record.
class KnowledgeTest : public testing::Test {
  protected:
    void SetUp() override {
        folder_ =
            std::filesystem::path(testing::TempDir()) / fmt::format("knowledge-{:x}", randomSeed());
        file_ = folder_ / "knowledge.db";
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    Store open() {
        auto store = Store::open(file_);
        EXPECT_TRUE(store) << (store ? "" : store.error().message);
        return std::move(*store);
    }

    static Query query() {
        return {{"gemm+pointwise", "gemm", "float32", 11, 12},
                "cuda",
                "NVIDIA H200",
                "sm_90",
                "default"};
    }
    /// A correct candidate for `query()`, told from others by `hash`.
    static Record record(const std::string &hash, double againstEager = 1.5) {
        Record record;
        record.task = query().task;
        record.taskName = "gemm_epilogue";
        record.deviceKind = query().deviceKind;
        record.device = query().device;
        record.architecture = query().architecture;
        record.numerics = query().numerics;
        record.policy = "planner";
        record.candidate = "plan";
        record.schedule = "0|row-" + hash;
        record.note = "one read: the row stays in registers";
        record.hash = hash;
        record.session = "/sessions/one";
        record.turn = 3;
        record.compiled = record.correct = record.full = true;
        record.reward = 3;
        record.seconds = 1e-3;
        record.againstEager = againstEager;
        record.againstCompile = 1.2;
        record.againstStock = 1.1;
        record.fractionOfLimit = 0.96;
        record.time = 1.7e9;
        return record;
    }
    static Record failure(const std::string &hash, const std::string &problem) {
        Record failed = record(hash, 0);
        failed.correct = failed.full = false;
        failed.reward = -1;
        failed.problem = problem;
        failed.againstCompile = failed.againstStock = failed.fractionOfLimit = failed.seconds = 0;
        return failed;
    }

    std::filesystem::path folder_;
    std::filesystem::path file_;
};

} // namespace cuda_agent::knowledge
