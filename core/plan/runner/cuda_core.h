// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/unique_fd.h"
#include "core/device/cuda_driver.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace cuda_agent::plan::runner {

/// The runner's one context and stream. Made once, lives as long as the process.
class CudaCore {
  public:
    /// The one device that the sandbox shows. Errors: machine.
    static Result<std::unique_ptr<CudaCore>> open();

    const device::cuda::Driver &driver() const { return *driver_; }
    CUstream stream() const { return stream_; }
    CUdevice device() const { return device_; }

    /// Success, or what went wrong at `where`: failed, when the candidate is to blame ("CUDA error
    /// 700 an illegal memory access was encountered in kernels/x.cu:entry (step 2)"), short memory
    /// included; machine, when the hardware broke.
    Result<void> check(CUresult code, std::string_view where) const;
    /// For calls of our own that no candidate can spoil. Errors: machine; failed, when the context
    /// is broken by an earlier kernel.
    Result<void> expect(CUresult code, std::string_view doing) const;
    Result<void> synchronize(std::string_view where) const;

    // Not among the driver functions that the engine needs.
    decltype(&::cuFuncGetParamInfo) cuFuncGetParamInfo = nullptr;
    decltype(&::cuMemsetD2D32Async) cuMemsetD2D32Async = nullptr;

  private:
    CudaCore() = default;

    const device::cuda::Driver *driver_ = nullptr;
    CUdevice device_ = 0;
    CUcontext context_ = nullptr;
    CUstream stream_ = nullptr;
};

/// Memory of the runner's own. Movable, owned.
class CudaMemory {
  public:
    CudaMemory() = default;
    CudaMemory(CudaMemory &&other) noexcept { *this = std::move(other); }
    CudaMemory &operator=(CudaMemory &&other) noexcept;
    ~CudaMemory();

    /// Filled with `poison` bytes, if any. Errors: machine (out of memory).
    static Result<CudaMemory> make(const CudaCore &core, std::uint64_t bytes,
                                   std::optional<unsigned char> poison = 0);
    /// Maps an allocation that the engine exported. Errors: machine.
    static Result<CudaMemory> import(const CudaCore &core, UniqueFd fd, std::uint64_t bytes);

    CUdeviceptr address() const { return address_; }

  private:
    const CudaCore *core_ = nullptr;
    CUdeviceptr address_ = 0;
    std::uint64_t mappedBytes_ = 0; ///< 0: not a mapping
    std::uint64_t guardBytes_ = 0;  ///< of addresses on either side that nothing is mapped to
};

} // namespace cuda_agent::plan::runner
