// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

#if !defined(__x86_64__) && !defined(CUDA_AGENT_BOOST_FIBERS)
#define CUDA_AGENT_BOOST_FIBERS
#endif

namespace cuda_agent::toolchain::host {

/// Where a suspended fiber goes on. Lives on its own stack; this is only the way back to it.
using FiberPoint = void *;

/// Prepares the stack that ends at `top` (16-byte aligned) so that the first switch to it calls
/// `entry(argument)`, which must never return.
FiberPoint prepareFiber(char *top, std::size_t bytes, void (*entry)(void *), void *argument);

/// Suspends the running fiber, notes where it goes on in `from` and resumes `to`.
/// Floating-point modes and the signal mask are not kept.
#ifdef CUDA_AGENT_BOOST_FIBERS
void switchFiber(FiberPoint *from, FiberPoint to);
#else
[[gnu::always_inline]] inline void switchFiber(FiberPoint *from, FiberPoint to) {
    // Inline, so that the compiler saves only what the caller still needs, and without a call, so
    // that the processor's predictions of returns stay right. The first instruction steps over the
    // red zone.
    asm volatile("leaq -128(%%rsp), %%rsp\n\t"
                 "pushq %%rbp\n\t"
                 "leaq 1f(%%rip), %%rax\n\t"
                 "pushq %%rax\n\t"
                 "movq %%rsp, (%0)\n\t"
                 "movq %1, %%rsp\n\t"
                 "popq %%rax\n\t"
                 "jmpq *%%rax\n\t"
                 ".p2align 4\n"
                 "1:\n\t"
                 "popq %%rbp\n\t"
                 "leaq 128(%%rsp), %%rsp"
                 : "+D"(from), "+S"(to)
                 :
                 : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
                   "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                   "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
}
#endif

} // namespace cuda_agent::toolchain::host
