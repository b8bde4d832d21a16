// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <c10/core/Device.h>

namespace cuda_agent::learn {

/// Where to compute: "cpu", "cuda" or "auto", a GPU where PyTorch can use one. `index`: which.
/// Errors: machine (no such GPU).
Result<c10::Device> deviceNamed(std::string_view name, int index = 0);

/// Gives memory of the GPU that PyTorch keeps for later back to the driver, so that other processes
/// can have it. Waits for what the device does. Nothing on a CPU.
void giveBackMemory(c10::Device device);

} // namespace cuda_agent::learn
