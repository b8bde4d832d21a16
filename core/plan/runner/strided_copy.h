// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/tensor_type.h"

namespace cuda_agent::plan::runner {

/// Copies all elements between two layouts of one shape on the host. `from` and `to` point at
/// element [0, 0, ...]; strides in elements.
void stridedCopy(std::byte *to, const Shape &toStrides, const std::byte *from,
                 const Shape &fromStrides, const Shape &shape, std::size_t elementBytes);

/// Drops dimensions of one element and joins those that lie together in both layouts, so that a
/// copy has as few dimensions as can be.
struct CopyShape {
    Shape shape, toStrides, fromStrides;
};
CopyShape simplified(const Shape &shape, const Shape &toStrides, const Shape &fromStrides);

} // namespace cuda_agent::plan::runner
