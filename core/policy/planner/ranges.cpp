// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cuda_agent::policy {

namespace {

/// Of arithmetic in floats: what rounding may add.
Range rounded(Range range, DType type) {
    if (isFloating(type)) {
        constexpr double relative = 1e-2; // halves have eleven bits, bfloat16 has eight
        const double slack = (sizeOf(type) < 4 ? relative : 1e-6) *
                             std::max(std::fabs(range.low), std::fabs(range.high));
        range = {range.low - slack, range.high + slack};
    }
    return range;
}

/// Whether a type of whole numbers has them all.
bool holds(DType type, const Range &range) {
    const bool positive = type == DType::uint8;
    const double count = std::exp2(8 * static_cast<double>(sizeOf(type)));
    return range.low >= (positive ? 0 : -count / 2) && range.high < (positive ? count : count / 2);
}

/// Whether it keeps one number on one side of another.
bool bounds(const std::string &op) {
    return op == "imaximum" || op == "iminimum" || op == "clampmin" || op == "clampmax";
}
constexpr Range anything{-std::numeric_limits<double>::infinity(),
                         std::numeric_limits<double>::infinity()};

std::optional<Range> ofTwo(const Value &value, Range a, Range b) {
    const bool divides = a.low >= 0 && b.low == b.high && b.low > 0;
    if (value.op == "add")
        return rounded({a.low + b.low, a.high + b.high}, value.dtype);
    if (value.op == "sub")
        return rounded({a.low - b.high, a.high - b.low}, value.dtype);
    if (value.op == "mul") {
        const auto [low, high] =
            std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
        return rounded({low, high}, value.dtype);
    }
    if (value.op == "idiv" && divides)
        return Range{std::floor(a.low / b.low), std::floor(a.high / b.low)};
    if (value.op == "imod" && divides)
        return Range{0, std::min(a.high, b.low - 1)};
    if (value.op == "imaximum" || value.op == "clampmin")
        return Range{std::max(a.low, b.low), std::max(a.high, b.high)};
    if (value.op == "iminimum" || value.op == "clampmax")
        return Range{std::min(a.low, b.low), std::min(a.high, b.high)};
    if (value.op == "where")
        return Range{std::min(a.low, b.low), std::max(a.high, b.high)};
    return std::nullopt;
}

} // namespace

std::optional<Range> Ranges::of(int id) {
    if (const auto known = known_.find(id); known != known_.end())
        return known->second;
    return known_[id] = compute(program_.values[id]);
}

std::optional<Range> Ranges::compute(const Value &value) {
    if (value.kind == Kind::constant)
        return std::isfinite(value.number) ? std::optional(Range{value.number, value.number})
                                           : std::nullopt;
    if (value.kind == Kind::index) {
        const Axes atoms = program_.axes.atoms(value.axes);
        const auto constant = [&](Axis atom) { return program_.axes.constant(atom); };
        if (sizes_ == Sizes::constant && !std::ranges::all_of(atoms, constant))
            return std::nullopt;
        return Range{0, static_cast<double>(program_.axes.size(atoms) - 1)};
    }
    if (value.kind != Kind::pointwise || value.args.empty())
        return std::nullopt;
    if (value.op == "cast")
        return castOf(value);
    if (value.op == "floor") {
        const auto range = of(value.args[0]);
        return range ? std::optional(Range{std::floor(range->low), std::floor(range->high)})
                     : std::nullopt;
    }
    const std::size_t from = value.op == "where" ? 1 : 0;
    if (value.args.size() != from + 2)
        return std::nullopt;
    auto a = of(value.args[from]), b = of(value.args[from + 1]);
    if (isWhole(value.dtype) && bounds(value.op) && (a || b)) { // whatever the other one is
        a = a.value_or(anything);
        b = b.value_or(anything);
    }
    if (!a || !b)
        return std::nullopt;
    const auto range = ofTwo(value, *a, *b);
    const bool none = range && (std::isnan(range->low) || std::isnan(range->high)); // 0 * infinity
    return none ? std::nullopt : range;
}

std::optional<Range> Ranges::castOf(const Value &value) {
    auto range = of(value.args[0]);
    if (!range || value.dtype == DType::boolean)
        return std::nullopt;
    if (isFloating(value.dtype))
        return rounded(*range, value.dtype);
    if (isFloating(program_.values[value.args[0]].dtype))
        range = {std::trunc(range->low), std::trunc(range->high)};
    return holds(value.dtype, *range) ? range : std::nullopt;
}

} // namespace cuda_agent::policy
