// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/lowering.h"

#include <cmath>

// Operators that put the elements along a dimension in order, or take some by their place in it.

namespace cuda_agent::policy {

Lowering::Ordered Lowering::order(const View &view, int dim, std::int64_t first, std::int64_t count,
                                  bool largest) {
    const Axes along = program.axes.atoms(view.dims[dim]);
    if (along.empty()) // one element
        return {view, expand(constant(0, DType::int64), shapeOf(view))};
    const Axes places = count > 1 ? Axes{program.axes.add(count)} : Axes{};
    std::vector<Axes> dims = view.dims;
    dims[dim] = places;
    const auto ordered = [&](const char *op) {
        const int value = program.order(op, view.value, along, places, largest);
        program.values[value].first = first;
        return View{value, dims};
    };
    return {ordered("sorted"), ordered("argsorted")};
}

namespace {

using Views = std::vector<View>;
using task::Node;

int dimension(const Node &node, std::size_t position, const View &x, int fallback) {
    return dimensionOf(static_cast<std::int64_t>(Lowering::number(node, position, "dim", fallback)),
                       x.dims.size());
}

Views dropped(Views views, int dim, bool keep) {
    for (View &view : views) {
        if (!keep)
            view.dims.erase(view.dims.begin() + dim);
    }
    return views;
}

Result<Views> sort(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    if (x.dims.empty())
        return Views{x, l.constant(0, DType::int64)};
    const int dim = dimension(node, 1, x, -1);
    const bool largest = Lowering::flag(node, 2, "descending", false);
    const auto [values, positions] = l.order(x, dim, 0, l.shapeOf(x)[dim], largest);
    return Views{values, positions};
}

Result<Views> topK(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    if (x.dims.empty())
        return Views{x, l.constant(0, DType::int64)};
    const auto k = static_cast<std::int64_t>(Lowering::number(node, 1, "k", 1));
    const bool largest = Lowering::flag(node, 3, "largest", true);
    const auto [values, positions] = l.order(x, dimension(node, 2, x, -1), 0, k, largest);
    return Views{values, positions};
}

Result<Views> kthValue(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    if (x.dims.empty())
        return Views{x, l.constant(0, DType::int64)};
    const auto k = static_cast<std::int64_t>(Lowering::number(node, 1, "k", 1));
    const int dim = dimension(node, 2, x, -1);
    const auto [values, positions] = l.order(x, dim, k - 1, 1, false);
    return dropped({values, positions}, dim, Lowering::flag(node, 3, "keepdim", false));
}

/// The middle element, of two the smaller one; NaN where the row has one, which is where the first
/// of them is.
Lowering::Ordered median(Lowering &l, const View &x, int dim) {
    const DType type = l.dtypeOf(x);
    auto [values, positions] = l.order(x, dim, (l.shapeOf(x)[dim] - 1) / 2, 1, false);
    if (!isFloating(type))
        return {values, positions};
    const View any =
        l.reduce("any", l.apply("isnan", {x}, DType::boolean), {dim}, true, DType::boolean);
    return {l.apply("where", {any, l.constant(std::nan(""), type), values}, type),
            l.apply("where", {any, l.reduce("argmax", x, {dim}, true, DType::int64), positions},
                    DType::int64)};
}

/// The same of the elements that are not NaN: they come first in order.
Lowering::Ordered medianOfNumbers(Lowering &l, const View &x, int dim) {
    if (!isFloating(l.dtypeOf(x)))
        return median(l, x, dim);
    const DType whole = DType::int64;
    const auto number = [&](double n) { return l.constant(n, whole); };
    const View isNumber =
        l.cast(l.apply("not", {l.apply("isnan", {x}, DType::boolean)}, DType::boolean), whole);
    const View count = l.reduce("sum", isNumber, {dim}, true, whole);
    const View middle =
        l.apply("idiv", {l.apply("sub", {count, number(1)}, whole), number(2)}, whole);
    const auto [values, positions] = l.order(x, dim, 0, l.shapeOf(x)[dim], false);
    return {l.pickAlong(values, dim, middle), l.pickAlong(positions, dim, middle)};
}

Operator middle(bool numbersOnly) {
    return [numbersOnly](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        if (x.dims.empty())
            return Views{x, l.constant(0, DType::int64)};
        const bool all = node.op.ends_with(".default");
        std::int64_t elements = 1;
        for (const std::int64_t extent : l.shapeOf(x))
            elements *= extent;
        const View row = all ? l.reshape(x, {elements}) : x;
        const int dim = all ? 0 : dimension(node, 1, x, 0);
        const auto [values, positions] =
            numbersOnly ? medianOfNumbers(l, row, dim) : median(l, row, dim);
        return dropped({values, positions}, dim, !all && Lowering::flag(node, 2, "keepdim", false));
    };
}

} // namespace

void addOrderOperators(OperatorTable &table) {
    table["aten.sort.default"] = sort;
    table["aten.sort.stable"] = sort;
    table["aten.topk.default"] = topK;
    table["aten.kthvalue.default"] = kthValue;
    for (const char *form : {"dim", "default"}) {
        table[fmt::format("aten.median.{}", form)] = middle(false);
        table[fmt::format("aten.nanmedian.{}", form)] = middle(true);
    }
}

} // namespace cuda_agent::policy
