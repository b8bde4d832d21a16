#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernels of profile_on_gpu.py, as plan candidates of one task of N floats in and N out. They are
profiled, not judged: what they compute need not be what the task says.

usage: profile_kernels.py FOLDER    writes task.py and a candidate folder for each kernel
"""
import json
import pathlib
import sys

N = 1 << 26        # floats: 256 MB each way, far beyond any L2
SIDE = 1 << 13     # N as a square matrix
PRODUCT = 1 << 11  # rows and columns of the matrix products

TASK = f"""import torch

N = {N}


class Model(torch.nn.Module):
    def forward(self, x):
        return 2 * x


def get_inputs():
    return [torch.randn(N)]


def get_init_inputs():
    return []
"""

HEAD = """extern "C" __global__ void {bounds}k_{name}(const float *x, float *y, int n) {{
"""

MATMUL_TILED = """    __shared__ float a[16][16], b[16][16];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        a[ty][tx] = x[(long long)row * n + k + tx];
        b[ty][tx] = x[(long long)n * n + (long long)(k + ty) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i)
            sum += a[ty][i] * b[i][tx];
        __syncthreads();
    }
    y[(long long)row * n + column] = sum;
"""

# A warp makes 16 columns of a strip of 16 rows; its four warps lie side by side.
MATMUL_HALF = """    __shared__ __half a[16][16], b[4][16][16];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row = blockIdx.y * 16, column = blockIdx.x * 64 + warp * 16;
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> c;
    nvcuda::wmma::fill_fragment(c, 0.0f);
    for (int k = 0; k < n; k += 16) {
        for (int i = threadIdx.x; i < 256; i += 128)
            a[i / 16][i % 16] = __float2half(x[(long long)(row + i / 16) * n + k + i % 16]);
        for (int i = lane; i < 256; i += 32)
            b[warp][i / 16][i % 16] = __float2half(
                x[(long long)n * n + (long long)(k + i / 16) * n + column + i % 16]);
        __syncthreads();
        nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, __half, nvcuda::wmma::row_major> fa;
        nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, __half, nvcuda::wmma::row_major> fb;
        nvcuda::wmma::load_matrix_sync(fa, &a[0][0], 16);
        nvcuda::wmma::load_matrix_sync(fb, &b[warp][0][0], 16);
        nvcuda::wmma::mma_sync(c, fa, fb, c);
        __syncthreads();
    }
    nvcuda::wmma::store_matrix_sync(y + (long long)row * n + column, c, n, nvcuda::wmma::mem_row_major);
"""

MATMUL_TF32 = """    const int warp = threadIdx.x / 32;
    const int row = blockIdx.y * 16, column = blockIdx.x * 64 + warp * 16;
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 8, float> c;
    nvcuda::wmma::fill_fragment(c, 0.0f);
    for (int k = 0; k < n; k += 8) {
        nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 8, nvcuda::wmma::precision::tf32,
                               nvcuda::wmma::row_major> fa;
        nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 8, nvcuda::wmma::precision::tf32,
                               nvcuda::wmma::row_major> fb;
        nvcuda::wmma::load_matrix_sync(fa, x + (long long)row * n + k, n);
        nvcuda::wmma::load_matrix_sync(fb, x + (long long)n * n + (long long)k * n + column, n);
        for (int i = 0; i < fa.num_elements; ++i)
            fa.x[i] = nvcuda::wmma::__float_to_tf32(fa.x[i]);
        for (int i = 0; i < fb.num_elements; ++i)
            fb.x[i] = nvcuda::wmma::__float_to_tf32(fb.x[i]);
        nvcuda::wmma::mma_sync(c, fa, fb, c);
    }
    nvcuda::wmma::store_matrix_sync(y + (long long)row * n + column, c, n, nvcuda::wmma::mem_row_major);
"""


def transpose(tile_columns):
    return f"""    __shared__ float tile[32][{tile_columns}];
    const int tx = threadIdx.x, ty = threadIdx.y;
    for (int i = ty; i < 32; i += 8)
        tile[i][tx] = x[(long long)(blockIdx.y * 32 + i) * n + blockIdx.x * 32 + tx];
    __syncthreads();
    for (int i = ty; i < 32; i += 8)
        y[(long long)(blockIdx.x * 32 + i) * n + blockIdx.y * 32 + tx] = tile[tx][i];
"""


# name: (body, grid, block, dynamic shared bytes, n, includes, launch bounds)
KERNELS = {
    "copy": ("    const int i = blockIdx.x * 256 + threadIdx.x;\n"
             "    ((float4 *)y)[i] = ((const float4 *)x)[i];\n", [N // 1024], [256], 0, N, "", ""),
    "strided_copy": ("    const int i = blockIdx.x * 256 + threadIdx.x;\n"
                     "    y[i] = x[(long long)(i % 32) * (n / 32) + i / 32];\n",
                     [N // 256], [256], 0, N, "", ""),
    "transpose_plain": ("    const int c = blockIdx.x * 32 + threadIdx.x;\n"
                        "    for (int i = threadIdx.y; i < 32; i += 8)\n"
                        "        y[(long long)c * n + blockIdx.y * 32 + i] =\n"
                        "            x[(long long)(blockIdx.y * 32 + i) * n + c];\n",
                        [SIDE // 32, SIDE // 32], [32, 8], 0, SIDE, "", ""),
    "transpose_conflicts": (transpose(32), [SIDE // 32, SIDE // 32], [32, 8], 0, SIDE, "", ""),
    "transpose_padded": (transpose(33), [SIDE // 32, SIDE // 32], [32, 8], 0, SIDE, "", ""),
    "reduction": ("    __shared__ float part[8];\n"
                  "    float sum = 0;\n"
                  "    for (int i = blockIdx.x * 256 + threadIdx.x; i < n / 4; i += gridDim.x * 256) {\n"
                  "        const float4 v = ((const float4 *)x)[i];\n"
                  "        sum += v.x + v.y + v.z + v.w;\n"
                  "    }\n"
                  "    for (int o = 16; o > 0; o /= 2)\n"
                  "        sum += __shfl_xor_sync(0xffffffffu, sum, o);\n"
                  "    if (threadIdx.x % 32 == 0)\n"
                  "        part[threadIdx.x / 32] = sum;\n"
                  "    __syncthreads();\n"
                  "    if (threadIdx.x == 0) {\n"
                  "        for (int i = 1; i < 8; ++i)\n"
                  "            sum += part[i];\n"
                  "        y[blockIdx.x] = sum;\n"
                  "    }\n", [1056], [256], 0, N, "", ""),
    "softmax": ("    __shared__ float part[32];\n"
                "    const float *row = x + (long long)blockIdx.x * n;\n"
                "    float high = -INFINITY, sum = 0;\n"
                "    for (int i = threadIdx.x; i < n; i += 256)\n"
                "        high = fmaxf(high, row[i]);\n"
                "    for (int o = 16; o > 0; o /= 2)\n"
                "        high = fmaxf(high, __shfl_xor_sync(0xffffffffu, high, o));\n"
                "    if (threadIdx.x % 32 == 0)\n"
                "        part[threadIdx.x / 32] = high;\n"
                "    __syncthreads();\n"
                "    for (int i = 0; i < 8; ++i)\n"
                "        high = fmaxf(high, part[i]);\n"
                "    __syncthreads();\n"
                "    for (int i = threadIdx.x; i < n; i += 256)\n"
                "        sum += __expf(row[i] - high);\n"
                "    for (int o = 16; o > 0; o /= 2)\n"
                "        sum += __shfl_xor_sync(0xffffffffu, sum, o);\n"
                "    if (threadIdx.x % 32 == 0)\n"
                "        part[threadIdx.x / 32] = sum;\n"
                "    __syncthreads();\n"
                "    sum = 0;\n"
                "    for (int i = 0; i < 8; ++i)\n"
                "        sum += part[i];\n"
                "    for (int i = threadIdx.x; i < n; i += 256)\n"
                "        y[(long long)blockIdx.x * n + i] = __expf(row[i] - high) / sum;\n",
                [SIDE], [256], 0, SIDE, "", ""),
    "matmul_tiled": (MATMUL_TILED, [PRODUCT // 16, PRODUCT // 16], [16, 16], 0, PRODUCT, "", ""),
    "matmul_half": (MATMUL_HALF, [PRODUCT // 64, PRODUCT // 16], [128], 0, PRODUCT,
                    "#include <cuda_fp16.h>\n#include <mma.h>\n", ""),
    "matmul_tf32": (MATMUL_TF32, [PRODUCT // 64, PRODUCT // 16], [128], 0, PRODUCT,
                    "#include <mma.h>\n", ""),
    "spilling": ("    const int i = blockIdx.x * 1024 + threadIdx.x;\n"
                 "    float v[64];\n"
                 "#pragma unroll\n"
                 "    for (int k = 0; k < 64; ++k)\n"
                 "        v[k] = x[(i + k * 65536) & (n - 1)];\n"
                 "#pragma unroll 1\n"
                 "    for (int round = 0; round < 4; ++round) {\n"
                 "#pragma unroll\n"
                 "        for (int k = 0; k < 64; ++k)\n"
                 "            v[k] = v[k] * v[(k + 17) % 64] + v[(k + 31) % 64];\n"
                 "    }\n"
                 "    float sum = 0;\n"
                 "#pragma unroll\n"
                 "    for (int k = 0; k < 64; ++k)\n"
                 "        sum += v[k];\n"
                 "    y[i] = sum;\n", [4096], [1024], 0, N, "", "__launch_bounds__(1024, 2) "),
    "divergent": ("    const int i = blockIdx.x * 256 + threadIdx.x;\n"
                  "    float v = x[i];\n"
                  "    for (int k = 0; k < (threadIdx.x % 32) * 8; ++k)\n"
                  "        v = v * 1.0001f + 0.5f;\n"
                  "    y[i] = v;\n", [N // 256], [256], 0, N, "", ""),
    "atomic": ("    const int i = blockIdx.x * 256 + threadIdx.x;\n"
               "    atomicAdd(y + (i * 7) % 65536, x[i]);\n", [N // 1024], [256], 0, N, "", ""),
    "fma": ("    const int i = blockIdx.x * 256 + threadIdx.x;\n"
            "    float a = x[i], b = a + 1, c = a + 2, d = a + 3;\n"
            "    for (int k = 0; k < 2048; ++k) {\n"
            "        a = a * 1.0001f + 0.1f;\n"
            "        b = b * 1.0001f + 0.2f;\n"
            "        c = c * 1.0001f + 0.3f;\n"
            "        d = d * 1.0001f + 0.4f;\n"
            "    }\n"
            "    y[i] = a + b + c + d;\n", [132 * 64], [256], 0, N, "", ""),
    "low_occupancy": ("    extern __shared__ float tile[];\n"
                      "    for (int i = threadIdx.x; i < 24576; i += 128)\n"
                      "        tile[i] = x[(long long)blockIdx.x * 24576 + i];\n"
                      "    __syncthreads();\n"
                      "    for (int i = threadIdx.x; i < 24576; i += 128)\n"
                      "        y[(long long)blockIdx.x * 24576 + i] = tile[24575 - i];\n",
                      [N // 24576], [128], 98304, N, "", ""),
    "tail": ("    float v = x[blockIdx.x * 1024 + threadIdx.x];\n"
             "    for (int k = 0; k < 20000; ++k)\n"
             "        v = v * 1.0001f + 0.5f;\n"
             "    y[blockIdx.x * 1024 + threadIdx.x] = v;\n", [132 * 2 + 20], [1024], 0, N, "", ""),
}


def plan(name):
    _, grid, block, shared, n, _, _ = KERNELS[name]
    step = {"kind": "kernel", "source": "kernels/k.cu", "entry": "k_" + name, "grid": grid,
            "block": block, "args": [{"buffer": "x"}, {"buffer": "y"}, {"int32": n}]}
    if shared:
        step["shared"] = shared
    return {"version": 1, "name": name,
            "buffers": [{"name": "x", "role": "input", "index": 0},
                        {"name": "y", "role": "output", "index": 0, "dtype": "float32",
                         "shape": ["x.numel"]}],
            "steps": [step]}


def source(name):
    body, _, _, _, _, includes, bounds = KERNELS[name]
    return includes + HEAD.format(name=name, bounds=bounds) + body + "}\n"


def write(folder, names=None):
    """Writes the task and the candidates; returns {name: candidate folder}."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "task.py").write_text(TASK)
    candidates = {}
    for name in names or KERNELS:
        candidate = folder / name
        (candidate / "kernels").mkdir(parents=True, exist_ok=True)
        (candidate / "kernels" / "k.cu").write_text(source(name))
        (candidate / "plan.json").write_text(json.dumps(plan(name), indent=1))
        candidates[name] = candidate
    return candidates


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print("\n".join(map(str, write(sys.argv[1]).values())))
