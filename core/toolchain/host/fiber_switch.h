// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace cuda_agent::toolchain::host {

/// Where a suspended fiber goes on. Lives on its own stack; this is only the way back to it.
using FiberPoint = void *;

/// Prepares the stack that ends at `top` (16-byte aligned) so that the first switch to it calls
/// `entry(argument)`, which must never return.
FiberPoint prepareFiber(char *top, std::size_t bytes, void (*entry)(void *), void *argument);

/// Suspends the running fiber, notes where it goes on in `from` and resumes `to`.
/// A few nanoseconds; keeps callee-saved registers only, no floating-point modes, no signal mask.
void switchFiber(FiberPoint *from, FiberPoint to);

} // namespace cuda_agent::toolchain::host
