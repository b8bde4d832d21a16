// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/runner.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <stdexcept>

namespace cuda_agent::plan {

/// A candidate written from text, compiled for a device, run in its own process.
class RunPlan : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (std::filesystem::temp_directory_path() / "run-plan-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        std::filesystem::create_directories(folder_ / "kernels");
        openDevice();
    }
    void TearDown() override {
        process_.reset();
        std::filesystem::remove_all(folder_);
    }
    virtual void openDevice() {
        auto device = device::openCpu();
        ASSERT_TRUE(device) << device.error().message;
        device_ = std::move(*device);
    }

    /// Writes `kernels/k.cu` and plan.json and compiles them. A candidate that does not compile
    /// ends its test by an exception: an ASSERT would only end this function, and what follows
    /// would run without a plan.
    void compileCandidate(const Json &plan, const std::string &source) {
        compiled_ = {};
        std::ofstream(folder_ / "kernels/k.cu") << source;
        std::ofstream(folder_ / "plan.json") << plan.dump();
        candidate_ = std::make_unique<Candidate>(orThrow(readCandidate(folder_)));
        const auto compiler = orThrow(toolchain::makeCompiler(device_->info()));
        auto outcome = orThrow(compile(*candidate_, *compiler));
        if (const auto *rejection = std::get_if<toolchain::Rejection>(&outcome))
            throw std::runtime_error("the candidate does not compile: " + rejection->log);
        compiled_ = std::get<CompiledPlan>(std::move(outcome));
    }

    template <typename Value>
    static Value orThrow(Result<Value> result) {
        if (!result)
            throw std::runtime_error(result.error().message);
        return std::move(*result);
    }

    /// Starts the runner; on failure the error is in `problem_`.
    bool start(std::chrono::milliseconds callTimeout = std::chrono::milliseconds(20'000)) {
        RunnerOptions options;
        options.callTimeout = callTimeout;
        process_.reset();
        auto process = startRunner(compiled_, signature_, *device_, options);
        if (!process) {
            problem_ = process.error();
            return false;
        }
        process_ = std::move(*process);
        return true;
    }

    template <typename Element>
    device::TensorView lend(const std::vector<Element> &values, TensorType type,
                            std::uint64_t offset = 0) {
        memories_.push_back(std::make_unique<device::Memory>(
            orThrow(device_->allocate(offset + values.size() * sizeof(Element) + 64))));
        EXPECT_TRUE(device_->write(*memories_.back(), offset, values.data(),
                                   values.size() * sizeof(Element)));
        return {memories_.back().get(), offset, std::move(type)};
    }
    device::TensorView lendFloats(const std::vector<float> &values, Shape shape) {
        return lend(values, contiguousType(DType::float32, std::move(shape)));
    }
    template <typename Element = float>
    std::vector<Element> contents(const device::TensorView &view, std::size_t count) {
        std::vector<Element> values(count);
        EXPECT_TRUE(
            device_->read(*view.memory, view.offset, values.data(), count * sizeof(Element)));
        return values;
    }

    /// Binds set 0, calls it once; the message of the first error, or empty.
    std::string callOnce(const CallBuffers &buffers) {
        if (!process_)
            return "the runner did not start: " + problem_.message;
        if (auto bound = process_->bind(0, buffers); !bound) {
            problem_ = bound.error();
            return problem_.message;
        }
        if (auto called = process_->call(0); !called) {
            problem_ = called.error();
            return problem_.message;
        }
        return "";
    }

    std::filesystem::path folder_;
    std::unique_ptr<device::Device> device_;
    std::unique_ptr<Candidate> candidate_;
    CompiledPlan compiled_;
    Signature signature_;
    std::vector<std::unique_ptr<device::Memory>> memories_;
    std::unique_ptr<CandidateProcess> process_;
    Error problem_;
};

/// Numbers that no two kernels confuse.
inline std::vector<float> ramp(std::size_t count, float start = 0.5f, float step = 0.25f) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = start + step * static_cast<float>(i % 37) - static_cast<float>(i % 5);
    return values;
}

/// One kernel `k` over all elements of in0 and out0, 64 threads a block, arguments (in0, out0, N)
/// and whatever `more` adds.
inline Json pointwisePlan(const Json &more = Json::array()) {
    Json arguments = {{{"buffer", "in0"}}, {{"buffer", "out0"}}, {{"int32", "N"}}};
    for (const auto &argument : more)
        arguments.push_back(argument);
    return {{"version", 1},
            {"name", "pointwise"},
            {"symbols", {{"N", "in0.numel"}}},
            {"buffers",
             {{{"name", "in0"}, {"role", "input"}, {"index", 0}},
              {{"name", "out0"},
               {"role", "output"},
               {"index", 0},
               {"dtype", "float32"},
               {"shape", {"N"}}}}},
            {"steps",
             {{{"kind", "kernel"},
               {"source", "kernels/k.cu"},
               {"entry", "k"},
               {"grid", {"cdiv(N, 64)"}},
               {"block", {64}},
               {"args", arguments}}}}};
}

inline Signature pointwiseSignature(std::int64_t count) {
    Signature signature;
    signature.inputs = {contiguousType(DType::float32, {count})};
    signature.outputs = {contiguousType(DType::float32, {count})};
    return signature;
}

inline const char *doubleKernel = R"cu(
extern "C" __global__ void k(const float *in, float *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2.0f * in[i];
}
)cu";

} // namespace cuda_agent::plan
