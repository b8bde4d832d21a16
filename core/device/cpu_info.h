// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/device/device.h"

namespace cuda_agent::device {

/// The host processor as this process may use it.
Info inspectCpu();
/// What could still be allocated: free memory of the machine or of the control group around this
/// process, whichever is less.
std::uint64_t freeHostBytes();

} // namespace cuda_agent::device
