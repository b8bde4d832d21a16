// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>

namespace cuda_agent::learn {

/// A function of a tensor on a GPU whose kernels are recorded once and then started as one (a CUDA
/// graph), so that the host's time for each is paid once. It must do the same with every input of
/// the shape: no look at numbers, no other tensors than those that stay where they are.
///
/// Runs behind what PyTorch's current stream of the device holds. One thread.
class Recorded {
  public:
    using Function = std::function<at::Tensor(const at::Tensor &input)>;
    /// Calls `function` a few times with `first`. Throws c10::Error.
    Recorded(const at::Tensor &first, const Function &function);
    ~Recorded();
    Recorded(const Recorded &) = delete;
    Recorded &operator=(const Recorded &) = delete;

    /// `input`: on any device, of the first one's shape and type. The result is written over by the
    /// next call. Throws c10::Error.
    const at::Tensor &operator()(const at::Tensor &input);

  private:
    struct Graph;
    std::unique_ptr<Graph> graph_;
};

} // namespace cuda_agent::learn
