// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Seeded races and barriers that not everybody reaches; and the same kernels without the fault.

#include "tests/core/sanitize/check_fixture.h"

namespace cuda_agent::sanitize {
namespace {

class Race : public CheckKernel {
  protected:
    static std::string kernel(const std::string &body) {
        return "extern \"C\" __global__ void k(const float *in, float *out, int n) {\n"
               "    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n" +
               body + "}\n";
    }
    static std::string without(std::string text, const std::string &part) {
        const auto at = text.find(part);
        EXPECT_NE(at, std::string::npos);
        return text.replace(at, part.size(), std::string(part.size(), ' '));
    }
    void expectRaceAt(const Report &report, const std::string &first, const std::string &second,
                      std::initializer_list<const char *> words = {}) {
        const Place here = placeOf(first), there = placeOf(second);
        std::string all;
        for (const auto &finding : report.findings) {
            all += lineOf(finding) + "\n";
            const auto is = [](const std::optional<Place> &place, const Place &wanted) {
                return place && place->file == wanted.file && place->line == wanted.line &&
                       place->column == wanted.column;
            };
            if (finding.kind != "race" || !is(finding.place, here) || !is(finding.other, there))
                continue;
            for (const char *word : words)
                EXPECT_NE(finding.message.find(word), std::string::npos)
                    << word << " in " << finding.message;
            return;
        }
        ADD_FAILURE() << "no race of lines " << here.line << " and " << there.line << " in:\n"
                      << all;
    }
};

const std::string reduction = "    __shared__ float s[256];\n"
                              "    s[t] = in[i];\n"
                              "    __syncthreads(); // loaded\n"
                              "    for (int half = 128; half > 0; half /= 2) {\n"
                              "        if (t < half)\n"
                              "            s[t] = s[t] +\n"
                              "                   s[t + half];\n"
                              "        __syncthreads(); // step\n"
                              "    }\n"
                              "    out[i] = s[0];\n";

TEST_F(Race, AReductionNeedsItsBarriers) {
    expectClean(kernel(reduction), {.n = 512, .blocks = 2});
    EXPECT_EQ(results_[511], 384.0f);
    auto report = check(kernel(without(reduction, "__syncthreads(); // step")), {});
    expectRaceAt(report, "= s[t] +", "s[t + half]",
                 {"byte", "nothing orders the two", "__syncthreads() or __syncwarp()"});
    report = check(kernel(without(reduction, "__syncthreads(); // loaded")), {});
    expectRaceAt(report, "= in[i]", "s[t + half]", {});
}

TEST_F(Race, WarpOperationsOrderTheirLanes) {
    const std::string tail = "    __shared__ float s[256];\n"
                             "    s[t] = in[i];\n"
                             "    __syncwarp();\n"
                             "    out[i] = s[t ^ 1];\n";
    expectClean(kernel(tail), {});
    expectRaceAt(check(kernel(without(tail, "__syncwarp();")), {}), "= in[i]", "s[t ^ 1]", {"s"});
    // The lanes of another warp are not ordered by it.
    const std::string across = "    __shared__ float s[256];\n"
                               "    s[t] = in[i];\n"
                               "    __syncwarp();\n"
                               "    out[i] = s[t ^ 32];\n";
    expectRaceAt(check(kernel(across), {}), "= in[i]", "s[t ^ 32]", {});
    expectClean(kernel("    __shared__ float s[8];\n"
                       "    float v = in[i];\n"
                       "    for (int o = 16; o > 0; o /= 2)\n"
                       "        v += __shfl_down_sync(0xffffffffu, v, o);\n"
                       "    if (t % 32 == 0) s[t / 32] = v;\n"
                       "    __syncthreads();\n"
                       "    v = t < 8 ? s[t] : 0.0f;\n"
                       "    if (t < 32) {\n"
                       "        for (int o = 4; o > 0; o /= 2)\n"
                       "            v += __shfl_xor_sync(0xffffffffu, v, o);\n"
                       "        if (t == 0) s[0] = v;\n"
                       "    }\n"
                       "    __syncthreads();\n"
                       "    out[i] = s[0];\n"),
                {.n = 512, .blocks = 2});
    EXPECT_EQ(results_[300], 384.0f);
}

TEST_F(Race, BlocksAreNotOrdered) {
    const auto report = check(kernel("    out[i] = 0;\n"
                                     "    if (t == 0)\n"
                                     "        out[0] = in[i] + blockIdx.x;\n"),
                              {.n = 512, .blocks = 2});
    expectRaceAt(report, "= in[i]", "= in[i]",
                 {"element 0 of out0", "of block (0,0,0)", "thread (0,0,0) of block (1,0,0)",
                  "blocks run in any order"});
    expectClean(kernel("    if (i == 0) out[0] = in[0];\n    if (i > 0) out[i] = in[0];\n"),
                {.n = 512, .blocks = 2});
}

TEST_F(Race, AtomicOperationsMayMeet) {
    expectClean(kernel("    atomicAdd(out, in[i]);\n"),
                {.blocks = 4, .threads = 64, .filled = true});
    EXPECT_EQ(results_[0], 384.0f);
    const auto report = check(kernel("    if (t < 2)\n"
                                     "        atomicAdd(out, in[i]);\n"
                                     "    else\n"
                                     "        *out = 1;\n"),
                              {.threads = 64, .filled = true});
    expectRaceAt(report, "= 1;", "atomicAdd(out", {"writes element 0 of out0"});
}

TEST_F(Race, TheLastBlockMayReadTheOthers) {
    const std::string last = "    __shared__ bool mine;\n"
                             "    if (t == 0) {\n"
                             "        out[1 + blockIdx.x] = in[i];\n"
                             "        __threadfence();\n"
                             "        mine = atomicAdd((unsigned *)out, 1u) == gridDim.x - 1;\n"
                             "    }\n"
                             "    __syncthreads();\n"
                             "    if (mine && t < gridDim.x)\n"
                             "        out[8 + t] = out[1 + t];\n";
    const Shape shape{.n = 16, .blocks = 4, .threads = 32, .filled = true};
    const auto withLength = [](std::string body) {
        body.replace(body.find("in[i]"), 5, "in[0]");
        return body;
    };
    expectClean(kernel(withLength(last)), shape);
    expectRaceAt(check(kernel(withLength(without(last, "__threadfence();"))), shape), "out[1 + t]",
                 "= in[0]", {});
}

TEST_F(Race, AFlagInTheBlockOrders) {
    const std::string flag = "    __shared__ float value;\n"
                             "    __shared__ volatile int ready;\n"
                             "    if (t == 0) ready = 0;\n"
                             "    __syncthreads();\n"
                             "    if (t == 40) {\n"
                             "        value = in[i];\n"
                             "        __threadfence_block();\n"
                             "        ready = 1;\n"
                             "    }\n"
                             "    while (ready == 0) __nanosleep(20);\n"
                             "    out[i] = value;\n";
    expectClean(kernel(flag), {.n = 64, .threads = 64});
    expectRaceAt(check(kernel(without(flag, "__threadfence_block();")), {.n = 64, .threads = 64}),
                 "value;\n}", "= in[i]", {});
}

TEST_F(Race, ManyMayWriteTheSame) {
    // CUDA has one of the threads do it; what they write is the same.
    expectClean(kernel("    __shared__ float total;\n"
                       "    total = in[0];\n"
                       "    __syncthreads();\n"
                       "    out[i] = total;\n"),
                {});
    const auto report = check(kernel("    __shared__ float total;\n"
                                     "    total = in[0] + t / 100;\n"
                                     "    __syncthreads();\n"
                                     "    out[i] = total;\n"),
                              {});
    expectRaceAt(report, "= in[0] + t", "= in[0] + t", {"thread (100,0,0)", "thread (99,0,0)"});
}

TEST_F(Race, HalvesOfAWordAreNobodysBusiness) {
    expectClean(kernel("    __shared__ unsigned char b[256];\n"
                       "    __shared__ unsigned short h[256];\n"
                       "    b[t] = (unsigned char)t;\n"
                       "    h[t] = (unsigned short)t;\n"
                       "    __syncthreads();\n"
                       "    out[i] = b[255 - t] + h[t];\n"),
                {});
    EXPECT_EQ(results_[9], 255.0f);
}

TEST_F(Race, EveryThreadMustReachTheBarrier) {
    const auto line = [&](const Report &report) {
        for (const auto &finding : report.findings)
            if (finding.kind == "barrier" && finding.place)
                return finding.place->line;
        return 0;
    };
    auto report = check(kernel("    out[i] = in[i];\n"
                               "    if (t < 100)\n"
                               "        __syncthreads();\n"),
                        {});
    EXPECT_EQ(line(report), 5);
    report = check(kernel("    if (t % 2)\n"
                          "        __syncthreads();\n"
                          "    else\n"
                          "        __syncthreads();\n"
                          "    out[i] = in[i];\n"),
                   {});
    EXPECT_GT(line(report), 3);
    report = check(kernel("    float v = in[i];\n"
                          "    if (t % 32 < 16)\n"
                          "        v = __shfl_xor_sync(0xffffffffu, v, 1);\n"
                          "    out[i] = v;\n"),
                   {});
    EXPECT_EQ(line(report), 5);
}

} // namespace
} // namespace cuda_agent::sanitize
