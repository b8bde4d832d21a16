// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolchain/host/abi.h"
#include "core/toolchain/host/fiber_sanitizer.h"
#include "core/toolchain/host/fiber_switch.h"

#include <array>
#include <string>
#include <vector>

namespace cuda_agent::toolchain::host {

inline constexpr int maxBlockThreads = 1024;

/// Runs the CUDA threads of one block as fibers on the calling operating-system thread: one thread
/// runs until it waits at a barrier or a warp operation, then the next goes on, first in the same
/// warp. The last to arrive releases all and continues. Kept by a worker and used for one block
/// after the other; stacks are made when first needed and stay. Not thread-safe.
class FiberBlock {
  public:
    FiberBlock() = default;
    FiberBlock(const FiberBlock &) = delete;
    FiberBlock &operator=(const FiberBlock &) = delete;
    ~FiberBlock();

    /// Runs all threads. Returns false on a fault; its text is then in `problem()`.
    bool run(CudaAgentHostBlock &block, CudaAgentHostRunThread thread, void *closure);
    bool active() const { return block_ != nullptr; }
    const std::string &problem() const { return problem_; }

    // Called by the running CUDA thread.
    int barrier(int kind, int predicate, int line);
    std::uint64_t warp(int kind, std::uint32_t mask, std::uint64_t value, std::uint32_t control,
                       int line);
    std::uint32_t activeMask() const;
    void pause();
    /// Brings the block's threadIdx up to date for the running thread.
    void setIndex() {
        for (std::size_t i = 0; i < 3; ++i)
            block_->threadIdx[i] = index_[static_cast<std::size_t>(current_)][i];
    }
    [[noreturn]] void fault(std::string problem);

  private:
    struct WarpWait {
        std::uint64_t value = 0;
        std::uint64_t result = 0;
        std::uint32_t mask = 0;
        std::uint32_t control = 0;
        int kind = 0;
        int line = 0;
    };
    struct Warp {
        std::uint32_t exists = 0;
        std::uint32_t runnable = 0;
        std::uint32_t done = 0;
        std::uint32_t atBarrier = 0;
        std::uint32_t atWarp = 0;
        // Of the first lane that waits in a warp operation, and whether all that wait agree.
        std::uint32_t mask = 0;
        int kind = 0;
        bool uniform = true;
    };
    struct BarrierWait {
        int kind = 0;
        int line = 0;
    };

    static void fiberMain(void *self);
    [[noreturn]] void threads();
    int next() const;
    void setRunnable(int warp, std::uint32_t lanes);
    void clearRunnable(int thread);
    void enter(int thread);
    void waitForOthers();
    bool releaseBarrierIfComplete();
    bool completeWarp(int warp, std::uint32_t mask);
    bool agree(int warp, std::uint32_t needed, std::uint32_t mask);
    void computeWarp(int warp, std::uint32_t mask, int kind);
    void shuffle(WarpWait *waits, std::uint32_t mask, int kind);
    std::string stuck() const;
    std::string divergentBarrier() const;
    std::string divergentWarp(int thread, int other) const;
    std::string position(int thread) const;
    std::string whereIs(int thread) const;
    char *takeStack();
    FiberPoint start(int thread);

    CudaAgentHostBlock *block_ = nullptr;
    CudaAgentHostRunThread thread_ = nullptr;
    void *closure_ = nullptr;
    int threads_ = 0;
    int finished_ = 0;
    int current_ = 0;
    int warps_ = 0;
    bool passExited_ = false;
    std::uint32_t runnableWarps_ = 0;
    std::array<Warp, maxBlockThreads / 32> warp_{};
    std::array<WarpWait, maxBlockThreads> warpWait_{};
    std::array<BarrierWait, maxBlockThreads> barrierWait_{};
    std::array<FiberPoint, maxBlockThreads> point_{}; ///< null: the thread has not begun
    std::array<char *, maxBlockThreads> stack_{};     ///< the one a started thread is on
    std::array<std::array<std::uint32_t, 3>, maxBlockThreads> index_{}; ///< threadIdx
    std::array<std::uint32_t, 3> indexed_{}; ///< the block size that index_ was made for
    int arrived_ = 0;
    int predicates_ = 0;
    int barrierResult_ = 0;
    int firstArrived_ = 0;
    int differs_ = -1; ///< a thread that came to another line's barrier

    FiberPoint main_ = nullptr;
    FiberPoint ended_ = nullptr; ///< where a fiber stood that nobody resumes
    [[no_unique_address]] FiberStack mainStack_;
    std::vector<char *> stacks_;     ///< all mappings
    std::vector<char *> freeStacks_; ///< tops of stacks nobody is on
    bool failed_ = false;
    std::string problem_;
};

} // namespace cuda_agent::toolchain::host
