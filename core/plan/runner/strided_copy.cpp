// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/runner/strided_copy.h"

#include <cstring>

namespace cuda_agent::plan::runner {

namespace {

template <typename Element>
void copyRow(std::byte *to, std::int64_t toStride, const std::byte *from, std::int64_t fromStride,
             std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        // memcpy: a misaligned view is the very reason for some copies.
        Element value;
        std::memcpy(&value, from + i * fromStride * std::int64_t{sizeof(Element)}, sizeof value);
        std::memcpy(to + i * toStride * std::int64_t{sizeof(Element)}, &value, sizeof value);
    }
}

void copyRow(std::byte *to, std::int64_t toStride, const std::byte *from, std::int64_t fromStride,
             std::int64_t count, std::size_t elementBytes) {
    if (toStride == 1 && fromStride == 1)
        std::memcpy(to, from, static_cast<std::size_t>(count) * elementBytes);
    else if (elementBytes == 8)
        copyRow<std::uint64_t>(to, toStride, from, fromStride, count);
    else if (elementBytes == 4)
        copyRow<std::uint32_t>(to, toStride, from, fromStride, count);
    else if (elementBytes == 2)
        copyRow<std::uint16_t>(to, toStride, from, fromStride, count);
    else
        copyRow<std::uint8_t>(to, toStride, from, fromStride, count);
}

void copyDimension(std::byte *to, const std::byte *from, const CopyShape &copy, std::size_t level,
                   std::size_t elementBytes) {
    if (level + 1 == copy.shape.size())
        return copyRow(to, copy.toStrides[level], from, copy.fromStrides[level], copy.shape[level],
                       elementBytes);
    const auto bytes = static_cast<std::int64_t>(elementBytes);
    for (std::int64_t i = 0; i < copy.shape[level]; ++i)
        copyDimension(to + i * copy.toStrides[level] * bytes,
                      from + i * copy.fromStrides[level] * bytes, copy, level + 1, elementBytes);
}

} // namespace

CopyShape simplified(const Shape &shape, const Shape &toStrides, const Shape &fromStrides) {
    CopyShape result;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] == 1)
            continue;
        const bool joins = !result.shape.empty() &&
                           result.toStrides.back() == shape[d] * toStrides[d] &&
                           result.fromStrides.back() == shape[d] * fromStrides[d];
        if (joins) {
            result.shape.back() *= shape[d];
            result.toStrides.back() = toStrides[d];
            result.fromStrides.back() = fromStrides[d];
        } else {
            result.shape.push_back(shape[d]);
            result.toStrides.push_back(toStrides[d]);
            result.fromStrides.push_back(fromStrides[d]);
        }
    }
    if (result.shape.empty())
        return {{1}, {1}, {1}};
    return result;
}

void stridedCopy(std::byte *to, const Shape &toStrides, const std::byte *from,
                 const Shape &fromStrides, const Shape &shape, std::size_t elementBytes) {
    for (const auto extent : shape) {
        if (extent == 0)
            return;
    }
    copyDimension(to, from, simplified(shape, toStrides, fromStrides), 0, elementBytes);
}

} // namespace cuda_agent::plan::runner
