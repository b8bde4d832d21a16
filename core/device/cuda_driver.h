// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/result.h"

#include <cuda.h>

#include <string>

// The driver API functions that the programs use, by the names that <cuda.h> gives them (its macros
// choose the current version of each).
#define CUDA_AGENT_DRIVER_FUNCTIONS(apply)                                                         \
    /* devices and contexts */                                                                     \
    apply(cuDeviceGet);                                                                            \
    apply(cuDeviceGetCount);                                                                       \
    apply(cuDeviceGetName);                                                                        \
    apply(cuDeviceGetAttribute);                                                                   \
    apply(cuDeviceTotalMem);                                                                       \
    apply(cuDeviceGetPCIBusId);                                                                    \
    apply(cuDevicePrimaryCtxRetain);                                                               \
    apply(cuDevicePrimaryCtxRelease);                                                              \
    apply(cuDevicePrimaryCtxSetFlags);                                                             \
    apply(cuCtxSetCurrent);                                                                        \
    apply(cuCtxGetCurrent);                                                                        \
    apply(cuCtxSynchronize);                                                                       \
    apply(cuCtxSetLimit);                                                                          \
    apply(cuCtxGetLimit);                                                                          \
    /* memory */                                                                                   \
    apply(cuMemGetInfo);                                                                           \
    apply(cuMemAlloc);                                                                             \
    apply(cuMemFree);                                                                              \
    apply(cuMemAllocHost);                                                                         \
    apply(cuMemFreeHost);                                                                          \
    apply(cuMemcpyHtoD);                                                                           \
    apply(cuMemcpyDtoH);                                                                           \
    apply(cuMemcpyDtoD);                                                                           \
    apply(cuMemcpyHtoDAsync);                                                                      \
    apply(cuMemcpyDtoHAsync);                                                                      \
    apply(cuMemcpyDtoDAsync);                                                                      \
    apply(cuMemsetD8Async);                                                                        \
    apply(cuMemsetD16Async);                                                                       \
    apply(cuMemsetD32Async);                                                                       \
    apply(cuMemGetAllocationGranularity);                                                          \
    apply(cuMemCreate);                                                                            \
    apply(cuMemRelease);                                                                           \
    apply(cuMemAddressReserve);                                                                    \
    apply(cuMemAddressFree);                                                                       \
    apply(cuMemMap);                                                                               \
    apply(cuMemUnmap);                                                                             \
    apply(cuMemSetAccess);                                                                         \
    apply(cuMemExportToShareableHandle);                                                           \
    apply(cuMemImportFromShareableHandle);                                                         \
    apply(cuMemGetAllocationPropertiesFromHandle);                                                 \
    /* code */                                                                                     \
    apply(cuModuleLoadData);                                                                       \
    apply(cuModuleUnload);                                                                         \
    apply(cuModuleGetFunction);                                                                    \
    apply(cuModuleGetGlobal);                                                                      \
    apply(cuFuncGetAttribute);                                                                     \
    apply(cuFuncSetAttribute);                                                                     \
    apply(cuLaunchKernel);                                                                         \
    apply(cuLaunchKernelEx);                                                                       \
    apply(cuOccupancyMaxActiveBlocksPerMultiprocessor);                                            \
    /* streams, events, graphs */                                                                  \
    apply(cuStreamCreate);                                                                         \
    apply(cuStreamDestroy);                                                                        \
    apply(cuStreamSynchronize);                                                                    \
    apply(cuStreamQuery);                                                                          \
    apply(cuStreamWaitEvent);                                                                      \
    apply(cuStreamBeginCapture);                                                                   \
    apply(cuStreamEndCapture);                                                                     \
    apply(cuEventCreate);                                                                          \
    apply(cuEventDestroy);                                                                         \
    apply(cuEventRecord);                                                                          \
    apply(cuEventSynchronize);                                                                     \
    apply(cuEventQuery);                                                                           \
    apply(cuEventElapsedTime);                                                                     \
    apply(cuGraphInstantiate);                                                                     \
    apply(cuGraphLaunch);                                                                          \
    apply(cuGraphUpload);                                                                          \
    apply(cuGraphExecDestroy);                                                                     \
    apply(cuGraphDestroy)

namespace cuda_agent::device::cuda {

/// The oldest driver that runs what a CUDA 13 compiler makes.
inline constexpr int neededDriverVersion = 13000;

/// The NVIDIA driver's library, loaded at run time so that programs start without it.
///
///     CUDA_AGENT_ASSIGN(driver, cuda::Driver::load());
///     driver->cuCtxSynchronize();
///
/// The functions are those of the driver API itself; most need a current context.
struct Driver {
    /// Loads libcuda.so.1 once a process, checks its version and initialises it; at least one
    /// device is there when this succeeds. Any thread may call. The pointer stays valid.
    /// Errors: machine (no driver, too old, no device), each with what to do.
    static Result<const Driver *> load();

    int version = 0;     ///< of the API, e.g. 13000
    int deviceCount = 0; ///< that CUDA_VISIBLE_DEVICES leaves

    // Error texts work without a device.
    decltype(&::cuGetErrorName) cuGetErrorName = nullptr;
    decltype(&::cuGetErrorString) cuGetErrorString = nullptr;
#define CUDA_AGENT_DECLARE(name) decltype(&::name) name = nullptr
    CUDA_AGENT_DRIVER_FUNCTIONS(CUDA_AGENT_DECLARE);
#undef CUDA_AGENT_DECLARE

    /// "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered".
    std::string describe(CUresult code) const;
    /// Success, or an error of kind machine that starts with `what`. An error that breaks the
    /// context for the rest of the process says so.
    Result<void> check(CUresult code, std::string_view what) const;
};

/// After such an error every later call of the process fails, until the process ends.
bool isSticky(CUresult code);

/// "13.0" for 13000.
std::string versionText(int version);

} // namespace cuda_agent::device::cuda
