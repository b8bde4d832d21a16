// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/host/fiber_block.h"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>
#include <sys/mman.h>
#include <utility>

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
int warpOf(int thread) {
    return static_cast<int>(static_cast<unsigned>(thread) / 32);
}
int laneOf(int thread) {
    return static_cast<int>(static_cast<unsigned>(thread) % 32);
}
std::size_t at(int index) {
    return static_cast<std::size_t>(index);
}

/// Stacks that began at the same offset in a page would share the same few cache sets.
char *topOf(char *mapping, std::size_t number) {
    return mapping + guardBytes + stackBytes - fiberStackBytes - number * 192 % 4096;
}

} // namespace

FiberBlock::~FiberBlock() {
    for (std::size_t i = 0; i < stacks_.size(); ++i) {
        forgetFrames(stackOf(topOf(stacks_[i], i)));
        munmap(stacks_[i], stackBytes + guardBytes);
    }
}

char *FiberBlock::takeStack() {
    if (!freeStacks_.empty()) {
        char *top = freeStacks_.back();
        freeStacks_.pop_back();
        reuseStack(stackOf(top));
        return top;
    }
    void *mapping = mmap(nullptr, stackBytes + guardBytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapping == MAP_FAILED)
        return nullptr;
    auto *bottom = static_cast<char *>(mapping);
    // Without the guard (too many mappings on a machine with very many cores) it still works.
    (void)mprotect(bottom, guardBytes, PROT_NONE);
    stacks_.push_back(bottom);
    char *top = topOf(bottom, stacks_.size() - 1);
    describeStack(top, bottom + guardBytes);
    return top;
}

bool FiberBlock::run(CudaAgentHostBlock &block, CudaAgentHostRunThread thread, void *closure) {
    block_ = &block;
    thread_ = thread;
    closure_ = closure;
    passExited_ = (block.launch->flags & CUDA_AGENT_HOST_EXITED_THREADS_PASS) != 0;
    const auto *dim = block.blockDim;
    threads_ = static_cast<int>(dim[0] * dim[1] * dim[2]);
    if (indexed_[0] != dim[0] || indexed_[1] != dim[1] || indexed_[2] != dim[2]) {
        indexed_ = {dim[0], dim[1], dim[2]};
        for (std::uint32_t t = 0; t < static_cast<std::uint32_t>(threads_); ++t)
            index_[t] = {t % dim[0], t / dim[0] % dim[1], t / (dim[0] * dim[1])};
    }
    warps_ = (threads_ + 31) / 32;
    finished_ = arrived_ = predicates_ = 0;
    differs_ = -1;
    failed_ = false;
    runnableWarps_ = warps_ == 32 ? ~0u : bit(warps_) - 1;
    for (int w = 0; w < warps_; ++w) {
        const int lanes = std::min(32, threads_ - w * 32);
        const std::uint32_t all = lanes == 32 ? ~0u : bit(lanes) - 1;
        warp_[at(w)] = {.exists = all, .runnable = all};
    }
    std::fill_n(point_.begin(), threads_, nullptr);
    current_ = 0;
    if (FiberPoint first = start(0)) {
        describeOwnStack(mainStack_);
        leaveStack(&mainStack_, stackOf(stack_[0]));
        switchFiber(&main_, first);
        arriveOnStack(mainStack_);
    } else {
        failed_ = true, problem_ = noStacks;
    }
    block_ = nullptr;
    if (failed_) {
        // Fibers that are still waiting are dropped where they stand.
        freeStacks_.clear();
        for (std::size_t i = 0; i < stacks_.size(); ++i) {
            freeStacks_.push_back(topOf(stacks_[i], i));
            forgetFrames(stackOf(freeStacks_.back()));
        }
    }
    return !failed_;
}

/// A fiber for a thread that has not begun, or null when there is no memory for a stack.
FiberPoint FiberBlock::start(int thread) {
    char *top = takeStack();
    if (!top)
        return nullptr;
    stack_[at(thread)] = top;
    return prepareFiber(top, stackBytes - 4096, &fiberMain, this);
}

