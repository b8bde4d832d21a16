# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same operator as one KernelBench file: CUDA C++ compiled by load_inline when it is loaded.

Usage: --rules kernelbench, on a GPU. Version 1: one thread an element.
"""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/types.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

__global__ void residual_scale(const float *__restrict__ x, const float *__restrict__ r,
                               const float *__restrict__ s, float *__restrict__ out,
                               long long count, int n) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = x[i] + s[i % n] * r[i];
}

torch::Tensor residual_scale_forward(torch::Tensor x, torch::Tensor r, torch::Tensor s) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32 && x.sizes() == r.sizes() &&
                x.size(-1) == s.numel(), "unexpected tensors");
    x = x.contiguous();
    r = r.contiguous();
    auto out = torch::empty_like(x);
    const long long count = x.numel();
    if (count == 0)
        return out;
    residual_scale<<<(count + 255) / 256, 256, 0, c10::cuda::getCurrentCUDAStream().stream()>>>(
        x.data_ptr<float>(), r.data_ptr<float>(), s.data_ptr<float>(), out.data_ptr<float>(), count,
        static_cast<int>(s.numel()));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

DECLARATION = "torch::Tensor residual_scale_forward(torch::Tensor, torch::Tensor, torch::Tensor);"

extension = load_inline(name="residual_scale_inline", cpp_sources=DECLARATION, cuda_sources=CUDA,
                        functions=["residual_scale_forward"])


class ModelNew(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(features))

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        return extension.residual_scale_forward(x, residual, self.scale)
