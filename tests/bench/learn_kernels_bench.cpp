// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// The fused kernels of core/learn/kernels beside ATen's on a GPU: milliseconds of the forward and
// the backward pass of one operation of a training step (15.7 million parameters, bfloat16), and
// GB/s of the bytes that the fused one reads and writes, without those it makes anew.
//
// usage: learn_kernels_bench [TOKENS] (default 65536, a multiple of 2048); exit code 3 without a
// GPU

#include "core/learn/kernels/fused.h"

#include <ATen/ATen.h>
#include <c10/cuda/CUDAFunctions.h>
#include <torch/csrc/autograd/autograd.h>

#include <chrono>
#include <cstdio>
#include <functional>

using namespace cuda_agent::learn;
using Tensors = std::vector<at::Tensor>;
using Operation = std::function<Tensors(const Tensors &)>;

namespace {

constexpr std::int64_t length = 2048, hidden = 384, heads = 6, headSize = 64, inner = 1024,
                       vocabulary = 4096;

double secondsOf(const std::function<void()> &work) {
    for (int i = 0; i < 3; ++i)
        work();
    c10::cuda::device_synchronize();
    constexpr int repeats = 20;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i)
        work();
    c10::cuda::device_synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() /
           repeats;
}

/// Forward alone, and forward with backward.
struct Times {
    double forward, both;
};

Times timesOf(const Tensors &inputs, const Operation &operation) {
    const auto forward = secondsOf([&] { operation(inputs); });
    Tensors slopes;
    for (const auto &output : operation(inputs))
        slopes.push_back(at::ones_like(output));
    const auto both = secondsOf([&] {
        for (const auto &input : inputs)
            input.mutable_grad().reset();
        torch::autograd::backward(operation(inputs), slopes);
    });
    return {forward, both};
}

/// `forwardBytes` and `backwardBytes`: of the fused kernels.
void compare(const char *name, const Tensors &inputs, const Operation &fused,
             const Operation &plain, double forwardBytes, double backwardBytes) {
    const auto ours = timesOf(inputs, fused), theirs = timesOf(inputs, plain);
    const double back = ours.both - ours.forward;
    std::printf("%-22s %9.3f %9.3f %8.0f   %9.3f %9.3f %8.0f\n", name, 1e3 * ours.forward,
                1e3 * theirs.forward, forwardBytes / ours.forward / 1e9, 1e3 * back,
                1e3 * (theirs.both - theirs.forward), backwardBytes / back / 1e9);
}

at::Tensor normed(const at::Tensor &x, const at::Tensor &weight) {
    return at::rms_norm(x, {x.size(-1)}, weight, 1e-6);
}

