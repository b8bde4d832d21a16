// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// What checked kernels call. clang's instrumentation for ThreadSanitizer gives every load, store
// and atomic operation of a kernel as a call with its address; these functions stand where that
// sanitizer's run time would be. Each must do what it stands for: an atomic operation happens here.

#include "core/plan/runner/sanit_checker.h"

#include <cstdlib>
#include <cstring>

#pragma GCC diagnostic ignored "-Wmissing-declarations"

#define EXPORTED extern "C" __attribute__((visibility("default"), used))
#define CALLER __builtin_return_address(0)

namespace {

using cuda_agent::plan::runner::sanit::Checker;
using cuda_agent::plan::runner::sanit::Use;

constexpr Use reads{.read = true};
constexpr Use writes{.write = true};
constexpr Use updates{.read = true, .write = true};
constexpr Use volatileRead{.read = true, .ordered = true};
constexpr Use volatileWrite{.write = true, .ordered = true};

Checker &checker() {
    static Checker &one = Checker::self();
    return one;
}

} // namespace

// ---- the course of a launch (host/include/cuda_agent_checks.h)

EXPORTED void cuda_agent_check_chunk(const CudaAgentHostBlock *block, const void *anchor) {
    checker().chunk(block, anchor, CALLER);
}
EXPORTED void cuda_agent_check_block(const CudaAgentHostBlock *block) {
    checker().block(block);
}
EXPORTED void cuda_agent_check_thread(const CudaAgentHostBlock *block) {
    checker().thread(block);
}
EXPORTED void cuda_agent_check_barrier() {
    checker().barrier();
}
EXPORTED void cuda_agent_check_warp_arrive(std::uint32_t mask) {
    checker().arriveAtWarp(mask);
}
EXPORTED void cuda_agent_check_warp_leave() {
    checker().leaveWarp();
}
EXPORTED void cuda_agent_check_resume() {
    checker().resume();
}

EXPORTED void __tsan_init() {}
EXPORTED void __tsan_func_entry(void *) {}
EXPORTED void __tsan_func_exit() {}
EXPORTED void __tsan_vptr_update(void **, void *) {}
EXPORTED void __tsan_vptr_read(void **) {}

// ---- loads and stores

#define ACCESS(bytes)                                                                              \
    EXPORTED void __tsan_read##bytes(void *p) {                                                    \
        checker().use(p, bytes, reads, CALLER);                                                    \
    }                                                                                              \
    EXPORTED void __tsan_write##bytes(void *p) {                                                   \
        checker().use(p, bytes, writes, CALLER);                                                   \
    }                                                                                              \
    EXPORTED void __tsan_read_write##bytes(void *p) {                                              \
        checker().use(p, bytes, updates, CALLER);                                                  \
    }                                                                                              \
    EXPORTED void __tsan_unaligned_read##bytes(void *p) {                                          \
        checker().use(p, bytes, reads, CALLER);                                                    \
    }                                                                                              \
    EXPORTED void __tsan_unaligned_write##bytes(void *p) {                                         \
        checker().use(p, bytes, writes, CALLER);                                                   \
    }                                                                                              \
    EXPORTED void __tsan_unaligned_read_write##bytes(void *p) {                                    \
        checker().use(p, bytes, updates, CALLER);                                                  \
    }                                                                                              \
    EXPORTED void __tsan_volatile_read##bytes(void *p) {                                           \
        checker().atomic(p, bytes, volatileRead, __ATOMIC_RELAXED, CALLER);                        \
    }                                                                                              \
    EXPORTED void __tsan_volatile_write##bytes(void *p) {                                          \
        checker().atomic(p, bytes, volatileWrite, __ATOMIC_RELAXED, CALLER);                       \
    }                                                                                              \
    EXPORTED void __tsan_unaligned_volatile_read##bytes(void *p) {                                 \
        checker().use(p, bytes, volatileRead, CALLER);                                             \
    }                                                                                              \
    EXPORTED void __tsan_unaligned_volatile_write##bytes(void *p) {                                \
        checker().use(p, bytes, volatileWrite, CALLER);                                            \
    }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
#undef ACCESS

EXPORTED void __tsan_read_range(void *p, unsigned long bytes) {
    checker().use(p, bytes, reads, CALLER);
}
EXPORTED void __tsan_write_range(void *p, unsigned long bytes) {
    checker().use(p, bytes, writes, CALLER);
}

