// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/judge/judge.h"

#include "core/base/hash.h"
#include "core/device/ceilings.h"
#include "tests/source_dir.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

// Whole verdicts on the cpu device: real worker, real compiler, real sandbox, real candidates, good
// and hostile. One judge serves all cases, which also shows that no candidate hurts the next one.

namespace cuda_agent::judge {
namespace {

namespace fs = std::filesystem;

constexpr const char *planText = R"json({
  "version": 1,
  "name": "scale and shift",
  "symbols": {"N": "in0.numel"},
  "buffers": [
    {"name": "in0", "role": "input", "index": 0, "alignment": 4},
    {"name": "out0", "role": "output", "index": 0, "dtype": "float32",
     "shape": ["in0.shape[0]", "in0.shape[1]"]}
  ],
  "steps": [
    {"kind": "kernel", "source": "kernels/k.cu", "entry": "k", "grid": ["cdiv(N, 1024)", 1, 1],
     "block": [256, 1, 1], "shared": 0,
     "args": [{"buffer": "in0"}, {"buffer": "out0"}, {"int32": "N"}]
}
  ]
  })json";

/// A kernel whose body sees x, y, n and one index i a time, four a thread.
std::string kernel(const std::string &body, const std::string &before = {}) {
    return before +
           "\nextern \"C\" __global__ void k(const float *x, float *y, int n) {\n"
           "    for (int j = 0; j < 4; ++j) {\n"
           "        int i = blockIdx.x * 1024 + j * 256 + threadIdx.x;\n"
           "        if (i >= n) return;\n        " +
           body + "\n    }\n}\n";
}

class JudgeTest : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        auto spec = task::openSpec(testData() / "judge/scale_and_shift.py", {});
        ASSERT_TRUE(spec) << spec.error().message;
        auto prepared = Judge::prepare(*spec, device::openCpu().value(), {}, {}, {});
        ASSERT_TRUE(prepared) << prepared.error().message;
        judge_ = prepared->release();
    }
    static void TearDownTestSuite() {
        delete judge_;
        judge_ = nullptr;
    }
    void SetUp() override {
        ASSERT_NE(judge_, nullptr);
        folder_ = fs::path(testing::TempDir()) / fmt::format("judge-{:x}", randomSeed());
        fs::create_directories(folder_ / "kernels");
    }
    void TearDown() override { fs::remove_all(folder_); }

    Result<Verdict> judge(const std::string &source, const std::string &plan = planText,
                          verify::Strength strength = verify::Strength::training) {
        std::ofstream(folder_ / "plan.json") << plan;
        std::ofstream(folder_ / "kernels/k.cu") << source;
        CUDA_AGENT_ASSIGN(candidate, plan::readCandidate(folder_));
        return judge_->judge(candidate, strength, {});
    }
    /// The verdict of a candidate that must be judged wrong, not end in an error.
    Verdict wrong(const std::string &source) {
        auto verdict = judge(source);
        EXPECT_TRUE(verdict) << (verdict ? "" : verdict.error().message);
        if (!verdict)
            return {};
        EXPECT_FALSE(verdict->correct);
        EXPECT_EQ(verdict->reward, -1);
        EXPECT_FALSE(verdict->problem.empty());
        return *verdict;
    }
    void expectStillWorking() {
        auto verdict = judge(kernel("y[i] = 2 * x[i] + 1;"));
        ASSERT_TRUE(verdict) << verdict.error().message;
        EXPECT_TRUE(verdict->correct) << verdict->problem;
    }

    static inline Judge *judge_ = nullptr;
    fs::path folder_;
};

TEST_F(JudgeTest, GivesAWholeVerdict) {
    auto verdict = judge(kernel("y[i] = 2 * x[i] + 1;"));
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_TRUE(verdict->correct) << verdict->problem;
    EXPECT_GE(verdict->reward, 1);
    const auto json = toJson(*verdict);
    for (const auto *key :
         {"compiled", "correct", "reward", "device", "numerics", "times", "speedup", "best_stock",
          "fraction_of_limit", "checks", "flags", "unenforced"})
        EXPECT_TRUE(json.contains(key)) << key;
    for (const auto *name : {"candidate", "eager", "compile"})
        EXPECT_GT(json["times"][name]["seconds"].get<double>(), 0) << name;
}

