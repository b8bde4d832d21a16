// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sandbox/sandbox.h"
#include "core/tools/toolbox.h"

namespace cuda_agent::tools {

/// The sandbox in which programs see the workspace: /workspace (writable or not), its protected
/// files read-only, every skill below /skills, no network, no GPU.
sandbox::Policy workspacePolicy(const Workspace &workspace, bool writable,
                                std::chrono::milliseconds wall);

} // namespace cuda_agent::tools
