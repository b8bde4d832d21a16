// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Nothing to switch: there is one device with one stream.

#include <c10/cuda/CUDAStream.h>

#include <optional>

namespace c10::cuda {

struct CUDAGuard {
    explicit CUDAGuard(DeviceIndex) {}
    explicit CUDAGuard(Device) {}
    CUDAGuard(const CUDAGuard &) = delete;
    CUDAGuard &operator=(const CUDAGuard &) = delete;
    void set_device(Device) {}
    void reset_device(Device) {}
    void set_index(DeviceIndex) {}
    Device original_device() const { return Device(DeviceType::CPU); }
    Device current_device() const { return Device(DeviceType::CPU); }
};

struct OptionalCUDAGuard {
    OptionalCUDAGuard() = default;
    explicit OptionalCUDAGuard(std::optional<Device>) {}
    explicit OptionalCUDAGuard(std::optional<DeviceIndex>) {}
    OptionalCUDAGuard(const OptionalCUDAGuard &) = delete;
    OptionalCUDAGuard &operator=(const OptionalCUDAGuard &) = delete;
    void set_device(Device) {}
    void reset_device(Device) {}
    void set_index(DeviceIndex) {}
    void reset() {}
    std::optional<Device> original_device() const { return Device(DeviceType::CPU); }
    std::optional<Device> current_device() const { return Device(DeviceType::CPU); }
};

struct CUDAStreamGuard {
    explicit CUDAStreamGuard(Stream) {}
    explicit CUDAStreamGuard(CUDAStream) {}
    CUDAStreamGuard(const CUDAStreamGuard &) = delete;
    CUDAStreamGuard &operator=(const CUDAStreamGuard &) = delete;
    CUDAStream original_stream() const { return {}; }
    CUDAStream current_stream() const { return {}; }
};

} // namespace c10::cuda
