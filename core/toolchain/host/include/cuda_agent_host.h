// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Included before every kernel file of a host build: what CUDA C++ means on a CPU. It stands in for
// nvcc's built-in declarations; the rewriter (core/toolchain/host/rewriter.h) has turned kernels
// into functions over a chunk of blocks and appends their entries.
// It includes no standard C++ headers, which would cost more than compiling a kernel does.

#include <stddef.h>
#include <stdint.h>

#include "abi.h"

#define __CUDA_AGENT_HOST__ 1
#define __CUDACC__ 1

#ifdef CUDA_AGENT_HOST_CHECKED
// What happens inside these is reported where they are called, and their own arithmetic is not
// looked at.
#define CAH_FUNCTION                                                                               \
    static inline __attribute__((always_inline, unused, nodebug, no_sanitize("undefined")))
#define CAH_MEMBER __attribute__((always_inline, nodebug, no_sanitize("undefined")))
#else
#define CAH_FUNCTION static inline __attribute__((always_inline, unused))
#define CAH_MEMBER __attribute__((always_inline))
#endif

#if defined(__clang__)
// Internal linkage lets the compiler inline a function into its kernel and drop the original.
#define __device__ __attribute__((internal_linkage))
#define CUDA_AGENT_REASSOCIATE _Pragma("clang fp reassociate(on)")
#define CAH_LAMBDA(capture, parameters) capture parameters __attribute__((always_inline)) mutable
#else
#define __device__
#define CUDA_AGENT_REASSOCIATE
#define CAH_LAMBDA(capture, parameters) capture parameters mutable __attribute__((always_inline))
#endif
#define __host__
#if defined(CUDA_AGENT_HOST_OBJECT) && defined(__clang__)
#define __constant__ __attribute__((internal_linkage)) // each file has its own, as with nvcc
#else
#define __constant__
#endif
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#ifdef CUDA_AGENT_HOST_OBJECT
// The C++ library uses the word itself; the rewriter has put this one in its place.
#define __CAH_NOINLINE __attribute__((noinline))
#else
#define __noinline__ __attribute__((noinline))
#endif
#define __forceinline__ inline __attribute__((always_inline))
#define __inline_hint__ inline
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __attribute__((aligned(bytes)))
// One copy an operating-system thread, which runs one block at a time.
#ifdef CUDA_AGENT_HOST_CHECKED
// So far apart that an index past one array's end does not meet the next.
#define __shared__ static thread_local __attribute__((aligned(65536)))
#else
#define __shared__ static thread_local __attribute__((aligned(16)))
#endif

#include "cuda_agent_types.h"

#include "cuda_agent_math.h"
#include "cuda_agent_special_math.h"

#include "cuda_agent_device.h"

#include "cuda_agent_launch.h"

#ifdef CUDA_AGENT_HOST_OBJECT
#include "cuda_agent_object.h"
#endif

// Last, since the headers above use these words for what they stand for.
#define threadIdx (__cah_t.cah_threadIdx())
#define blockIdx (__cah_t.cah_blockIdx())
#define blockDim (__cah_t.cah_blockDim())
#define gridDim (__cah_t.cah_gridDim())
