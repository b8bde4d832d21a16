// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/hash.h"
#include "core/base/paths.h"
#include "core/judge/judge.h"
#include "tests/source_dir.h"

#include <gtest/gtest.h>

#include <fstream>

namespace cuda_agent::judge {

inline std::string replaced(std::string text, const std::string &what, const std::string &by) {
    const auto at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

/// The published workspace of the skill's example on the cpu device: real compilers, real Python,
/// real sandbox. Each test changes a copy as a careless or hostile author would.
class ModuleTest : public testing::Test {
  protected:
    static constexpr const char *forwardCall =
        "return cuda_extension.residual_scale_forward(x, residual, self.scale, 0)";

    static Judge *prepare(modules::Rules rules) {
        Options options;
        options.rules = rules;
        options.interleaveBaselines = false;
        const std::filesystem::path task =
            sourceDir() / "skills" / "module-candidates/candidates/residual_scale/task.py";
        auto spec = task::openSpec(task, {"rows=64", "features=96"});
        EXPECT_TRUE(spec) << spec.error().message;
        auto prepared = Judge::prepare(*spec, device::openCpu().value(), options, {}, {});
        EXPECT_TRUE(prepared) << (prepared ? "" : prepared.error().message);
        return prepared ? prepared->release() : nullptr;
    }
    static void SetUpTestSuite() { judge_ = prepare(modules::Rules::published); }
    static void TearDownTestSuite() {
        delete judge_;
        judge_ = nullptr;
    }
    void SetUp() override {
        ASSERT_NE(judge_, nullptr);
        folder_ =
            std::filesystem::path(testing::TempDir()) / fmt::format("module-{:x}", randomSeed());
        std::filesystem::create_directories(folder_ / "kernels");
        const std::filesystem::path example =
            sourceDir() / "skills" / "module-candidates/candidates/residual_scale";
        for (const auto *path :
             {"model_new.py", "kernels/residual_scale.cu", "kernels/residual_scale_binding.cpp"})
            std::filesystem::copy_file(example / path, folder_ / path);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    void change(const std::string &path, const std::string &what, const std::string &by) {
        const auto text = readTextFile(folder_ / path);
        ASSERT_TRUE(text);
        std::ofstream(folder_ / path) << replaced(*text, what, by);
    }
    Result<Verdict> verdict(Judge *judge = nullptr,
                            verify::Strength strength = verify::Strength::training) {
        CUDA_AGENT_ASSIGN(candidate, readCandidate(folder_));
        return (judge ? judge : judge_)->judge(candidate, strength, {});
    }
    /// The verdict of a candidate that is judged wrong, not an error.
    Verdict wrong() {
        auto given = verdict();
        EXPECT_TRUE(given) << (given ? "" : given.error().message);
        if (!given)
            return {};
        EXPECT_FALSE(given->correct);
        EXPECT_EQ(given->reward, -1);
        return *given;
    }

    static inline Judge *judge_ = nullptr;
    std::filesystem::path folder_;
};

} // namespace cuda_agent::judge