TEST_F(JudgeTest, AnOutputLiesAsItsPlanSays) {
    auto plan = Json::parse(planText);
    plan["buffers"][1]["order"] = {1, 0};
    plan["steps"][0]["args"].push_back({{"int32", "in0.shape[0]"}});
    const auto with = [](const std::string &body) {
        auto text = kernel(body);
        return text.replace(text.find("int n)"), 6, "int n, int rows)");
    };
    auto verdict = judge(with("const int columns = n / rows;\n"
                              "y[i % columns * rows + i / columns] = 2 * x[i] + 1;"),
                         plan.dump(), verify::Strength::full);
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_TRUE(verdict->correct) << verdict->problem;
    verdict = judge(with("y[i] = 2 * x[i] + 1;"), plan.dump());
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_FALSE(verdict->correct);
}

TEST_F(JudgeTest, TwinsJudgeAtTheSameTime) {
    // Different kernels, right and wrong, by three judges of one set of sealed cases.
    const std::vector<std::string> bodies{"y[i] = 2 * x[i] + 1;", "y[i] = 2 * x[i];",
                                          "y[i] = x[i] + x[i] + 1;"};
    std::vector<std::unique_ptr<Judge>> twins;
    std::vector<Result<Verdict>> verdicts(bodies.size(), Verdict());
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        auto twin = judge_->twin(device::openCpu().value());
        ASSERT_TRUE(twin) << twin.error().message;
        EXPECT_EQ(&(*twin)->pool(), &judge_->pool());
        EXPECT_FALSE((*twin)->options().interleaveBaselines);
        twins.push_back(std::move(*twin));
    }
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < bodies.size(); ++i)
            threads.emplace_back([&, i] {
                const auto own = folder_ / fmt::format("twin-{}", i);
                fs::create_directories(own / "kernels");
                std::ofstream(own / "plan.json") << planText;
                std::ofstream(own / "kernels/k.cu") << kernel(bodies[i]);
                const auto candidate = plan::readCandidate(own);
                ASSERT_TRUE(candidate) << candidate.error().message;
                verdicts[i] = twins[i]->judge(*candidate, verify::Strength::training, {});
            });
    }
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        ASSERT_TRUE(verdicts[i]) << verdicts[i].error().message;
        EXPECT_EQ(verdicts[i]->correct, i != 1) << i << ": " << verdicts[i]->problem;
    }
    EXPECT_GT(verdicts[0]->times->estimate.median, 0);
    EXPECT_EQ(toJson(*verdicts[0])["times"]["eager"]["seconds"],
              timing::toJson(judge_->baselines())["eager"]["seconds"]);
}

TEST_F(JudgeTest, RejectsAWrongKernel) {
    const auto verdict = wrong(kernel("y[i] = 2 * x[i] + (i == 777 ? 1.01f : 1);"));
    ASSERT_NE(verdict.verification.failed(), nullptr);
    EXPECT_EQ(verdict.verification.failed()->evidence.at("index"), Json::array({0, 777}));
}

/// The check "hidden shapes" of a verdict in full strength.
verify::Check shapesOf(const Result<Verdict> &verdict) {
    EXPECT_TRUE(verdict) << (verdict ? "" : verdict.error().message);
    if (verdict)
        for (const auto &check : verdict->verification.checks)
            if (check.name == "hidden shapes")
                return check;
    ADD_FAILURE() << "no such check" << (verdict ? ": " + verdict->problem : "");
    return {};
}

