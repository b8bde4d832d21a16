// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <c10/core/Device.h>

namespace cuda_agent::learn {

/// Gives memory of the GPU that PyTorch keeps for later back to the driver, so that other processes
/// can have it. Waits for what the device does. Nothing on a CPU.
void giveBackMemory(c10::Device device);

} // namespace cuda_agent::learn