CUDA_AGENT_NEVER_RETURNS void FiberBlock::fiberMain(void *self) {
    auto *block = static_cast<FiberBlock *>(self);
    arriveOnStack(stackOf(block->stack_[at(block->current_)]));
    block->threads();
}

/// The life of a fiber: runs a thread and, when it has returned, the next one that has not begun.
CUDA_AGENT_NEVER_RETURNS void FiberBlock::threads() {
    for (;;) {
        setIndex();
        thread_(closure_, block_);

        const int self = current_;
        const int w = warpOf(self);
        Warp &warp = warp_[at(w)];
        warp.done |= bit(laneOf(self));
        clearRunnable(self);
        ++finished_;
        if (passExited_) {
            releaseBarrierIfComplete();
            for (std::uint32_t left = warp.atWarp; left != 0; left &= left - 1)
                completeWarp(w, warpWait_[at(w * 32 + std::countr_zero(left))].mask);
        }
        char *top = stack_[at(self)];
        const int after = next();
        if (after < 0) {
            if (finished_ != threads_)
                fault(stuck());
            freeStacks_.push_back(top);
            leaveStack(nullptr, mainStack_);
            switchFiber(&ended_, main_);
            std::abort();
        }
        current_ = after;
        if (!point_[at(after)]) {
            stack_[at(after)] = top;
            point_[at(after)] = top; // begun; the switch away from it will say where
            continue;
        }
        freeStacks_.push_back(top);
        leaveStack(nullptr, stackOf(stack_[at(after)]));
        switchFiber(&ended_, point_[at(after)]);
        std::abort();
    }
}

/// A runnable thread other than the current one, or -1.
inline int FiberBlock::next() const {
    const int lane = laneOf(current_);
    const int w = warpOf(current_);
    const std::uint32_t own = warp_[at(w)].runnable & ~bit(lane);
    if (own != 0) {
        const std::uint32_t above = own & (~1u << lane);
        return w * 32 + std::countr_zero(above != 0 ? above : own);
    }
    const std::uint32_t others = runnableWarps_ & ~bit(w);
    if (others == 0)
        return -1;
    const std::uint32_t above = others & (~1u << w);
    const int chosen = std::countr_zero(above != 0 ? above : others);
    return chosen * 32 + std::countr_zero(warp_[at(chosen)].runnable);
}

inline void FiberBlock::setRunnable(int warp, std::uint32_t lanes) {
    warp_[at(warp)].runnable |= lanes;
    if (lanes != 0)
        runnableWarps_ |= bit(warp);
}

inline void FiberBlock::clearRunnable(int thread) {
    Warp &warp = warp_[at(warpOf(thread))];
    warp.runnable &= ~bit(laneOf(thread));
    if (warp.runnable == 0)
        runnableWarps_ &= ~bit(warpOf(thread));
}

/// Goes over to `thread` and comes back when this one is resumed.
inline void FiberBlock::enter(int thread) {
    const int self = current_;
    FiberPoint there = point_[at(thread)];
    if (!there) [[unlikely]] {
        there = start(thread);
        if (!there)
            fault(noStacks);
    }
    current_ = thread;
    point_[at(thread)] = there;
    leaveStack(&stackOf(stack_[at(self)]), stackOf(stack_[at(thread)]));
    switchFiber(&point_[at(self)], there);
    arriveOnStack(stackOf(stack_[at(self)]));
}

inline void FiberBlock::waitForOthers() {
    clearRunnable(current_);
    const int after = next();
    if (after < 0) [[unlikely]]
        fault(stuck());
    enter(after);
}

void FiberBlock::pause() {
    const int after = next();
    if (after >= 0)
        enter(after);
}