void run(const fused::KernelsPointer &kernels, std::int64_t tokens) {
    const auto options = at::TensorOptions().device(at::kCUDA).dtype(at::kBFloat16);
    const auto drawn = [&](at::IntArrayRef shape) {
        return at::randn(shape, options).requires_grad_(true);
    };
    const auto row = [&](std::int64_t columns) { return 2.0 * tokens * columns; }; // bytes
    const auto weight = drawn({hidden}), headWeight = drawn({headSize}), other = drawn({headSize});
    const auto angles = at::randn({length, headSize / 2}, options.dtype(at::kFloat));
    const auto cos = at::cos(angles).to(at::kBFloat16), sin = at::sin(angles).to(at::kBFloat16);
    const auto wideCos = cos.unsqueeze(1), wideSin = sin.unsqueeze(1);
    std::printf("%-22s %9s %9s %8s   %9s %9s %8s\n", "", "forward", "ATen", "GB/s", "backward",
                "ATen", "GB/s");
    compare(
        "rmsNorm", {drawn({tokens, hidden}), weight},
        [&](const Tensors &in) { return Tensors{fused::rmsNorm(kernels, in[0], in[1])}; },
        [&](const Tensors &in) { return Tensors{normed(in[0], in[1])}; }, 2 * row(hidden),
        3 * row(hidden));
    compare(
        "addRmsNorm", {drawn({tokens, hidden}), drawn({tokens, hidden}), weight},
        [&](const Tensors &in) {
            const auto both = fused::addRmsNorm(kernels, in[0], in[1], in[2]);
            return Tensors{both.sum, both.normed};
        },
        [&](const Tensors &in) {
            const auto sum = in[0] + in[1];
            return Tensors{sum, normed(sum, in[2])};
        },
        4 * row(hidden), 4 * row(hidden));
    compare(
        "qkvRope", {drawn({tokens / length, length, 3 * heads * headSize}), headWeight, other},
        [&](const Tensors &in) {
            const auto made = fused::qkvRope(kernels, in[0], {in[1], in[2], cos, sin, {}});
            return Tensors(made.begin(), made.end());
        },
        [&](const Tensors &in) {
            const auto parts = in[0]
                                   .view({-1, length, 3 * heads, headSize})
                                   .split_with_sizes({heads, heads, heads}, 2);
            const auto rotated = [&](const at::Tensor &states, const at::Tensor &scale) {
                const auto half = normed(states, scale).chunk(2, -1);
                return at::cat({half[0] * wideCos - half[1] * wideSin,
                                half[1] * wideCos + half[0] * wideSin},
                               -1)
                    .transpose(1, 2);
            };
            return Tensors{rotated(parts[0], in[1]), rotated(parts[1], in[2]),
                           parts[2].transpose(1, 2)};
        },
        6 * row(heads * headSize), 8 * row(heads * headSize));
    compare(
        "swiGlu", {drawn({tokens, 2 * inner})},
        [&](const Tensors &in) { return Tensors{fused::swiGlu(kernels, in[0])}; },
        [&](const Tensors &in) {
            const auto both = in[0].chunk(2, -1);
            return Tensors{at::silu(both[0]) * both[1]};
        },
        3 * row(inner), 5 * row(inner));
    const auto targets = at::randint(vocabulary, {tokens}, options.dtype(at::kLong));
    const auto shares =
        at::full({tokens}, 1.0 / static_cast<double>(tokens), options.dtype(at::kFloat));
    const auto exact = [&](const at::Tensor &logits) {
        const auto losses =
            at::cross_entropy_loss(logits.to(at::kFloat), targets, {}, at::Reduction::None);
        return Tensors{(losses * shares).sum()};
    };
    // The product by 1 is in both: what is written over must not be a leaf.
    compare(
        "crossEntropy", {drawn({tokens, vocabulary})},
        [&](const Tensors &in) {
            return Tensors{(fused::crossEntropy(kernels, in[0] * 1, targets) * shares).sum()};
        },
        [&](const Tensors &in) { return exact(in[0] * 1); }, row(vocabulary), 2 * row(vocabulary));
    for (const std::int64_t chunk : {4096, 8192, 16384, 0})
        compare(
            chunk > 0 ? ("linear + loss, " + std::to_string(chunk)).c_str() : "linear + loss, all",
            {drawn({tokens, hidden}), drawn({vocabulary, hidden})},
            [&](const Tensors &in) {
                return Tensors{
                    fused::linearCrossEntropy(kernels, in[0], in[1], targets, shares, chunk)};
            },
            [&](const Tensors &in) { return exact(at::linear(in[0], in[1])); }, 3 * row(vocabulary),
            2 * row(hidden));
    std::printf("(linear + loss: the forward pass makes the gradients, too; GB/s of the logits "
                "without the products' reading)\n");
}

} // namespace

int main(int argc, char **argv) {
    const std::int64_t tokens = argc > 1 ? std::atoll(argv[1]) : 65536;
    if (tokens < length || tokens % length != 0) {
        std::fprintf(stderr, "tokens must be a multiple of %ld\n", static_cast<long>(length));
        return 2;
    }
    const auto kernels =
        Kernels::onGpu({at::kBFloat16, hidden, heads, heads, headSize, inner, vocabulary, 1e-6}, 0);
    if (!kernels) {
        std::fprintf(stderr, "%s\n", kernels.error().message.c_str());
        return 3;
    }
    run(*kernels, tokens);
    return 0;
}
