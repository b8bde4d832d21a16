// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/device/cuda_context.h"

namespace cuda_agent::device {

/// An NVIDIA GPU. Memory is made by the driver's virtual memory management and exported as a POSIX
/// descriptor, so that another process maps exactly one allocation and sees no other.
class CudaDevice final : public Device {
  public:
    static Result<std::unique_ptr<Device>> open(int ordinal);

    const Info &info() const override { return context_->info(); }
    Result<Memory> allocate(std::uint64_t bytes) override;
    Result<Memory> import(UniqueFd fd, std::uint64_t bytes) override;
    Result<std::uint64_t> freeBytes() override;
    Result<void> write(Memory &to, std::uint64_t offset, const void *from,
                       std::uint64_t bytes) override;
    Result<void> read(const Memory &from, std::uint64_t offset, void *to,
                      std::uint64_t bytes) override;
    Result<void> copy(Memory &to, std::uint64_t toOffset, const Memory &from,
                      std::uint64_t fromOffset, std::uint64_t bytes) override;
    Result<void> fill(Memory &to, std::uint64_t offset, std::uint64_t bytes,
                      std::uint32_t word) override;
    Result<std::optional<std::uint64_t>> firstChange(const Memory &memory, std::uint64_t offset,
                                                     std::uint64_t bytes,
                                                     std::uint32_t word) override;
    Result<std::uint64_t> digest(const Memory &memory, std::uint64_t offset, std::uint64_t bytes,
                                 std::uint64_t key) override;
    Result<ErrorStats> compare(const TensorView &candidate, const TensorView &oracle) override;
    Result<Ceilings> measureCeilings() override;
    Result<double> timeCopy(std::uint64_t bytes) override;

  private:
    CudaDevice() = default;
    Result<Memory> map(CUmemGenericAllocationHandle handle, std::uint64_t bytes,
                       std::uint64_t mapped);
    std::uint64_t rounded(std::uint64_t bytes) const;
    /// One 64-bit word that a kernel leaves in the scratch buffer, from `initial`.
    Result<std::uint64_t> reduce(const char *kernel, unsigned blocks, void **arguments,
                                 std::uint64_t initial, void *&resultArgument);
    /// Element `index` in row-major order, for evidence.
    Result<double> elementAt(const TensorView &view, std::int64_t index);

    std::unique_ptr<CudaContext> context_; ///< outlives the buffers below
    CUmemAllocationProp properties_{};
    std::uint64_t granularity_ = 0;
    CudaBuffer scratch_;
    CudaBuffer copyBuffer_; ///< of timeCopy, kept between calls
    std::optional<CudaTimer> timer_;
};

} // namespace cuda_agent::device