int FiberBlock::barrier(int kind, int predicate, int line) {
    const int self = current_;
    barrierWait_[at(self)] = {kind, line};
    warp_[at(warpOf(self))].atBarrier |= bit(laneOf(self));
    predicates_ += predicate != 0;
    if (arrived_++ == 0)
        firstArrived_ = self;
    else if (barrierWait_[at(firstArrived_)].line != line && differs_ < 0) [[unlikely]]
        differs_ = self;
    if (!releaseBarrierIfComplete())
        waitForOthers();
    switch (kind) {
    case CUDA_AGENT_HOST_SYNC_COUNT:
        return barrierResult_;
    case CUDA_AGENT_HOST_SYNC_AND:
        return barrierResult_ == threads_ - (passExited_ ? finished_ : 0);
    case CUDA_AGENT_HOST_SYNC_OR:
        return barrierResult_ != 0;
    default:
        return 0;
    }
}

inline bool FiberBlock::releaseBarrierIfComplete() {
    if (arrived_ == 0 || arrived_ != threads_ - (passExited_ ? finished_ : 0))
        return false;
    if (differs_ >= 0 && !passExited_)
        fault(divergentBarrier());
    for (int w = 0; w < warps_; ++w) {
        setRunnable(w, warp_[at(w)].atBarrier);
        warp_[at(w)].atBarrier = 0;
    }
    barrierResult_ = predicates_;
    arrived_ = predicates_ = 0;
    differs_ = -1;
    return true;
}

std::uint64_t FiberBlock::warp(int kind, std::uint32_t mask, std::uint64_t value,
                               std::uint32_t control, int line) {
    const int self = current_;
    const int w = warpOf(self);
    Warp &own = warp_[at(w)];
    if (!(mask & bit(laneOf(self)))) [[unlikely]]
        fault(fmt::format("line {}: {}: the mask 0x{:08x} leaves out the calling lane {}", line,
                          nameOf(kind), mask, laneOf(self)));
    mask &= own.exists;
    auto &wait = warpWait_[at(self)];
    wait.value = value;
    wait.mask = mask;
    wait.control = control;
    wait.kind = kind;
    wait.line = line;
    if (own.atWarp == 0) {
        own.mask = mask;
        own.kind = kind;
        own.uniform = true;
    } else if (own.mask != mask || own.kind != kind) {
        own.uniform = false;
    }
    own.atWarp |= bit(laneOf(self));
    if (!completeWarp(w, mask))
        waitForOthers();
    return wait.result;
}

/// Releases the lanes of `mask` when all of them wait with this mask.
inline bool FiberBlock::completeWarp(int w, std::uint32_t mask) {
    Warp &warp = warp_[at(w)];
    const std::uint32_t needed = passExited_ ? mask & ~warp.done : mask;
    if (needed == 0 || (warp.atWarp & needed) != needed)
        return false;
    if (!warp.uniform && !agree(w, needed, mask))
        return false;
    computeWarp(w, needed, warpWait_[at(w * 32 + std::countr_zero(needed))].kind);
    warp.atWarp &= ~needed;
    setRunnable(w, needed);
    return true;
}

/// Whether the lanes in `needed` all wait with that mask. Different operations are a fault.
bool FiberBlock::agree(int w, std::uint32_t needed, std::uint32_t mask) {
    const auto *waits = &warpWait_[at(w * 32)];
    const int first = std::countr_zero(needed);
    for (std::uint32_t left = needed; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        if (waits[lane].mask != mask)
            return false;
        if (waits[lane].kind != waits[first].kind)
            fault(divergentWarp(w * 32 + first, w * 32 + lane));
    }
    return true;
}

/// A lane reads from itself where the source lies outside its group, or takes no part: that has no
/// defined value on a GPU either.
void FiberBlock::shuffle(WarpWait *waits, std::uint32_t mask, int kind) {
    const auto move = [&](auto &&sourceOf) {
        for (std::uint32_t left = mask; left != 0; left &= left - 1) {
            const int lane = std::countr_zero(left);
            const int width = static_cast<int>(waits[lane].control >> 16);
            const int operand = static_cast<int>(waits[lane].control & 0xffff);
            const int source = sourceOf(lane, operand, lane & -width, width);
            const bool there = source < 32 && (mask & bit(source));
            waits[lane].result = waits[there ? source : lane].value;
        }
    };
    if (kind == CUDA_AGENT_HOST_SHFL_XOR)
        move([](int lane, int operand, int begin, int width) {
            // A lower group may be read, a higher one not.
            return (lane ^ operand) >= begin + width ? lane : lane ^ operand;
        });
    else if (kind == CUDA_AGENT_HOST_SHFL_DOWN)
        move([](int lane, int operand, int begin, int width) {
            return lane + operand >= begin + width ? lane : lane + operand;
        });
    else if (kind == CUDA_AGENT_HOST_SHFL_UP)
        move([](int lane, int operand, int begin, int) {
            return lane - operand < begin ? lane : lane - operand;
        });
    else
        move(
            [](int, int operand, int begin, int width) { return begin + (operand & (width - 1)); });
}

