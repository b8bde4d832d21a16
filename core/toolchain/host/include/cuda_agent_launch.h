// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How kernels run: loops or fibers around the body, and the entries that the runner calls.

/// Calls `body` for each block of the chunk, with its index.
template <class Body>
CAH_FUNCTION void __cah_blocks(const CudaAgentHostChunk &chunk, const Body &body) {
    const uint32_t gx = chunk.block->gridDim[0];
    const uint32_t gy = chunk.block->gridDim[1];
    uint32_t x = uint32_t(chunk.first % gx);
    uint32_t y = uint32_t(chunk.first / gx % gy);
    uint32_t z = uint32_t(chunk.first / gx / gy);
    for (uint64_t i = chunk.first; i < chunk.last; ++i) {
        body(uint3{x, y, z});
        if (++x == gx) {
            x = 0;
            if (++y == gy) {
                y = 0;
                ++z;
            }
        }
    }
}

CAH_FUNCTION dim3 __cah_dim(const uint32_t *v) {
    return dim3(v[0], v[1], v[2]);
}

/// Threads as loops. The body is copied for each thread, as it may change its parameters.
template <bool Context, class Body>
CAH_FUNCTION void __cah_loops(const CudaAgentHostChunk &chunk, const Body &body) {
    CudaAgentHostBlock *const block = chunk.block;
    const dim3 size = __cah_dim(block->blockDim);
    const dim3 grid = __cah_dim(block->gridDim);
    __cah_blocks(
        chunk, [&](uint3 index) __attribute__((always_inline)) {
            if (Context) {
                block->blockIdx[0] = index.x;
                block->blockIdx[1] = index.y;
                block->blockIdx[2] = index.z;
            }
            CAH_CHECK(block(block));
            for (uint32_t z = 0; z < size.z; ++z)
                for (uint32_t y = 0; y < size.y; ++y)
                    for (uint32_t x = 0; x < size.x; ++x) {
                        if (Context) {
                            block->threadIdx[0] = x;
                            block->threadIdx[1] = y;
                            block->threadIdx[2] = z;
                        }
                        CAH_CHECK(thread(block));
                        Body own(body);
                        own(__cah_thread{{}, {x, y, z}, index, size, grid, block});
                    }
        });
}

/// Threads as fibers.
template <class Body>
CAH_FUNCTION void __cah_fibers(const CudaAgentHostChunk &chunk, const Body &body) {
    CudaAgentHostBlock *const block = chunk.block;
    __cah_blocks(chunk, [&](uint3 index) {
        block->blockIdx[0] = index.x;
        block->blockIdx[1] = index.y;
        block->blockIdx[2] = index.z;
        CAH_CHECK(block(block));
        __cah_runtime->runBlock(
            block,
            [](void *closure, CudaAgentHostBlock *b) {
                CAH_CHECK(thread(b));
                Body own(*static_cast<const Body *>(closure));
                own(__cah_thread{{},
                                 {b->threadIdx[0], b->threadIdx[1], b->threadIdx[2]},
                                 {b->blockIdx[0], b->blockIdx[1], b->blockIdx[2]},
                                 __cah_dim(b->blockDim),
                                 __cah_dim(b->gridDim),
                                 b});
            },
            const_cast<void *>(static_cast<const void *>(&body)));
    });
}

