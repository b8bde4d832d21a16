// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/model/device.h"

#include <ATen/Context.h>
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

namespace cuda_agent::learn {

Result<c10::Device> deviceNamed(std::string_view name, int index) {
    const bool there = at::hasCUDA();
    if (name == "cuda" && !there)
        return machineError("no GPU that PyTorch can use; ask for the device cpu");
    return name == "cpu" || !there ? c10::Device(c10::kCPU)
                                   : c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(index));
}

void giveBackMemory(c10::Device device) {
    if (!device.is_cuda())
        return;
    const c10::DeviceGuard here(device);
    c10::cuda::device_synchronize();
    c10::cuda::CUDACachingAllocator::emptyCache();
}

} // namespace cuda_agent::learn
