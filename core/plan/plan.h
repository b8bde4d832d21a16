// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"
#include "core/base/tensor_type.h"
#include "core/plan/expression.h"

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace cuda_agent::plan {

// The launch plan of a plan candidate, `plan.json`, version 1. The schema is documented for authors
// in core/plan/README.md; these are its values after parsing and validation.

enum class Role { input, parameter, output, scratch };

/// A named piece of device memory, contiguous row-major. Inputs that arrive with other strides are
/// copied first (the copy is part of the timed call), so a plan for a transposed input says by its
/// `order` how it lies. An output lies as its `order` says for who calls, too.
struct Buffer {
    std::string name;
    Role role = Role::scratch;
    int index = -1;  ///< input: position among the tensors of get_inputs(); output: position
    std::string key; ///< parameter: its name in the task description
    DType dtype = DType::float32;
    std::vector<Expression> shape; ///< output and scratch; inputs and parameters take the task's
    /// Bytes the kernels rely on; a worse-placed input is copied first.
    std::uint32_t alignment = 16;
    /// Input, output: the task's dimensions in the order that they have for the steps, outermost
    /// first; empty: as the task has them. Expressions and `shape` speak of the task's dimensions.
    std::vector<int> order;
    bool declaresDtype = false; ///< input, parameter: `dtype` was given and must be the task's
    bool declaresShape = false; ///< input, parameter: `shape` was given and must be the task's
};

/// One kernel argument.
struct Argument {
    enum class Kind { buffer, int32, int64, float32, float64 } kind = Kind::buffer;
    std::string buffer; ///< buffer
    Expression value;   ///< int32, int64
    double number = 0;  ///< float32, float64
    std::string
        scalar; ///< float32, float64, int32, int64: "in1" takes the task's scalar input instead
};

struct KernelStep {
    std::string source; ///< "kernels/fused.cu"
    std::string entry;
    Expression grid[3];
    Expression block[3];
    Expression shared;          ///< dynamic shared memory in bytes
    int cluster[3] = {1, 1, 1}; ///< thread block cluster (sm_90 and later)
    std::vector<Argument> arguments;
};

/// c = alpha * op(a) @ op(b) + beta * c, row-major, batched with element strides.
struct GemmStep {
    std::string a, b, c;
    bool transposeA = false, transposeB = false;
    Expression m, n, k, batch;
    Expression lda, ldb, ldc;
    Expression strideA, strideB, strideC; ///< between batch items; 0 repeats
    double alpha = 1, beta = 0;
    std::string bias;                ///< buffer of n values added to each row, or empty
    std::string compute = "float32"; ///< "float32" | "tf32"
};

/// 1, 2 or 3 spatial dimensions, NC[D][H]W, cross-correlation as in torch.
struct ConvolutionStep {
    std::string input, weight, bias, output; ///< bias may be empty
    std::vector<std::int64_t> stride, padding, dilation, outputPadding;
    std::int64_t groups = 1;
    bool transposed = false;
    bool channelsLast = false;       ///< of input, weight and output: the last dimension
    std::string compute = "float32"; ///< "float32" | "tf32"
};

/// Fills a scratch or output buffer with one value before later steps (counters, accumulators).
struct FillStep {
    std::string buffer;
    double value = 0;
};

using Step = std::variant<KernelStep, GemmStep, ConvolutionStep, FillStep>;

struct Plan {
    int version = 1;
    std::string name;
    /// Named sizes, evaluated in order; each uses earlier ones and shapes of inputs and parameters.
    /// (In JSON their order is free: planFromJson sorts them by what they use.)
    std::vector<std::pair<std::string, Expression>> symbols;
    /// Conditions on the shapes under which the plan holds ("N % 4 == 0"); others need another
    /// plan.
    std::vector<Expression> requires_;
    std::vector<Buffer> buffers;
    std::vector<Step> steps;
    std::map<std::string, std::string> defines; ///< for the compiler, values are text

    const Buffer *find(std::string_view name) const;
    std::vector<std::string> sources() const; ///< distinct kernel files, in order of use
};

/// Parses and validates everything that can be known without shapes. Every message names the field
/// ("steps[2].arguments[1].buffer: no buffer is called 'tmp2'; the plan has in0, out0").
/// Errors: request.
Result<Plan> planFromJson(const Json &json);
Json toJson(const Plan &plan);

/// A plan with all sizes known.
struct ResolvedBuffer {
    const Buffer *buffer = nullptr;
    TensorType type; ///< as the steps see it: in the buffer's order
};
struct ResolvedKernel {
    std::uint32_t grid[3], block[3];
    std::uint32_t sharedBytes;
    std::vector<std::int64_t> integers; ///< by argument; unused entries 0
    std::vector<double> numbers;        ///< by argument (float32, float64); unused entries 0
};
struct ResolvedGemm {
    std::int64_t m = 0, n = 0, k = 0, batch = 1;
    std::int64_t lda = 0, ldb = 0, ldc = 0;
    std::int64_t strideA = 0, strideB = 0, strideC = 0;
};
/// Every list has one entry per spatial dimension.
struct ResolvedConvolution {
    std::vector<std::int64_t> stride, padding, dilation, outputPadding;
};
struct Resolved {
    std::map<std::string, std::int64_t> symbols;
    std::vector<ResolvedBuffer> buffers;           ///< as in Plan::buffers
    std::vector<ResolvedKernel> kernels;           ///< one per KernelStep, in order
    std::vector<ResolvedGemm> gemms;               ///< one per GemmStep, in order
    std::vector<ResolvedConvolution> convolutions; ///< one per ConvolutionStep, in order
    std::uint64_t scratchBytes = 0;
};

/// What a plan is resolved against: types of the task's inputs and parameters.
struct Signature {
    std::vector<TensorType> inputs; ///< tensors of get_inputs(), in order
    std::map<std::string, TensorType> parameters;
    std::vector<TensorType> outputs;
    std::map<int, double> scalars; ///< non-tensor inputs by position
};

/// Limits of the device that a launch must keep.
struct LaunchLimits {
    std::uint32_t maxThreadsPerBlock = 1024;
    std::uint64_t maxSharedBytes = 227u << 10;
    std::uint64_t maxScratchBytes = 16ull << 30;
    int maxClusterBlocks = 16; ///< 1 where the device has no thread block clusters
};

/// Evaluates all expressions and checks shapes, dtypes, grids (1..2^31-1, 65535, 65535), blocks,
/// shared memory, scratch size and `requires`. Errors: request, naming the field;
/// the message of an unmet requirement starts with "requires".
Result<Resolved> resolve(const Plan &plan, const Signature &signature,
                         const LaunchLimits &limits = {});

} // namespace cuda_agent::plan
