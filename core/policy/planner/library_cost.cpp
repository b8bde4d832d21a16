// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/library_cost.h"

#include "core/base/integers.h"

#include <algorithm>
#include <numeric>

namespace cuda_agent::policy {

namespace {

/// Of the bandwidth, where cuDNN changes the layout before and after its kernels.
constexpr double reorderingShare = 0.7;

std::int64_t channelsOf(const Program &program, const LibraryStep &step) {
    const Shape &image = program.buffers[step.reads[0]].shape;
    return step.step.contains("layout") ? image.back() : image[1];
}

bool isSolid(const LibraryStep &step) {
    return isConvolution(step) && step.step.at("stride").size() == 3;
}

/// How much more a library computes than it is asked for: its kernels for whole floats have tiles
/// of 128 by 128, or of 64 where that is enough.
double inTiles(const LibraryStep &step) {
    if (!step.product || step.product->type != DType::float32 || roundsProducts(step))
        return 1;
    const auto filled = [](std::int64_t size) {
        const std::int64_t tile = size <= 64 ? 64 : 128;
        return static_cast<double>(ceilDivide(size, tile) * tile) / static_cast<double>(size);
    };
    return filled(std::max<std::int64_t>(1, step.product->m)) *
           filled(std::max<std::int64_t>(1, step.product->n));
}

/// Half numbers of which there are not so many side by side are read one by one: 60 TFLOP/s on an
/// H200 where the others reach ten times that.
bool hasOddChannels(const Program &program, const LibraryStep &step) {
    constexpr std::int64_t together = 8;
    return isConvolution(step) && channelsOf(program, step) % together != 0;
}

/// Matrices whose lines are no whole number of 16 bytes are read or written piece by piece: 90
/// TFLOP/s on an H200 for halves.
bool hasOddLines(const LibraryStep &step) {
    const Product &product = *step.product;
    const std::int64_t whole = 16 / static_cast<std::int64_t>(sizeOf(product.type));
    return !isConvolution(step) &&
           (product.n % whole != 0 || product.a.pitch % whole != 0 || product.b.pitch % whole != 0);
}

/// Operations a second that a step is expected to reach.
double libraryRate(const Program &program, const LibraryStep &step, bool cpu) {
    if (cpu)
        return 1.5e11;
    if (step.product && sizeOf(step.product->type) < sizeof(float))
        return hasOddChannels(program, step) ? 6e13 : hasOddLines(step) ? 9e13 : 6e14;
    if (slowInTheLibrary(program, step))
        return 2e13;
    if (!roundsProducts(step))
        return isSolid(step) ? 2e13 : 5e13;
    if (isSolid(step))
        return 1e14;
    return isConvolution(step) ? 2e14 : 3.5e14;
}

} // namespace

bool roundsProducts(const LibraryStep &step) {
    return step.step.value("compute", "") == "tf32";
}

bool isConvolution(const LibraryStep &step) {
    return step.step.at("kind") == "convolution";
}

bool slowInTheLibrary(const Program &program, const LibraryStep &step) {
    if (!isSolid(step))
        return false;
    constexpr std::int64_t fewChannels = 16, manyTaps = 27;
    const bool last = step.step.contains("layout");
    const Shape &filters = program.buffers[step.reads[1]].shape;
    const std::int64_t taps =
        std::accumulate(filters.begin() + (last ? 1 : 2), filters.end() - (last ? 1 : 0),
                        std::int64_t{1}, std::multiplies<>());
    const Json &strides = step.step.at("stride");
    const bool stepless =
        std::all_of(strides.begin(), strides.end(), [](const Json &stride) { return stride == 1; });
    return channelsOf(program, step) < fewChannels || taps > manyTaps ||
           step.step.value("groups", 1) > 1 || (step.step.value("transposed", false) && stepless);
}

double bytesOf(const Program &program, const LibraryStep &step) {
    auto bytes = static_cast<double>(program.bytesOf(step.writes));
    for (const int buffer : step.reads)
        bytes += static_cast<double>(program.bytesOf(buffer));
    return bytes;
}

double librarySeconds(const Program &program, const LibraryStep &step, bool cpu,
                      double bytesPerSecond) {
    const double bytes = bytesOf(program, step);
    const double operations = step.operations * (cpu ? 1 : inTiles(step));
    const double seconds =
        std::max(bytes / bytesPerSecond, operations / libraryRate(program, step, cpu));
    // Its fast kernels know channels last only.
    const bool reorders = !cpu && isConvolution(step) && !step.step.contains("layout");
    return seconds + (reorders ? 2 * bytes / (reorderingShare * bytesPerSecond) : 0);
}

} // namespace cuda_agent::policy
