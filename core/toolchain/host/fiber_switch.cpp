// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/host/fiber_switch.h"

#if !defined(__x86_64__) && !defined(CUDA_AGENT_BOOST_FIBERS)
#define CUDA_AGENT_BOOST_FIBERS
#endif

#ifdef CUDA_AGENT_BOOST_FIBERS
#include <boost/context/detail/fcontext.hpp>
#endif

namespace cuda_agent::toolchain::host {

#ifndef CUDA_AGENT_BOOST_FIBERS

// The jump at the end is predicted by its address, which is nearly always the same one; a return
// would be mispredicted each time, since it does not belong to the last call.
asm(R"(
.text
.p2align 5
.type cuda_agent_switch_fiber, @function
cuda_agent_switch_fiber:
    popq %rdx
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    pushq %rdx
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %rdx
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    jmpq *%rdx
.size cuda_agent_switch_fiber, .-cuda_agent_switch_fiber
.p2align 4
.type cuda_agent_enter_fiber, @function
cuda_agent_enter_fiber:
    movq %r12, %rdi
    pushq $0
    jmpq *%r13
.size cuda_agent_enter_fiber, .-cuda_agent_enter_fiber
)");
extern "C" {
void cuda_agent_switch_fiber(void **from, void *to);
void cuda_agent_enter_fiber();
}

FiberPoint prepareFiber(char *top, std::size_t, void (*entry)(void *), void *argument) {
    // As switchFiber leaves it: where to go, r15, r14, r13, r12, rbx, rbp. The pops and the one
    // push of entering leave the stack pointer 8 below a multiple of 16, as after a call.
    auto **slots = reinterpret_cast<void **>(top) - 9;
    slots[0] = reinterpret_cast<void *>(&cuda_agent_enter_fiber);
    slots[1] = slots[2] = nullptr;
    slots[3] = reinterpret_cast<void *>(entry);
    slots[4] = argument;
    slots[5] = slots[6] = nullptr;
    return slots;
}

void switchFiber(FiberPoint *from, FiberPoint to) {
    cuda_agent_switch_fiber(from, to);
}

#else

namespace {
struct Start {
    void (*entry)(void *);
    void *argument;
};

void begin(boost::context::detail::transfer_t arrival) {
    const Start start = *static_cast<Start *>(arrival.data);
    arrival = boost::context::detail::jump_fcontext(arrival.fctx, nullptr);
    *static_cast<FiberPoint *>(arrival.data) = arrival.fctx;
    start.entry(start.argument);
}
} // namespace

FiberPoint prepareFiber(char *top, std::size_t bytes, void (*entry)(void *), void *argument) {
    // Goes in once, so that the fiber has its argument before the first real switch.
    Start start{entry, argument};
    auto *fresh = boost::context::detail::make_fcontext(top, bytes, &begin);
    return boost::context::detail::jump_fcontext(fresh, &start).fctx;
}

void switchFiber(FiberPoint *from, FiberPoint to) {
    const auto arrival = boost::context::detail::jump_fcontext(to, from);
    *static_cast<FiberPoint *>(arrival.data) = arrival.fctx;
}

#endif

} // namespace cuda_agent::toolchain::host
