// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent {

/// Element types that cross between task, candidate and judge. JSON uses torch's names
/// ("float32", "bfloat16", "int64", "bool", ...).
enum class DType { float16, bfloat16, float32, float64, int8, uint8, int16, int32, int64, boolean };

std::size_t sizeOf(DType type);
bool isFloating(DType type);
std::string_view nameOf(DType type);
Result<DType> dtypeFromName(std::string_view name);

using Shape = std::vector<std::int64_t>;

/// Element type, shape and strides (in elements) of one tensor.
struct TensorType {
    DType dtype = DType::float32;
    Shape shape;
    Shape strides;

    std::int64_t elements() const;
    /// Bytes from the first to one past the last element that the strides reach.
    std::size_t spanBytes() const;
    bool contiguous() const;
    bool operator==(const TensorType &) const = default;
};

/// With its dimensions in that order, a permutation of them; an empty one leaves them as they are.
TensorType permuted(const TensorType &type, const std::vector<int> &order);
/// The order, outermost first, in which a tensor's dimensions lie row-major and without gaps; empty
/// where that is the order that they have, or where there is none.
std::vector<int> memoryOrderOf(const TensorType &type);

/// Row-major type of that shape.
TensorType contiguousType(DType dtype, Shape shape);
/// Type of that shape whose dimensions lie without gaps in that order, outermost first; an empty
/// one is the order that they have.
TensorType denseType(DType dtype, const Shape &shape, const std::vector<int> &order);
/// Where each dimension stands in an order: that which undoes it.
std::vector<int> inverseOrder(const std::vector<int> &order);

/// {"dtype": "float32", "shape": [..], "strides": [..]}; strides may be absent (contiguous).
Json toJson(const TensorType &type);
Result<TensorType> tensorTypeFromJson(const Json &json, std::string_view what);

} // namespace cuda_agent
