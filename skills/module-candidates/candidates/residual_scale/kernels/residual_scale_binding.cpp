// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Tensors in, tensor out; no arithmetic here.

#include "../binding_registry.h"

#include <c10/cuda/CUDAStream.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/types.h>

extern "C" void residual_scale_launcher(const float *x, const float *residual, const float *scale,
                                        float *out, long long rows, int n, int config,
                                        cudaStream_t stream);

static torch::Tensor residualScale(torch::Tensor x, torch::Tensor residual, torch::Tensor scale,
                                   int config) {
    TORCH_CHECK(x.is_cuda() && residual.is_cuda() && scale.is_cuda(), "tensors must be on the GPU");
    TORCH_CHECK(x.scalar_type() == torch::kFloat32 && residual.scalar_type() == torch::kFloat32 &&
                    scale.scalar_type() == torch::kFloat32,
                "tensors must be float32");
    TORCH_CHECK(x.dim() >= 1 && x.sizes() == residual.sizes(), "x and residual differ in shape");
    TORCH_CHECK(scale.dim() == 1 && scale.size(0) == x.size(-1), "scale must match the last size");
    x = x.contiguous();
    residual = residual.contiguous();
    scale = scale.contiguous();
    auto out = torch::empty_like(x);
    const auto n = static_cast<int>(x.size(-1));
    residual_scale_launcher(x.data_ptr<float>(), residual.data_ptr<float>(),
                            scale.data_ptr<float>(), out.data_ptr<float>(),
                            n > 0 ? x.numel() / n : 0, n, config,
                            c10::cuda::getCurrentCUDAStream().stream());
    TORCH_CHECK(cudaGetLastError() == cudaSuccess, "residual_scale was not launched");
    return out;
}

static void registerResidualScale(pybind11::module &m) {
    m.def("residual_scale_forward", &residualScale, pybind11::arg("x"), pybind11::arg("residual"),
          pybind11::arg("scale"), pybind11::arg("config") = 0);
}
REGISTER_BINDING(residual_scale, registerResidualScale);
