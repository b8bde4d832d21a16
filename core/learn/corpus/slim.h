// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"
#include "core/device/device.h"

#include <string>

namespace cuda_agent::learn {

/// The planner's CUDA C++ with as little as computes the same on that kind of device, for models
/// whose context is short: no comments, no code for the other kind, no definitions that nothing
/// reads, no line end behind the last line. Understands the planner's way of writing, not CUDA C++
/// at large. Pure.
std::string slimKernels(const std::string &text, device::Kind kind);

/// The planner's plan without its name, with sizes of 1 left out where they go without saying, its
/// kernels in `file`.
Json slimPlan(Json plan, const std::string &file);

} // namespace cuda_agent::learn
