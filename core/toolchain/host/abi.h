// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What a compiled kernel library and the process that runs it know of each other. Plain C: this
 * file is included by the engine and, alone, by every kernel library (host/include/).
 * A library exports
 *   int cuda_agent_launch_<entry>(const CudaAgentHostLaunch *launch);   0 done, 1 fault
 *   const CudaAgentHostLibrary cuda_agent_host_library;
 * An object of a module candidate exports its own functions and calls libcuda-agent-host.so.
 */

#ifdef __cplusplus
extern "C" {
#endif

#define CUDA_AGENT_HOST_ABI 1

typedef struct CudaAgentHostRuntime CudaAgentHostRuntime;

/* One launch. `runtime` is filled in by launch.cpp. */
typedef struct CudaAgentHostLaunch {
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t sharedBytes; /* dynamic shared memory */
    int threads;          /* operating-system threads to use; 0: all there are */
    void **arguments;     /* as for cuLaunchKernel: a pointer to each argument's value */
    char *message;        /* receives the fault, zero-terminated */
    size_t messageBytes;
    uint32_t flags; /* CUDA_AGENT_HOST_... */
    const CudaAgentHostRuntime *runtime;
} CudaAgentHostLaunch;

/* Threads that have returned do not count at a barrier (what sm_70 and later do). Without the flag
 * a barrier that some threads of the block never reach is a fault. */
#define CUDA_AGENT_HOST_EXITED_THREADS_PASS 1u

/* What device code sees of the block that runs on this operating-system thread. */
typedef struct CudaAgentHostBlock {
    uint32_t threadIdx[3]; /* of the CUDA thread that runs now */
    uint32_t blockIdx[3];
    uint32_t blockDim[3];
    uint32_t gridDim[3];
    void *dynamicShared;
    const CudaAgentHostLaunch *launch;
} CudaAgentHostBlock;

/* Blocks [first, last) in x-fastest order. `block` belongs to the calling worker. */
typedef struct CudaAgentHostChunk {
    CudaAgentHostBlock *block;
    uint64_t first;
    uint64_t last;
} CudaAgentHostChunk;
typedef void (*CudaAgentHostRunChunk)(const CudaAgentHostChunk *chunk);

/* Runs one CUDA thread; threadIdx is in `block`. */
typedef void (*CudaAgentHostRunThread)(void *closure, CudaAgentHostBlock *block);

enum CudaAgentHostBarrier {
    CUDA_AGENT_HOST_SYNC,
    CUDA_AGENT_HOST_SYNC_COUNT,
    CUDA_AGENT_HOST_SYNC_AND,
    CUDA_AGENT_HOST_SYNC_OR
};

enum CudaAgentHostWarp {
    CUDA_AGENT_HOST_SHFL, /* shuffles; control: width << 16 | lower half of lane, delta or mask */
    CUDA_AGENT_HOST_SHFL_UP,
    CUDA_AGENT_HOST_SHFL_DOWN,
    CUDA_AGENT_HOST_SHFL_XOR,
    CUDA_AGENT_HOST_SYNCWARP,
    CUDA_AGENT_HOST_BALLOT,
    CUDA_AGENT_HOST_ANY,
    CUDA_AGENT_HOST_ALL,
    CUDA_AGENT_HOST_MATCH_ANY,
    CUDA_AGENT_HOST_MATCH_ALL, /* the mask when all values are equal, else 0 */
    CUDA_AGENT_HOST_ADD,
    CUDA_AGENT_HOST_MIN_SIGNED, /* 32-bit values, sign-extended */
    CUDA_AGENT_HOST_MAX_SIGNED,
    CUDA_AGENT_HOST_MIN_UNSIGNED,
    CUDA_AGENT_HOST_MAX_UNSIGNED,
    CUDA_AGENT_HOST_AND,
    CUDA_AGENT_HOST_OR,
    CUDA_AGENT_HOST_XOR
};

struct CudaAgentHostRuntime {
    uint32_t version;
    /* Spreads all blocks of the launch over threads; returns the launch's result. */
    int (*run)(const CudaAgentHostLaunch *launch, CudaAgentHostRunChunk chunk);
    /* Runs all threads of the chunk's current block as fibers. */
    void (*runBlock)(CudaAgentHostBlock *block, CudaAgentHostRunThread thread, void *closure);
    /* The block of the calling operating-system thread. */
    CudaAgentHostBlock *(*current)(void);
    int (*barrier)(int kind, int predicate, int line);
    uint64_t (*warp)(int kind, uint32_t mask, uint64_t value, uint32_t control, int line);
    uint32_t (*activeMask)(void);
    /* Lets the block's other threads go on (__nanosleep). */
    void (*pause)(void);
    /* Ends the launch with a message. Does not return. */
    void (*fault)(int line, const char *what);
};

typedef struct CudaAgentHostEntry {
    const char *name;
    int arguments;
    int fibers; /* 1: the kernel synchronises, its threads run as fibers */
    int (*launch)(const CudaAgentHostLaunch *launch);
} CudaAgentHostEntry;

typedef struct CudaAgentHostLibrary {
    uint32_t version; /* CUDA_AGENT_HOST_ABI */
    uint32_t count;
    const CudaAgentHostEntry *entries;
} CudaAgentHostLibrary;

/* ---- libcuda-agent-host.so, which the objects of module candidates are linked with. Any thread
 * may call. Codes are those of cudaError_t. */

#define CUDA_AGENT_HOST_IMPORT __attribute__((__visibility__("default")))

CUDA_AGENT_HOST_IMPORT const CudaAgentHostRuntime *cuda_agent_host_runtime(void);
/* Runs `chunk` over the launch's grid to its end; fills in message, flags and runtime. The answer
 * is also what cuda_agent_host_last_error() says then. A shape that no GPU takes is an error code
 * without a fault; a kernel's fault is reported as "<file>: line ...". */
CUDA_AGENT_HOST_IMPORT int cuda_agent_host_launch(const char *file, int line,
                                                  CudaAgentHostLaunch *launch,
                                                  CudaAgentHostRunChunk chunk);
/* A launch failed: keeps the first message until it is taken, and sets the error to
 * cudaErrorLaunchFailure. */
CUDA_AGENT_HOST_IMPORT void cuda_agent_host_report(const char *message);
/* Sets the error unless it is 0, and returns it. */
CUDA_AGENT_HOST_IMPORT int cuda_agent_host_set_error(int code);
CUDA_AGENT_HOST_IMPORT int cuda_agent_host_last_error(int clear);
/* 1 and the first fault since the last take, zero-terminated and cut to `bytes`; else 0. */
CUDA_AGENT_HOST_IMPORT int cuda_agent_host_take_fault(char *message, size_t bytes);
/* The process that judges leaves launches out to see what they are for: `place` -1 for all of them,
 * else those of one place (a line that launches), numbered in the order of their first launch
 * since; -2 ends it. */
CUDA_AGENT_HOST_IMPORT void cuda_agent_host_leave_out(int place);
/* The places since the last cuda_agent_host_leave_out(>= -1), a line each, cut to `bytes`; answers
 * how many there are. */
CUDA_AGENT_HOST_IMPORT int cuda_agent_host_places(char *names, size_t bytes);
/* Hardware threads this process may use. */
CUDA_AGENT_HOST_IMPORT int cuda_agent_host_threads(void);

#ifdef __cplusplus
}
#endif
