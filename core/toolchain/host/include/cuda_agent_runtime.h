// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// CUDA's runtime interface for host code on the CPU device, as far as launchers and bindings use
// it. Memory is the host's; everything is done when a call returns, so streams are in order and
// waiting for them is nothing. Needs abi.h, dim3 and CAH_FUNCTION.

extern "C" {
void *aligned_alloc(size_t, size_t) noexcept;
void free(void *) noexcept;
void *memcpy(void *, const void *, size_t) noexcept;
void *memmove(void *, const void *, size_t) noexcept;
void *memset(void *, int, size_t) noexcept;
}

typedef struct CUstream_st *cudaStream_t;

#define CAH_ERRORS(X)                                                                              \
    X(cudaSuccess, 0, "no error")                                                                  \
    X(cudaErrorInvalidValue, 1, "invalid argument")                                                \
    X(cudaErrorMemoryAllocation, 2, "out of memory")                                               \
    X(cudaErrorInitializationError, 3, "initialization error")                                     \
    X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                          \
    X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                         \
    X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                    \
    X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                               \
    X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                \
    X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                       \
    X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                              \
    X(cudaErrorNotReady, 600, "device not ready")                                                  \
    X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                    \
    X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")               \
    X(cudaErrorAssert, 710, "device-side assert triggered")                                        \
    X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                   \
    X(cudaErrorNotSupported, 801, "operation not supported")                                       \
    X(cudaErrorUnknown, 999, "unknown error")

#define CAH_ENUMERATOR(name, code, text) name = code,
enum cudaError { CAH_ERRORS(CAH_ENUMERATOR) };
#undef CAH_ENUMERATOR
typedef enum cudaError cudaError_t;

#define CAH_NAME(name, code, text)                                                                 \
    case code:                                                                                     \
        return #name;
#define CAH_TEXT(name, code, text)                                                                 \
    case code:                                                                                     \
        return text;
CAH_FUNCTION const char *cudaGetErrorName(cudaError_t error) {
    switch (int(error)) { CAH_ERRORS(CAH_NAME) }
    return "unrecognized error code";
}
CAH_FUNCTION const char *cudaGetErrorString(cudaError_t error) {
    switch (int(error)) { CAH_ERRORS(CAH_TEXT) }
    return "unrecognized error code";
}
#undef CAH_NAME
#undef CAH_TEXT
#undef CAH_ERRORS

CAH_FUNCTION cudaError_t __cah_error(cudaError_t error) {
    return cudaError_t(cuda_agent_host_set_error(error));
}
CAH_FUNCTION cudaError_t cudaGetLastError() {
    return cudaError_t(cuda_agent_host_last_error(1));
}
CAH_FUNCTION cudaError_t cudaPeekAtLastError() {
    return cudaError_t(cuda_agent_host_last_error(0));
}

// ---- memory

enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};