void FiberBlock::computeWarp(int w, std::uint32_t mask, int kind) {
    auto *waits = &warpWait_[at(w * 32)];
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
        shuffle(waits, mask, kind);
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
    const Warp &warp = warp_[at(warpOf(current_))];
    return warp.exists & ~warp.done;
}

/// Nothing on the fiber's stack is destroyed afterwards, so the caller holds no other text.
void FiberBlock::fault(std::string problem) {
    failed_ = true;
    problem_ = std::exchange(problem, {});
    leaveStack(&stackOf(stack_[at(current_)]), mainStack_);
    switchFiber(&ended_, main_);
    std::abort();
}

std::string FiberBlock::divergentBarrier() const {
    return fmt::format("line {}: divergent barrier: {}, but {}; all threads of a block must reach "
                       "the same barrier",
                       barrierWait_[at(firstArrived_)].line, whereIs(firstArrived_),
                       whereIs(differs_));
}

std::string FiberBlock::divergentWarp(int thread, int other) const {
    return fmt::format("line {}: divergent warp operation: {}, but {}", warpWait_[at(thread)].line,
                       whereIs(thread), whereIs(other));
}

std::string FiberBlock::position(int thread) const {
    const auto t = static_cast<std::uint32_t>(thread);
    const auto *dim = block_->blockDim;
    return fmt::format("thread ({},{},{})", t % dim[0], t / dim[0] % dim[1], t / (dim[0] * dim[1]));
}

std::string FiberBlock::whereIs(int thread) const {
    const Warp &warp = warp_[at(warpOf(thread))];
    const std::uint32_t self = bit(laneOf(thread));
    const auto &barrier = barrierWait_[at(thread)];
    const auto &wait = warpWait_[at(thread)];
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
    const auto *index = block_->blockIdx;
    const std::string where = fmt::format(" (block ({},{},{}))", index[0], index[1], index[2]);
    if (arrived_ > 0) {
        int waiting = -1;
        int missing = -1;
        for (int t = 0; t < threads_; ++t) {
            const bool here = warp_[at(warpOf(t))].atBarrier & bit(laneOf(t));
            if (here && waiting < 0)
                waiting = t;
            if (!here && missing < 0)
                missing = t;
        }
        const auto &wait = barrierWait_[at(waiting)];
        return fmt::format("line {}: divergent barrier: {} is reached by {} of {} threads of the "
                           "block, while {}{}",
                           wait.line, barrierName(wait.kind), arrived_, threads_, whereIs(missing),
                           where);
    }
    for (int t = 0; t < threads_; ++t) {
        const Warp &warp = warp_[at(warpOf(t))];
        if (!(warp.atWarp & bit(laneOf(t))))
            continue;
        const auto &wait = warpWait_[at(t)];
        for (std::uint32_t left = wait.mask & ~bit(laneOf(t)); left != 0; left &= left - 1) {
            const int other = warpOf(t) * 32 + std::countr_zero(left);
            const auto &theirs = warpWait_[at(other)];
            const bool meets = (warp.atWarp & bit(laneOf(other))) && theirs.mask == wait.mask;
            if (!meets)
                return fmt::format(
                    "line {}: {} with mask 0x{:08x} waits for lane {} for ever: {}{}", wait.line,
                    nameOf(wait.kind), wait.mask, laneOf(other), whereIs(other), where);
        }
    }
    return "the block's threads wait for each other for ever" + where;
}

} // namespace cuda_agent::toolchain::host
