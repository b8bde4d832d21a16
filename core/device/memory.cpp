// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/device.h"

namespace cuda_agent::device {

std::string_view nameOf(Kind kind) {
    return kind == Kind::cuda ? "cuda" : "cpu";
}

Json toJson(const Info &info) {
    return {{"kind", nameOf(info.kind)},
            {"index", info.index},
            {"name", info.name},
            {"architecture", info.architecture},
            {"multiprocessors", info.multiprocessors},
            {"memory_bytes", info.memoryBytes},
            {"cache_bytes", info.cacheBytes},
            {"shared_bytes_per_block", info.sharedBytesPerBlock},
            {"driver_version", info.driverVersion}};
}

Memory::Memory(Memory &&other) noexcept
    : fd_(std::move(other.fd_)), data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)), mappedBytes_(std::exchange(other.mappedBytes_, 0)),
      release_(std::exchange(other.release_, nullptr)), handle_(std::exchange(other.handle_, 0)) {}

Memory &Memory::operator=(Memory &&other) noexcept {
    if (this != &other) {
        Memory old(std::move(*this));
        fd_ = std::move(other.fd_);
        data_ = std::exchange(other.data_, nullptr);
        bytes_ = std::exchange(other.bytes_, 0);
        mappedBytes_ = std::exchange(other.mappedBytes_, 0);
        release_ = std::exchange(other.release_, nullptr);
        handle_ = std::exchange(other.handle_, 0);
    }
    return *this;
}

Memory::~Memory() {
    if (release_)
        release_(*this);
}

} // namespace cuda_agent::device
