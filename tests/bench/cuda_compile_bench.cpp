// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// cuda_compile_bench [ARCHITECTURE]: how long the CUDA compiler takes to start, and to compile
// kernels that include more and less: the first of a kind, and the median of those from the third
// on, for which headers are precompiled. They differ in a number each. Needs no GPU.
#include "core/base/hash.h"
#include "core/toolchain/compiler.h"

#include <algorithm>
#include <chrono>

using namespace cuda_agent;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> samples) {
    std::ranges::sort(samples);
    return samples[samples.size() / 2];
}

constexpr int rounds = 9;

struct Kind {
    const char *name;
    const char *includes;
    const char *type;
};
constexpr Kind kinds[] = {
    {"no header", "", "float"},
    {"cuda_fp16.h", "#include <cuda_fp16.h>\n", "__half"},
    {"cuda_bf16.h", "#include <cuda_bf16.h>\n", "__nv_bfloat16"},
    {"both and mma.h", "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n#include <mma.h>\n",
     "__half"},
    {"cooperative_groups.h", "#include <cooperative_groups.h>\n", "float"},
    {"its reduce.h, too",
     "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n", "float"},
};

} // namespace

int main(int argc, char **argv) {
    const std::string architecture = argc > 1 ? argv[1] : "sm_90";
    std::vector<double> starts;
    std::unique_ptr<toolchain::Compiler> compiler;
    for (int i = 0; i < rounds; ++i) {
        const auto begin = Clock::now();
        auto made = toolchain::makeCudaCompiler(architecture);
        if (!made) {
            fmt::print(stderr, "{}\n", made.error().message);
            return 3;
        }
        starts.push_back(secondsSince(begin));
        compiler = i + 1 < rounds ? nullptr : std::move(*made);
    }
    fmt::print("{}\n{:<22} {:6.0f} ms\n{:<22} {:>9} {:>9}\n", compiler->description(), "start",
               1e3 * median(starts), "a kernel with", "first", "later");
    // No number twice, or the cache of binaries answers.
    const auto seed = randomSeed();
    for (const auto &kind : kinds) {
        std::vector<double> seconds;
        for (int i = 0; i < rounds; ++i) {
            toolchain::Source source;
            source.path = "kernel.cu";
            source.text = fmt::format("{}extern \"C\" __global__ void k({} *x, int n) {{\n"
                                      "    const int i = blockIdx.x * 256 + threadIdx.x;\n"
                                      "    if (i < n) x[i] = (float)x[i] * {}u + {}.0f;\n}}\n",
                                      kind.includes, kind.type, seed % 1000003, i);
            const auto begin = Clock::now();
            const auto outcome = compiler->compile(source);
            seconds.push_back(secondsSince(begin));
            if (!outcome || !std::holds_alternative<toolchain::Binary>(*outcome)) {
                fmt::print(stderr, "{}: {}\n", kind.name,
                           outcome ? std::get<toolchain::Rejection>(*outcome).log
                                   : outcome.error().message);
                return 1;
            }
        }
        const std::vector<double> later(seconds.begin() + 2, seconds.end());
        fmt::print("{:<22} {:6.0f} ms {:6.0f} ms\n", kind.name, 1e3 * seconds.front(),
                   1e3 * median(later));
    }
    return 0;
}
