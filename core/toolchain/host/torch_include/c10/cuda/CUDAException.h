// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <c10/util/Exception.h>

#include <cuda_runtime.h>

#define C10_CUDA_CHECK(EXPR)                                                                       \
    do {                                                                                           \
        const cudaError_t cuda_agent_error = (EXPR);                                               \
        if (cuda_agent_error != cudaSuccess) {                                                     \
            (void)cudaGetLastError();                                                              \
            TORCH_CHECK(false, "CUDA error: ", cudaGetErrorString(cuda_agent_error), " (",         \
                        cudaGetErrorName(cuda_agent_error), ")");                                  \
        }                                                                                          \
    } while (0)
#define C10_CUDA_CHECK_WARN(EXPR)                                                                  \
    do {                                                                                           \
        const cudaError_t cuda_agent_error = (EXPR);                                               \
        if (cuda_agent_error != cudaSuccess) {                                                     \
            (void)cudaGetLastError();                                                              \
            TORCH_WARN("CUDA warning: ", cudaGetErrorString(cuda_agent_error));                    \
        }                                                                                          \
    } while (0)
#define C10_CUDA_ERROR_HANDLED(EXPR) EXPR
#define C10_CUDA_IGNORE_ERROR(EXPR)                                                                \
    do {                                                                                           \
        if ((EXPR) != cudaSuccess)                                                                 \
            (void)cudaGetLastError();                                                              \
    } while (0)
#define C10_CUDA_CLEAR_ERROR() ((void)cudaGetLastError())
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
