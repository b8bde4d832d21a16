// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// The runner's own device code, kept as PTX inside the program: copies between a lent view that is
// not contiguous and its staging. One thread an element of the shape, destination order; the copy
// is part of the timed call, so it need not be faster than a plain strided copy of a framework.

#include "core/plan/runner/cuda_copy_arguments.h"

template <typename Element>
__device__ void copyElements(const CudaCopyArguments &copy) {
    auto *to = reinterpret_cast<Element *>(copy.to);
    const auto *from = reinterpret_cast<const Element *>(copy.from);
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
         i < copy.elements; i += step) {
        long long rest = i, toIndex = 0, fromIndex = 0;
        for (int d = copy.rank - 1; d >= 0; --d) {
            const long long next = rest / copy.shape[d];
            const long long at = rest - next * copy.shape[d];
            toIndex += at * copy.toStrides[d];
            fromIndex += at * copy.fromStrides[d];
            rest = next;
        }
        to[toIndex] = from[fromIndex];
    }
}

extern "C" __global__ void stridedCopy1(CudaCopyArguments copy) {
    copyElements<unsigned char>(copy);
}
extern "C" __global__ void stridedCopy2(CudaCopyArguments copy) {
    copyElements<unsigned short>(copy);
}
extern "C" __global__ void stridedCopy4(CudaCopyArguments copy) {
    copyElements<unsigned int>(copy);
}
extern "C" __global__ void stridedCopy8(CudaCopyArguments copy) {
    copyElements<unsigned long long>(copy);
}