TEST_F(JudgeTest, OtherShapesAreServedOrRefused) {
    ASSERT_FALSE(judge_->pool().reshaped.empty());
    const auto full = verify::Strength::full;
    const std::string right = "y[i] = 2 * x[i] + 1;";
    const auto served = shapesOf(judge(kernel(right), planText, full));
    EXPECT_TRUE(served.passed && !served.skipped) << served.detail;
    EXPECT_NE(served.detail.find(judge_->pool().reshaped.front().change), std::string::npos);

    // What is known of the task's own shape, and said of no other.
    const auto elements = judge_->description().inputs.front().type.elements();
    const auto wrong = fmt::format("y[i] = n == {} ? 2 * x[i] + 1 : 0;", elements);
    const auto verdict = judge(kernel(wrong), planText, full);
    const auto found = shapesOf(verdict);
    EXPECT_FALSE(found.passed);
    EXPECT_NE(found.detail.find(judge_->pool().reshaped.front().change), std::string::npos)
        << found.detail;
    EXPECT_FALSE(verdict->correct);
    EXPECT_EQ(verdict->reward, -1);
    EXPECT_FALSE(verdict->fault);

    auto plan = Json::parse(planText);
    plan["requires"] = Json::array({fmt::format("N == {}", elements)});
    const auto refused = shapesOf(judge(kernel(wrong), plan.dump(), full));
    EXPECT_TRUE(refused.passed && refused.skipped) << refused.detail;
    EXPECT_NE(refused.detail.find("does not hold"), std::string::npos) << refused.detail;
}

TEST_F(JudgeTest, AFaultOnOtherShapesIsTold) {
    const auto elements = judge_->description().inputs.front().type.elements();
    const auto verdict =
        judge(kernel(fmt::format("if (n != {}) __trap();\n y[i] = 2 * x[i] + 1;", elements)),
              planText, verify::Strength::full);
    EXPECT_FALSE(shapesOf(verdict).passed);
    ASSERT_TRUE(verdict->fault);
    EXPECT_EQ(verdict->fault->kind, plan::FaultKind::illegalInstruction);
}

TEST_F(JudgeTest, NamesTheLineThatDoesNotCompile) {
    const auto verdict = wrong(kernel("y[i] = 2 * z[i] + 1;"));
    EXPECT_FALSE(verdict.compiled);
    ASSERT_FALSE(verdict.diagnostics.empty());
    EXPECT_EQ(verdict.diagnostics[0].file, "kernels/k.cu");
    EXPECT_EQ(verdict.diagnostics[0].line, 6);
    EXPECT_GT(verdict.diagnostics[0].column, 0);
}

TEST_F(JudgeTest, KillsAKernelThatNeverEnds) {
    const auto verdict = wrong(kernel("volatile float *p = y; while (p[i] != 12345.0f) { }"));
    EXPECT_NE(verdict.problem.find("did not finish"), std::string::npos) << verdict.problem;
    expectStillWorking();
}

TEST_F(JudgeTest, SurvivesAFault) {
    wrong(kernel("*(volatile float *)16 = x[i];"));
    expectStillWorking();
}

TEST_F(JudgeTest, AProcessThatFailsBetweenCallsIsAVerdictToo) {
    // No descriptor is left for the second set of buffers, which full strength hands over.
    const auto verdict =
        judge(kernel("if (i == 0) while (open(\"/dev/null\", 0) >= 0) { } y[i] = 2 * x[i] + 1;",
                     "extern \"C\" int open(const char *, int, ...);"),
              planText, verify::Strength::full);
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_TRUE(verdict->compiled);
    EXPECT_FALSE(verdict->correct);
    EXPECT_EQ(verdict->reward, -1);
    ASSERT_NE(verdict->verification.failed(), nullptr) << verdict->problem;
    EXPECT_EQ(verdict->verification.failed()->name, "process");
    EXPECT_NE(verdict->problem.find("during bind"), std::string::npos) << verdict->problem;
    ASSERT_TRUE(verdict->fault);
    EXPECT_EQ(verdict->fault->kind, plan::FaultKind::died);
    expectStillWorking();
}

TEST_F(JudgeTest, CatchesWritesOutOfBounds) {
    const auto verdict = wrong(kernel("y[i] = 2 * x[i] + 1; if (i == 0) y[n] = 1;"));
    EXPECT_NE(verdict.problem.find("after the end of output 0"), std::string::npos)
        << verdict.problem;
}

