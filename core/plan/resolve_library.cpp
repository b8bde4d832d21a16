// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/program.h"
#include "core/plan/resolve.h"

#include <limits>

namespace cuda_agent::plan {

namespace {

// BLAS libraries take 32-bit sizes.
constexpr std::int64_t maxSize = std::numeric_limits<std::int32_t>::max();

std::string shapeText(const Shape &shape) {
    return fmt::format("[{}]", fmt::join(shape, ", "));
}

bool isGemmType(DType type) {
    return type == DType::float32 || type == DType::float64 || type == DType::float16 ||
           type == DType::bfloat16;
}

/// One past the largest index of a batched matrix; the largest number where that overflows.
std::int64_t reachOf(std::int64_t rows, std::int64_t columns, std::int64_t lead, std::int64_t batch,
                     std::int64_t stride) {
    std::int64_t items = 0, lines = 0, sum = 0;
    if (__builtin_mul_overflow(batch - 1, stride, &items) ||
        __builtin_mul_overflow(rows - 1, lead, &lines) ||
        __builtin_add_overflow(items, lines, &sum) || __builtin_add_overflow(sum, columns, &sum))
        return std::numeric_limits<std::int64_t>::max();
    return sum;
}

/// A batched matrix must lie in its buffer.
Result<void> checkReach(const std::string &path, const std::string &buffer, const TensorType &type,
                        std::int64_t reach) {
    if (reach > type.elements())
        return requestError("{}: the step reaches past the end of '{}' {}; check m, n, k, batch, "
                            "leading dimensions and strides",
                            path, buffer, shapeText(type.shape));
    return {};
}

} // namespace

Result<ResolvedGemm> resolveGemm(const GemmStep &step, const std::string &path,
                                 const Resolved &resolved, const Values &values) {
    ResolvedGemm gemm;
    const auto read = [&](const Expression &expression, const char *name, std::int64_t low,
                          std::int64_t high, std::int64_t &value) -> Result<void> {
        CUDA_AGENT_ASSIGN(number, evaluateWithin(expression, values, path + "." + name, low, high));
        value = number;
        return {};
    };
    CUDA_AGENT_TRY(read(step.m, "m", 1, maxSize, gemm.m));
    CUDA_AGENT_TRY(read(step.n, "n", 1, maxSize, gemm.n));
    CUDA_AGENT_TRY(read(step.k, "k", 1, maxSize, gemm.k));
    CUDA_AGENT_TRY(read(step.batch, "batch", 1, maxSize, gemm.batch));
    const std::int64_t rowsA = step.transposeA ? gemm.k : gemm.m;
    const std::int64_t columnsA = step.transposeA ? gemm.m : gemm.k;
    const std::int64_t rowsB = step.transposeB ? gemm.n : gemm.k;
    const std::int64_t columnsB = step.transposeB ? gemm.k : gemm.n;
    CUDA_AGENT_TRY(read(step.lda, "lda", columnsA, maxSize, gemm.lda));
    CUDA_AGENT_TRY(read(step.ldb, "ldb", columnsB, maxSize, gemm.ldb));
    CUDA_AGENT_TRY(read(step.ldc, "ldc", gemm.n, maxSize, gemm.ldc));
    constexpr std::int64_t maxStride = std::int64_t{1} << 46;
    CUDA_AGENT_TRY(read(step.strideA, "stride_a", 0, maxStride, gemm.strideA));
    CUDA_AGENT_TRY(read(step.strideB, "stride_b", 0, maxStride, gemm.strideB));
    CUDA_AGENT_TRY(read(step.strideC, "stride_c", 0, maxStride, gemm.strideC));

    const TensorType &a = typeOf(resolved, step.a);
    const TensorType &b = typeOf(resolved, step.b);
    const TensorType &c = typeOf(resolved, step.c);
    if (!isGemmType(a.dtype))
        return requestError("{}.a: a product of {} is not offered; use float32, float64, float16 "
                            "or bfloat16",
                            path, nameOf(a.dtype));
    // Products of 16-bit types are summed in float32, which may be had as it is.
    const bool widened = sizeOf(a.dtype) == 2 && c.dtype == DType::float32;
    if (b.dtype != a.dtype || (c.dtype != a.dtype && !widened))
        return requestError("{}: a, b and c must have one dtype, or c float32 where a and b have "
                            "16 bits; they have {}, {} and {}",
                            path, nameOf(a.dtype), nameOf(b.dtype), nameOf(c.dtype));
    CUDA_AGENT_TRY(checkReach(path + ".a", step.a, a,
                              reachOf(rowsA, columnsA, gemm.lda, gemm.batch, gemm.strideA)));
    CUDA_AGENT_TRY(checkReach(path + ".b", step.b, b,
                              reachOf(rowsB, columnsB, gemm.ldb, gemm.batch, gemm.strideB)));
    CUDA_AGENT_TRY(checkReach(path + ".c", step.c, c,
                              reachOf(gemm.m, gemm.n, gemm.ldc, gemm.batch, gemm.strideC)));
    if (gemm.batch > 1 && gemm.strideC < reachOf(gemm.m, gemm.n, gemm.ldc, 1, 0))
        return requestError("{}.stride_c: the batch items of the result overlap", path);
    if (!step.bias.empty()) {
        const TensorType &bias = typeOf(resolved, step.bias);
        if (bias.elements() != gemm.n || bias.dtype != c.dtype)
            return requestError("{}.bias: '{}' must have n = {} elements of {}", path, step.bias,
                                gemm.n, nameOf(c.dtype));
    }
    return gemm;
}

Result<ResolvedConvolution> resolveConvolution(const ConvolutionStep &step, const std::string &path,
                                               const Resolved &resolved) {
    TensorType input = typeOf(resolved, step.input);
    TensorType weight = typeOf(resolved, step.weight);
    const TensorType &output = typeOf(resolved, step.output);
    const std::size_t rank = input.shape.size();
    if (step.channelsLast) {
        input.shape = channelsSecond(input.shape);
        weight.shape = channelsSecond(weight.shape);
    }
    if (rank < 3 || rank > 5)
        return requestError("{}.input: '{}' {} must be N, C and 1 to 3 spatial dimensions", path,
                            step.input, shapeText(input.shape));
    if (input.dtype != DType::float32 && input.dtype != DType::float16 &&
        input.dtype != DType::bfloat16)
        return requestError("{}.input: a convolution of {} is not offered; use float32, float16 "
                            "or bfloat16",
                            path, nameOf(input.dtype));
    if (weight.dtype != input.dtype || output.dtype != input.dtype)
        return requestError("{}: input, weight and output must have one dtype", path);
    if (input.elements() == 0)
        return requestError("{}.input: '{}' is empty", path, step.input);

    const std::size_t spatial = rank - 2;
    ResolvedConvolution convolution{step.stride, step.padding, step.dilation, step.outputPadding};
    const auto fit = [&](std::vector<std::int64_t> &list, const char *name,
                         std::int64_t fallback) -> Result<void> {
        if (list.empty())
            list.assign(spatial, fallback);
        if (list.size() != spatial)
            return requestError("{}.{}: has {} entries; '{}' has {} spatial dimension(s)", path,
                                name, list.size(), step.input, spatial);
        return {};
    };
    CUDA_AGENT_TRY(fit(convolution.stride, "stride", 1));
    CUDA_AGENT_TRY(fit(convolution.padding, "padding", 0));
    CUDA_AGENT_TRY(fit(convolution.dilation, "dilation", 1));
    CUDA_AGENT_TRY(fit(convolution.outputPadding, "output_padding", 0));
    for (std::size_t d = 0; d < spatial; ++d) {
        const std::int64_t extra = convolution.outputPadding[d];
        if (extra == 0)
            continue;
        if (!step.transposed)
            return requestError("{}.output_padding: only a transposed convolution has one", path);
        if (extra >= std::max(convolution.stride[d], convolution.dilation[d]))
            return requestError("{}.output_padding[{}]: {} must be less than stride or dilation",
                                path, d, extra);
    }

    // As torch: weight is [O, C/groups, k...], transposed [C, O/groups, k...].
    const std::int64_t channels = input.shape[1];
    const std::int64_t groups = step.groups;
    if (weight.shape.size() != rank)
        return requestError("{}.weight: '{}' {} must have {} dimensions", path, step.weight,
                            shapeText(weight.shape), rank);
    const std::int64_t outChannels = step.transposed ? weight.shape[1] * groups : weight.shape[0];
    const bool fits =
        channels % groups == 0 && outChannels % groups == 0 &&
        (step.transposed ? weight.shape[0] == channels : weight.shape[1] == channels / groups);
    if (!fits || weight.elements() == 0)
        return requestError("{}.weight: '{}' {} does not go with the input's {} channels in {} "
                            "group(s)",
                            path, step.weight, shapeText(weight.shape), channels, groups);

    Shape expected{input.shape[0], outChannels};
    for (std::size_t d = 0; d < spatial; ++d) {
        const std::int64_t window = convolution.dilation[d] * (weight.shape[d + 2] - 1) + 1;
        const std::int64_t size = input.shape[d + 2];
        const std::int64_t extent =
            step.transposed ? (size - 1) * convolution.stride[d] - 2 * convolution.padding[d] +
                                  window + convolution.outputPadding[d]
            : (size + 2 * convolution.padding[d] - window) >= 0
                ? (size + 2 * convolution.padding[d] - window) / convolution.stride[d] + 1
                : 0;
        if (extent < 1)
            return requestError("{}: the window of {} is larger than the padded input", path,
                                window);
        expected.push_back(extent);
    }
    if (step.channelsLast) {
        expected.push_back(expected[1]);
        expected.erase(expected.begin() + 1);
    }
    if (output.shape != expected)
        return requestError("{}.output: '{}' is {}, but this convolution gives {}", path,
                            step.output, shapeText(output.shape), shapeText(expected));
    if (!step.bias.empty()) {
        const TensorType &bias = typeOf(resolved, step.bias);
        if (bias.elements() != outChannels || bias.dtype != output.dtype)
            return requestError("{}.bias: '{}' must have {} elements of {}", path, step.bias,
                                outChannels, nameOf(output.dtype));
    }
    return convolution;
}

} // namespace cuda_agent::plan
