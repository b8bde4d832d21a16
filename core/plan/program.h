// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"
#include "core/base/tensor_type.h"

#include <string>
#include <variant>
#include <vector>

// A plan as the runner gets it: plain numbers, no expressions, no names to look up. The engine
// makes it (runner_process.cpp), the runner (runner/) obeys it.

namespace cuda_agent::plan {

struct ProgramBuffer {
    std::string name;
    bool scratch = false;        ///< made by the runner; all others are lent with each bind
    bool written = false;        ///< an output: a staged copy goes back after the steps
    TensorType type;             ///< as the steps see it: contiguous
    std::uint32_t alignment = 1; ///< bytes
};

/// A value as the device reads it: `bytes` (1, 2, 4 or 8) low bytes of `bits`.
struct ProgramScalar {
    std::uint64_t bits = 0;
    std::uint32_t bytes = 4;
};

struct ProgramArgument {
    int buffer = -1; ///< or, when negative:
    ProgramScalar scalar;
};

struct ProgramKernel {
    int binary = 0; ///< index into Program::binaries
    std::string entry;
    std::uint32_t grid[3] = {1, 1, 1};
    std::uint32_t block[3] = {1, 1, 1};
    std::uint32_t cluster[3] = {1, 1, 1};
    std::uint32_t sharedBytes = 0;
    std::vector<ProgramArgument> arguments;
};

struct ProgramFill {
    int buffer = 0;
    ProgramScalar element;
};

struct ProgramGemm {
    int a = 0, b = 0, c = 0, bias = -1;
    bool transposeA = false, transposeB = false, tf32 = false;
    std::int64_t m = 1, n = 1, k = 1, batch = 1;
    std::int64_t lda = 1, ldb = 1, ldc = 1;
    std::int64_t strideA = 0, strideB = 0, strideC = 0;
    double alpha = 1, beta = 0;
};

struct ProgramConvolution {
    int input = 0, weight = 0, output = 0, bias = -1;
    std::vector<std::int64_t> stride, padding, dilation, outputPadding; ///< one a spatial dimension
    std::int64_t groups = 1;
    bool transposed = false, tf32 = false, channelsLast = false;
};

/// A shape with its last dimension, the channels, moved to the second place, as torch has it.
Shape channelsSecond(Shape shape);

struct ProgramStep {
    std::string label; ///< for faults: "kernels/x.cu:entry (step 2)"
    std::variant<ProgramKernel, ProgramFill, ProgramGemm, ProgramConvolution> work;
};

struct Program {
    std::string device = "cpu";        ///< "cpu" | "cuda"
    std::vector<std::string> binaries; ///< paths as the runner sees them
    /// Their contents, where they came as descriptors in place of paths. No part of the JSON.
    std::vector<std::string> images = {};
    std::vector<std::string>
        libraryFolders;           ///< where cuBLASLt and cuDNN may lie, beside the system
    std::uint64_t cacheBytes = 0; ///< twice this is written between samples
    bool useGraph = true;
    bool ownBuffers = false; ///< stage everything that is lent in memory of its exact size
    std::vector<ProgramBuffer> buffers;
    std::vector<ProgramStep> steps;
};

Json toJson(const Program &program);
/// Errors: machine; the engine is trusted, so this is a version mix-up.
Result<Program> programFromJson(const Json &json);

} // namespace cuda_agent::plan
