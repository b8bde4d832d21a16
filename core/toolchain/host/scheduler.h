// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolchain/host/abi.h"

namespace cuda_agent::toolchain::host {

/// What kernel libraries call: spreads blocks over a pool of threads that stays for the life of
/// the process, and runs the threads of blocks that synchronise as fibers.
const CudaAgentHostRuntime &hostRuntime();

/// Whether the calling operating-system thread runs a kernel now.
bool insideLaunch();

/// Hardware threads this process may use.
int hardwareThreads();

} // namespace cuda_agent::toolchain::host
