// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/device/crew.h"
#include "core/device/device.h"

namespace cuda_agent::device {

/// Unmaps anonymous pages.
struct PageRelease {
    std::size_t bytes = 0;
    void operator()(void *pointer) const;
};

/// The host processor as a device. Memory is a sealed memfd: no holder can make it shorter, so that
/// reading it cannot fail however hostile the process is that shares it.
class CpuDevice final : public Device {
  public:
    CpuDevice();

    const Info &info() const override { return info_; }
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
    using Pages = std::unique_ptr<void, PageRelease>;
    static Result<Memory> map(UniqueFd fd, std::uint64_t bytes);
    static Result<Pages> privatePages(std::uint64_t bytes);

    Info info_;
    Crew crew_;
    Pages copyPages_; ///< of timeCopy, kept warm between calls
};

} // namespace cuda_agent::device
