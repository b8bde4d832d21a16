// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolchain/nvrtc_worker/precompiled.h"

#include "core/base/hash.h"
#include "core/base/temporary_folder.h"
#include "core/toolchain/compiler.h"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace cuda_agent::toolchain {
namespace {

TEST(LeadingIncludes, AreThoseBeforeAnythingElse) {
    const std::string both = "#include <a.h>\n#include <b/c.hpp>\n";
    EXPECT_EQ(leadingIncludes("#include <a.h>\n#include <b/c.hpp>\nint x;\n#include <d.h>\n"),
              both);
    EXPECT_EQ(leadingIncludes("// one\n/* two\n */ #  include\t<a.h> // three\n\n"
                              "#include <b/c.hpp> /* four */\n__global__ void k();"),
              both);
    EXPECT_EQ(leadingIncludes("#include <a.h>\n#define N 4\n#include <b/c.hpp>\n"),
              "#include <a.h>\n");
    EXPECT_EQ(leadingIncludes("#define N 4\n#include <a.h>\n"), "");
    EXPECT_EQ(leadingIncludes("/* #include <a.h>"), "");
    for (const auto *odd : {"", "#", "#include", "#include <a.h", "#include \"a.h\"\n",
                            "#include <a.h> int x;\n", "#include <a\\\n.h>\n", "#include NAME\n"})
        EXPECT_EQ(leadingIncludes(odd), "") << odd;
}

class Precompiled : public testing::Test {
  protected:
    Precompiled() : folder_(TemporaryFolder::make("precompiled").value()) {
        const auto found = device::cuda::Nvrtc::findFolder(device::cuda::Nvrtc::folders());
        if (found)
            nvrtc_ = device::cuda::Nvrtc::load(*found);
    }
    void SetUp() override {
        if (!nvrtc_)
            GTEST_SKIP() << "no NVRTC: " << nvrtc_.error().message;
    }

    /// The compiler's log of a source in a fork, as a worker compiles.
    std::string logOf(const std::string &text, const std::vector<std::string> &options) {
        int ends[2];
        EXPECT_EQ(pipe(ends), 0);
        const pid_t child = fork();
        if (child == 0) {
            const auto result = nvrtc_->compile(text, "kernel.cu", options);
            const auto log = result.log + (result.cubin.empty() ? " no cubin" : " a cubin");
            _exit(write(ends[1], log.data(), log.size()) < 0 ? 1 : 0);
        }
        close(ends[1]);
        std::string log;
        char buffer[4096];
        for (ssize_t count = 0; (count = read(ends[0], buffer, sizeof buffer)) > 0;)
            log.append(buffer, static_cast<std::size_t>(count));
        close(ends[0]);
        EXPECT_EQ(waitpid(child, nullptr, 0), child);
        return log;
    }

    TemporaryFolder folder_;
    Result<device::cuda::Nvrtc> nvrtc_ = machineError("the library was not found");
};

TEST_F(Precompiled, ServesFromTheSecondSourceOn) {
    ASSERT_TRUE(
        writeFileAtomically(folder_.path() / "own.h", "__device__ int seven() { return 7; }"));
    PrecompiledHeaders headers(*nvrtc_, folder_.path());
    const std::vector<std::string> options{"--gpu-architecture=sm_90", "--no-cache",
                                           "--include-path=" + folder_.path().string()};
    const auto source = [](int number) {
        return fmt::format(
            "// a source\n#include <own.h>\n\nextern \"C\" __global__ void k(int *x) {{"
            " *x = seven() + {}; }}\n",
            number);
    };
    EXPECT_TRUE(headers.optionsFor("extern \"C\" __global__ void k() {}", options).empty());
    EXPECT_TRUE(headers.optionsFor(source(1), options).empty());
    for (int i = 2; i < 4; ++i) {
        auto use = headers.optionsFor(source(i), options);
        ASSERT_FALSE(use.empty()) << "number " << i;
        auto all = options;
        all.insert(all.end(), use.begin(), use.end());
        EXPECT_EQ(logOf(source(i), all), " a cubin");
        all.push_back("--pch-messages=true");
        EXPECT_NE(logOf(source(i), all).find("using precompiled header"), std::string::npos);
    }
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "made.pch"));
    auto others = options;
    others.push_back("--define-macro=N=2");
    EXPECT_TRUE(headers.optionsFor(source(5), others).empty()) << "other options";
    EXPECT_TRUE(headers.optionsFor("#include <nothing.h>\n", options).empty());
    EXPECT_TRUE(headers.optionsFor("#include <nothing.h>\n", options).empty())
        << "what cannot be compiled is not kept";
}

TEST_F(Precompiled, NothingIsLeftOfAnEndedCompiler) {
    PrecompiledHeaders headers(*nvrtc_, folder_.path()); // orphans become this process's children
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) { // leaves one behind that would wait for ever
        if (fork() == 0) {
            const pid_t own = getpid();
            _exit(write(ends[1], &own, sizeof own) < 0 || pause() != 0);
        }
        _exit(0);
    }
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    pid_t left = 0;
    ASSERT_EQ(read(ends[0], &left, sizeof left), static_cast<ssize_t>(sizeof left));
    ASSERT_EQ(kill(left, 0), 0);
    EXPECT_TRUE(endOrphans());
    EXPECT_NE(kill(left, 0), 0) << "it still runs";
    close(ends[0]);
    close(ends[1]);
}

TEST_F(Precompiled, ChangesNothingOfACubin) {
    const auto unique = randomSeed(); // or the cache of binaries answers
    const auto source = [&](int number) {
        Source made;
        made.path = "kernels/k.cu";
        made.text = fmt::format("#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n"
                                "namespace cg = cooperative_groups;\n"
                                "extern \"C\" __global__ void k(__half *x) {{\n"
                                "    const auto i = cg::this_thread_block().thread_rank();\n"
                                "    x[i] = __hadd(x[i], __float2half({}.0f));\n}}\n// {}\n",
                                number, unique);
        return made;
    };
    auto compiler = makeCudaCompiler("sm_90");
    ASSERT_TRUE(compiler) << compiler.error().message;
    const auto cubinOf = [&](int number) -> std::string {
        const auto outcome = (*compiler)->compile(source(number));
        EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message);
        const auto *binary = outcome ? std::get_if<Binary>(&*outcome) : nullptr;
        if (!binary) {
            ADD_FAILURE() << (outcome ? std::get<Rejection>(*outcome).log : "");
            return {};
        }
        EXPECT_FALSE(binary->cached);
        EXPECT_TRUE(binary->warnings.empty());
        auto bytes = readTextFile(binary->file, 1 << 24).value_or("");
        std::filesystem::remove(binary->file);
        return bytes;
    };
    const auto plain = cubinOf(1);
    EXPECT_FALSE(plain.empty());
    EXPECT_NE(cubinOf(2), plain);
    EXPECT_EQ(cubinOf(1), plain) << "with precompiled headers";
}

} // namespace
} // namespace cuda_agent::toolchain
