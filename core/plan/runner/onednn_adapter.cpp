// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/runner/onednn_adapter.h"

#include <cstdio>
#include <dnnl.hpp>
#include <memory>
#include <optional>

namespace {

using dnnl::memory;

memory::dims contiguousStrides(const memory::dims &shape) {
    memory::dims strides(shape.size(), 1);
    for (std::size_t i = shape.size(); i-- > 1;)
        strides[i - 1] = strides[i] * shape[i];
    return strides;
}

memory::desc plainDesc(const memory::dims &shape) {
    return {shape, memory::data_type::f32, contiguousStrides(shape)};
}

/// Strides where the dimension at `channels` lies innermost.
memory::dims channelsLastStrides(const memory::dims &shape, std::size_t channels) {
    memory::dims lying = shape;
    lying.erase(lying.begin() + static_cast<std::ptrdiff_t>(channels));
    lying.push_back(shape[channels]);
    memory::dims strides = contiguousStrides(lying);
    strides.pop_back();
    strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(channels), 1);
    return strides;
}

memory::desc tensorDesc(const CudaAgentConvolution &c, const memory::dims &shape) {
    return {shape, memory::data_type::f32,
            c.channels_last ? channelsLastStrides(shape, 1) : contiguousStrides(shape)};
}

/// A 1-dimensional convolution has no fast path in oneDNN as old as ours; 2 dimensions have.
struct Sizes {
    memory::dims input, output, kernel;
    memory::dims stride, dilation, padLow, padHigh;
    memory::dim inChannels, outChannels, groups;
};

Sizes sizesOf(const CudaAgentConvolution &c) {
    Sizes s;
    s.groups = c.groups;
    s.inChannels = c.input[1];
    s.outChannels = c.output[1];
    s.input = {c.input[0], c.input[1]};
    s.output = {c.output[0], c.output[1]};
    if (c.spatial == 1) {
        s.input.push_back(1);
        s.output.push_back(1);
        s.kernel.push_back(1);
        s.stride.push_back(1);
        s.dilation.push_back(0);
        s.padLow.push_back(0);
        s.padHigh.push_back(0);
    }
    for (int d = 0; d < c.spatial; ++d) {
        s.input.push_back(c.input[d + 2]);
        s.output.push_back(c.output[d + 2]);
        s.kernel.push_back(c.weight[d + 2]);
        s.stride.push_back(c.stride[d]);
        s.dilation.push_back(c.dilation[d] - 1); // oneDNN counts the gaps
        s.padLow.push_back(c.padding[d]);
        // What the output size leaves for the far side.
        const int64_t window = (c.weight[d + 2] - 1) * c.dilation[d] + 1;
        const int64_t high =
            c.transposed
                ? (c.input[d + 2] - 1) * c.stride[d] + window - c.padding[d] - c.output[d + 2]
                : (c.output[d + 2] - 1) * c.stride[d] + window - c.input[d + 2] - c.padding[d];
        s.padHigh.push_back(high);
    }
    return s;
}

/// torch's weight as oneDNN sees it: [g,] O, I, k...; transposed weights lie as [g,] I, O, k...
memory::desc weightDesc(const CudaAgentConvolution &c, const Sizes &s) {
    const memory::dim in = s.inChannels / s.groups, out = s.outChannels / s.groups;
    memory::dims lying{s.groups, c.transposed ? in : out, c.transposed ? out : in};
    lying.insert(lying.end(), s.kernel.begin(), s.kernel.end());
    memory::dims shape = lying;
    memory::dims strides =
        c.channels_last ? channelsLastStrides(lying, 2) : contiguousStrides(lying);
    if (c.transposed) {
        std::swap(shape[1], shape[2]);
        std::swap(strides[1], strides[2]);
    }
    if (s.groups == 1) {
        shape.erase(shape.begin());
        strides.erase(strides.begin());
    }
    return {shape, memory::data_type::f32, strides};
}

memory::desc anyDesc(const memory::desc &desc) {
    return {desc.dims(), memory::data_type::f32, memory::format_tag::any};
}

