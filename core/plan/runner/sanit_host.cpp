// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/runner/sanit_host.h"

namespace cuda_agent::plan::runner::sanit {

void HostMemory::add(Block block) {
    const std::lock_guard lock(mutex_);
    auto at = blocks_.upper_bound(block.begin);
    if (at != blocks_.begin()) {
        const auto before = std::prev(at);
        if (before->first + before->second.bytes > block.begin)
            at = before;
    }
    while (at != blocks_.end() && at->first < block.begin + block.bytes)
        at = blocks_.erase(at);
    block.number = ++made_;
    blocks_.insert_or_assign(block.begin, std::move(block));
}

std::optional<HostMemory::Block> HostMemory::below(std::uintptr_t address) const {
    const std::lock_guard lock(mutex_);
    const auto after = blocks_.upper_bound(address);
    return after == blocks_.begin() ? std::nullopt : std::optional(std::prev(after)->second);
}

std::optional<HostMemory::Block> HostMemory::find(std::uintptr_t address) const {
    auto block = below(address);
    return block && address - block->begin < block->bytes ? std::move(block) : std::nullopt;
}

} // namespace cuda_agent::plan::runner::sanit
