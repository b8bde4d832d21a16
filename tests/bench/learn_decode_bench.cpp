// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Tokens a second that the generator writes with the 15.7M model in bfloat16, all conversations
// together: each reads a prompt and writes until its context is full, drawing at temperature 1.
// With the fused kernels and CUDA graphs, and without.
//
// usage: learn_decode_bench [ROWS [CONTEXT [PROMPT]]] (default 512 1024 64); exit code 3 without a
// GPU

#include "core/learn/rollout/generator.h"

#include <ATen/ATen.h>
#include <c10/cuda/CUDAFunctions.h>

#include <chrono>
#include <cstdio>
#include <thread>

using namespace cuda_agent::learn;

namespace {

struct Setting {
    std::int64_t rows, context, prompt;
};

void measure(const Transformer &actor, const Setting &setting, const char *name) {
    Generator::Options options;
    options.rows = setting.rows;
    options.guessed = 0; // what a model without a meaning writes repeats itself
    options.context = setting.context;
    options.endToken = -1; // never comes
    Generator generator(actor, options);
    const auto round = [&](std::int64_t most, std::uint64_t seed) {
        std::vector<std::jthread> threads;
        for (std::int64_t row = 0; row < setting.rows; ++row)
            threads.emplace_back([&, row] {
                auto conversation = generator.open({});
                std::vector<std::int32_t> prompt;
                for (std::int64_t i = 0; i < setting.prompt; ++i)
                    prompt.push_back(static_cast<std::int32_t>((row * 131 + i * 17) % 4096));
                const auto written = generator.generate(
                    *conversation, prompt, {most, seed + static_cast<std::uint64_t>(row)}, {});
                if (!written)
                    std::fprintf(stderr, "%s\n", written.error().message.c_str());
            });
    };
    round(8, 1); // compiles, records
    const auto before = generator.counts();
    const auto begin = std::chrono::steady_clock::now();
    round(setting.context, 1000);
    const auto seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const auto after = generator.counts();
    const auto written = static_cast<double>(after.written - before.written);
    std::printf("%-8s %9.0f tokens/s written, %9.0f of computing, %.3f ms a step, %.1f rows a "
                "step, %.2f s\n",
                name, written / seconds, written / (after.seconds - before.seconds),
                1e3 * (after.seconds - before.seconds) /
                    static_cast<double>(after.steps - before.steps),
                written / static_cast<double>(after.steps - before.steps), seconds);
    std::fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
    const auto number = [&](int at, std::int64_t otherwise) {
        return argc > at ? std::atoll(argv[at]) : otherwise;
    };
    const Setting setting{number(1, 512), number(2, 1024), number(3, 64)};
    if (setting.rows < 1 || setting.prompt < 1 || setting.context <= setting.prompt) {
        std::fprintf(stderr, "rows and prompt are at least 1, the context is longer\n");
        return 2;
    }
    if (!at::hasCUDA()) {
        std::fprintf(stderr, "no GPU\n");
        return 3;
    }
    ModelConfig config;
    config.positions = std::max(config.positions, setting.context);
    auto actor = Transformer::drawn(config, Transformer::Head::logits, 1, at::Device(at::kCUDA, 0),
                                    at::kBFloat16);
    std::printf("%ld rows, context %ld, prompts of %ld\n", static_cast<long>(setting.rows),
                static_cast<long>(setting.context), static_cast<long>(setting.prompt));
    measure(actor, setting, "ATen");
    if (const auto fused = actor.useFusedKernels(true); !fused) {
        std::fprintf(stderr, "%s\n", fused.error().message.c_str());
        return 3;
    }
    measure(actor, setting, "fused");
    return 0;
}
