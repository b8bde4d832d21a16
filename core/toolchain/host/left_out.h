// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

// Launches that the judge has left out, to see what they are for. The libraries that stand under a
// candidate's launches, libcuda-agent-host.so and libcuda-agent-launches.so, are built with
// left_out.cpp, which has cuda_agent_host_leave_out() and cuda_agent_host_places() of abi.h too.
// Any thread may call.

namespace cuda_agent::toolchain::host {

/// Whether launches are looked at now. Cheap: asked at every launch.
bool leavingOut();
/// Whether the launch at `place` is left out; keeps the place's name while launches are looked at.
bool leavesOut(const std::string &place);

} // namespace cuda_agent::toolchain::host
