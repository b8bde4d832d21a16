// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

namespace cuda_agent::learn {

/// The orthogonal matrix next to each of `matrices`, [count, rows, columns] of any float, by five
/// Newton-Schulz steps in bfloat16: singular values come to about 0.7 to 1.2. What Muon (Jordan et
/// al., https://kellerjordan.github.io/posts/muon) moves a weight matrix by, with the coefficients
/// of torch.optim.Muon. The result is of bfloat16 and the same shape.
at::Tensor orthogonalised(const at::Tensor &matrices);

/// What Muon's learning rate is multiplied by so that a matrix moves as far as by AdamW (Liu et
/// al., arXiv 2502.16982: "match_rms_adamw").
double muonScale(std::int64_t rows, std::int64_t columns);

} // namespace cuda_agent::learn
