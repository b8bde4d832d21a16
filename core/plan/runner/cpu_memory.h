// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <cstdint>

namespace cuda_agent::plan::runner {

/// Pages of this process with a wide band of unmapped addresses on both sides, so that a write far
/// out of bounds faults instead of hitting a neighbour. Movable, owned.
class GuardedPages {
  public:
    GuardedPages() = default;
    GuardedPages(GuardedPages &&other) noexcept;
    GuardedPages &operator=(GuardedPages &&other) noexcept;
    ~GuardedPages();

    /// Anonymous memory whose last byte (rounded up to 64, or to `alignment` where that is more)
    /// touches the unmapped band, filled with `poison`. Errors: machine (out of memory).
    static Result<GuardedPages> make(std::uint64_t bytes, std::uint32_t alignment,
                                     unsigned char poison);
    /// A lent shared memory file from its start. Errors: machine.
    static Result<GuardedPages> map(int fd, std::uint64_t bytes);

    std::byte *data() const { return data_; }

  private:
    /// Address space for whole pages of so many bytes between two bands, none of it accessible.
    Result<void> reserve(std::uint64_t bytes);

    void *reservation_ = nullptr;
    std::size_t reserved_ = 0;
    std::byte *data_ = nullptr;
};

} // namespace cuda_agent::plan::runner
