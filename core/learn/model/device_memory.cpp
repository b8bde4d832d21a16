// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/model/device_memory.h"

#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

namespace cuda_agent::learn {

void giveBackMemory(c10::Device device) {
    if (!device.is_cuda())
        return;
    const c10::DeviceGuard here(device);
    c10::cuda::device_synchronize();
    c10::cuda::CUDACachingAllocator::emptyCache();
}

} // namespace cuda_agent::learn