class Convolution {
  public:
    explicit Convolution(const CudaAgentConvolution &c)
        : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
        const Sizes s = sizesOf(c);
        userInput_ = tensorDesc(c, s.input);
        userOutput_ = tensorDesc(c, s.output);
        userWeight_ = weightDesc(c, s);
        const memory::desc bias = plainDesc({s.outChannels});
        const memory::desc noBias;
        dnnl::primitive_attr attributes;
        attributes.set_scratchpad_mode(dnnl::scratchpad_mode::library);
        if (c.transposed) {
            const dnnl::deconvolution_forward::desc desc =
                c.has_bias
                    ? dnnl::deconvolution_forward::desc(
                          dnnl::prop_kind::forward_inference, dnnl::algorithm::deconvolution_direct,
                          anyDesc(userInput_), anyDesc(userWeight_), bias, anyDesc(userOutput_),
                          s.stride, s.dilation, s.padLow, s.padHigh)
                    : dnnl::deconvolution_forward::desc(
                          dnnl::prop_kind::forward_inference, dnnl::algorithm::deconvolution_direct,
                          anyDesc(userInput_), anyDesc(userWeight_), anyDesc(userOutput_), s.stride,
                          s.dilation, s.padLow, s.padHigh);
            const dnnl::deconvolution_forward::primitive_desc made(desc, attributes, engine_);
            finish(made, dnnl::deconvolution_forward(made));
        } else {
            const dnnl::convolution_forward::desc desc =
                c.has_bias
                    ? dnnl::convolution_forward::desc(
                          dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
                          anyDesc(userInput_), anyDesc(userWeight_), bias, anyDesc(userOutput_),
                          s.stride, s.dilation, s.padLow, s.padHigh)
                    : dnnl::convolution_forward::desc(
                          dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
                          anyDesc(userInput_), anyDesc(userWeight_), anyDesc(userOutput_), s.stride,
                          s.dilation, s.padLow, s.padHigh);
            const dnnl::convolution_forward::primitive_desc made(desc, attributes, engine_);
            finish(made, dnnl::convolution_forward(made));
        }
        if (c.has_bias)
            bias_.emplace(bias, engine_, nullptr);
    }

    void run(const float *input, const float *weight, const float *bias, float *output) {
        const auto handle = [](const float *p) { return const_cast<float *>(p); };
        memory userInput(userInput_, engine_, handle(input));
        memory userWeight(userWeight_, engine_, handle(weight));
        memory userOutput(userOutput_, engine_, output);
        // The layout that oneDNN wants is made within the call, as for any caller of torch.
        memory &in = arranged(userInput, inputDesc_, input_);
        memory &filter = arranged(userWeight, weightDesc_, weight_);
        const bool direct = outputDesc_ == userOutput_;
        if (!direct && !output_)
            output_.emplace(outputDesc_, engine_);
        memory &out = direct ? userOutput : *output_;
        std::unordered_map<int, memory> arguments{
            {DNNL_ARG_SRC, in}, {DNNL_ARG_WEIGHTS, filter}, {DNNL_ARG_DST, out}};
        if (bias_) {
            bias_->set_data_handle(handle(bias));
            arguments.emplace(DNNL_ARG_BIAS, *bias_);
        }
        primitive_.execute(stream_, arguments);
        if (!direct)
            dnnl::reorder(out, userOutput).execute(stream_, out, userOutput);
        stream_.wait();
    }

  private:
    template <typename Desc>
    void finish(const Desc &made, dnnl::primitive primitive) {
        inputDesc_ = made.src_desc();
        weightDesc_ = made.weights_desc();
        outputDesc_ = made.dst_desc();
        primitive_ = std::move(primitive);
    }

    memory &arranged(memory &user, const memory::desc &wanted, std::optional<memory> &own) {
        if (user.get_desc() == wanted)
            return user;
        if (!own)
            own.emplace(wanted, engine_);
        dnnl::reorder(user, *own).execute(stream_, user, *own);
        return *own;
    }

    dnnl::engine engine_;
    dnnl::stream stream_;
    memory::desc userInput_, userWeight_, userOutput_;
    memory::desc inputDesc_, weightDesc_, outputDesc_;
    std::optional<memory> input_, weight_, output_, bias_;
    dnnl::primitive primitive_;
};

} // namespace

// The border of a C library: no exception may leave.

__attribute__((visibility("default"))) void *
cuda_agent_onednn_make(const CudaAgentConvolution *convolution, char *message,
                       size_t message_bytes) {
    try {
        return new Convolution(*convolution);
    } catch (const std::exception &problem) {
        std::snprintf(message, message_bytes, "oneDNN: %s", problem.what());
        return nullptr;
    }
}

__attribute__((visibility("default"))) int
cuda_agent_onednn_run(void *made, const float *input, const float *weight, const float *bias,
                      float *output, char *message, size_t message_bytes) {
    try {
        static_cast<Convolution *>(made)->run(input, weight, bias, output);
        return 0;
    } catch (const std::exception &problem) {
        std::snprintf(message, message_bytes, "oneDNN: %s", problem.what());
        return 1;
    }
}

__attribute__((visibility("default"))) void cuda_agent_onednn_destroy(void *made) {
    delete static_cast<Convolution *>(made);
}
