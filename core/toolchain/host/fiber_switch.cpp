// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/host/fiber_switch.h"

#ifdef CUDA_AGENT_BOOST_FIBERS
#include <boost/context/detail/fcontext.hpp>
#endif

namespace cuda_agent::toolchain::host {

#ifndef CUDA_AGENT_BOOST_FIBERS

// The first thing that a fiber runs: takes its argument and function off its stack.
asm(R"(
.text
.p2align 4
.type cuda_agent_enter_fiber, @function
cuda_agent_enter_fiber:
    popq %rdi
    popq %rax
    pushq $0
    jmpq *%rax
.size cuda_agent_enter_fiber, .-cuda_agent_enter_fiber
)");
extern "C" void cuda_agent_enter_fiber();

FiberPoint prepareFiber(char *top, std::size_t, void (*entry)(void *), void *argument) {
    // Left after the pops and the push of entering: 8 below a multiple of 16, as after a call.
    auto **slots = reinterpret_cast<void **>(top) - 5;
    slots[0] = reinterpret_cast<void *>(&cuda_agent_enter_fiber);
    slots[1] = argument;
    slots[2] = reinterpret_cast<void *>(entry);
    slots[3] = slots[4] = nullptr;
    return slots;
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
