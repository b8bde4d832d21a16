// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/lowering.h"

// Operators that carry a result along a dimension: running sums, products and extremes.

namespace cuda_agent::policy {

View Lowering::scan(const std::string &op, const View &view, int dim, DType dtype) {
    View source = view;
    if (program.axes.atoms(source.dims[dim]).size() > 1)
        source = materialise(source);
    const Axes along = program.axes.atoms(source.dims[dim]);
    if (along.empty())
        return cast(source, dtype);
    // Along an expanded dimension every element is the same, yet the sums differ.
    return {program.scan(op, source.value, along, dtype), source.dims};
}

namespace {

using Views = std::vector<View>;
using task::Node;

/// Halves are widened when they are read.
DType wide(DType type) {
    return isFloating(type) && sizeOf(type) < 4 ? DType::float32 : type;
}

int dimension(const Node &node, const View &x) {
    return dimensionOf(static_cast<std::int64_t>(Lowering::number(node, 1, "dim", 0)),
                       x.dims.size());
}

Operator running(std::string op) {
    return [op](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        const DType stored = node.outputs.at(0).dtype;
        const DType type = isFloating(stored) ? wide(stored) : DType::int64;
        const View cast = l.cast(x, type);
        return Views{x.dims.empty() ? cast : l.scan(op, cast, dimension(node, x), type)};
    };
}

/// cummax and cummin: the extremes, and the last place up to here where one is. That is the largest
/// position up to here of an element which is the extreme so far; NaN is, from the first one on.
Operator runningExtreme(std::string op) {
    return [op](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        const DType type = wide(node.outputs.at(0).dtype);
        if (x.dims.empty())
            return Views{x, l.constant(0, DType::int64)};
        const int dim = dimension(node, x);
        const View values = l.cast(x, type);
        const View extremes = l.scan(op, values, dim, type);
        if (x.dims[dim].empty())
            return Views{extremes, l.constant(0, DType::int64)};
        View hit = l.apply("eq", {values, extremes}, DType::boolean);
        if (isFloating(type))
            hit = l.apply("or", {hit, l.apply("isnan", {values}, DType::boolean)}, DType::boolean);
        View position = l.index(x.dims[dim]);
        position.dims.resize(x.dims.size() - static_cast<std::size_t>(dim));
        const View place =
            l.apply("where", {hit, position, l.constant(0, DType::int64)}, DType::int64);
        return Views{extremes, l.scan("max", place, dim, DType::int64)};
    };
}

} // namespace

void addScanOperators(OperatorTable &table) {
    table["aten.cumsum.default"] = running("sum");
    table["aten.cumprod.default"] = running("prod");
    table["aten.logcumsumexp.default"] = running("logaddexp");
    table["aten.cummax.default"] = runningExtreme("max");
    table["aten.cummin.default"] = runningExtreme("min");
}

} // namespace cuda_agent::policy
