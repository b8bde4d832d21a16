// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

/* Stands in for libcuda.so.1 of a machine with one GPU, whose memory is the process's own. What
   goes wrong is chosen by FAKE_GPU: "" nothing, "hang" (a kernel never ends), "lost" (the GPU
   answers every wait with an error), "bits" (a kernel leaves a wrong bit), "nocompiler", "full",
   "die". */
#include <cuda.h>

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static int wrong(const char *what) {
    const char *chosen = getenv("FAKE_GPU");
    return chosen && strcmp(chosen, what) == 0;
}

static uint32_t *memory = NULL;
static size_t words = 0;

EXPORT CUresult cuInit(unsigned flags) {
    return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
EXPORT CUresult cuDriverGetVersion(int *version) {
    *version = 13000;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuGetErrorName(CUresult code, const char **text) {
    *text = code == CUDA_ERROR_LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_OTHER";
    return CUDA_SUCCESS;
}
EXPORT CUresult cuGetErrorString(CUresult code, const char **text) {
    *text = code == CUDA_ERROR_LAUNCH_FAILED ? "unspecified launch failure" : "other error";
    return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetCount(int *count) {
    *count = 1;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    *device = ordinal;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    (void)device;
    *context = (CUcontext)&memory;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
    return context == (CUcontext)&memory ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
EXPORT CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) {
    if (wrong("full"))
        return CUDA_ERROR_OUT_OF_MEMORY;
    memory = malloc(bytes);
    words = bytes / 4;
    *address = (CUdeviceptr)(uintptr_t)memory;
    return memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
EXPORT CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
    (void)stream;
    for (size_t i = 0; i < count; ++i)
        ((uint32_t *)(uintptr_t)to)[i] = value;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return CUDA_SUCCESS;
}
EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    *module = (CUmodule)&words;
    if (wrong("nocompiler"))
        return CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
    return strstr(image, "add_one") ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}
EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    (void)module;
    *function = (CUfunction)&words;
    return strcmp(name, "add_one") == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ,
                               unsigned blockX, unsigned blockY, unsigned blockZ, unsigned shared,
                               CUstream stream, void **arguments, void **extra) {
    (void)function, (void)shared, (void)stream, (void)extra;
    if ((size_t)gridX * gridY * gridZ * blockX * blockY * blockZ != words ||
        *(CUdeviceptr *)arguments[0] != (CUdeviceptr)(uintptr_t)memory)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < words; ++i)
        memory[i] += 1;
    if (wrong("bits"))
        memory[words - 3] ^= 0x10000;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxSynchronize(void) {
    if (wrong("hang"))
        for (;;)
            pause();
    if (wrong("die"))
        raise(SIGSEGV);
    return wrong("lost") ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
}