TEST_F(JudgeTest, CatchesAKernelThatGivesUp) {
    wrong(kernel("exit(0);", "extern \"C\" void exit(int);"));
    expectStillWorking();
}

TEST_F(JudgeTest, AHostileKernelReachesNothing) {
    // The kernel is host code here, so it may call into libc; each try writes a wrong answer only
    // when the sandbox let it through.
    const auto secret = fs::path(testing::TempDir()) / fmt::format("secret-{:x}", randomSeed());
    std::ofstream(secret) << "secret";
    auto verdict = judge(kernel(
        fmt::format("bool through = false;\n"
                    "if (i == 0) {{ through = open(\"{}\", 0) >= 0 || socket(2, 1, 0) >= 0 || "
                    "open(\"/etc/shadow\", 0) >= 0 || open(\"{}\", 0) >= 0; }}\n"
                    "y[i] = through ? 0.0f : 2 * x[i] + 1;",
                    secret.string(), (testData() / "judge").string()),
        "extern \"C\" int open(const char *, int, ...); extern \"C\" int socket(int, int, "
        "int);"));
    fs::remove(secret);
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_TRUE(verdict->correct) << verdict->problem;
}

TEST_F(JudgeTest, AForkBombIsContained) {
    auto verdict = judge(kernel("if (i == 0) for (int f = 0; f < 100000; ++f) if (fork() == 0) "
                                "for (;;) fork();\n y[i] = 0;",
                                "extern \"C\" int fork(void);"));
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_FALSE(verdict->correct);
    expectStillWorking();
}

TEST_F(JudgeTest, AFullDiskInsideStaysInside) {
    const auto before = fs::space(fs::temp_directory_path()).available;
    auto verdict = judge(kernel(
        "if (i == 0) { static char block[1 << 20]; int f = open(\"/tmp/fill\", 0102, 0600);\n"
        "for (int m = 0; m < 8192; ++m) if (write(f, block, 1 << 20) <= 0) break; }\n"
        "y[i] = 2 * x[i] + 1;",
        "extern \"C\" int open(const char *, int, ...);"
        "extern \"C\" long write(int, const void *, unsigned long);"));
    // Whether it dies of SIGXFSZ or goes on after ENOSPC, the machine's disk is untouched.
    ASSERT_TRUE(verdict) << verdict.error().message;
    const auto after = fs::space(fs::temp_directory_path()).available;
    EXPECT_LT(before > after ? before - after : 0, 2ull << 30);
    expectStillWorking();
}

TEST_F(JudgeTest, RefusesUnusablePlans) {
    const auto with = [&](std::string_view from, std::string_view to) {
        std::string text = planText;
        text.replace(text.find(from), from.size(), to);
        auto verdict = judge(kernel("y[i] = 2 * x[i] + 1;"), text);
        EXPECT_FALSE(verdict);
        if (verdict)
            return std::string();
        EXPECT_EQ(verdict.error().kind, ErrorKind::request);
        return verdict.error().message;
    };
    EXPECT_NE(with("{\"buffer\": \"in0\"}", "{\"buffer\": \"in7\"}").find("in7"),
              std::string::npos);
    EXPECT_NE(with("\"in0.shape[0]\",", "\"0 - 3\",").find("shape"), std::string::npos);
    EXPECT_NE(with("\"cdiv(N, 1024)\"", "\"N * N * N\"").find("grid"), std::string::npos);
    EXPECT_NE(with("kernels/k.cu", "../k.cu").find("source"), std::string::npos);
}

