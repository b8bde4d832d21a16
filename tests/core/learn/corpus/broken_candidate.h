// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/corpus/mutation.h"

namespace cuda_agent::learn {

/// A candidate with room for every kind of mutation.
inline CandidateText candidate() {
    CandidateText text;
    text.kernels = R"(extern "C" __global__ void k(const float *x, const float *w, float *y) {
    __shared__ float tile[64];
    const int row = blockIdx.x;
    for (int i = threadIdx.x; i < 64; i += 32) {
        tile[i] = x[row * 64 + i];
    }
    __syncthreads();
    if (threadIdx.x < 64) {
        const float t0 = tile[threadIdx.x] * w[threadIdx.x];
        const float t1 = t0 + fmaxf(t0, 0.0f);
        y[row * 64 + threadIdx.x] = expf(t1);
    }
}
)";
    text.plan = {{"requires", {"x.shape[1] == 64"}},
                 {"steps",
                  {{{"kind", "kernel"},
                    {"grid", {"cdiv(x.numel, 64) * 2"}},
                    {"args", {{{"buffer", "x"}}, {{"buffer", "w"}}, {{"buffer", "y"}}}}}}}};
    return text;
}

} // namespace cuda_agent::learn
