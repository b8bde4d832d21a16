// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/kernel_writer.h"

namespace cuda_agent::policy {

namespace {

constexpr const char *loopProduct =
    R"cuda(// A tile of a product by one thread in plain loops: `depth` steps of k of the right operand lie in
// order, and sums over each such block are added up on their own. `finish` gets a whole row of the
// tile and how much of it there is.
template <class T, int tileM, int tileN, int depth, int eachM, bool aAlongK, long long aPitch,
          bool bAlongK, long long bPitch>
struct LoopProduct {
    template <class Finish>
    static __device__ __forceinline__ void run(const T *__restrict__ a, const T *__restrict__ b,
                                               int m, int n, int end, int top, int left,
                                               const Finish &finish) {
        float sums[tileM][tileN] = {};
        float panel[depth][tileN];
        const int rows = m - top < tileM ? m - top : tileM;
        const int columns = n - left < tileN ? n - left : tileN;
        for (int at = 0; at < end; at += depth) {
            const int steps = end - at < depth ? end - at : depth;
            if (bAlongK) {
                for (int j = 0; j < tileN; ++j) {
                    const T *line = b + (left + (j < columns ? j : columns - 1)) * bPitch + at;
                    for (int k = 0; k < steps; ++k)
                        panel[k][j] = widen(line[k]);
                }
            } else {
                for (int k = 0; k < steps; ++k) {
                    const T *line = b + (at + k) * bPitch + left;
                    for (int j = 0; j < columns; ++j)
                        panel[k][j] = widen(line[j]);
                    for (int j = columns; j < tileN; ++j)
                        panel[k][j] = 0.0f;
                }
            }
            for (int i = 0; i < rows; i += eachM) {
                float part[eachM][tileN] = {};
                for (int k = 0; k < steps; ++k) {
#pragma unroll
                    for (int r = 0; r < eachM; ++r) {
                        const int row = top + (i + r < rows ? i + r : rows - 1);
                        const float u = widen(aAlongK ? a[row * aPitch + at + k]
                                                      : a[(at + k) * aPitch + row]);
                        for (int j = 0; j < tileN; ++j)
                            part[r][j] += u * panel[k][j];
                    }
                }
                for (int r = 0; r < eachM; ++r)
                    for (int j = 0; j < tileN; ++j)
                        sums[i + r][j] += part[r][j];
            }
        }
        for (int i = 0; i < rows; ++i)
            finish(top + i, left, columns, sums[i]);
    }
};

)cuda";

} // namespace

std::string loopProductPrelude(const std::set<std::string> &helpers) {
    return helpers.contains("loopProduct") ? loopProduct : "";
}

} // namespace cuda_agent::policy
