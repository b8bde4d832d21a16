// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/paths.h"
#include "core/plan/runner/cpu_library.h"
#include "core/plan/runner/onednn_adapter.h"

#include <array>
#include <dlfcn.h>

namespace cuda_agent::plan::runner {

namespace {

struct Adapter {
    decltype(&cuda_agent_onednn_make) make = nullptr;
    decltype(&cuda_agent_onednn_run) run = nullptr;
    decltype(&cuda_agent_onednn_destroy) destroy = nullptr;
};

Result<Adapter> openAdapter() {
    const auto path = programDir() / "libcuda-agent-onednn.so";
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
        return machineError("a convolution step on the CPU needs oneDNN (libdnnl2) and a program "
                            "built with libdnnl-dev: {}",
                            dlerror());
    Adapter adapter;
    adapter.make =
        reinterpret_cast<decltype(adapter.make)>(dlsym(library, "cuda_agent_onednn_make"));
    adapter.run = reinterpret_cast<decltype(adapter.run)>(dlsym(library, "cuda_agent_onednn_run"));
    adapter.destroy =
        reinterpret_cast<decltype(adapter.destroy)>(dlsym(library, "cuda_agent_onednn_destroy"));
    if (adapter.make == nullptr || adapter.run == nullptr || adapter.destroy == nullptr)
        return machineError("{} is not of this program's version", path.string());
    return adapter;
}

template <std::size_t Size>
void fillIn(int64_t (&to)[Size], const std::vector<std::int64_t> &from) {
    std::copy(from.begin(), from.end(), to);
}

} // namespace

struct CpuConvolution::State {
    Adapter adapter;
    void *made = nullptr;
    ProgramConvolution step;
    DType dtype = DType::float32;
    std::int64_t inputElements = 0, weightElements = 0, outputElements = 0, biasElements = 0;
    std::vector<float> input, weight, output, bias; ///< for 16-bit elements

    ~State() {
        if (made != nullptr)
            adapter.destroy(made);
    }
};

Result<CpuConvolution> CpuConvolution::make(const Program &program,
                                            const ProgramConvolution &convolution) {
    CUDA_AGENT_ASSIGN(adapter, openAdapter());
    auto state = std::make_shared<State>();
    state->adapter = adapter;
    state->step = convolution;
    const TensorType &input = program.buffers[convolution.input].type;
    const TensorType &weight = program.buffers[convolution.weight].type;
    const TensorType &output = program.buffers[convolution.output].type;
    state->dtype = input.dtype;
    state->inputElements = input.elements();
    state->weightElements = weight.elements();
    state->outputElements = output.elements();
    if (convolution.bias >= 0)
        state->biasElements = program.buffers[convolution.bias].type.elements();

    CudaAgentConvolution c{};
    c.spatial = static_cast<int>(input.shape.size()) - 2;
    c.transposed = convolution.transposed;
    c.groups = convolution.groups;
    c.has_bias = convolution.bias >= 0;
    c.channels_last = convolution.channelsLast;
    const auto asInTorch = [&](const Shape &shape) {
        return convolution.channelsLast ? channelsSecond(shape) : shape;
    };
    fillIn(c.input, asInTorch(input.shape));
    fillIn(c.weight, asInTorch(weight.shape));
    fillIn(c.output, asInTorch(output.shape));
    fillIn(c.stride, convolution.stride);
    fillIn(c.padding, convolution.padding);
    fillIn(c.dilation, convolution.dilation);
    fillIn(c.output_padding, convolution.outputPadding);
    std::array<char, 512> message{};
    state->made = adapter.make(&c, message.data(), message.size());
    if (state->made == nullptr)
        return machineError("{}", message.data());
    CpuConvolution result;
    result.state_ = std::move(state);
    return result;
}

Result<void> CpuConvolution::run(const HostPointers &pointers) const {
    State &s = *state_;
    const auto widened = [&](int buffer, std::vector<float> &store,
                             std::int64_t elements) -> const float * {
        if (buffer < 0)
            return nullptr;
        if (s.dtype == DType::float32)
            return reinterpret_cast<const float *>(pointers[buffer]);
        store.resize(elements);
        toFloat(pointers[buffer], s.dtype, store.data(), elements);
        return store.data();
    };
    const float *input = widened(s.step.input, s.input, s.inputElements);
    const float *weight = widened(s.step.weight, s.weight, s.weightElements);
    const float *bias = widened(s.step.bias, s.bias, s.biasElements);
    auto *output = reinterpret_cast<float *>(pointers[s.step.output]);
    if (s.dtype != DType::float32) {
        s.output.resize(s.outputElements);
        output = s.output.data();
    }
    std::array<char, 512> message{};
    if (s.adapter.run(s.made, input, weight, bias, output, message.data(), message.size()) != 0)
        return machineError("{}", message.data());
    if (s.dtype != DType::float32)
        fromFloat(output, pointers[s.step.output], s.dtype, s.outputElements);
    return {};
}

} // namespace cuda_agent::plan::runner
