// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace cuda_agent::plan::runner::sanit {

/// What fresh memory holds. Code that is not looked at may fill it, too: as long as it holds this,
/// nobody has.
inline constexpr unsigned char hostPoison = 0xCB;

/// Memory that the process around the kernels has for them: what it allocated for devices, and what
/// it was told of. Freed memory counts until its place is used again. Any thread may call.
class HostMemory {
  public:
    struct Block {
        std::string name; ///< for messages: "input 0"; empty: what the candidate allocated
        std::uintptr_t begin = 0;
        std::uint64_t bytes = 0;
        unsigned elementBytes = 0; ///< 0: not known
        bool input = false;        ///< nobody may write it
        std::uint64_t number = 0;  ///< no two blocks have the same
    };
    /// What lay there before is gone.
    void add(Block block);
    std::optional<Block> find(std::uintptr_t address) const;
    /// The last one that begins at or before the address.
    std::optional<Block> below(std::uintptr_t address) const;

  private:
    mutable std::mutex mutex_;
    std::map<std::uintptr_t, Block> blocks_;
    std::uint64_t made_ = 0;
};

} // namespace cuda_agent::plan::runner::sanit
