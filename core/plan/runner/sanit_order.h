// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace cuda_agent::plan::runner::sanit {

inline constexpr int maxThreads = 1024;

/// Which accesses of a launch come before which, whatever order the threads run in. What a CUDA
/// thread does between two places where it may have to wait is a segment; segments are numbered in
/// the order in which they ran, over all launches of the process. Blocks run one after the other.
///
/// Barriers order all threads of a block; warp operations the lanes of their mask; an atomic or
/// volatile read orders its thread after what another thread did before a fence and a write to the
/// same address. Where the rules leave a doubt (the reader without a fence), it counts as ordered.
class Order {
  public:
    void beginLaunch();
    void beginBlock(std::uint64_t block, int threads);
    /// This thread runs from here on.
    void run(int thread);
    /// The same for a thread that goes on after a wait, before passBarrier() or leaveWarp().
    void resumeAs(int thread) { thread_ = thread; }
    /// The running thread has passed a barrier of the whole block.
    void passBarrier();
    void arriveAtWarp(std::uint32_t mask);
    void leaveWarp();
    void fence() { fenced_.set(static_cast<std::size_t>(thread_)); }
    void acquire(std::uintptr_t address);
    /// Has an effect after a fence, or where the operation releases by itself.
    void release(std::uintptr_t address, bool byItself);

    std::uint32_t now() const { return now_; }
    int thread() const { return thread_; }
    /// Whether the segment belongs to the running launch.
    bool isCurrent(std::uint32_t segment) const { return segment >= launchFirst_; }
    bool isOwnBlock(std::uint32_t segment) const { return segment >= blockFirst_; }
    /// Whether all of that segment comes before what the running thread does now.
    bool isBefore(std::uint32_t segment) const {
        if (segment == now_ || segment < launchFirst_)
            return true;
        if (segment >= blockFirst_ && (segment < barrier_ || threadOf(segment) == thread_))
            return true;
        return isBeforeBySomething(segment);
    }
    int threadOf(std::uint32_t segment) const { return threads_[segment - launchFirst_]; }
    std::uint64_t blockOf(std::uint32_t segment) const {
        return blocks_[blockIndex(segment)].block;
    }

  private:
    struct Block {
        std::uint32_t first = 0;
        std::uint64_t block = 0;
    };
    using Last = std::unordered_map<std::uint32_t, std::uint32_t>; ///< last segment that is before
    /// What comes before a thread beside what barriers and its warp say.
    struct Known {
        Last threads; ///< of the running block
        Last blocks;  ///< earlier ones, by their index in blocks_
    };
    struct Released {
        std::uint32_t blockFirst = 0; ///< of the block that `threads` belong to
        Known known;
    };
    struct Warp {
        std::uint32_t blockFirst = 0; ///< of the block that the rest is about
        std::uint32_t waiting = 0;
        std::uint32_t merged = 0;
        std::array<std::uint32_t, 32> mask{};
        std::array<std::array<std::uint32_t, 32>, 32> last{}; ///< [lane][of lane]
    };

    bool isBeforeBySomething(std::uint32_t segment) const;
    std::size_t blockIndex(std::uint32_t segment) const;
    Warp &warp();
    void merge(Warp &warp, std::uint32_t lanes);
    static void merge(Last &into, const Last &from);
    static bool covers(const Last &last, std::uint32_t which, std::uint32_t segment);

    std::uint32_t now_ = 0;
    std::uint32_t launchFirst_ = 1;
    std::uint32_t blockFirst_ = 1;
    std::uint32_t barrier_ = 0; ///< first segment after the block's last barrier
    int thread_ = 0;
    std::vector<std::uint16_t> threads_;              ///< by segment of the launch
    std::vector<Block> blocks_;                       ///< of the launch
    std::array<std::uint32_t, maxThreads> current_{}; ///< last segment of each thread
    std::array<std::uint32_t, maxThreads> passed_{};  ///< barriers
    std::uint32_t barriers_ = 0;
    std::array<Warp, maxThreads / 32> warps_{};
    std::bitset<maxThreads> fenced_;
    std::unordered_map<std::uintptr_t, Released> released_; ///< of the launch
    std::unordered_map<int, Known> known_;                  ///< by thread of the block
    Last blockKnows_;
};

} // namespace cuda_agent::plan::runner::sanit
