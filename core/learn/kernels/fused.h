// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/kernels/kernels.h"

/// The kernels with gradients: as kernels.h has them, each a node of autograd's graph. Throw
/// c10::Error. Gradients of gradients are not there.
namespace cuda_agent::learn::fused {

using KernelsPointer = c10::intrusive_ptr<Kernels>;

at::Tensor rmsNorm(const KernelsPointer &kernels, const at::Tensor &x, const at::Tensor &weight);

struct AddedAndNormed {
    at::Tensor sum, normed;
};
/// x + residual, and its rows normed.
AddedAndNormed addRmsNorm(const KernelsPointer &kernels, const at::Tensor &x,
                          const at::Tensor &residual, const at::Tensor &weight);

/// Queries, keys and values: see Kernels::qkvRope. Tables and positions have no gradients.
std::array<at::Tensor, 3> qkvRope(const KernelsPointer &kernels, const at::Tensor &packed,
                                  const Kernels::Rotary &rotary);

at::Tensor swiGlu(const KernelsPointer &kernels, const at::Tensor &both);

/// Of each token, [...] of float. The backward pass writes the logits' gradient over the logits
/// themselves: nothing else may need their values then (autograd notices, and throws), and it
/// goes through once only.
at::Tensor crossEntropy(const KernelsPointer &kernels, const at::Tensor &logits,
                        const at::Tensor &targets);

/// The sum over tokens of weights times cross-entropy of hidden * weight^T, a scalar of float:
/// hidden [..., hidden], weight [vocabulary, hidden], targets [...] of int64, weights [...] of
/// float. Logits of `chunk` tokens are held at a time (0: of all), and their gradients are made in
/// the forward pass, where gradients are asked for; the backward pass only scales them, in the
/// kernels' type, so it should come in with 1: divide the weights, not the sum.
at::Tensor linearCrossEntropy(const KernelsPointer &kernels, const at::Tensor &hidden,
                              const at::Tensor &weight, const at::Tensor &targets,
                              const at::Tensor &weights, std::int64_t chunk);

} // namespace cuda_agent::learn::fused
