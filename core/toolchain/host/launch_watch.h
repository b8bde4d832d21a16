// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolchain/host/abi.h"

namespace cuda_agent::toolchain::host {

// What libcuda-agent-host.so calls around each launch. It looks away (no_watch.cpp); the library
// that stands in its place for checked runs does not (core/plan/runner/sanit_module.cpp).

/// False: this launch, whose shape is possible, is not to run. May change how it runs.
bool watchBegin(const char *file, int line, CudaAgentHostLaunch &launch,
                CudaAgentHostRunChunk chunk);
/// The same launch is over. `problem`: empty where it went well.
void watchEnd(const char *problem);

} // namespace cuda_agent::toolchain::host