CAH_FUNCTION cudaError_t __cah_allocate(void **pointer, size_t bytes) {
    if (!pointer)
        return __cah_error(cudaErrorInvalidValue);
    *pointer = nullptr;
    if (bytes == 0)
        return cudaSuccess;
    if (bytes < size_t(-1) - 255)
        *pointer = aligned_alloc(256, (bytes + 255) / 256 * 256);
    return *pointer ? cudaSuccess : __cah_error(cudaErrorMemoryAllocation);
}
template <class T>
CAH_FUNCTION cudaError_t cudaMalloc(T **pointer, size_t bytes) {
    return __cah_allocate((void **)pointer, bytes);
}
template <class T>
CAH_FUNCTION cudaError_t cudaMallocAsync(T **pointer, size_t bytes, cudaStream_t) {
    return __cah_allocate((void **)pointer, bytes);
}
template <class T>
CAH_FUNCTION cudaError_t cudaMallocHost(T **pointer, size_t bytes, unsigned = 0) {
    return __cah_allocate((void **)pointer, bytes);
}
template <class T>
CAH_FUNCTION cudaError_t cudaMallocManaged(T **pointer, size_t bytes, unsigned = 1) {
    return __cah_allocate((void **)pointer, bytes);
}
CAH_FUNCTION cudaError_t cudaFree(void *pointer) {
    free(pointer);
    return cudaSuccess;
}
CAH_FUNCTION cudaError_t cudaFreeAsync(void *pointer, cudaStream_t) {
    return cudaFree(pointer);
}
CAH_FUNCTION cudaError_t cudaFreeHost(void *pointer) {
    return cudaFree(pointer);
}
CAH_FUNCTION cudaError_t cudaMemset(void *pointer, int value, size_t bytes) {
    memset(pointer, value, bytes);
    return cudaSuccess;
}
CAH_FUNCTION cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes,
                                         cudaStream_t = nullptr) {
    return cudaMemset(pointer, value, bytes);
}
CAH_FUNCTION cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind) {
    memmove(to, from, bytes);
    return cudaSuccess;
}
CAH_FUNCTION cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                                         cudaMemcpyKind kind, cudaStream_t = nullptr) {
    return cudaMemcpy(to, from, bytes, kind);
}
CAH_FUNCTION cudaError_t cudaMemGetInfo(size_t *left, size_t *all) {
    *left = *all = size_t(8) << 30;
    return cudaSuccess;
}

// ---- streams

enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
CAH_FUNCTION cudaError_t cudaStreamSynchronize(cudaStream_t) {
    return cudaPeekAtLastError();
}
CAH_FUNCTION cudaError_t cudaDeviceSynchronize() {
    return cudaPeekAtLastError();
}
CAH_FUNCTION cudaError_t cudaStreamQuery(cudaStream_t) {
    return cudaSuccess;
}
CAH_FUNCTION cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    *stream = nullptr;
    return cudaSuccess;
}
CAH_FUNCTION cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
    return cudaStreamCreate(stream);
}
CAH_FUNCTION cudaError_t cudaStreamDestroy(cudaStream_t) {
    return cudaSuccess;
}

// ---- the device: the host's threads under a GPU's usual limits

enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxBlockDimX = 2,
    cudaDevAttrMaxBlockDimY = 3,
    cudaDevAttrMaxBlockDimZ = 4,
    cudaDevAttrMaxGridDimX = 5,
    cudaDevAttrMaxGridDimY = 6,
    cudaDevAttrMaxGridDimZ = 7,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrTotalConstantMemory = 9,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMaxRegistersPerBlock = 12,
    cudaDevAttrClockRate = 13,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxRegistersPerMultiprocessor = 82,
    cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrMaxBlocksPerMultiprocessor = 106
};

struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    int clockRate;
    size_t totalConstMem;
    int major, minor;
    int multiProcessorCount, concurrentKernels, cooperativeLaunch;
    int memoryClockRate, memoryBusWidth, l2CacheSize;
    int maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor;
    size_t sharedMemPerMultiprocessor, sharedMemPerBlockOptin;
    int regsPerMultiprocessor;
};

CAH_FUNCTION cudaError_t cudaGetDeviceCount(int *count) {
    *count = 1;
    return cudaSuccess;
}
CAH_FUNCTION cudaError_t cudaGetDevice(int *device) {
    *device = 0;
    return cudaSuccess;
}
CAH_FUNCTION cudaError_t cudaSetDevice(int device) {
    return device == 0 ? cudaSuccess : __cah_error(cudaErrorInvalidDevice);
}

