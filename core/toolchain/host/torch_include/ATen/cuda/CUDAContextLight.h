// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/cuda/Exceptions.h>
#include <c10/cuda/CUDAStream.h>

namespace at::cuda {

inline int64_t getNumGPUs() {
    return 1;
}
inline bool is_available() {
    return true;
}
inline cudaDeviceProp *getDeviceProperties(c10::DeviceIndex) {
    static cudaDeviceProp properties = [] {
        cudaDeviceProp filled;
        (void)cudaGetDeviceProperties(&filled, 0);
        return filled;
    }();
    return &properties;
}
inline cudaDeviceProp *getCurrentDeviceProperties() {
    return getDeviceProperties(0);
}
inline int warp_size() {
    return 32;
}

} // namespace at::cuda
