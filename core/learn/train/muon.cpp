// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/muon.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace cuda_agent::learn {

at::Tensor orthogonalised(const at::Tensor &matrices) {
    constexpr double a = 3.4445, b = -4.7750, c = 2.0315, least = 1e-7;
    constexpr int steps = 5;
    const bool tall = matrices.size(1) > matrices.size(2);
    auto x = matrices.to(at::kBFloat16);
    if (tall)
        x = x.transpose(1, 2);
    x = x / at::linalg_vector_norm(x, 2, at::IntArrayRef{1, 2}, true).clamp_min(least);
    for (int i = 0; i < steps; ++i) {
        const auto gram = x.bmm(x.transpose(1, 2));
        x = at::baddbmm(x, at::baddbmm(gram, gram, gram, b, c), x, a, 1);
    }
    return tall ? x.transpose(1, 2) : x;
}

double muonScale(std::int64_t rows, std::int64_t columns) {
    return 0.2 * std::sqrt(static_cast<double>(std::max(rows, columns)));
}

} // namespace cuda_agent::learn
