// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// There is one stream: launches are done when they return.

#include <c10/core/Stream.h>
#include <c10/cuda/CUDAFunctions.h>

#include <ostream>

namespace c10::cuda {

class CUDAStream {
  public:
    enum Unchecked { UNCHECKED };
    CUDAStream() = default;
    explicit CUDAStream(Stream) {}
    CUDAStream(Unchecked, Stream) {}

    bool operator==(const CUDAStream &) const noexcept { return true; }
    bool operator!=(const CUDAStream &) const noexcept { return false; }
    operator cudaStream_t() const { return nullptr; }
    operator Stream() const { return unwrap(); }

    cudaStream_t stream() const { return nullptr; }
    StreamId id() const { return 0; }
    DeviceType device_type() const { return DeviceType::CPU; }
    DeviceIndex device_index() const { return 0; }
    Device device() const { return Device(DeviceType::CPU); }
    Stream unwrap() const { return Stream(Stream::DEFAULT, device()); }
    bool query() const { return true; }
    void synchronize() const {}
    int priority() const { return 0; }
};

inline CUDAStream getCurrentCUDAStream(DeviceIndex = -1) {
    return {};
}
inline CUDAStream getDefaultCUDAStream(DeviceIndex = -1) {
    return {};
}
inline CUDAStream getStreamFromPool(bool = false, DeviceIndex = -1) {
    return {};
}
inline void setCurrentCUDAStream(CUDAStream) {}
inline std::ostream &operator<<(std::ostream &out, const CUDAStream &) {
    return out << "the CPU device's stream";
}

} // namespace c10::cuda
