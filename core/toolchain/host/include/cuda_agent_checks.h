// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a checked build (CUDA_AGENT_HOST_CHECKED) tells the process that runs it, beside what the
// compiler's instrumentation does: which CUDA thread runs, and what orders its accesses. The
// functions are those of core/plan/runner/sanit_hooks.cpp.

#ifdef CUDA_AGENT_HOST_CHECKED
extern "C" {
/* A launch begins to run; `anchor` is the library's own thread-local variable. */
void cuda_agent_check_chunk(const CudaAgentHostBlock *block, const void *anchor);
void cuda_agent_check_block(const CudaAgentHostBlock *block);
void cuda_agent_check_thread(const CudaAgentHostBlock *block);
/* The calling thread has passed __syncthreads. */
void cuda_agent_check_barrier(void);
void cuda_agent_check_warp_arrive(uint32_t mask);
void cuda_agent_check_warp_leave(void);
/* The calling thread runs again. */
void cuda_agent_check_resume(void);
}
#define CAH_CHECK(call) cuda_agent_check_##call
#else
#define CAH_CHECK(call) ((void)0)
#endif
