// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/view.h"

namespace cuda_agent::device {

Result<void> checkRange(const Memory &memory, std::uint64_t offset, std::uint64_t bytes) {
    if (!memory)
        return machineError("a device operation was given no memory");
    if (offset > memory.bytes() || bytes > memory.bytes() - offset)
        return machineError("{} bytes at offset {} do not fit into a memory of {} bytes", bytes,
                            offset, memory.bytes());
    return {};
}

Result<void> checkView(const TensorView &view, std::string_view what) {
    const auto &type = view.type;
    if (!view.memory)
        return machineError("{} has no memory", what);
    if (type.strides.size() != type.shape.size())
        return machineError("{} has {} dimensions but {} strides", what, type.shape.size(),
                            type.strides.size());
    // Own arithmetic with overflow checks: sizes may come from a worker.
    std::uint64_t elements = 1;
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < type.shape.size(); ++i) {
        if (type.shape[i] < 0 || type.strides[i] < 0)
            return machineError("{} has a negative size or stride", what);
        const auto size = static_cast<std::uint64_t>(type.shape[i]);
        std::uint64_t step = 0;
        if (__builtin_mul_overflow(elements, size, &elements) || elements > (1ull << 62))
            return machineError("{} has too many elements", what);
        if (size > 0 &&
            (__builtin_mul_overflow(size - 1, static_cast<std::uint64_t>(type.strides[i]), &step) ||
             __builtin_add_overflow(last, step, &last)))
            return machineError("{} reaches too far", what);
    }
    if (elements == 0)
        return checkRange(*view.memory, view.offset, 0);
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(last + 1, sizeOf(type.dtype), &bytes))
        return machineError("{} reaches too far", what);
    if (view.offset % sizeOf(type.dtype) != 0)
        return machineError("{} does not start at a multiple of its element size", what);
    return checkRange(*view.memory, view.offset, bytes);
}

Result<void> checkComparison(const TensorView &candidate, const TensorView &oracle) {
    CUDA_AGENT_TRY(checkView(candidate, "the candidate's output"));
    CUDA_AGENT_TRY(checkView(oracle, "the oracle"));
    if (candidate.type.shape != oracle.type.shape)
        return machineError("the candidate's output and the oracle have different shapes");
    const auto wanted = isFloating(candidate.type.dtype) ? DType::float64 : DType::int64;
    if (oracle.type.dtype != wanted)
        return machineError("the oracle of a {} output must be {}, it is {}",
                            nameOf(candidate.type.dtype), nameOf(wanted),
                            nameOf(oracle.type.dtype));
    if (collapsed(oracle.type).shape.size() > 1)
        return machineError("the oracle must be contiguous");
    return {};
}

Layout collapsed(const TensorType &type) {
    Layout layout;
    for (std::size_t i = 0; i < type.shape.size(); ++i) {
        if (type.shape[i] == 1)
            continue;
        const bool joins =
            !layout.shape.empty() && layout.strides.back() == type.strides[i] * type.shape[i];
        if (joins) {
            layout.shape.back() *= type.shape[i];
            layout.strides.back() = type.strides[i];
        } else {
            layout.shape.push_back(type.shape[i]);
            layout.strides.push_back(type.strides[i]);
        }
    }
    if (layout.shape.empty()) {
        layout.shape.push_back(type.elements());
        layout.strides.push_back(1);
    }
    return layout;
}

} // namespace cuda_agent::device
