// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/modules/candidate.h"

#include "core/base/hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

// What a folder or a file must hold to count as a module candidate.

namespace cuda_agent::modules {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class CandidateTest : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::path(testing::TempDir()) / fmt::format("module-{:x}", randomSeed());
        fs::create_directories(folder_ / "kernels");
    }
    void TearDown() override { fs::remove_all(folder_); }

    void write(const std::string &path, const std::string &text) {
        std::ofstream(folder_ / path) << text;
    }
    std::string problem() {
        const auto candidate = readCandidate(folder_);
        EXPECT_FALSE(candidate);
        if (candidate)
            return {};
        EXPECT_EQ(candidate.error().kind, ErrorKind::request);
        return candidate.error().message;
    }

    fs::path folder_;
};

TEST_F(CandidateTest, ReadsTheWorkspace) {
    write("model_new.py", "class ModelNew: pass\n");
    write("kernels/b.cu", "// b");
    write("kernels/b_binding.cpp", "// bb");
    write("kernels/a.cu", "// a");
    write("kernels/a_binding.cpp", "// ab");
    write("kernels/common.cuh", "// c");
    write("kernels/notes.txt", "not taken");
    const auto candidate = readCandidate(folder_);
    ASSERT_TRUE(candidate) << candidate.error().message;
    EXPECT_EQ(candidate->form, Form::workspace);
    EXPECT_EQ(candidate->kernels(), (std::vector<std::string>{"kernels/a.cu", "kernels/b.cu"}));
    EXPECT_EQ(candidate->bindings(),
              (std::vector<std::string>{"kernels/a_binding.cpp", "kernels/b_binding.cpp"}));
    EXPECT_EQ(candidate->headers().size(), 1u);
    EXPECT_EQ(candidate->files.size(), 6u);
}

TEST_F(CandidateTest, ReadsASingleFileAndAFolderWithoutKernels) {
    write("anything.py", "class ModelNew: pass\n");
    const auto file = readCandidate(folder_ / "anything.py");
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->form, Form::singleFile);
    EXPECT_TRUE(file->files.contains(modelFile));
    write("model_new.py", "class ModelNew: pass\n");
    const auto folder = readCandidate(folder_);
    ASSERT_TRUE(folder) << folder.error().message;
    EXPECT_EQ(folder->form, Form::singleFile);
}

TEST_F(CandidateTest, SaysWhatIsMissing) {
    EXPECT_THAT(problem(), HasSubstr("there is no 'model_new.py'"));
    write("model_new.py", "");
    write("kernels/x.cu", "");
    EXPECT_THAT(problem(), HasSubstr("kernels/x.cu has no kernels/x_binding.cpp"));
    write("kernels/x_binding.cpp", "");
    write("kernels/y_binding.cpp", "");
    EXPECT_THAT(problem(), HasSubstr("kernels/y_binding.cpp has no kernels/y.cu"));
    fs::remove(folder_ / "kernels/y_binding.cpp");
    write("kernels/helper.cpp", "");
    EXPECT_THAT(problem(), HasSubstr("kernels/helper.cpp is neither a kernel"));
}

TEST_F(CandidateTest, TakesNoLinksAndNoGiants) {
    fs::create_symlink("/etc/passwd", folder_ / "model_new.py");
    EXPECT_THAT(problem(), HasSubstr("links are not followed"));
    fs::remove(folder_ / "model_new.py");
    write("model_new.py", std::string((1u << 20) + 1, '#'));
    EXPECT_THAT(problem(), HasSubstr("larger than 1 MiB"));
    write("model_new.py", "");
    fs::create_symlink("/etc/passwd", folder_ / "kernels/x.cu");
    EXPECT_THAT(problem(), HasSubstr("links are not followed"));
    EXPECT_THAT(readCandidate(folder_ / "gone.py").error().message, HasSubstr("there is no"));
}

} // namespace
} // namespace cuda_agent::modules