static inline __attribute__((unused)) cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p,
                                                                          int device) {
    if (device != 0)
        return __cah_error(cudaErrorInvalidDevice);
    memset(p, 0, sizeof *p);
    memcpy(p->name, "CPU", 4);
    p->totalGlobalMem = size_t(8) << 30;
    p->sharedMemPerBlock = 48 << 10;
    p->sharedMemPerBlockOptin = 227 << 10;
    p->sharedMemPerMultiprocessor = 228 << 10;
    p->regsPerBlock = p->regsPerMultiprocessor = 65536;
    p->warpSize = 32;
    p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 2147483647;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->clockRate = p->memoryClockRate = 1000000;
    p->memoryBusWidth = 64;
    p->totalConstMem = 65536;
    p->major = 8;
    p->multiProcessorCount = cuda_agent_host_threads();
    p->concurrentKernels = 1;
    p->l2CacheSize = 1 << 20;
    p->maxThreadsPerMultiProcessor = 2048;
    p->maxBlocksPerMultiProcessor = 32;
    return cudaSuccess;
}

static inline __attribute__((unused)) cudaError_t
cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
    cudaDeviceProp p;
    if (const cudaError_t error = cudaGetDeviceProperties(&p, device))
        return error;
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
        return *value = p.maxThreadsPerBlock, cudaSuccess;
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
    case cudaDevAttrMaxBlockDimZ:
        return *value = p.maxThreadsDim[attribute - cudaDevAttrMaxBlockDimX], cudaSuccess;
    case cudaDevAttrMaxGridDimX:
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
        return *value = p.maxGridSize[attribute - cudaDevAttrMaxGridDimX], cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock:
        return *value = int(p.sharedMemPerBlock), cudaSuccess;
    case cudaDevAttrTotalConstantMemory:
        return *value = int(p.totalConstMem), cudaSuccess;
    case cudaDevAttrWarpSize:
        return *value = p.warpSize, cudaSuccess;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
        return *value = p.regsPerBlock, cudaSuccess;
    case cudaDevAttrClockRate:
        return *value = p.clockRate, cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
        return *value = p.multiProcessorCount, cudaSuccess;
    case cudaDevAttrL2CacheSize:
        return *value = p.l2CacheSize, cudaSuccess;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        return *value = p.maxThreadsPerMultiProcessor, cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
        return *value = p.major, cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
        return *value = p.minor, cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        return *value = int(p.sharedMemPerMultiprocessor), cudaSuccess;
    case cudaDevAttrCooperativeLaunch:
        return *value = 0, cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        return *value = int(p.sharedMemPerBlockOptin), cudaSuccess;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
        return *value = p.maxBlocksPerMultiProcessor, cudaSuccess;
    }
    return __cah_error(cudaErrorInvalidValue);
}

// ---- kernels as values

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum cudaFuncCache {
    cudaFuncCachePreferNone,
    cudaFuncCachePreferShared,
    cudaFuncCachePreferL1,
    cudaFuncCachePreferEqual
};
enum { cudaSharedmemCarveoutMaxShared = 100, cudaSharedmemCarveoutMaxL1 = 0 };

template <class Kernel>
CAH_FUNCTION cudaError_t cudaFuncSetAttribute(Kernel, cudaFuncAttribute attribute, int value) {
    const bool tooMuch =
        attribute == cudaFuncAttributeMaxDynamicSharedMemorySize && value > 227 << 10;
    return tooMuch ? __cah_error(cudaErrorInvalidValue) : cudaSuccess;
}
template <class Kernel>
CAH_FUNCTION cudaError_t cudaFuncSetCacheConfig(Kernel, cudaFuncCache) {
    return cudaSuccess;
}
template <class Kernel>
CAH_FUNCTION cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel,
                                                                       int threads, size_t shared) {
    if (threads < 1 || threads > 1024)
        return __cah_error(cudaErrorInvalidValue);
    int most = 2048 / threads < 32 ? 2048 / threads : 32;
    if (shared > 0 && (size_t(228) << 10) / shared < size_t(most))
        most = int((size_t(228) << 10) / shared);
    *blocks = most;
    return cudaSuccess;
}
template <class Kernel>
CAH_FUNCTION cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, Kernel,
                                                            size_t = 0, int limit = 0) {
    *block = limit > 0 && limit < 256 ? limit : 256;
    *grid = 8 * cuda_agent_host_threads();
    return cudaSuccess;
}
