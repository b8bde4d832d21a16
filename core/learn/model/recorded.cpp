// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/model/recorded.h"

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDAStream.h>

namespace cuda_agent::learn {

namespace {

/// Makes a stream PyTorch's current one for as long as it lives. (c10's guard would want the CUDA
/// runtime to be linked.)
class Current {
  public:
    explicit Current(c10::cuda::CUDAStream stream)
        : before_(c10::cuda::getCurrentCUDAStream(stream.device_index())) {
        c10::cuda::setCurrentCUDAStream(stream);
    }
    ~Current() { c10::cuda::setCurrentCUDAStream(before_); }
    Current(const Current &) = delete;
    Current &operator=(const Current &) = delete;

  private:
    c10::cuda::CUDAStream before_;
};

} // namespace

struct Recorded::Graph {
    at::Tensor input, output;
    at::cuda::CUDAGraph graph;
};

Recorded::Recorded(const at::Tensor &first, const Function &function)
    : graph_(std::make_unique<Graph>()) {
    const c10::DeviceGuard here(first.device()); // a graph is of the thread's current device
    graph_->input = first.clone();
    const auto device = first.device().index();
    c10::cuda::getCurrentCUDAStream(device).synchronize();
    // Recording needs a stream of its own. Libraries make what they keep on the way there.
    const auto stream = c10::cuda::getStreamFromPool(false, device);
    const Current current(stream);
    for (int i = 0; i < 2; ++i)
        function(graph_->input);
    stream.synchronize();
    // Other threads may use the GPU meanwhile.
    graph_->graph.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
    graph_->output = function(graph_->input);
    graph_->graph.capture_end();
}

Recorded::~Recorded() = default;

const at::Tensor &Recorded::operator()(const at::Tensor &input) {
    graph_->input.copy_(input);
    graph_->graph.replay();
    return graph_->output;
}

} // namespace cuda_agent::learn
