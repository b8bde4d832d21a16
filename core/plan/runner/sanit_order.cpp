// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/runner/sanit_order.h"

#include <algorithm>
#include <bit>

namespace cuda_agent::plan::runner::sanit {

void Order::beginLaunch() {
    launchFirst_ = blockFirst_ = now_ + 1;
    threads_.clear();
    blocks_.clear();
    released_.clear();
}

void Order::beginBlock(std::uint64_t block, int threads) {
    blockFirst_ = now_ + 1;
    barrier_ = 0;
    barriers_ = 0;
    std::fill_n(passed_.begin(), threads, 0u);
    fenced_.reset();
    known_.clear();
    blockKnows_.clear();
    blocks_.push_back({blockFirst_, block});
}

void Order::run(int thread) {
    ++now_;
    thread_ = thread;
    threads_.push_back(static_cast<std::uint16_t>(thread));
    current_[static_cast<std::size_t>(thread)] = now_;
}

/// The first that comes out of a barrier shows that all have arrived.
void Order::passBarrier() {
    auto &passed = passed_[static_cast<std::size_t>(thread_)];
    if (++passed > barriers_) {
        barriers_ = passed;
        barrier_ = now_ + 1;
        for (const auto &[thread, known] : known_)
            merge(blockKnows_, known.blocks);
        known_.clear();
    }
    run(thread_);
}

Order::Warp &Order::warp() {
    Warp &own = warps_[static_cast<std::size_t>(thread_) / 32];
    if (own.blockFirst != blockFirst_) {
        own = {};
        own.blockFirst = blockFirst_;
    }
    return own;
}

void Order::arriveAtWarp(std::uint32_t mask) {
    Warp &own = warp();
    const int lane = thread_ % 32;
    own.waiting |= 1u << lane;
    own.mask[static_cast<std::size_t>(lane)] = mask;
}

/// The first lane that comes out shows that all lanes of the mask had arrived.
void Order::leaveWarp() {
    Warp &own = warp();
    const int lane = thread_ % 32;
    if (!(own.merged & (1u << lane))) {
        std::uint32_t lanes = 0;
        for (std::uint32_t left = own.waiting & ~own.merged; left != 0; left &= left - 1) {
            const auto other = static_cast<std::size_t>(std::countr_zero(left));
            if (own.mask[other] == own.mask[static_cast<std::size_t>(lane)])
                lanes |= 1u << other;
        }
        merge(own, lanes);
        own.merged |= lanes;
    }
    own.merged &= ~(1u << lane);
    own.waiting &= ~(1u << lane);
    run(thread_);
}

void Order::merge(Warp &warp, std::uint32_t lanes) {
    const int first = thread_ / 32 * 32;
    std::array<std::uint32_t, 32> all{};
    Known together;
    bool any = false;
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        for (std::size_t i = 0; i < 32; ++i)
            all[i] = std::max(all[i], warp.last[lane][i]);
        all[lane] = std::max(all[lane], current_[static_cast<std::size_t>(first) + lane]);
        if (known_.empty())
            continue;
        if (const auto known = known_.find(first + static_cast<int>(lane)); known != known_.end()) {
            merge(together.threads, known->second.threads);
            merge(together.blocks, known->second.blocks);
            any = true;
        }
    }
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
        const auto lane = std::countr_zero(left);
        warp.last[static_cast<std::size_t>(lane)] = all;
        if (any)
            known_[first + lane] = together;
    }
}

void Order::merge(Last &into, const Last &from) {
    for (const auto &[which, segment] : from) {
        auto &own = into[which];
        own = std::max(own, segment);
    }
}

bool Order::covers(const Last &last, std::uint32_t which, std::uint32_t segment) {
    const auto found = last.find(which);
    return found != last.end() && segment <= found->second;
}

void Order::acquire(std::uintptr_t address) {
    if (released_.empty())
        return;
    const auto found = released_.find(address);
    if (found == released_.end())
        return;
    Known &own = known_[thread_];
    merge(own.blocks, found->second.known.blocks);
    if (found->second.blockFirst == blockFirst_)
        merge(own.threads, found->second.known.threads);
}

void Order::release(std::uintptr_t address, bool byItself) {
    if (!byItself && !fenced_.test(static_cast<std::size_t>(thread_)))
        return;
    Released &released = released_[address];
    if (released.blockFirst != blockFirst_) {
        released.blockFirst = blockFirst_;
        released.known.threads.clear();
    }
    auto &threads = released.known.threads;
    const Warp &own = warp();
    for (std::size_t lane = 0; lane < 32; ++lane)
        if (const auto last = own.last[static_cast<std::size_t>(thread_ % 32)][lane]; last != 0) {
            auto &there = threads[static_cast<std::uint32_t>(thread_ / 32 * 32) +
                                  static_cast<std::uint32_t>(lane)];
            there = std::max(there, last);
        }
    threads[static_cast<std::uint32_t>(thread_)] = now_;
    merge(released.known.blocks, blockKnows_);
    if (const auto known = known_.find(thread_); known != known_.end()) {
        merge(threads, known->second.threads);
        merge(released.known.blocks, known->second.blocks);
    }
    // For another block all of this one that ran so far counts, as a fence after a barrier has it.
    released.known.blocks[static_cast<std::uint32_t>(blocks_.size() - 1)] = now_;
    // What this thread does from now on is not part of it.
    run(thread_);
}

std::size_t Order::blockIndex(std::uint32_t segment) const {
    const auto after = std::ranges::upper_bound(blocks_, segment, {}, &Block::first);
    return static_cast<std::size_t>(after - blocks_.begin()) - (after == blocks_.begin() ? 0 : 1);
}

bool Order::isBeforeBySomething(std::uint32_t segment) const {
    const auto known = known_.empty() ? known_.end() : known_.find(thread_);
    if (segment < blockFirst_) {
        if (blockKnows_.empty() && known == known_.end())
            return false;
        const auto block = static_cast<std::uint32_t>(blockIndex(segment));
        return covers(blockKnows_, block, segment) ||
               (known != known_.end() && covers(known->second.blocks, block, segment));
    }
    const int other = threadOf(segment);
    if (other / 32 == thread_ / 32) {
        const Warp &own = warps_[static_cast<std::size_t>(thread_) / 32];
        if (own.blockFirst == blockFirst_ &&
            segment <= own.last[static_cast<std::size_t>(thread_ % 32)]
                               [static_cast<std::size_t>(other % 32)])
            return true;
    }
    return known != known_.end() &&
           covers(known->second.threads, static_cast<std::uint32_t>(other), segment);
}

} // namespace cuda_agent::plan::runner::sanit
