// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/nvrtc_worker/limits.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <unistd.h>

using namespace cuda_agent;
using namespace cuda_agent::toolchain;
using namespace std::chrono_literals;

namespace {

const std::string scale = R"(
extern "C" __global__ void scale(float *x, float a, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= a;
}
)";

/// Four million classes.
const std::string bomb = R"(
template <int N, long M> struct A {
    static constexpr long v = A<N - 1, 2 * M>::v + A<N - 1, 2 * M + 1>::v;
};
template <long M> struct A<0, M> { static constexpr long v = M; };
extern "C" __global__ void f(long *x) { *x = A<22, 0>::v; }
)";

class CudaCompiler : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        folder_ = std::filesystem::temp_directory_path() /
                  ("cuda-agent-compiler-" + std::to_string(getpid()));
        setenv("CUDA_AGENT_CACHE", folder_.c_str(), 1);
        auto made = makeCudaCompiler("sm_90");
        ASSERT_TRUE(made) << made.error().message;
        compiler_ = std::move(*made);
    }
    static void TearDownTestSuite() {
        compiler_.reset();
        std::filesystem::remove_all(folder_);
    }
    void SetUp() override { ASSERT_TRUE(compiler_); }

    static Source source(std::string text, std::vector<std::string> entries) {
        return {"kernels/a.cu", std::move(text), std::move(entries), {}};
    }
    static Binary accept(const Source &source, Compiler &compiler = *compiler_) {
        auto outcome = compiler.compile(source);
        EXPECT_TRUE(outcome) << outcome.error().message;
        if (auto *refused = std::get_if<Rejection>(&*outcome)) {
            ADD_FAILURE() << refused->summary << "\n" << refused->log;
            return {};
        }
        return std::get<Binary>(*outcome);
    }
    static Rejection refuse(const Source &source, Compiler &compiler = *compiler_) {
        auto outcome = compiler.compile(source);
        EXPECT_TRUE(outcome) << outcome.error().message;
        if (!outcome || !std::holds_alternative<Rejection>(*outcome)) {
            ADD_FAILURE() << "accepted";
            return {};
        }
        return std::get<Rejection>(*outcome);
    }
    static double secondsOf(const Source &source) {
        const auto start = std::chrono::steady_clock::now();
        (void)compiler_->compile(source);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

    static inline std::filesystem::path folder_;
    static inline std::unique_ptr<Compiler> compiler_;
};

TEST_F(CudaCompiler, MakesACubinWithFacts) {
    const auto binary = accept(source(scale, {"scale"}));
    ASSERT_EQ(binary.entries.size(), 1u);
    EXPECT_EQ(binary.entries[0].name, "scale");
    EXPECT_GT(binary.entries[0].registers, 4);
    EXPECT_EQ(binary.entries[0].spillBytes, 0);
    EXPECT_EQ(binary.entries[0].sharedBytes, 0);
    EXPECT_TRUE(binary.warnings.empty());
    EXPECT_FALSE(binary.cached);
    EXPECT_EQ(binary.file.extension(), ".cubin");
    std::ifstream file(binary.file, std::ios::binary);
    std::string head(4, ' ');
    file.read(head.data(), 4);
    EXPECT_EQ(head, "\177ELF");
    EXPECT_EQ(compiler_->description().substr(0, 8), "NVRTC 13");
    EXPECT_NE(compiler_->description().find("sm_90a"), std::string::npos);
}

TEST_F(CudaCompiler, FactsShowSharedMemoryAndStack) {
    const auto binary = accept(source(
        "extern \"C\" __global__ void f(float *x, int n) {\n"
        "    __shared__ float s[128];\n    s[threadIdx.x] = x[threadIdx.x];\n    __syncthreads();\n"
        "    float a[200];\n    for (int i = 0; i < n; i++) a[(i * 7) % 200] = s[i % 128];\n"
        "    x[0] = a[n];\n}\n",
        {"f"}));
    ASSERT_EQ(binary.entries.size(), 1u);
    EXPECT_EQ(binary.entries[0].sharedBytes, 512);
    EXPECT_EQ(binary.entries[0].stackBytes, 800);
}

TEST_F(CudaCompiler, OtherArchitecturesToo) {
    for (const char *architecture : {"sm_75", "sm_100"}) {
        const auto compiler = makeCudaCompiler(architecture);
        ASSERT_TRUE(compiler) << compiler.error().message;
        EXPECT_EQ(accept(source(scale, {"scale"}), **compiler).entries.size(), 1u) << architecture;
    }
    const auto unknown = makeCudaCompiler("gfx90a");
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().kind, ErrorKind::request);
    for (const char *architecture : {"", "s", "sm_", "sm_9", "sm_90ab", "sm_ab", "sm_90 "})
        EXPECT_FALSE(makeCudaCompiler(architecture)) << architecture;
}

