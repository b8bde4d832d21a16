// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/runner.h"
#include "tests/core/plan/plan_fixture.h"

#include <fstream>

namespace cuda_agent::plan {
namespace {

class CandidateFolder : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (std::filesystem::temp_directory_path() / "plan-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        root_ = pattern;
        folder_ = root_ / "candidate";
        std::filesystem::create_directories(folder_ / "kernels");
        write("plan.json", examplePlan().dump());
        write("kernels/softmax.cu", "extern \"C\" __global__ void softmax_rows() {}\n");
    }
    void TearDown() override { std::filesystem::remove_all(root_); }

    void write(const std::string &name, const std::string &text) {
        std::ofstream(folder_ / name) << text;
    }
    std::string problem() {
        const auto candidate = readCandidate(folder_);
        if (candidate)
            return "";
        EXPECT_EQ(candidate.error().kind, ErrorKind::request);
        return candidate.error().message;
    }

    std::filesystem::path root_, folder_;
};

TEST_F(CandidateFolder, IsRead) {
    const auto candidate = readCandidate(folder_);
    ASSERT_TRUE(candidate) << candidate.error().message;
    EXPECT_EQ(candidate->plan.name, "row softmax");
    ASSERT_EQ(candidate->files.size(), 1u);
    EXPECT_MENTIONS(candidate->files.at("kernels/softmax.cu"), "softmax_rows");
}

TEST_F(CandidateFolder, MustExist) {
    EXPECT_MENTIONS(readCandidate(root_ / "no").error().message, "is not a folder");
}

TEST_F(CandidateFolder, NeedsAPlan) {
    std::filesystem::remove(folder_ / "plan.json");
    EXPECT_MENTIONS(problem(), "there is no file 'plan.json'");
    write("plan.json", "{\"version\": 1,\n \"steps\": }");
    EXPECT_MENTIONS(problem(), "plan.json");
    EXPECT_MENTIONS(problem(), "line 2");
    write("plan.json", "{\"version\": 1}");
    EXPECT_MENTIONS(problem(), "plan.json: buffers: missing");
}

TEST_F(CandidateFolder, NeedsItsKernels) {
    std::filesystem::remove(folder_ / "kernels/softmax.cu");
    EXPECT_MENTIONS(problem(), "steps[1].source: there is no file 'kernels/softmax.cu'");
}

TEST(CandidateOf, TextsIsThatOfTheirFolder) {
    std::map<std::string, std::string> files{
        {"plan.json", examplePlan().dump()},
        {"kernels/softmax.cu", "extern \"C\" __global__ void softmax_rows() {}\n"},
        {"notes.md", "no part of it"}};
    const auto candidate = candidateOf(files);
    ASSERT_TRUE(candidate) << candidate.error().message;
    EXPECT_EQ(candidate->plan.name, "row softmax");
    EXPECT_EQ(candidate->planText, files["plan.json"]);
    ASSERT_EQ(candidate->files.size(), 1u);
    EXPECT_EQ(candidate->files.at("kernels/softmax.cu"), files["kernels/softmax.cu"]);
    EXPECT_TRUE(candidate->folder.empty());

    files["kernels/softmax.cu"] = std::string((1u << 20) + 1, ' ');
    EXPECT_MENTIONS(candidateOf(files).error().message, "is larger than 1048576 bytes");
    files.erase("kernels/softmax.cu");
    EXPECT_MENTIONS(candidateOf(files).error().message,
                    "steps[1].source: there is no file 'kernels/softmax.cu'");
    files["plan.json"] = "{";
    EXPECT_MENTIONS(candidateOf(files).error().message, "plan.json");
    EXPECT_MENTIONS(candidateOf({}).error().message, "there is no file 'plan.json'");
}

TEST_F(CandidateFolder, LinksMustNotLeadOut) {
    std::ofstream(root_ / "secret.cu") << "secret";
    std::filesystem::remove(folder_ / "kernels/softmax.cu");
    std::filesystem::create_symlink(root_ / "secret.cu", folder_ / "kernels/softmax.cu");
    EXPECT_MENTIONS(problem(), "leads out of the candidate's folder");
}

TEST_F(CandidateFolder, LargeKernelsAreRefused) {
    write("kernels/softmax.cu", std::string((1u << 20) + 1, ' '));
    EXPECT_MENTIONS(problem(), "is larger than 1048576 bytes");
}

// --- compiling -----------------------------------------------------------------------------

/// Answers from a list; remembers what it was asked.
class FakeCompiler : public toolchain::Compiler {
  public:
    Result<toolchain::Outcome> compile(const toolchain::Source &source, std::stop_token) override {
        asked.push_back(source);
        if (source.text.find("broken") == std::string::npos)
            return toolchain::Outcome(
                toolchain::Binary{source.path + ".bin", "hash", {}, {}, 0, false});
        toolchain::Rejection rejection;
        rejection.summary = source.path + ":1:1: broken";
        rejection.diagnostics.push_back({"error", source.path, 1, 1, "broken"});
        return toolchain::Outcome(std::move(rejection));
    }
    std::string description() const override { return "fake"; }

    std::vector<toolchain::Source> asked;
};

TEST_F(CandidateFolder, CompilesEachFileOnce) {
    auto json = examplePlan();
    auto second = json["steps"][1];
    second["entry"] = "another";
    json["steps"].push_back(second);
    json["steps"].push_back(json["steps"][1]);
    write("plan.json", json.dump());
    const auto candidate = readCandidate(folder_);
    ASSERT_TRUE(candidate) << candidate.error().message;
    FakeCompiler compiler;
    const auto outcome = compile(*candidate, compiler);
    ASSERT_TRUE(outcome);
    const auto *compiled = std::get_if<CompiledPlan>(&*outcome);
    ASSERT_NE(compiled, nullptr);
    EXPECT_EQ(compiled->binaries.at("kernels/softmax.cu").file, "kernels/softmax.cu.bin");
    ASSERT_EQ(compiler.asked.size(), 1u);
    EXPECT_EQ(compiler.asked[0].entries, (std::vector<std::string>{"another", "softmax_rows"}));
    EXPECT_EQ(compiler.asked[0].defines.at("VEC"), "4");
}

TEST_F(CandidateFolder, RejectionsAreJoined) {
    auto json = examplePlan();
    auto second = json["steps"][1];
    second["source"] = "kernels/b.cu";
    json["steps"].push_back(second);
    write("plan.json", json.dump());
    write("kernels/softmax.cu", "broken");
    write("kernels/b.cu", "broken");
    const auto candidate = readCandidate(folder_);
    ASSERT_TRUE(candidate) << candidate.error().message;
    FakeCompiler compiler;
    const auto outcome = compile(*candidate, compiler);
    ASSERT_TRUE(outcome);
    const auto *rejection = std::get_if<toolchain::Rejection>(&*outcome);
    ASSERT_NE(rejection, nullptr);
    EXPECT_EQ(rejection->diagnostics.size(), 2u);
    EXPECT_EQ(rejection->summary, "kernels/softmax.cu:1:1: broken");
}

} // namespace
} // namespace cuda_agent::plan
