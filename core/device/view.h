// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/device/device.h"

#include <span>

namespace cuda_agent::device {

/// Errors: machine, naming both, when `[offset, offset + bytes)` does not lie inside `memory`.
Result<void> checkRange(const Memory &memory, std::uint64_t offset, std::uint64_t bytes);

/// Checks that a view is well formed and that every element that its strides reach lies inside its
/// memory. Errors: machine.
Result<void> checkView(const TensorView &view, std::string_view what);

/// Checks the two sides of a comparison: views in range, equal shapes, a contiguous oracle of the
/// element type that belongs to the candidate's. Errors: machine.
Result<void> checkComparison(const TensorView &candidate, const TensorView &oracle);

/// The same elements in the same row-major order with as few dimensions as possible: dimensions of
/// size 1 dropped, neighbours that step as one merged. A contiguous type becomes one dimension.
struct Layout {
    Shape shape;
    Shape strides; ///< in elements
};
Layout collapsed(const TensorType &type);

} // namespace cuda_agent::device