TEST_F(CudaCompiler, HopperFeaturesAreOn) {
    accept(source("extern \"C\" __global__ void f() {\n"
                  "    asm volatile(\"wgmma.fence.sync.aligned;\");\n}\n",
                  {"f"}));
}

TEST_F(CudaCompiler, AnErrorNamesFileLineAndMessage) {
    const auto refused =
        refuse(source("extern \"C\" __global__ void f(float *x) {\n    x[0] = 1\n}\n", {"f"}));
    ASSERT_FALSE(refused.diagnostics.empty());
    EXPECT_EQ(refused.diagnostics[0].severity, "error");
    EXPECT_EQ(refused.diagnostics[0].file, "kernels/a.cu");
    EXPECT_EQ(refused.diagnostics[0].line, 3);
    EXPECT_TRUE(refused.summary.starts_with("kernels/a.cu:3:")) << refused.summary;
    EXPECT_NE(refused.summary.find("expected a \";\""), std::string::npos) << refused.summary;
    EXPECT_NE(refused.log.find("kernels/a.cu(3)"), std::string::npos);
}

TEST_F(CudaCompiler, AnErrorOfTheAssemblerIsARejection) {
    const auto refused = refuse(source(
        "extern \"C\" __global__ void f() { asm volatile(\"no.such.instruction;\"); }\n", {"f"}));
    EXPECT_NE(refused.summary.find(".such"), std::string::npos) << refused.summary;
    EXPECT_FALSE(refused.diagnostics.empty());
    const auto tooMuch = refuse(source("extern \"C\" __global__ void f(float *x) {\n"
                                       "    __shared__ float s[100000];\n    s[threadIdx.x] = *x;\n"
                                       "    __syncthreads();\n    *x = s[threadIdx.x + 1];\n}\n",
                                       {"f"}));
    EXPECT_NE(tooMuch.summary.find("kernel 'f' has 400000 bytes of static shared memory"),
              std::string::npos)
        << tooMuch.summary;
}

TEST_F(CudaCompiler, WarningsAreKept) {
    const auto text =
        "extern \"C\" __global__ void f(float *x) {\n    int unused;\n    *x = 1;\n}\n";
    for (const bool cached : {false, true}) {
        const auto binary = accept(source(text, {"f"}));
        ASSERT_EQ(binary.warnings.size(), 1u);
        EXPECT_EQ(binary.warnings[0].line, 2);
        EXPECT_EQ(binary.cached, cached);
    }
}

TEST_F(CudaCompiler, AMissingEntryIsNamedWithThoseThatAreThere) {
    for (int round = 0; round < 2; ++round) {
        const auto refused = refuse(source(scale + "__global__ void mangled() {}\n", {"scael"}));
        EXPECT_NE(refused.summary.find("no kernel 'scael'"), std::string::npos) << refused.summary;
        EXPECT_NE(refused.summary.find("scale"), std::string::npos);
        EXPECT_NE(refused.summary.find("_Z7mangledv"), std::string::npos);
        EXPECT_NE(refused.summary.find("extern \"C\""), std::string::npos);
    }
    accept(source(scale + "__global__ void mangled() {}\n", {"scale"}));
    // A cached binary is asked for its entries as well.
    refuse(source(scale + "__global__ void mangled() {}\n", {"scael"}));
    EXPECT_NE(refuse(source("__device__ int x;\n", {"f"})).summary.find("none"), std::string::npos);
}

TEST_F(CudaCompiler, HeadersOfTheToolkit) {
    accept(source("#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
                  "extern \"C\" __global__ void f(__half2 *x, __nv_bfloat16 *y) {\n"
                  "    x[0] = __hadd2(x[0], x[1]);\n    y[0] = y[0] * y[1];\n}\n",
                  {"f"}));
    accept(source("#include <cooperative_groups.h>\n#include <cuda/std/cstdint>\n"
                  "namespace cg = cooperative_groups;\n"
                  "extern \"C\" __global__ void f(float *x) {\n"
                  "    auto w = cg::tiled_partition<32>(cg::this_thread_block());\n"
                  "    x[0] = w.shfl_down(x[threadIdx.x], 1);\n}\n",
                  {"f"}));
}

TEST_F(CudaCompiler, NamesOfMathHAreThere) {
    const std::string text = "extern \"C\" __global__ void f(float *x) {\n"
                             "    float high = -INFINITY;\n"
                             "    x[0] = x[1] > high ? x[1] : NAN;\n}\n";
    accept(source(text, {"f"}));
    accept(source("#include <cuda/std/cmath>\n" + text, {"f"}));
}

