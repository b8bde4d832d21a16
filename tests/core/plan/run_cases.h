// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/core/plan/naive_convolution.h"
#include "tests/core/plan/plan_fixture.h"
#include "tests/core/plan/run_fixture.h"

#include <cmath>

// What both devices must do alike; each test program names a fixture for its device and calls
// these from its tests.

namespace cuda_agent::plan {

template <typename Base>
class RunCases : public Base {
  protected:
    using Base::callOnce;
    using Base::compileCandidate;
    using Base::contents;
    using Base::lend;
    using Base::lendFloats;
    using Base::process_;
    using Base::signature_;
    using Base::start;

    void twoInputs() {
        constexpr std::size_t count = 1000;
        Json plan = pointwisePlan();
        plan["buffers"].push_back({{"name", "in1"}, {"role", "input"}, {"index", 1}});
        plan["steps"][0]["args"].push_back({{"buffer", "in1"}});
        compileCandidate(plan, R"cu(
extern "C" __global__ void k(const float *a, float *out, int n, const float *b) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] + b[i];
}
)cu");
        signature_ = pointwiseSignature(count);
        signature_.inputs.push_back(signature_.inputs[0]);
        ASSERT_TRUE(start()) << this->problem_.message;
        const auto a = ramp(count), b = ramp(count, 3, 0.125f);
        CallBuffers buffers;
        buffers.inputs = {lendFloats(a, {count}), lendFloats(b, {count})};
        buffers.outputs = {lendFloats(std::vector<float>(count, -1), {count})};
        ASSERT_EQ(callOnce(buffers), "");
        const auto out = contents(buffers.outputs[0], count);
        for (std::size_t i = 0; i < count; ++i)
            ASSERT_EQ(out[i], a[i] + b[i]) << i;
        // The same memory with new contents.
        const auto c = ramp(count, -7);
        ASSERT_TRUE(this->device_->write(*this->memories_[0], 0, c.data(), count * 4));
        ASSERT_TRUE(process_->call(0));
        EXPECT_EQ(contents(buffers.outputs[0], count)[999], c[999] + b[999]);
        EXPECT_TRUE(process_->finish().clean());
    }

    /// Row sums in two kernels over scratch, a fill and an atomic on the way.
    void twoStepsWithScratch() {
        constexpr std::int64_t rows = 5, columns = 96;
        const Json plan = Json::parse(R"json({
          "version": 1,
          "symbols": {"R": "in0.shape[0]", "N": "in0.shape[1]", "P": "cdiv(N, 32)"},
          "buffers": [
            {"name": "in0", "role": "input", "index": 0},
            {"name": "out0", "role": "output", "index": 0, "dtype": "float32", "shape": ["R"]},
            {"name": "part", "role": "scratch", "dtype": "float32", "shape": ["R", "P"]},
            {"name": "count", "role": "scratch", "dtype": "int32", "shape": [1]}],
          "steps": [
            {"kind": "fill", "buffer": "out0", "value": 0.5},
            {"kind": "fill", "buffer": "count", "value": 7},
            {"kind": "kernel", "source": "kernels/k.cu", "entry": "partial",
             "grid": ["P", "R"], "block": [32], "shared": "32*4",
             "args": [{"buffer": "in0"}, {"buffer": "part"}, {"int64": "N"}, {"buffer": "count"}]},
            {"kind": "kernel", "source": "kernels/k.cu", "entry": "finish",
             "grid": ["R"], "block": [1],
             "args": [{"buffer": "part"}, {"buffer": "out0"}, {"int32": "P"},
                      {"buffer": "count"}]}]})json");
        compileCandidate(plan, R"cu(
extern "C" __global__ void partial(const float *in, float *part, long long n, int *count) {
    extern __shared__ float tile[];
    tile[threadIdx.x] = in[blockIdx.y * n + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < 32; ++i)
            sum += tile[i];
        part[blockIdx.y * gridDim.x + blockIdx.x] = sum;
        atomicAdd(count, 1);
    }
}
extern "C" __global__ void finish(const float *part, float *out, int parts, const int *count) {
    float sum = 0;
    for (int i = 0; i < parts; ++i)
        sum += part[blockIdx.x * parts + i];
    out[blockIdx.x] += sum + 1000.0f * *count;
}
)cu");
        signature_.inputs = {contiguousType(DType::float32, {rows, columns})};
        signature_.outputs = {contiguousType(DType::float32, {rows})};
        ASSERT_TRUE(start()) << this->problem_.message;
        const auto in = ramp(rows * columns);
        CallBuffers buffers;
        buffers.inputs = {lendFloats(in, {rows, columns})};
        buffers.outputs = {lendFloats(std::vector<float>(rows, NAN), {rows})};
        for (int call = 0; call < 2; ++call) {
            ASSERT_EQ(callOnce(buffers), "");
            const auto out = contents(buffers.outputs[0], rows);
            for (std::int64_t row = 0; row < rows; ++row) {
                double sum = 0.5 + 1000.0 * (7 + 15);
                for (std::int64_t i = 0; i < columns; ++i)
                    sum += in[row * columns + i];
                ASSERT_NEAR(out[row], sum, 1e-2) << row;
            }
        }
        // Without kernels the fill steps alone are left, without the last one too.
        for (const int place : {-1, 1}) {
            const auto without = process_->callWithout(0, place);
            ASSERT_TRUE(without) << without.error().message;
            EXPECT_TRUE(without->possible);
            ASSERT_EQ(without->places.size(), 2u);
            EXPECT_NE(without->places[1].find("finish"), std::string::npos);
            EXPECT_EQ(contents(buffers.outputs[0], rows)[0], 0.5f) << place;
        }
        // Without the first, the second finds scratch overwritten rather than the call before.
        ASSERT_TRUE(process_->callWithout(0, 0));
        EXPECT_NE(contents(buffers.outputs[0], rows)[0], 0.5f);
        EXPECT_LT(contents(buffers.outputs[0], rows)[0], 0);
        ASSERT_TRUE(process_->call(0));
        EXPECT_GT(contents(buffers.outputs[0], rows)[0], 20000.0f);
    }

    void scalarsOfAllKinds() {
        compileCandidate(pointwisePlan({{{"float32", {{"input", 1}}}},
                                        {{"int32", {{"input", 2}}}},
                                        {{"float64", 0.5}},
                                        {{"int64", "N * 4294967296"}},
                                        {{"float32", "-inf"}}}),
                         R"cu(
extern "C" __global__ void k(const float *in, float *out, int n, float scale, int shift, double half,
                             long long wide, float low) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = fmaxf(in[i] * scale + (float)shift + (float)half + (float)(wide >> 32), low);
}
)cu");
        signature_ = pointwiseSignature(100);
        signature_.scalars = {{1, 1.5}, {2, -3}};
        ASSERT_TRUE(start()) << this->problem_.message;
        const auto in = ramp(100);
        CallBuffers buffers;
        buffers.inputs = {lendFloats(in, {100})};
        buffers.outputs = {lendFloats(std::vector<float>(100), {100})};
        ASSERT_EQ(callOnce(buffers), "");
        const auto out = contents(buffers.outputs[0], 100);
        for (std::size_t i = 0; i < 100; ++i)
            ASSERT_FLOAT_EQ(out[i], in[i] * 1.5f - 3 + 0.5f + 100) << i;
    }

    /// Views that the plan's alignment or contiguity does not allow are copied, outputs back too.
    void misplacedViews() {
        constexpr std::size_t rows = 6, columns = 10, count = rows * columns;
        Json plan = pointwisePlan();
        plan["buffers"][1]["shape"] = {rows, columns};
        compileCandidate(plan, R"cu(
extern "C" __global__ void k(const float *in, float *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = ((unsigned long long)in % 16 == 0 && (unsigned long long)out % 16 == 0)
                     ? 2.0f * in[i]
                     : -1.0f;
}
)cu");
        signature_ = pointwiseSignature(count);
        signature_.inputs[0] = contiguousType(DType::float32, {rows, columns});
        signature_.outputs[0] = contiguousType(DType::float32, {rows, columns});
        ASSERT_TRUE(start()) << this->problem_.message;
        const auto in = ramp(count);
        TensorType transposed{DType::float32, {rows, columns}, {1, rows}};
        for (const bool strided : {false, true}) {
            const TensorType type =
                strided ? transposed : contiguousType(DType::float32, {rows, columns});
            CallBuffers buffers;
            buffers.inputs = {lend(in, type, strided ? 0 : 4)};
            buffers.outputs = {lend(std::vector<float>(count), type, strided ? 0 : 12)};
            ASSERT_EQ(callOnce(buffers), "");
            const auto out = contents(buffers.outputs[0], count);
            for (std::size_t i = 0; i < count; ++i)
                ASSERT_EQ(out[i], 2 * in[i]) << (strided ? "strided " : "misaligned ") << i;
        }
    }

    /// An input whose order the plan names is read where it lies, and copied where it lies
    /// otherwise.
    void orderedInput() {
        constexpr std::size_t rows = 6, columns = 10, count = rows * columns;
        Json plan = pointwisePlan();
        plan["buffers"][0]["order"] = {1, 0};
        plan["buffers"][1]["shape"] = {rows, columns};
        compileCandidate(plan, R"cu(
extern "C" __global__ void k(const float *in, float *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2.0f * in[i % 10 * 6 + i / 10];
}
)cu");
        signature_ = pointwiseSignature(count);
        signature_.inputs[0] = TensorType{DType::float32, {rows, columns}, {1, rows}};
        signature_.outputs[0] = contiguousType(DType::float32, {rows, columns});
        ASSERT_TRUE(start()) << this->problem_.message;
        for (const bool transposed : {true, false}) {
            const auto lying = ramp(count);
            CallBuffers buffers;
            buffers.inputs = {lend(lying,
                                   transposed ? signature_.inputs[0]
                                              : contiguousType(DType::float32, {rows, columns}),
                                   0)};
            buffers.outputs = {lend(std::vector<float>(count), signature_.outputs[0], 0)};
            ASSERT_EQ(callOnce(buffers), "");
            const auto out = contents(buffers.outputs[0], count);
            for (std::size_t i = 0; i < count; ++i) {
                const std::size_t from = transposed ? i % columns * rows + i / columns : i;
                ASSERT_EQ(out[i], 2 * lying[from]) << transposed << " " << i;
            }
        }
    }

    struct GemmCase {
        bool transposeA = false, transposeB = false, bias = false;
        std::int64_t batch = 1;
        double alpha = 1, beta = 0;
    };
    void gemm(const GemmCase &c) {
        constexpr std::int64_t m = 24, n = 40, k = 16;
        Json step{{"kind", "gemm"},
                  {"a", "in0"},
                  {"b", "w"},
                  {"c", "out0"},
                  {"transpose_a", c.transposeA},
                  {"transpose_b", c.transposeB},
                  {"m", m},
                  {"n", n},
                  {"k", k},
                  {"batch", c.batch},
                  {"stride_b", 0},
                  {"alpha", c.alpha},
                  {"beta", c.beta}};
        Json bufferList = {{{"name", "in0"}, {"role", "input"}, {"index", 0}},
                           {{"name", "w"}, {"role", "parameter"}, {"key", "fc.weight"}},
                           {{"name", "out0"},
                            {"role", "output"},
                            {"index", 0},
                            {"dtype", "float32"},
                            {"shape", {c.batch, m, n}}}};
        signature_ = {};
        signature_.parameters = {{"fc.weight", contiguousType(DType::float32, {k, n})}};
        const auto a = ramp(c.batch * m * k), b = ramp(k * n, 2), bias = ramp(n, -1, 0.5f);
        const auto old = ramp(c.batch * m * n, 9);
        CallBuffers buffers;
        buffers.parameters["fc.weight"] = lendFloats(b, {k, n});
        if (c.bias) {
            step["bias"] = "bias";
            bufferList.push_back({{"name", "bias"}, {"role", "parameter"}, {"key", "fc.bias"}});
            signature_.parameters["fc.bias"] = contiguousType(DType::float32, {n});
            buffers.parameters["fc.bias"] = lendFloats(bias, {n});
        }
        compileCandidate({{"version", 1}, {"buffers", bufferList}, {"steps", {step}}}, "");
        signature_.inputs = {contiguousType(DType::float32, {c.batch, m, k})};
        signature_.outputs = {contiguousType(DType::float32, {c.batch, m, n})};
        ASSERT_TRUE(start()) << this->problem_.message;
        buffers.inputs = {lendFloats(a, {c.batch, m, k})};
        buffers.outputs = {lendFloats(old, {c.batch, m, n})};
        ASSERT_EQ(callOnce(buffers), "");
        const auto out = contents(buffers.outputs[0], c.batch * m * n);
        for (std::int64_t i = 0; i < c.batch * m * n; ++i) {
            const std::int64_t item = i / (m * n), row = i / n % m, column = i % n;
            double sum = 0;
            for (std::int64_t x = 0; x < k; ++x)
                sum += double{a[item * m * k + (c.transposeA ? x * m + row : row * k + x)]} *
                       b[c.transposeB ? column * k + x : x * n + column];
            const double expected =
                c.alpha * sum + c.beta * old[i] + (c.bias ? bias[column] : 0.0f);
            ASSERT_NEAR(out[i], expected, 1e-3 * (1 + std::fabs(expected))) << i;
        }
    }

    /// A shape, and elements in its order, as they lie in memory when the channels are last.
    static Shape lying(const Shape &shape, bool channelsLast) {
        Shape result = shape;
        if (channelsLast) {
            result.push_back(result[1]);
            result.erase(result.begin() + 1);
        }
        return result;
    }
    static std::vector<float> lying(const std::vector<float> &elements, const Shape &shape,
                                    bool channelsLast) {
        if (!channelsLast)
            return elements;
        const std::int64_t places =
            static_cast<std::int64_t>(elements.size()) / shape[0] / shape[1];
        std::vector<float> result(elements.size());
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(elements.size()); ++i) {
            const std::int64_t place = i % places, channel = i / places % shape[1];
            const std::int64_t outer = i / places / shape[1];
            result[(outer * places + place) * shape[1] + channel] = elements[i];
        }
        return result;
    }

    void convolution(const ConvolutionCase &c) {
        Json step{{"kind", "convolution"},  {"input", "in0"},     {"weight", "w"},
                  {"output", "out0"},       {"stride", c.stride}, {"padding", c.padding},
                  {"dilation", c.dilation}, {"groups", c.groups}, {"transposed", c.transposed}};
        if (c.transposed)
            step["output_padding"] = c.outputPadding;
        if (c.channelsLast)
            step["layout"] = "channels_last";
        const Shape inputShape = lying(c.input, c.channelsLast);
        const Shape weightShape = lying(c.weight, c.channelsLast);
        const Shape outputShape = lying(c.output, c.channelsLast);
        Json bufferList = {{{"name", "in0"}, {"role", "input"}, {"index", 0}},
                           {{"name", "w"}, {"role", "parameter"}, {"key", "weight"}},
                           {{"name", "out0"},
                            {"role", "output"},
                            {"index", 0},
                            {"dtype", "float32"},
                            {"shape", outputShape}}};
        signature_ = {};
        signature_.inputs = {contiguousType(DType::float32, inputShape)};
        signature_.parameters = {{"weight", contiguousType(DType::float32, weightShape)}};
        signature_.outputs = {contiguousType(DType::float32, outputShape)};
        const auto elements = [](const Shape &shape) {
            return static_cast<std::size_t>(contiguousType(DType::float32, shape).elements());
        };
        const auto input = ramp(elements(c.input)), weight = ramp(elements(c.weight), 1);
        const auto bias = ramp(c.output[1], -3);
        CallBuffers buffers;
        buffers.inputs = {lendFloats(lying(input, c.input, c.channelsLast), inputShape)};
        buffers.parameters["weight"] =
            lendFloats(lying(weight, c.weight, c.channelsLast), weightShape);
        buffers.outputs = {lendFloats(std::vector<float>(elements(c.output)), outputShape)};
        if (c.bias) {
            step["bias"] = "bias";
            bufferList.push_back({{"name", "bias"}, {"role", "parameter"}, {"key", "bias"}});
            signature_.parameters["bias"] = contiguousType(DType::float32, {c.output[1]});
            buffers.parameters["bias"] = lendFloats(bias, {c.output[1]});
        }
        compileCandidate({{"version", 1}, {"buffers", bufferList}, {"steps", {step}}}, "");
        ASSERT_TRUE(start()) << this->problem_.message;
        ASSERT_EQ(callOnce(buffers), "");
        const auto out = contents(buffers.outputs[0], elements(c.output));
        const auto exact = naiveConvolution(c, input, weight, c.bias ? bias : std::vector<float>());
        const auto expected =
            lying(std::vector<float>(exact.begin(), exact.end()), c.output, c.channelsLast);
        for (std::size_t i = 0; i < out.size(); ++i)
            ASSERT_NEAR(out[i], expected[i], 1e-3 * (1 + std::fabs(expected[i]))) << i;
    }

    void timingIsSane() {
        constexpr std::size_t count = 1 << 16;
        compileCandidate(pointwisePlan(), doubleKernel);
        signature_ = pointwiseSignature(count);
        ASSERT_TRUE(start()) << this->problem_.message;
        for (int set = 0; set < 3; ++set) {
            CallBuffers buffers;
            buffers.inputs = {lendFloats(ramp(count, static_cast<float>(set)), {count})};
            buffers.outputs = {lendFloats(std::vector<float>(count), {count})};
            ASSERT_TRUE(process_->bind(set, buffers));
        }
        SampleRequest request;
        request.sets = {0, 1, 2};
        request.samples = 12;
        const auto samples = process_->time(request);
        ASSERT_TRUE(samples) << samples.error().message;
        ASSERT_EQ(samples->size(), 12u);
        for (const auto &sample : *samples) {
            EXPECT_GT(sample.seconds, 0);
            EXPECT_LT(sample.seconds, 1);
            EXPECT_EQ(sample.calls, 1);
        }
        // The timed calls did the work.
        const device::TensorView out{this->memories_[5].get(), 0,
                                     contiguousType(DType::float32, {count})};
        EXPECT_EQ(contents(out, 10)[9], 2 * ramp(count, 2)[9]);
        request.minimumSampleSeconds = 0.005;
        request.samples = 3;
        request.flushCache = false;
        const auto longer = process_->time(request);
        ASSERT_TRUE(longer) << longer.error().message;
        for (const auto &sample : *longer) {
            EXPECT_GT(sample.calls, 1);
            EXPECT_GT(sample.seconds * sample.calls, 0.001);
        }
        ASSERT_TRUE(process_->unbind(1));
        const auto unbound = process_->call(1);
        ASSERT_FALSE(unbound);
        EXPECT_EQ(unbound.error().kind, ErrorKind::machine);
        EXPECT_MENTIONS(unbound.error().message, "set 1 is not bound");
    }

    void fillsWideElements() {
        Json plan = pointwisePlan({{{"buffer", "wide"}}, {{"buffer", "narrow"}}});
        plan["buffers"].push_back(
            {{"name", "wide"}, {"role", "scratch"}, {"dtype", "float64"}, {"shape", {"N"}}});
        plan["buffers"].push_back(
            {{"name", "narrow"}, {"role", "scratch"}, {"dtype", "int16"}, {"shape", {"N"}}});
        // Named, because insert takes braces for a list of elements.
        const Json fillWide = {{"kind", "fill"}, {"buffer", "wide"}, {"value", 0.1}};
        const Json fillNarrow = {{"kind", "fill"}, {"buffer", "narrow"}, {"value", -3}};
        plan["steps"].insert(plan["steps"].begin(), {fillWide, fillNarrow});
        compileCandidate(plan, R"cu(
extern "C" __global__ void k(const float *in, float *out, int n, const double *wide,
                             const short *narrow) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = wide[i] == 0.1 ? (float)narrow[i] : 99.0f;
}
)cu");
        signature_ = pointwiseSignature(77);
        ASSERT_TRUE(start()) << this->problem_.message;
        CallBuffers buffers;
        buffers.inputs = {lendFloats(ramp(77), {77})};
        buffers.outputs = {lendFloats(ramp(77), {77})};
        ASSERT_EQ(callOnce(buffers), "");
        EXPECT_EQ(contents(buffers.outputs[0], 77), std::vector<float>(77, -3.0f));
    }

    /// The same candidate with and without graph replay: same results, and the graph is no slower.
    void graphReplaysManySteps() {
        Json plan = pointwisePlan();
        const Json step = plan["steps"][0];
        for (int i = 0; i < 49; ++i)
            plan["steps"].push_back(step);
        compileCandidate(plan, doubleKernel);
        constexpr std::size_t count = 4096;
        signature_ = pointwiseSignature(count);
        double seconds[2];
        for (const bool graph : {false, true}) {
            RunnerOptions options;
            options.useGraph = graph;
            auto process = startRunner(this->compiled_, signature_, *this->device_, options);
            ASSERT_TRUE(process) << process.error().message;
            process_ = std::move(*process);
            CallBuffers buffers;
            buffers.inputs = {lendFloats(ramp(count), {count})};
            buffers.outputs = {lendFloats(std::vector<float>(count), {count})};
            ASSERT_TRUE(process_->bind(0, buffers));
            SampleRequest request;
            request.sets = {0};
            const auto samples = process_->time(request);
            ASSERT_TRUE(samples) << samples.error().message;
            std::vector<double> sorted;
            for (const auto &sample : *samples)
                sorted.push_back(sample.seconds);
            std::sort(sorted.begin(), sorted.end());
            seconds[graph] = sorted[sorted.size() / 2];
            EXPECT_EQ(contents(buffers.outputs[0], count)[77], 2 * ramp(count)[77]);
        }
        if (this->device_->info().kind == device::Kind::cuda) {
            EXPECT_LT(seconds[1], 1.1 * seconds[0]);
        }
        this->RecordProperty("plain_us", static_cast<int>(seconds[0] * 1e6));
        this->RecordProperty("graph_us", static_cast<int>(seconds[1] * 1e6));
    }

    /// TF32 keeps ten bits of each factor: its error shows, and only where the plan asks for it
    /// (a CPU has no TF32).
    void gemmTf32OnlyWhenAsked() {
        constexpr std::int64_t size = 512;
        double error[2];
        for (const bool tf32 : {false, true}) {
            Json plan = Json::parse(R"json({"version": 1,
          "buffers": [{"name": "a", "role": "input", "index": 0},
                      {"name": "b", "role": "input", "index": 1},
                      {"name": "c", "role": "output", "index": 0, "dtype": "float32",
                       "shape": [512, 512]}],
          "steps": [{"kind": "gemm", "a": "a", "b": "b", "c": "c",
                     "m": 512, "n": 512, "k": 512}]})json");
            plan["steps"][0]["compute"] = tf32 ? "tf32" : "float32";
            compileCandidate(plan, "");
            const auto type = contiguousType(DType::float32, {size, size});
            signature_ = {};
            signature_.inputs = {type, type};
            signature_.outputs = {type};
            ASSERT_TRUE(start()) << this->problem_.message;
            std::vector<float> a(size * size), b(size * size);
            for (std::size_t i = 0; i < a.size(); ++i) {
                a[i] = std::sin(static_cast<float>(i));
                b[i] = std::cos(static_cast<float>(3 * i));
            }
            CallBuffers buffers;
            buffers.inputs = {lendFloats(a, {size, size}), lendFloats(b, {size, size})};
            buffers.outputs = {lendFloats(a, {size, size})};
            ASSERT_EQ(callOnce(buffers), "");
            const auto c = contents(buffers.outputs[0], size);
            error[tf32] = 0;
            for (std::int64_t column = 0; column < size; ++column) {
                double sum = 0;
                for (std::int64_t k = 0; k < size; ++k)
                    sum += double{a[k]} * b[k * size + column];
                error[tf32] = std::max(error[tf32], std::fabs(c[column] - sum));
            }
        }
        EXPECT_LT(error[0], 1e-4);
        if (this->device_->info().kind == device::Kind::cuda) {
            EXPECT_GT(error[1], 10 * error[0]);
        } else {
            EXPECT_EQ(error[1], error[0]);
        }
        EXPECT_LT(error[1], 0.1);
    }

    /// The failing candidate's error must match, and the next candidate must not notice.
    void failsThenNextIsFine(const char *kernel, const std::string &part,
                             std::chrono::milliseconds limit = std::chrono::milliseconds(20'000)) {
        constexpr std::size_t count = 100;
        compileCandidate(pointwisePlan(), kernel);
        signature_ = pointwiseSignature(count);
        ASSERT_TRUE(start(limit)) << this->problem_.message;
        CallBuffers buffers;
        buffers.inputs = {lendFloats(ramp(count), {count})};
        buffers.outputs = {lendFloats(std::vector<float>(count), {count})};
        EXPECT_MENTIONS(callOnce(buffers), part);
        EXPECT_EQ(this->problem_.kind, ErrorKind::failed);
        EXPECT_FALSE(process_->call(0)) << "an ended candidate is not asked again";
        EXPECT_FALSE(process_->finish().clean());
        compileCandidate(pointwisePlan(), doubleKernel);
        ASSERT_TRUE(start()) << this->problem_.message;
        ASSERT_EQ(callOnce(buffers), "");
        EXPECT_EQ(contents(buffers.outputs[0], count)[7], 2 * ramp(count)[7]);
    }
};

} // namespace cuda_agent::plan
