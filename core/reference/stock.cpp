// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/reference/stock.h"

#include "core/base/hash.h"
#include "core/base/paths.h"

#include <utility>

namespace cuda_agent::reference {

namespace {

/// Tasks that one process has at most: whatever one could leave in it ends, and what PyTorch keeps
/// of each does, too.
constexpr int mostServed = 50;

} // namespace

Stock::Stock(std::size_t most)
    : most_(most), cache_(cacheDir() / "inductor" / fmt::format("stock-{:016x}", randomSeed())) {}

Stock::~Stock() {
    idle_.clear();
    std::error_code error;
    std::filesystem::remove_all(cache_, error);
}

std::optional<Stock::Idle> Stock::take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty())
        return {};
    auto idle = std::move(idle_.back());
    idle_.pop_back();
    return idle;
}

void Stock::give(Idle idle) {
    if (idle.served >= mostServed)
        return;
    const std::lock_guard lock(mutex_);
    if (idle_.size() < most_)
        idle_.push_back(std::move(idle)); // else it ends when the lock is left
}

} // namespace cuda_agent::reference
