// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What device code asks of its thread and block: index, barriers, warp operations, faults.

extern "C" {
int printf(const char *, ...);
void *malloc(size_t) noexcept;
void free(void *) noexcept;
void *memcpy(void *, const void *, size_t) noexcept;
void *memset(void *, int, size_t) noexcept;
}

/// The same for all launches of a process; a kernel library's is set by the first.
#ifdef CUDA_AGENT_HOST_OBJECT
static const CudaAgentHostRuntime *__cah_runtime = cuda_agent_host_runtime();
#else
static const CudaAgentHostRuntime *__cah_runtime;
#endif

#include "cuda_agent_checks.h"

CAH_FUNCTION uint64_t __cah_warp(int kind, unsigned mask, uint64_t value, unsigned control,
                                 int line) {
    CAH_CHECK(warp_arrive(mask));
    const uint64_t result = __cah_runtime->warp(kind, mask, value, control, line);
    CAH_CHECK(warp_leave());
    return result;
}

struct __cah_any_pointer {
    void *p;
    template <class T>
    CAH_MEMBER operator T *() const {
        return static_cast<T *>(p);
    }
};

/// What device code asks of its thread, in two forms: the parameter `__cah_t` of a kernel's body,
/// whose values are the loop's own, and the object of the same name at namespace scope, which looks
/// the block up for device functions.
template <class Self>
struct __cah_operations {
    template <class T>
    CAH_MEMBER T cah_shuffle(int kind, unsigned mask, T value, int operand, int width,
                             int line) const {
        static_assert(sizeof(T) <= 8, "shuffles take values of at most 8 bytes");
        uint64_t bits = 0;
        __builtin_memcpy(&bits, &value, sizeof(T));
        bits = __cah_warp(kind, mask, bits, unsigned(width) << 16 | (unsigned(operand) & 0xffffu),
                          line);
        __builtin_memcpy(static_cast<void *>(&value), &bits, sizeof(T));
        return value;
    }
    template <class T>
    CAH_MEMBER T cah_shfl(int line, unsigned mask, T value, int lane, int width = 32) const {
        return cah_shuffle(CUDA_AGENT_HOST_SHFL, mask, value, lane, width, line);
    }
    template <class T>
    CAH_MEMBER T cah_shflUp(int line, unsigned mask, T value, unsigned delta,
                            int width = 32) const {
        return cah_shuffle(CUDA_AGENT_HOST_SHFL_UP, mask, value, int(delta), width, line);
    }
    template <class T>
    CAH_MEMBER T cah_shflDown(int line, unsigned mask, T value, unsigned delta,
                              int width = 32) const {
        return cah_shuffle(CUDA_AGENT_HOST_SHFL_DOWN, mask, value, int(delta), width, line);
    }
    template <class T>
    CAH_MEMBER T cah_shflXor(int line, unsigned mask, T value, int lanes, int width = 32) const {
        return cah_shuffle(CUDA_AGENT_HOST_SHFL_XOR, mask, value, lanes, width, line);
    }
    CAH_MEMBER int cah_barrier(int line, int kind, int predicate = 0) const {
        const int result = __cah_runtime->barrier(kind, predicate, line);
        CAH_CHECK(barrier());
        return result;
    }
    CAH_MEMBER unsigned cah_vote(int line, int kind, unsigned mask, bool predicate) const {
        return unsigned(__cah_warp(kind, mask, predicate, 0, line));
    }
    CAH_MEMBER void cah_syncwarp(int line, unsigned mask = 0xffffffffu) const {
        __cah_warp(CUDA_AGENT_HOST_SYNCWARP, mask, 0, 0, line);
    }
    template <class T>
    CAH_MEMBER unsigned cah_match(int line, unsigned mask, T value) const {
        uint64_t bits = 0;
        __builtin_memcpy(&bits, &value, sizeof(T));
        return unsigned(__cah_warp(CUDA_AGENT_HOST_MATCH_ANY, mask, bits, 0, line));
    }
    template <class T>
    CAH_MEMBER unsigned cah_matchAll(int line, unsigned mask, T value, int *all) const {
        uint64_t bits = 0;
        __builtin_memcpy(&bits, &value, sizeof(T));
        const unsigned same = unsigned(__cah_warp(CUDA_AGENT_HOST_MATCH_ALL, mask, bits, 0, line));
        *all = same != 0;
        return same;
    }
    CAH_MEMBER int cah_reduce(int line, int onSigned, int, unsigned mask, int value) const {
        return int(__cah_warp(onSigned, mask, uint64_t(int64_t(value)), 0, line));
    }
    CAH_MEMBER unsigned cah_reduce(int line, int, int onUnsigned, unsigned mask,
                                   unsigned value) const {
        return unsigned(__cah_warp(onUnsigned, mask, value, 0, line));
    }
};

struct __cah_thread : __cah_operations<__cah_thread> {
    uint3 thread, index;
    dim3 size, blocks;
    CudaAgentHostBlock *block;

    CAH_MEMBER uint3 cah_threadIdx() const { return thread; }
    CAH_MEMBER uint3 cah_blockIdx() const { return index; }
    CAH_MEMBER dim3 cah_blockDim() const { return size; }
    CAH_MEMBER dim3 cah_gridDim() const { return blocks; }
    CAH_MEMBER __cah_any_pointer cah_dynamicShared() const { return {block->dynamicShared}; }
    [[noreturn]] void cah_fault(int line, const char *what) const {
        block->threadIdx[0] = thread.x;
        block->threadIdx[1] = thread.y;
        block->threadIdx[2] = thread.z;
        for (int i = 0; i < 3; ++i)
            block->blockIdx[i] = i == 0 ? index.x : i == 1 ? index.y : index.z;
        __cah_runtime->fault(line, what);
        __builtin_unreachable();
    }
};

