// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Kernel launches in the host functions of a module candidate. The rewriter turns
//   k<T><<<grid, block, shared, stream>>>(a, b)
// into
//   __cah_launch(__FILE__, __LINE__, __CAH_KERNEL k<T>(__cah_c, __cah_p...); },
//                __cah_shape(grid, block, shared, stream))(a, b)
// so that the kernel is chosen as in a call, and the arguments are evaluated once.

#include "cuda_agent_runtime.h"

#define __CAH_KERNEL [&](const CudaAgentHostChunk &__cah_c, auto... __cah_p) {

struct __cah_shape {
    dim3 grid;
    dim3 block;
    size_t shared;
    CAH_MEMBER __cah_shape(dim3 grid_, dim3 block_, size_t shared_ = 0, cudaStream_t = nullptr)
        : grid(grid_), block(block_), shared(shared_) {}
};

template <class Kernel>
struct __cah_launcher {
    const char *file;
    int line;
    Kernel kernel;
    __cah_shape shape;

    template <class... Arguments>
    cudaError_t operator()(Arguments... arguments) const {
        const auto run = [&](const CudaAgentHostChunk &chunk) { kernel(chunk, arguments...); };
        return start(&run);
    }

    template <class Run>
    cudaError_t start(const Run *run) const {
        CudaAgentHostLaunch launch = {};
        const dim3 *const sizes[2] = {&shape.grid, &shape.block};
        uint32_t *const into[2] = {launch.grid, launch.block};
        for (int i = 0; i < 2; ++i) {
            into[i][0] = sizes[i]->x;
            into[i][1] = sizes[i]->y;
            into[i][2] = sizes[i]->z;
        }
        launch.sharedBytes = shape.shared > 0xffffffffu ? 0xffffffffu : uint32_t(shape.shared);
        launch.arguments = (void **)run; // known again by the function below alone
        return cudaError_t(
            cuda_agent_host_launch(file, line, &launch, [](const CudaAgentHostChunk *chunk) {
                __cah_allocate_shared();
                CAH_CHECK(chunk(chunk->block, &__cah_copies));
                (*(const Run *)chunk->block->launch->arguments)(*chunk);
            }));
    }
};

template <class Kernel>
CAH_FUNCTION __cah_launcher<Kernel> __cah_launch(const char *file, int line, Kernel kernel,
                                                 const __cah_shape &shape) {
    return {file, line, kernel, shape};
}

// The same by a kernel's address and pointers to its arguments. Only a typed address will do.
template <class... A>
CAH_FUNCTION cudaError_t cudaLaunchKernel(void (*kernel)(const CudaAgentHostChunk &, A...),
                                          dim3 grid, dim3 block, void **arguments,
                                          size_t shared = 0, cudaStream_t stream = nullptr) {
    const auto run = [=](const CudaAgentHostChunk &chunk) {
        __cah_call(kernel, chunk, arguments, __cah_sequence<sizeof...(A)>{});
    };
    return __cah_launch("cudaLaunchKernel", 0, 0, __cah_shape(grid, block, shared, stream))
        .start(&run);
}
cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t = 0, cudaStream_t = nullptr)
    __attribute__((unavailable("the CPU device needs the kernel's own type: pass it without a "
                               "cast to void *")));

// `__constant__` and `__device__` variables are plain ones.
template <class T>
CAH_FUNCTION cudaError_t cudaMemcpyToSymbol(T &symbol, const void *from, size_t bytes,
                                            size_t offset = 0,
                                            cudaMemcpyKind = cudaMemcpyHostToDevice) {
    memcpy((char *)&symbol + offset, from, bytes);
    return cudaSuccess;
}
template <class T>
CAH_FUNCTION cudaError_t cudaMemcpyToSymbolAsync(T &symbol, const void *from, size_t bytes,
                                                 size_t offset = 0,
                                                 cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                                 cudaStream_t = nullptr) {
    return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
template <class T>
CAH_FUNCTION cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes,
                                              size_t offset = 0,
                                              cudaMemcpyKind = cudaMemcpyDeviceToHost) {
    memcpy(to, (const char *)&symbol + offset, bytes);
    return cudaSuccess;
}
template <class T>
CAH_FUNCTION cudaError_t cudaGetSymbolAddress(void **address, T &symbol) {
    *address = (void *)&symbol;
    return cudaSuccess;
}