TEST_F(JudgeTest, ComparesTwoCandidates) {
    const auto write = [&](const char *name, const std::string &source) {
        const auto folder = folder_ / name;
        fs::create_directories(folder / "kernels");
        std::ofstream(folder / "plan.json") << planText;
        std::ofstream(folder / "kernels/k.cu") << source;
        return plan::readCandidate(folder).value();
    };
    const auto fast = write("fast", kernel("y[i] = 2 * x[i] + 1;"));
    const auto slow =
        write("slow", kernel("for (int r = 0; r < 50; ++r) ((volatile float *)y)[i] = "
                             "2 * x[i] + 1;"));
    auto comparison = judge_->compare(fast, slow, {});
    ASSERT_TRUE(comparison) << comparison.error().message;
    ASSERT_TRUE(comparison->times) << comparison->a.problem << comparison->b.problem;
    EXPECT_LT(comparison->times->difference.relative, 0);
    EXPECT_TRUE(comparison->times->difference.significant());
}

TEST_F(JudgeTest, StopsWhenAsked) {
    std::ofstream(folder_ / "plan.json") << planText;
    std::ofstream(folder_ / "kernels/k.cu") << kernel("y[i] = 2 * x[i] + 1;");
    std::stop_source source;
    source.request_stop();
    auto verdict = judge_->judge(plan::readCandidate(folder_).value(), verify::Strength::training,
                                 source.get_token());
    ASSERT_FALSE(verdict);
    EXPECT_EQ(verdict.error().kind, ErrorKind::stopped);
}

constexpr const char *productPlan = R"json({
  "version": 1,
  "name": "a product",
  "symbols": {"M": "in0.shape[0]", "K": "in0.shape[1]", "N": "in1.shape[1]"},
  "buffers": [
    {"name": "in0", "role": "input", "index": 0, "alignment": 4},
    {"name": "in1", "role": "input", "index": 1, "alignment": 4},
    {"name": "out0", "role": "output", "index": 0, "dtype": "float32", "shape": ["M", "N"]}
  ],
  "steps": [{"kind": "gemm", "a": "in0", "b": "in1", "c": "out0", "m": "M", "n": "N", "k": "K"}]
})json";

TEST(JudgeOnABusyMachine, ACeilingThatWasMeasuredTooLowAccusesNobody) {
    const auto folder = fs::path(testing::TempDir()) / fmt::format("judge-{:x}", randomSeed());
    fs::create_directories(folder / "candidate");
    std::ofstream(folder / "candidate/plan.json") << productPlan;
    // The cache that the program's other tests have, but for its ceilings.
    auto cpu = device::openCpu().value();
    const auto before = cpu->ceilings();
    ASSERT_TRUE(before) << before.error().message;
    auto low = *before;
    low.fp32FlopsPerSecond /= 1000;
    setenv("CUDA_AGENT_CACHE", folder.c_str(), 1);
    ASSERT_TRUE(
        device::cachedCeilings(cpu->info(), [&]() -> Result<device::Ceilings> { return low; }));
    auto spec = task::openSpec(testData() / "judge/product.py", {});
    ASSERT_TRUE(spec) << spec.error().message;
    Options options;
    options.strongest = verify::Strength::training;
    auto judge = Judge::prepare(*spec, std::move(cpu), options, {}, {});
    ASSERT_TRUE(judge) << judge.error().message;
    EXPECT_EQ((*judge)->ceilings().fp32FlopsPerSecond, low.fp32FlopsPerSecond);
    auto candidate = plan::readCandidate(folder / "candidate");
    ASSERT_TRUE(candidate) << candidate.error().message;
    const auto verdict = (*judge)->judge(*candidate, verify::Strength::training, {});
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_TRUE(verdict->correct) << verdict->problem;
    EXPECT_EQ(verdict->limit.by, "compute");
#if defined __OPTIMIZE__ && !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__
    // Else the library's product is faster than our own loops can be.
    for (const auto &flag : verdict->flags)
        EXPECT_FALSE(flag.starts_with("faster than")) << flag;
#endif
    EXPECT_GT((*judge)->ceilings().fp32FlopsPerSecond, 10 * low.fp32FlopsPerSecond);
    EXPECT_EQ(device::toJson(*device::knownCeilings((*judge)->deviceInfo())),
              device::toJson((*judge)->ceilings()));
    unsetenv("CUDA_AGENT_CACHE");
    fs::remove_all(folder);
}

} // namespace
} // namespace cuda_agent::judge