struct __cah_lookup : __cah_operations<__cah_lookup> {
    static uint3 three(const uint32_t *v) { return {v[0], v[1], v[2]}; }
    uint3 cah_threadIdx() const { return three(__cah_runtime->current()->threadIdx); }
    uint3 cah_blockIdx() const { return three(__cah_runtime->current()->blockIdx); }
    dim3 cah_blockDim() const { return three(__cah_runtime->current()->blockDim); }
    dim3 cah_gridDim() const { return three(__cah_runtime->current()->gridDim); }
    __cah_any_pointer cah_dynamicShared() const {
        return {__cah_runtime->current()->dynamicShared};
    }
    [[noreturn]] void cah_fault(int line, const char *what) const {
        __cah_runtime->fault(line, what);
        __builtin_unreachable();
    }
};
static constexpr __cah_lookup __cah_t{};

/// `extern __shared__ T x[]` at namespace scope.
template <class T>
struct __cah_shared_view {
    operator T *() const { return __cah_t.cah_dynamicShared(); }
};

static constexpr int warpSize = 32;

#define __syncthreads() __cah_t.cah_barrier(__LINE__, CUDA_AGENT_HOST_SYNC)
#define __syncthreads_count(p) __cah_t.cah_barrier(__LINE__, CUDA_AGENT_HOST_SYNC_COUNT, (p) != 0)
#define __syncthreads_and(p) __cah_t.cah_barrier(__LINE__, CUDA_AGENT_HOST_SYNC_AND, (p) != 0)
#define __syncthreads_or(p) __cah_t.cah_barrier(__LINE__, CUDA_AGENT_HOST_SYNC_OR, (p) != 0)
#define __syncwarp(...) __cah_t.cah_syncwarp(__LINE__ __VA_OPT__(, ) __VA_ARGS__)
#define __shfl_sync(...) __cah_t.cah_shfl(__LINE__, __VA_ARGS__)
#define __shfl_up_sync(...) __cah_t.cah_shflUp(__LINE__, __VA_ARGS__)
#define __shfl_down_sync(...) __cah_t.cah_shflDown(__LINE__, __VA_ARGS__)
#define __shfl_xor_sync(...) __cah_t.cah_shflXor(__LINE__, __VA_ARGS__)
#define __ballot_sync(mask, p) __cah_t.cah_vote(__LINE__, CUDA_AGENT_HOST_BALLOT, mask, (p) != 0)
#define __any_sync(mask, p) int(__cah_t.cah_vote(__LINE__, CUDA_AGENT_HOST_ANY, mask, (p) != 0))
#define __all_sync(mask, p) int(__cah_t.cah_vote(__LINE__, CUDA_AGENT_HOST_ALL, mask, (p) != 0))
#define __activemask() __cah_active_mask()
#define __match_any_sync(...) __cah_t.cah_match(__LINE__, __VA_ARGS__)
#define __match_all_sync(...) __cah_t.cah_matchAll(__LINE__, __VA_ARGS__)
#define CAH_REDUCE(onSigned, onUnsigned, ...)                                                      \
    __cah_t.cah_reduce(__LINE__, CUDA_AGENT_HOST_##onSigned, CUDA_AGENT_HOST_##onUnsigned,         \
                       __VA_ARGS__)
#define __reduce_add_sync(...) CAH_REDUCE(ADD, ADD, __VA_ARGS__)
#define __reduce_min_sync(...) CAH_REDUCE(MIN_SIGNED, MIN_UNSIGNED, __VA_ARGS__)
#define __reduce_max_sync(...) CAH_REDUCE(MAX_SIGNED, MAX_UNSIGNED, __VA_ARGS__)
#define __reduce_and_sync(...) CAH_REDUCE(AND, AND, __VA_ARGS__)
#define __reduce_or_sync(...) CAH_REDUCE(OR, OR, __VA_ARGS__)
#define __reduce_xor_sync(...) CAH_REDUCE(XOR, XOR, __VA_ARGS__)

#define __trap() __cah_t.cah_fault(__LINE__, "__trap()")
#define __brkpt() ((void)0)
#undef assert
#ifdef NDEBUG
#define assert(...) ((void)0)
#else
#define assert(...)                                                                                \
    ((__VA_ARGS__) ? (void)0 : __cah_t.cah_fault(__LINE__, "assertion failed: " #__VA_ARGS__))
#endif
#define __nanosleep(ns) __cah_pause(ns)

CAH_FUNCTION unsigned __cah_active_mask() {
    return __cah_runtime->activeMask();
}
CAH_FUNCTION void __cah_pause(unsigned) {
    __cah_runtime->pause();
    CAH_CHECK(resume());
}
CAH_FUNCTION void __threadfence() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
CAH_FUNCTION void __threadfence_block() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
CAH_FUNCTION void __threadfence_system() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

CAH_FUNCTION long long clock64() {
#if defined(__x86_64__)
    return (long long)__builtin_ia32_rdtsc();
#else
    return 0;
#endif
}
CAH_FUNCTION long clock() {
    return (long)clock64();
}

#include "cuda_agent_atomics.h"
