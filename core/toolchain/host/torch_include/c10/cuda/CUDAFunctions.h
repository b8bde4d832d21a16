// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One device, number 0.

#include <c10/core/Device.h>

#include <cuda_runtime.h>

namespace c10::cuda {

inline DeviceIndex device_count() noexcept {
    return 1;
}
inline DeviceIndex device_count_ensure_non_zero() {
    return 1;
}
inline DeviceIndex current_device() {
    return 0;
}
inline void set_device(DeviceIndex, bool = false) {}
inline void device_synchronize() {}

} // namespace c10::cuda

namespace at::cuda {
using namespace c10::cuda;
}