// The rewriter puts these around a kernel's body.
#ifdef CUDA_AGENT_HOST_CHECKED // a report names the thread
#define __CAH_NEEDS_CONTEXT true
#define __CAH_OUTSIDE __attribute__((no_sanitize("thread", "undefined")))
#else
#define __CAH_NEEDS_CONTEXT false
#define __CAH_OUTSIDE
#endif
#define __CAH_LOOPS                                                                                \
    __cah_loops<__CAH_NEEDS_CONTEXT>(__cah_chunk, CAH_LAMBDA([=], (const __cah_thread __cah_t)) {
#define __CAH_CONTEXT_LOOPS                                                                        \
    __cah_loops<true>(__cah_chunk, CAH_LAMBDA([=], (const __cah_thread __cah_t)) {
#define __CAH_FIBERS __cah_fibers(__cah_chunk, CAH_LAMBDA([=], (const __cah_thread __cah_t)) {
#define __CAH_END                                                                                  \
    });

// ---- entries

template <class T>
struct __cah_plain {
    using type = T;
};
template <class T>
struct __cah_plain<const T> {
    using type = T;
};

template <class... A>
constexpr int __cah_count(void (*)(const CudaAgentHostChunk &, A...)) {
    return int(sizeof...(A));
}

template <size_t... I>
struct __cah_indices {};
#if defined(__clang__)
template <class, size_t... I>
using __cah_sequence_of = __cah_indices<I...>;
template <size_t N>
using __cah_sequence = __make_integer_seq<__cah_sequence_of, size_t, N>;
#else
template <size_t N>
using __cah_sequence = __cah_indices<__integer_pack(N)...>;
#endif

template <class... A, size_t... I>
CAH_FUNCTION void __cah_call(void (*kernel)(const CudaAgentHostChunk &, A...),
                             const CudaAgentHostChunk &chunk, void **arguments,
                             __cah_indices<I...>) {
    (void)arguments;
    kernel(chunk, *static_cast<typename __cah_plain<A>::type *>(arguments[I])...);
}
template <class... A>
CAH_FUNCTION void __cah_unpack(void (*kernel)(const CudaAgentHostChunk &, A...),
                               const CudaAgentHostChunk &chunk) {
    __cah_call(kernel, chunk, chunk.block->launch->arguments, __cah_sequence<sizeof...(A)>{});
}

CAH_FUNCTION int __cah_start(const CudaAgentHostLaunch *launch, CudaAgentHostRunChunk chunk) {
    __cah_runtime = launch->runtime;
    return launch->runtime->run(launch, chunk);
}

// clang takes the upper half of the vector registers as kept over the call that finds a thread's
// copies of __shared__ variables (LLVM's TLS_addr64 names only the first sixteen). That is so
// except for the first call in a thread, which allocates them all. It is made here, where nothing
// is live.
#if defined(CUDA_AGENT_HOST_CHECKED) && defined(CUDA_AGENT_HOST_OBJECT)
inline thread_local char __cah_copies; // one for all files, by which the checks find the others
#else
static thread_local char __cah_copies;
#endif
__attribute__((noinline, unused)) static void __cah_allocate_shared() {
    __asm__ volatile("" : : "r"(&__cah_copies) : "memory");
}

// Used after the candidate's text: only names that it has no business with.
#define CAH_EXPORT extern "C" __attribute__((__visibility__("default")))
#define __CAH_ENTRY(__cah_name, __cah_kernel)                                                      \
    __CAH_OUTSIDE static void __cah_chunk_##__cah_name(const CudaAgentHostChunk *__cah_chunk) {    \
        __cah_allocate_shared();                                                                   \
        CAH_CHECK(chunk(__cah_chunk->block, &__cah_copies));                                       \
        __cah_unpack(&__cah_kernel, *__cah_chunk);                                                 \
    }                                                                                              \
    CAH_EXPORT int cuda_agent_launch_##__cah_name(const CudaAgentHostLaunch *__cah_launch) {       \
        return __cah_start(__cah_launch, &__cah_chunk_##__cah_name);                               \
    }
#define __CAH_LIBRARY_BEGIN static const CudaAgentHostEntry __cah_entries[] = {
#define __CAH_LIBRARY_ENTRY(__cah_name, __cah_kernel, __cah_engine)                                \
    {#__cah_name, __cah_count(&__cah_kernel), __cah_engine, &cuda_agent_launch_##__cah_name},
#define __CAH_LIBRARY_END(__cah_size)                                                              \
    }                                                                                              \
    ;                                                                                              \
    CAH_EXPORT const CudaAgentHostLibrary cuda_agent_host_library;                                 \
    const CudaAgentHostLibrary cuda_agent_host_library = {CUDA_AGENT_HOST_ABI, __cah_size,         \
                                                          __cah_entries};
