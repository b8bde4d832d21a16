// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

namespace cuda_agent::reward {

/// Milestones of the published system: -1 wrong; 1 correct; 2 also more than 5 % faster than
/// eager; 3 also more than 5 % faster than torch.compile. Times in seconds (medians).
int milestone(bool correct, double candidate, std::optional<double> eager,
              std::optional<double> compile);

} // namespace cuda_agent::reward
