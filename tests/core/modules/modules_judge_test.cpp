// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/json.h"
#include "tests/core/modules/module_fixture.h"

#include <gmock/gmock.h>

// Module candidates on the cpu device, judged.

namespace cuda_agent::judge {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST_F(ModuleTest, JudgesThePublishedWorkspace) {
    auto candidate = readCandidate(folder_);
    ASSERT_TRUE(candidate) << candidate.error().message;
    EXPECT_EQ(kindOf(*candidate), "module");
    auto given = judge_->judge(*candidate, verify::Strength::full, {});
    ASSERT_TRUE(given) << given.error().message;
    EXPECT_TRUE(given->correct) << given->problem << given->compilerOutput;
    EXPECT_GE(given->reward, 1);
    const auto json = toJson(*given);
    EXPECT_EQ(json["kind"], "module");
    EXPECT_EQ(json["clock"], "tamper-evident");
    EXPECT_GT(json["times"]["candidate"]["seconds"].get<double>(), 0);
    bool origin = false;
    for (const auto &check : json["checks"])
        origin = origin || check["name"] == "origin of the work";
    EXPECT_TRUE(origin);
    ASSERT_TRUE(given->audit);
    bool empty = false;
    for (const auto &each : given->audit->operators)
        empty = empty || each.name.find("empty") != std::string::npos;
    EXPECT_TRUE(empty) << modules::toJson(*given->audit).dump();
    const auto files = filesOf(*candidate);
    EXPECT_EQ(files.size(), 3u);
}

TEST_F(ModuleTest, NamesLinesThatDoNotCompile) {
    change("kernels/residual_scale.cu", "const float4 s = scale[column];",
           "const float4 s = scales[column];");
    auto given = wrong();
    EXPECT_FALSE(given.compiled);
    ASSERT_FALSE(given.diagnostics.empty());
    EXPECT_EQ(given.diagnostics[0].file, "kernels/residual_scale.cu");
    EXPECT_GT(given.diagnostics[0].line, 20);
    EXPECT_THAT(given.problem, HasSubstr("scales"));

    SetUp();
    change("model_new.py", "def forward(", "def forward(]");
    given = wrong();
    ASSERT_FALSE(given.diagnostics.empty());
    EXPECT_EQ(given.diagnostics[0].file, "model_new.py");
    EXPECT_GT(given.diagnostics[0].line, 0);
}

TEST_F(ModuleTest, NamesTheLineOfABindingThatDoesNotCompile) {
    change("kernels/residual_scale_binding.cpp", "auto out = torch::empty_like(x);",
           "auto out = torch::empty_like(y);");
    const auto given = wrong();
    EXPECT_FALSE(given.compiled);
    ASSERT_FALSE(given.diagnostics.empty()) << given.compilerOutput;
    EXPECT_EQ(given.diagnostics[0].file, "kernels/residual_scale_binding.cpp");
    EXPECT_GT(given.diagnostics[0].line, 20);
}

TEST_F(ModuleTest, RefusesWhatAHostCannotRun) {
    change("kernels/residual_scale.cu", "const float4 s = scale[column];",
           "asm volatile(\"\");\n    const float4 s = scale[column];");
    const auto given = wrong();
    EXPECT_FALSE(given.compiled);
    EXPECT_THAT(given.problem, HasSubstr("residual_scale.cu"));
}

TEST_F(ModuleTest, FindsAWrongResult) {
    change("kernels/residual_scale.cu", "a.x + s.x * b.x", "a.x + s.x * b.x * 1.001f");
    const auto given = wrong();
    EXPECT_TRUE(given.compiled);
    ASSERT_NE(given.verification.failed(), nullptr);
    EXPECT_EQ(given.verification.failed()->name, "random inputs");
}

TEST_F(ModuleTest, FindsWorkLeftToTheFramework) {
    change("model_new.py", forwardCall, "return x + self.scale * residual");
    const auto given = wrong();
    ASSERT_NE(given.verification.failed(), nullptr);
    EXPECT_EQ(given.verification.failed()->name, "origin of the work");
    EXPECT_THAT(given.problem, HasSubstr("aten.mul.Tensor"));
    // Another way to the same operator is refused before it is gone.
    SetUp();
    change("model_new.py", forwardCall,
           "return getattr(torch._C._VariableFunctions, 'add')(x, torch.ops.aten.mul(self.scale, "
           "residual))");
    const auto other = wrong();
    EXPECT_EQ(other.verification.failed()->name, "sources");
    EXPECT_THAT(other.problem, HasSubstr("it uses torch._C"));
    SetUp();
    change("kernels/residual_scale_binding.cpp", "    return out;",
           "    return at::add(x, residual * scale);");
    EXPECT_THAT(wrong().problem, HasSubstr("framework operator add_Tensor"));
}

TEST_F(ModuleTest, FindsWorkThatNothingRecords) {
    // Arithmetic of numpy arrays passes no dispatcher, so only its kernels' absence shows.
    change("model_new.py", forwardCall,
           "return torch.from_numpy(x.numpy() + self.scale.detach().numpy() * residual.numpy())");
    EXPECT_EQ(wrong().verification.failed()->name, "knock-out");
}

TEST_F(ModuleTest, WantsTheParametersByName) {
    std::string text = readTextFile(folder_ / "model_new.py").value();
    text = replaced(text, "self.scale = nn", "self.weight = nn");
    text = replaced(text, "self.scale, 0", "self.weight, 0");
    std::ofstream(folder_ / "model_new.py") << text;
    const auto given = wrong();
    EXPECT_THAT(given.problem, HasSubstr("load_state_dict"));
    EXPECT_THAT(given.problem, HasSubstr("scale"));
}

TEST_F(ModuleTest, FindsAResultThatIsReused) {
    change("model_new.py", forwardCall,
           "result = cuda_extension.residual_scale_forward(x, residual, self.scale, 0)\n"
           "        if not hasattr(ModelNew, 'kept'):\n"
           "            ModelNew.kept = result\n"
           "        ModelNew.kept.copy_(result)\n"
           "        return ModelNew.kept");
    auto candidate = readCandidate(folder_);
    ASSERT_TRUE(candidate);
    const auto given = judge_->judge(*candidate, verify::Strength::full, {});
    ASSERT_TRUE(given) << given.error().message;
    ASSERT_NE(given->verification.failed(), nullptr);
    EXPECT_EQ(given->verification.failed()->name, "no aliasing") << given->problem;
}

TEST_F(ModuleTest, FindsAResultThatIsRemembered) {
    change("model_new.py", forwardCall,
           "if not hasattr(self, 'kept'):\n"
           "            self.kept = cuda_extension.residual_scale_forward(x, residual, self.scale, "
           "0)\n"
           "        return self.kept");
    const auto given = wrong();
    EXPECT_EQ(given.verification.failed()->name, "random inputs") << given.problem;
}

TEST_F(ModuleTest, BlamesErrorsOnTheirLine) {
    change("model_new.py", forwardCall, "raise ValueError('not today')");
    auto given = wrong();
    EXPECT_THAT(given.problem, HasSubstr("model_new.py:"));
    EXPECT_THAT(given.problem, HasSubstr("ValueError: not today"));
    SetUp();
    change("model_new.py", forwardCall, "return x[:1]");
    EXPECT_THAT(wrong().problem, HasSubstr("output 0 has the shape"));
    SetUp();
    change("model_new.py", "class ModelNew", "class Other");
    EXPECT_THAT(wrong().problem, HasSubstr("ModelNew"));
}

TEST_F(ModuleTest, OtherShapesAreServedOrRefused) {
    const auto shapes = [&](const std::string &scale) {
        change("model_new.py", "self.scale, 0)", scale + ", 0)");
        auto given = verdict(nullptr, verify::Strength::full);
        change("model_new.py", scale + ", 0)", "self.scale, 0)");
        EXPECT_TRUE(given) << (given ? "" : given.error().message);
        return given ? given->verification.checks : std::vector<verify::Check>{};
    };
    const auto isShapes = [](const verify::Check &check) { return check.name == "hidden shapes"; };
    const auto wrong = shapes("(self.scale if len(x) == 64 else self.scale.zero_())");
    ASSERT_FALSE(wrong.empty());
    EXPECT_TRUE(isShapes(wrong.back()) && !wrong.back().passed) << wrong.back().detail;
    EXPECT_THAT(wrong.back().detail, HasSubstr("rows = "));
    const auto refused = shapes("{64: self.scale}[len(x)]");
    const auto found = std::find_if(refused.begin(), refused.end(), isShapes);
    ASSERT_NE(found, refused.end());
    EXPECT_TRUE(found->passed && found->skipped) << found->detail;
    EXPECT_THAT(found->detail, HasSubstr("KeyError"));
    EXPECT_TRUE(refused.back().passed) << refused.back().detail;
}

TEST_F(ModuleTest, SurvivesProcessesThatEndOrHang) {
    // Under the benchmark's rules: the published ones refuse the imports.
    const std::unique_ptr<Judge> judge(prepare(modules::Rules::kernelbench));
    ASSERT_NE(judge, nullptr);
    const auto problem = [&] {
        auto given = verdict(judge.get());
        EXPECT_TRUE(given) << (given ? "" : given.error().message);
        return given ? given->problem : std::string();
    };
    change("model_new.py", forwardCall, "import os; os._exit(0)");
    EXPECT_THAT(problem(), HasSubstr("ended"));
    SetUp();
    change("model_new.py", "import torch\n", "import torch\nimport sys; sys.exit(0)\n");
    EXPECT_THAT(problem(), HasSubstr("SystemExit"));
    SetUp();
    change("model_new.py", forwardCall, "import ctypes; ctypes.string_at(8)");
    EXPECT_THAT(problem(), HasSubstr("SEGV"));
    SetUp();
    change("model_new.py", forwardCall, "while True:\n            pass");
    EXPECT_THAT(wrong().problem, HasSubstr("did not finish"));
}

TEST_F(ModuleTest, FindsMemoryWrittenOutside) {
    change("kernels/residual_scale_binding.cpp", "auto out = torch::empty_like(x);",
           "x.data_ptr<float>()[x.numel()] = 1;\n    auto out = torch::empty_like(x);");
    EXPECT_THAT(wrong().problem, HasSubstr("after the end of input 0"));
}

TEST_F(ModuleTest, TakesNoSingleFileOnACpu) {
    std::ofstream(folder_ / "single.py") << "class ModelNew: pass\n";
    auto candidate = readCandidate(folder_ / "single.py");
    ASSERT_TRUE(candidate);
    auto given = judge_->judge(*candidate, verify::Strength::training, {});
    ASSERT_FALSE(given);
    EXPECT_EQ(given.error().kind, ErrorKind::request);
    EXPECT_THAT(given.error().message, HasSubstr("--rules kernelbench"));
}

TEST_F(ModuleTest, KnowsWhichKindIsMeant) {
    std::ofstream(folder_ / "plan.json") << "{}";
    EXPECT_THAT(readCandidate(folder_).error().message, HasSubstr("both plan.json and model_new"));
    EXPECT_THAT(readCandidate(folder_ / "gone").error().message, HasSubstr("there is no"));
    EXPECT_THAT(readCandidate(folder_ / "plan.json").error().message, HasSubstr("is not a folder"));
}

TEST_F(ModuleTest, FlagsFrameworkWorkUnderTheBenchmarksRules) {
    const std::unique_ptr<Judge> judge(prepare(modules::Rules::kernelbench));
    ASSERT_NE(judge, nullptr);
    change("model_new.py", forwardCall, "return x + self.scale * residual");
    auto given = verdict(judge.get());
    ASSERT_TRUE(given) << given.error().message;
    EXPECT_TRUE(given->correct) << given->problem;
    EXPECT_THAT(given->flags, testing::Contains(HasSubstr("aten.mul.Tensor")));
    // Other names for the same parameters are taken there, as the seed is the same.
    SetUp();
    std::ofstream(folder_ / "single.py") << "class ModelNew: pass\n";
    auto single = readCandidate(folder_ / "single.py");
    auto refused = judge->judge(*single, verify::Strength::training, {});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("needs a GPU"));
}

} // namespace
} // namespace cuda_agent::judge
