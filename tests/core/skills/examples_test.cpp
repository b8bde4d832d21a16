// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// The plans of the skills' examples are read by the engine, and their kernels compile for GPUs,
// also those that a CPU cannot run. No GPU is needed.
#include "core/plan/runner.h"
#include "tests/source_dir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <unistd.h>

namespace cuda_agent {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> planFolders() {
    std::vector<fs::path> found;
    for (const auto &entry : fs::recursive_directory_iterator(sourceDir() / "skills"))
        if (entry.path().filename() == "plan.json")
            found.push_back(entry.path().parent_path());
    std::sort(found.begin(), found.end());
    return found;
}

class SkillExamples : public testing::Test {
  protected:
    void SetUp() override {
        cache_ = fs::temp_directory_path() / ("cuda-agent-skills-" + std::to_string(getpid()));
        setenv("CUDA_AGENT_CACHE", cache_.c_str(), 1);
    }
    void TearDown() override { fs::remove_all(cache_); }

    /// Compiles all; one that spills or keeps an array in local memory is no example to follow.
    void compileAll(const std::string &architecture) {
        const auto compiler = toolchain::makeCudaCompiler(architecture);
        ASSERT_TRUE(compiler) << compiler.error().message;
        const auto folders = planFolders();
        ASSERT_GE(folders.size(), 14u);
        for (const auto &folder : folders) {
            SCOPED_TRACE(folder.filename().string() + " for " + architecture);
            const auto candidate = plan::readCandidate(folder);
            ASSERT_TRUE(candidate) << candidate.error().message;
            const auto outcome = plan::compile(*candidate, **compiler, {});
            ASSERT_TRUE(outcome) << outcome.error().message;
            if (const auto *refused = std::get_if<toolchain::Rejection>(&*outcome)) {
                ADD_FAILURE() << refused->summary << "\n" << refused->log;
                continue;
            }
            for (const auto &[path, binary] : std::get<plan::CompiledPlan>(*outcome).binaries) {
                EXPECT_TRUE(binary.warnings.empty()) << path << ": " << binary.warnings[0].message;
                EXPECT_FALSE(binary.entries.empty()) << path;
                for (const auto &entry : binary.entries) {
                    EXPECT_EQ(entry.spillBytes, 0) << entry.name;
                    EXPECT_EQ(entry.stackBytes, 0) << entry.name;
                }
            }
        }
    }

    fs::path cache_;
};

TEST_F(SkillExamples, CompileForHopper) {
    compileAll("sm_90");
}

TEST_F(SkillExamples, CompileForAmpere) {
    compileAll("sm_80");
}

} // namespace
} // namespace cuda_agent
