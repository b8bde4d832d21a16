// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/plan.h"

namespace cuda_agent::learn {

/// The plan for the task's own sizes alone: "in0.shape[1]" is the number that it is, inputs declare
/// their shapes, which are what the plan then requires, so that its other requirements are left
/// out. Shapes of buffers are numbers. A small model copies sizes from its prompt; which dimension
/// of which input a size comes from, and which of them a kernel relies on, it gets wrong.
/// Errors: request (a buffer that the task does not have, or an expression that is none).
Result<Json> withFixedSizes(Json plan, const plan::Signature &signature);

} // namespace cuda_agent::learn
