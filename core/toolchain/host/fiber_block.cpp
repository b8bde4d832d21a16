// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/host/fiber_block.h"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>
#include <sys/mman.h>

namespace cuda_agent::toolchain::host {

namespace {

constexpr std::size_t stackBytes = 128u << 10;
constexpr std::size_t guardBytes = 4096;
constexpr const char *noStacks = "out of memory for the stacks of the block's threads";

const char *nameOf(int kind) {
    switch (kind) {
    case CUDA_AGENT_HOST_SHFL:
        return "__shfl_sync";
    case CUDA_AGENT_HOST_SHFL_UP:
        return "__shfl_up_sync";
    case CUDA_AGENT_HOST_SHFL_DOWN:
        return "__shfl_down_sync";
    case CUDA_AGENT_HOST_SHFL_XOR:
        return "__shfl_xor_sync";
    case CUDA_AGENT_HOST_SYNCWARP:
        return "__syncwarp";
    case CUDA_AGENT_HOST_BALLOT:
        return "__ballot_sync";
    case CUDA_AGENT_HOST_ANY:
        return "__any_sync";
    case CUDA_AGENT_HOST_ALL:
        return "__all_sync";
    case CUDA_AGENT_HOST_MATCH_ANY:
        return "__match_any_sync";
    case CUDA_AGENT_HOST_MATCH_ALL:
        return "__match_all_sync";
    default:
        return "__reduce_..._sync";
    }
}

const char *barrierName(int kind) {
    switch (kind) {
    case CUDA_AGENT_HOST_SYNC_COUNT:
        return "__syncthreads_count";
    case CUDA_AGENT_HOST_SYNC_AND:
        return "__syncthreads_and";
    case CUDA_AGENT_HOST_SYNC_OR:
        return "__syncthreads_or";
    default:
        return "__syncthreads";
    }
}

std::uint32_t bit(int lane) {
    return 1u << lane;
}

} // namespace

FiberBlock::~FiberBlock() {
    for (char *mapping : stacks_)
        munmap(mapping, stackBytes + guardBytes);
}

char *FiberBlock::takeStack() {
    if (!freeStacks_.empty()) {
        char *top = freeStacks_.back();
        freeStacks_.pop_back();
        return top;
    }
    void *mapping = mmap(nullptr, stackBytes + guardBytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapping == MAP_FAILED)
        return nullptr;
    auto *bottom = static_cast<char *>(mapping);
    // Without the guard (too many mappings on a machine with very many cores) it still works.
    (void)mprotect(bottom, guardBytes, PROT_NONE);
    // Stacks that begin at the same offset in a page would share the same few cache sets.
    const std::size_t stagger = (stacks_.size() * 192) % 4096;
    stacks_.push_back(bottom);
    return bottom + guardBytes + stackBytes - stagger;
}

bool FiberBlock::run(CudaAgentHostBlock &block, CudaAgentHostRunThread thread, void *closure) {
    block_ = &block;
    thread_ = thread;
    closure_ = closure;
    threads_ = static_cast<int>(block.blockDim[0] * block.blockDim[1] * block.blockDim[2]);
    warps_ = (threads_ + 31) / 32;
    finished_ = arrived_ = predicates_ = 0;
    failed_ = false;
    runnableWarps_ = warps_ == 32 ? ~0u : bit(warps_) - 1;
    for (int w = 0; w < warps_; ++w) {
        const int lanes = std::min(32, threads_ - w * 32);
        const std::uint32_t all = lanes == 32 ? ~0u : bit(lanes) - 1;
        warp_[static_cast<std::size_t>(w)] = {.exists = all, .runnable = all};
    }
    current_ = 0;
    warp_[0].started |= 1;
    char *top = takeStack();
    if (!top) {
        problem_ = noStacks;
        block_ = nullptr;
        return false;
    }
    stack_[0] = top;
    switchFiber(&main_, prepareFiber(top, stackBytes - 4096, &fiberMain, this));
    block_ = nullptr;
    if (failed_) {
        // Fibers that are still waiting are dropped where they stand.
        freeStacks_.clear();
        for (std::size_t i = 0; i < stacks_.size(); ++i)
            freeStacks_.push_back(stacks_[i] + guardBytes + stackBytes - (i * 192) % 4096);
    }
    return !failed_;
}

void FiberBlock::fiberMain(void *self) {
    static_cast<FiberBlock *>(self)->threads();
}

/// The life of a fiber: runs a thread and, when it has returned, the next one that has not begun.
void FiberBlock::threads() {
    for (;;) {
        const auto thread = static_cast<std::uint32_t>(current_);
        const auto *dim = block_->blockDim;
        block_->threadIdx[0] = thread % dim[0];
        block_->threadIdx[1] = thread / dim[0] % dim[1];
        block_->threadIdx[2] = thread / (dim[0] * dim[1]);
        thread_(closure_, block_);

        const int self = current_;
        Warp &warp = warp_[static_cast<std::size_t>(self / 32)];
        warp.done |= bit(self % 32);
        clearRunnable(self);
        ++finished_;
        if (passExited()) {
            releaseBarrierIfComplete();
            if (warp.atWarp != 0)
                for (std::uint32_t left = warp.atWarp; left != 0; left &= left - 1)
                    completeWarp(
                        self / 32,
                        warpWait_[static_cast<std::size_t>(self / 32 * 32 + std::countr_zero(left))]
                            .mask);
        }
        char *top = stack_[static_cast<std::size_t>(self)];
        const int after = next();
        FiberPoint unused = nullptr;
        if (after < 0) {
            if (finished_ != threads_)
                fault(stuck());
            freeStacks_.push_back(top);
            switchFiber(&unused, main_);
            std::abort();
        }
        Warp &afterWarp = warp_[static_cast<std::size_t>(after / 32)];
        if (!(afterWarp.started & bit(after % 32))) {
            afterWarp.started |= bit(after % 32);
            stack_[static_cast<std::size_t>(after)] = top;
            current_ = after;
            continue;
        }
        freeStacks_.push_back(top);
        current_ = after;
        switchFiber(&unused, point_[static_cast<std::size_t>(after)]);
        std::abort();
    }
}

/// A runnable thread other than the current one, or -1.
int FiberBlock::next() const {
    const int lane = current_ % 32;
    const int w = current_ / 32;
    const std::uint32_t own = warp_[static_cast<std::size_t>(w)].runnable & ~bit(lane);
    if (own != 0) {
        const std::uint32_t above = own & ~((bit(lane) << 1) - 1) & (lane == 31 ? 0u : ~0u);
        return w * 32 + std::countr_zero(above != 0 ? above : own);
    }
    const std::uint32_t others = runnableWarps_ & ~bit(w);
    if (others == 0)
        return -1;
    const std::uint32_t above = others & ~((bit(w) << 1) - 1) & (w == 31 ? 0u : ~0u);
    const int chosen = std::countr_zero(above != 0 ? above : others);
    return chosen * 32 + std::countr_zero(warp_[static_cast<std::size_t>(chosen)].runnable);
}

void FiberBlock::setRunnable(int warp, std::uint32_t lanes) {
    warp_[static_cast<std::size_t>(warp)].runnable |= lanes;
    if (lanes != 0)
        runnableWarps_ |= bit(warp);
}

void FiberBlock::clearRunnable(int thread) {
    Warp &warp = warp_[static_cast<std::size_t>(thread / 32)];
    warp.runnable &= ~bit(thread % 32);
    if (warp.runnable == 0)
        runnableWarps_ &= ~bit(thread / 32);
}

/// Goes over to `thread` and comes back when this one is resumed.
void FiberBlock::enter(int thread) {
    const int self = current_;
    const std::array<std::uint32_t, 3> index = {block_->threadIdx[0], block_->threadIdx[1],
                                                block_->threadIdx[2]};
    Warp &warp = warp_[static_cast<std::size_t>(thread / 32)];
    if (!(warp.started & bit(thread % 32))) {
        char *top = takeStack();
        if (!top)
            fault(noStacks);
        warp.started |= bit(thread % 32);
        stack_[static_cast<std::size_t>(thread)] = top;
        point_[static_cast<std::size_t>(thread)] =
            prepareFiber(top, stackBytes - 4096, &fiberMain, this);
    }
    current_ = thread;
    switchFiber(&point_[static_cast<std::size_t>(self)], point_[static_cast<std::size_t>(thread)]);
    block_->threadIdx[0] = index[0];
    block_->threadIdx[1] = index[1];
    block_->threadIdx[2] = index[2];
}

void FiberBlock::waitForOthers() {
    clearRunnable(current_);
    const int after = next();
    if (after < 0)
        fault(stuck());
    enter(after);
}

void FiberBlock::pause() {
    const int after = next();
    if (after >= 0)
        enter(after);
}

bool FiberBlock::passExited() const {
    return (block_->launch->flags & CUDA_AGENT_HOST_EXITED_THREADS_PASS) != 0;
}

int FiberBlock::barrier(int kind, int predicate, int line) {
    const int self = current_;
    barrierWait_[static_cast<std::size_t>(self)] = {kind, line};
    warp_[static_cast<std::size_t>(self / 32)].atBarrier |= bit(self % 32);
    predicates_ += predicate != 0;
    ++arrived_;
    if (!releaseBarrierIfComplete())
        waitForOthers();
    switch (kind) {
    case CUDA_AGENT_HOST_SYNC_COUNT:
        return barrierResult_;
    case CUDA_AGENT_HOST_SYNC_AND:
        return barrierResult_ == threads_ - (passExited() ? finished_ : 0);
    case CUDA_AGENT_HOST_SYNC_OR:
        return barrierResult_ != 0;
    default:
        return 0;
    }
}

bool FiberBlock::releaseBarrierIfComplete() {
    if (arrived_ == 0 || arrived_ != threads_ - (passExited() ? finished_ : 0))
        return false;
    releaseBarrier();
    return true;
}

void FiberBlock::releaseBarrier() {
    int first = -1;
    for (int w = 0; w < warps_; ++w) {
        Warp &warp = warp_[static_cast<std::size_t>(w)];
        if (!passExited())
            for (std::uint32_t left = warp.atBarrier; left != 0; left &= left - 1) {
                const int thread = w * 32 + std::countr_zero(left);
                if (first < 0)
                    first = thread;
                else if (barrierWait_[static_cast<std::size_t>(thread)].line !=
                         barrierWait_[static_cast<std::size_t>(first)].line)
                    fault(fmt::format("divergent barrier: {}, but {}; all threads of a block must "
                                      "reach the same barrier",
                                      whereIs(first), whereIs(thread)));
            }
        setRunnable(w, warp.atBarrier);
        warp.atBarrier = 0;
    }
    barrierResult_ = predicates_;
    arrived_ = predicates_ = 0;
}

std::uint64_t FiberBlock::warp(int kind, std::uint32_t mask, std::uint64_t value,
                               std::uint32_t control, int line) {
    const int self = current_;
    const int w = self / 32;
    Warp &own = warp_[static_cast<std::size_t>(w)];
    if (!(mask & bit(self % 32)))
        fault(fmt::format("line {}: {}: the mask 0x{:08x} leaves out the calling lane {}", line,
                          nameOf(kind), mask, self % 32));
    auto &wait = warpWait_[static_cast<std::size_t>(self)];
    wait = {value, 0, mask & own.exists, control, kind, line};
    own.atWarp |= bit(self % 32);
    if (!completeWarp(w, wait.mask))
        waitForOthers();
    return wait.result;
}

/// Releases the lanes of `mask` when all of them wait with this mask.
bool FiberBlock::completeWarp(int w, std::uint32_t mask) {
    Warp &warp = warp_[static_cast<std::size_t>(w)];
    const std::uint32_t needed = passExited() ? mask & ~warp.done : mask;
    if (needed == 0 || (warp.atWarp & needed) != needed)
        return false;
    const auto *waits = &warpWait_[static_cast<std::size_t>(w * 32)];
    const int first = std::countr_zero(needed);
    for (std::uint32_t left = needed; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        if (waits[lane].mask != mask)
            return false;
        if (waits[lane].kind != waits[first].kind)
            fault(fmt::format("divergent warp operation: {}, but {}", whereIs(w * 32 + first),
                              whereIs(w * 32 + lane)));
    }
    computeWarp(w, needed, waits[first].kind);
    warp.atWarp &= ~needed;
    setRunnable(w, needed);
    return true;
}

void FiberBlock::computeWarp(int w, std::uint32_t mask, int kind) {
    auto *waits = &warpWait_[static_cast<std::size_t>(w * 32)];
    const auto each = [&](auto &&body) {
        for (std::uint32_t left = mask; left != 0; left &= left - 1)
            body(std::countr_zero(left));
    };
    const auto everywhere = [&](std::uint64_t result) {
        each([&](int lane) { waits[lane].result = result; });
    };
    const auto fold = [&](auto &&combine) {
        std::uint64_t total = waits[std::countr_zero(mask)].value;
        for (std::uint32_t left = mask & (mask - 1); left != 0; left &= left - 1)
            total = combine(total, waits[std::countr_zero(left)].value);
        everywhere(total);
    };
    const auto asSigned = [](std::uint64_t v) { return static_cast<std::int64_t>(v); };
    switch (kind) {
    case CUDA_AGENT_HOST_SHFL:
    case CUDA_AGENT_HOST_SHFL_UP:
    case CUDA_AGENT_HOST_SHFL_DOWN:
    case CUDA_AGENT_HOST_SHFL_XOR:
        each([&](int lane) {
            const int width = static_cast<int>(waits[lane].control >> 16);
            const int operand = static_cast<int>(waits[lane].control & 0xffff);
            const int begin = lane & ~(width - 1);
            int source = lane;
            if (kind == CUDA_AGENT_HOST_SHFL)
                source = begin + (operand & (width - 1));
            else if (kind == CUDA_AGENT_HOST_SHFL_UP)
                source = lane - operand < begin ? lane : lane - operand;
            else if (kind == CUDA_AGENT_HOST_SHFL_DOWN)
                source = lane + operand >= begin + width ? lane : lane + operand;
            else
                source = (lane ^ operand) >= begin + width ? lane : lane ^ operand;
            // A lane that takes no part has no defined value on a GPU either.
            const bool there = source < 32 && (mask & bit(source));
            waits[lane].result = waits[there ? source : lane].value;
        });
        break;
    case CUDA_AGENT_HOST_BALLOT:
    case CUDA_AGENT_HOST_ANY:
    case CUDA_AGENT_HOST_ALL: {
        std::uint32_t set = 0;
        each([&](int lane) { set |= waits[lane].value != 0 ? bit(lane) : 0; });
        everywhere(kind == CUDA_AGENT_HOST_BALLOT ? set
                   : kind == CUDA_AGENT_HOST_ANY  ? set != 0
                                                  : set == mask);
        break;
    }
    case CUDA_AGENT_HOST_MATCH_ANY:
    case CUDA_AGENT_HOST_MATCH_ALL:
        each([&](int lane) {
            std::uint32_t same = 0;
            each([&](int o) { same |= waits[o].value == waits[lane].value ? bit(o) : 0; });
            waits[lane].result = kind == CUDA_AGENT_HOST_MATCH_ANY || same == mask ? same : 0;
        });
        break;
    case CUDA_AGENT_HOST_ADD:
        fold([](auto a, auto b) { return a + b; });
        break;
    case CUDA_AGENT_HOST_MIN_SIGNED:
        fold([&](auto a, auto b) { return asSigned(a) < asSigned(b) ? a : b; });
        break;
    case CUDA_AGENT_HOST_MAX_SIGNED:
        fold([&](auto a, auto b) { return asSigned(a) > asSigned(b) ? a : b; });
        break;
    case CUDA_AGENT_HOST_MIN_UNSIGNED:
        fold([](auto a, auto b) { return a < b ? a : b; });
        break;
    case CUDA_AGENT_HOST_MAX_UNSIGNED:
        fold([](auto a, auto b) { return a > b ? a : b; });
        break;
    case CUDA_AGENT_HOST_AND:
        fold([](auto a, auto b) { return a & b; });
        break;
    case CUDA_AGENT_HOST_OR:
        fold([](auto a, auto b) { return a | b; });
        break;
    case CUDA_AGENT_HOST_XOR:
        fold([](auto a, auto b) { return a ^ b; });
        break;
    default: // __syncwarp
        break;
    }
}

std::uint32_t FiberBlock::activeMask() const {
    const Warp &warp = warp_[static_cast<std::size_t>(current_ / 32)];
    return warp.exists & ~warp.done;
}

void FiberBlock::fault(std::string problem) {
    failed_ = true;
    problem_ = std::move(problem);
    FiberPoint unused = nullptr;
    switchFiber(&unused, main_);
    std::abort();
}

std::string FiberBlock::position(int thread) const {
    const auto t = static_cast<std::uint32_t>(thread);
    const auto *dim = block_->blockDim;
    return fmt::format("thread ({},{},{})", t % dim[0], t / dim[0] % dim[1], t / (dim[0] * dim[1]));
}

std::string FiberBlock::whereIs(int thread) const {
    const Warp &warp = warp_[static_cast<std::size_t>(thread / 32)];
    const std::uint32_t self = bit(thread % 32);
    const auto &barrier = barrierWait_[static_cast<std::size_t>(thread)];
    const auto &wait = warpWait_[static_cast<std::size_t>(thread)];
    if (warp.done & self)
        return position(thread) + " has returned";
    if (warp.atBarrier & self)
        return fmt::format("{} waits in {} on line {}", position(thread), barrierName(barrier.kind),
                           barrier.line);
    if (warp.atWarp & self)
        return fmt::format("{} waits in {} on line {}", position(thread), nameOf(wait.kind),
                           wait.line);
    return position(thread) + " runs";
}

/// Nobody can go on: says who waits where, and for whom.
std::string FiberBlock::stuck() const {
    const auto *at = block_->blockIdx;
    const std::string where = fmt::format(" (block ({},{},{}))", at[0], at[1], at[2]);
    if (arrived_ > 0) {
        int waiting = -1;
        int missing = -1;
        for (int t = 0; t < threads_; ++t) {
            const bool here = warp_[static_cast<std::size_t>(t / 32)].atBarrier & bit(t % 32);
            if (here && waiting < 0)
                waiting = t;
            if (!here && missing < 0)
                missing = t;
        }
        const auto &wait = barrierWait_[static_cast<std::size_t>(waiting)];
        return fmt::format("line {}: divergent barrier: {} is reached by {} of {} threads of the "
                           "block, while {}{}",
                           wait.line, barrierName(wait.kind), arrived_, threads_, whereIs(missing),
                           where);
    }
    for (int t = 0; t < threads_; ++t) {
        const Warp &warp = warp_[static_cast<std::size_t>(t / 32)];
        if (!(warp.atWarp & bit(t % 32)))
            continue;
        const auto &wait = warpWait_[static_cast<std::size_t>(t)];
        for (std::uint32_t left = wait.mask & ~bit(t % 32); left != 0; left &= left - 1) {
            const int other = t / 32 * 32 + std::countr_zero(left);
            const auto &theirs = warpWait_[static_cast<std::size_t>(other)];
            const bool meets = (warp.atWarp & bit(other % 32)) && theirs.mask == wait.mask;
            if (!meets)
                return fmt::format(
                    "line {}: {} with mask 0x{:08x} waits for lane {} for ever: {}{}", wait.line,
                    nameOf(wait.kind), wait.mask, other % 32, whereIs(other), where);
        }
    }
    return "the block's threads wait for each other for ever" + where;
}

} // namespace cuda_agent::toolchain::host
