// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/program.h"

#include <cstdint>
#include <vector>

namespace cuda_agent::profile {

/// What a step must move and compute as its plan says, without looking at what it does.
struct Counted {
    /// Every buffer that the step names, once, in whole: what one pass over its data moves. A
    /// kernel that uses a part of a buffer moves less, one that comes back to it more.
    std::uint64_t bytes = 0;
    /// 2 m n k a product (and batch item); 2 (output elements) (input channels / groups) (window
    /// elements) a convolution (transposed: input elements and output channels). 0 for kernels,
    /// whose arithmetic no plan tells.
    double operations = 0;
};

/// One entry a step.
std::vector<Counted> countedSteps(const plan::Program &program);

} // namespace cuda_agent::profile