#define COPY(name, does)                                                                           \
    EXPORTED void *name(void *to, const void *from, std::size_t bytes) {                           \
        checker().copy(to, from, bytes, CALLER);                                                   \
        return does(to, from, bytes);                                                              \
    }
COPY(__tsan_memcpy, std::memmove) // a struct may be copied onto itself
COPY(__tsan_memmove, std::memmove)
COPY(__wrap_memcpy, std::memmove)
COPY(__wrap_memmove, std::memmove)
#undef COPY

EXPORTED void *__tsan_memset(void *to, int value, std::size_t bytes) {
    checker().use(to, bytes, writes, CALLER);
    return std::memset(to, value, bytes);
}
EXPORTED void *__wrap_memset(void *to, int value, std::size_t bytes) {
    checker().use(to, bytes, writes, CALLER);
    return std::memset(to, value, bytes);
}
EXPORTED void *__wrap_malloc(std::size_t bytes) {
    void *memory = std::malloc(bytes);
    checker().allocated(memory, bytes);
    return memory;
}
EXPORTED void __wrap_free(void *memory) {
    checker().freed(memory);
    std::free(memory);
}

// ---- atomic operations. All as strong as can be: one thread runs at a time.

namespace {

template <typename Word>
bool exchangeIfEqual(volatile Word *p, Word *expected, Word wanted, int order, const void *caller) {
    checker().atomic(const_cast<Word *>(p), sizeof(Word), updates, order, caller);
    return __atomic_compare_exchange_n(p, expected, wanted, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

} // namespace

#define FETCH(bits, Word, name)                                                                    \
    EXPORTED Word __tsan_atomic##bits##_fetch_##name(volatile Word *p, Word value, int order) {    \
        checker().atomic(const_cast<Word *>(p), sizeof(Word), updates, order, CALLER);             \
        return __atomic_fetch_##name(p, value, __ATOMIC_SEQ_CST);                                  \
    }
#define ATOMICS(bits, Word)                                                                        \
    EXPORTED Word __tsan_atomic##bits##_load(const volatile Word *p, int order) {                  \
        checker().atomic(const_cast<Word *>(p), sizeof(Word), reads, order, CALLER);               \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                               \
    }                                                                                              \
    EXPORTED void __tsan_atomic##bits##_store(volatile Word *p, Word value, int order) {           \
        checker().atomic(const_cast<Word *>(p), sizeof(Word), writes, order, CALLER);              \
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                              \
    }                                                                                              \
    EXPORTED Word __tsan_atomic##bits##_exchange(volatile Word *p, Word value, int order) {        \
        checker().atomic(const_cast<Word *>(p), sizeof(Word), updates, order, CALLER);             \
        return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);                                    \
    }                                                                                              \
    FETCH(bits, Word, add)                                                                         \
    FETCH(bits, Word, sub)                                                                         \
    FETCH(bits, Word, and)                                                                         \
    FETCH(bits, Word, or)                                                                          \
    FETCH(bits, Word, xor)                                                                         \
    FETCH(bits, Word, nand)                                                                        \
    EXPORTED int __tsan_atomic##bits##_compare_exchange_strong(volatile Word *p, Word *expected,   \
                                                               Word wanted, int order, int) {      \
        return exchangeIfEqual(p, expected, wanted, order, CALLER);                                \
    }                                                                                              \
    EXPORTED int __tsan_atomic##bits##_compare_exchange_weak(volatile Word *p, Word *expected,     \
                                                             Word wanted, int order, int) {        \
        return exchangeIfEqual(p, expected, wanted, order, CALLER);                                \
    }                                                                                              \
    EXPORTED Word __tsan_atomic##bits##_compare_exchange_val(volatile Word *p, Word expected,      \
                                                             Word wanted, int order, int) {        \
        exchangeIfEqual(p, &expected, wanted, order, CALLER);                                      \
        return expected;                                                                           \
    }
ATOMICS(8, std::uint8_t)
ATOMICS(16, std::uint16_t)
ATOMICS(32, std::uint32_t)
ATOMICS(64, std::uint64_t)
#undef ATOMICS
#undef FETCH

EXPORTED void __tsan_atomic_thread_fence(int) {
    checker().fence();
}
EXPORTED void __tsan_atomic_signal_fence(int) {}