TEST_F(CudaCompiler, TheSameSourceIsCompiledOnce) {
    const auto text = scale + "// once\n";
    const auto first = accept(source(text, {"scale"}));
    const auto second = accept(source(text, {"scale"}));
    EXPECT_FALSE(first.cached);
    EXPECT_TRUE(second.cached);
    EXPECT_EQ(first.file, second.file);
    EXPECT_EQ(first.hash, second.hash);
    EXPECT_EQ(second.entries[0].registers, first.entries[0].registers);
    auto defined = source(text, {"scale"});
    defined.defines["WIDTH"] = "4";
    EXPECT_NE(accept(defined).hash, first.hash);
}

TEST_F(CudaCompiler, DefinesReachTheSource) {
    auto defined = source("extern \"C\" __global__ void NAME(float *x) { *x = VALUE; }\n", {"g"});
    defined.defines = {{"NAME", "g"}, {"VALUE", "1.0f + 2"}};
    accept(defined);
    defined.defines = {{"NAME", "g"}, {"VALUE -include=/etc/passwd", "1"}};
    EXPECT_NE(refuse(defined).summary.find("not a macro name"), std::string::npos);
}

TEST_F(CudaCompiler, FilesOfThisMachineStayOutside) {
    const auto secret =
        std::filesystem::temp_directory_path() / ("cuda-agent-secret-" + std::to_string(getpid()));
    std::ofstream(secret) << "plain_secret_words\n";
    // NVRTC quotes lines of what it includes.
    for (const std::string &file : {secret.string(), std::string("/etc/shadow"),
                                    std::string("/etc/passwd"), std::string("/proc/1/environ")}) {
        const auto refused = refuse(
            source("#include \"" + file + "\"\nextern \"C\" __global__ void f() {}\n", {"f"}));
        EXPECT_EQ(refused.log.find("plain_secret"), std::string::npos);
        EXPECT_EQ(refused.log.find("root:$"), std::string::npos) << refused.log;
        EXPECT_EQ(refused.log.find("/root"), std::string::npos) << refused.log;
        EXPECT_EQ(refused.log.find("CUDA_AGENT_CACHE"), std::string::npos) << refused.log;
    }
    const auto probe = source("#if __has_include(\"" + secret.string() +
                                  "\")\n#error it is there\n#endif\n"
                                  "extern \"C\" __global__ void f() {}\n",
                              {"f"});
    accept(probe);
    std::filesystem::remove(secret);
}

TEST_F(CudaCompiler, AMemoryBombIsRefusedAndTheNextSourceCompiles) {
    const auto compiler = makeCudaCompiler("sm_90", CompileLimits{60, 1ull << 30});
    ASSERT_TRUE(compiler) << compiler.error().message;
    const auto refused = refuse(source("__device__ const int big[1 << 29] = {1};\n"
                                       "extern \"C\" __global__ void f(int *x) { *x = big[*x]; }\n",
                                       {"f"}),
                                **compiler);
    EXPECT_EQ(refused.summary, "compiling needed more than 1024 MB of memory");
    accept(source(scale + "// after the bomb\n", {"scale"}), **compiler);
}

TEST_F(CudaCompiler, ATemplateBombRunsOutOfTimeAndTheNextSourceCompiles) {
    const auto compiler = makeCudaCompiler("sm_90", CompileLimits{2, 3ull << 30});
    ASSERT_TRUE(compiler) << compiler.error().message;
    const auto start = std::chrono::steady_clock::now();
    const auto refused = refuse(source(bomb, {"f"}), **compiler);
    EXPECT_EQ(refused.summary, "compiling took longer than 2 s");
    EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
    accept(source(scale + "// after the other bomb\n", {"scale"}), **compiler);
}

TEST_F(CudaCompiler, SourcesThatCannotBeAreRefusedEarly) {
    EXPECT_NE(refuse(source(std::string("int a;\0int b;", 13), {})).summary.find("zero byte"),
              std::string::npos);
    EXPECT_NE(refuse(source(std::string(2u << 20, ' '), {})).summary.find("larger than"),
              std::string::npos);
}

TEST_F(CudaCompiler, StopEndsALongCompile) {
    std::stop_source stopper;
    std::jthread later([&] {
        std::this_thread::sleep_for(300ms);
        stopper.request_stop();
    });
    const auto start = std::chrono::steady_clock::now();
    const auto outcome = compiler_->compile(source(bomb, {"f"}), stopper.get_token());
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().kind, ErrorKind::stopped);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 20s);
    accept(source(scale + "// after the stop\n", {"scale"}));
}

TEST_F(CudaCompiler, SeveralThreadsMayCompile) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([i] {
            for (int j = 0; j < 3; ++j)
                accept(source(scale + fmt::format("// {} {}\n", i, j), {"scale"}));
        });
}

TEST_F(CudaCompiler, AWarmCompileIsShort) {
    double best = 10;
    for (int i = 0; i < 5; ++i)
        best = std::min(best, secondsOf(source(scale + fmt::format("// t{}\n", i), {"scale"})));
    std::fprintf(stderr, "compile: %.0f ms\n", best * 1e3);
    EXPECT_LT(best, 2.0);
}

} // namespace
