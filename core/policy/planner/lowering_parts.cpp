// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/lowering.h"

// Operators that put tensors together or take them apart. What is put together is written part by
// part to one buffer; each part fuses with what computes it.

namespace cuda_agent::policy {

namespace {

using Views = std::vector<View>;
using task::Node;

Result<Views> cat(Lowering &l, const Node &node) {
    const Json *list = Lowering::find(node, 0, "tensors");
    if (list == nullptr || !list->is_array())
        return failedError("takes a list of tensors");
    const TensorType &type = node.outputs.at(0);
    const auto dim = static_cast<std::size_t>(dimensionOf(
        static_cast<std::int64_t>(Lowering::number(node, 1, "dim", 0)), type.shape.size()));
    std::vector<View> parts;
    for (const Json &item : *list) {
        if (l.isEmpty(item))
            continue;
        CUDA_AGENT_ASSIGN(part, l.view(item, "tensors"));
        const Shape shape = l.shapeOf(part);
        // PyTorch lets empty vectors be part of any list.
        if (std::find(shape.begin(), shape.end(), 0) == shape.end())
            parts.push_back(part);
    }
    const int buffer = l.bufferOfParts(type.shape, type.dtype);
    std::vector<std::int64_t> offsets(type.shape.size(), 0);
    for (const View &part : parts) {
        l.storePart(part, buffer, offsets);
        offsets[dim] += l.shapeOf(part)[dim];
    }
    return Views{l.loadBuffer(buffer)};
}

/// The border consists of two slabs a dimension: within the input's range in dimensions before it,
/// whole in those after it.
Result<Views> constantPad(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    const std::vector<std::int64_t> pad = Lowering::integers(node, 1, "pad");
    const double value = Lowering::number(node, 2, "value", 0);
    const TensorType &type = node.outputs.at(0);
    const std::size_t rank = type.shape.size();
    std::vector<std::int64_t> before(rank, 0), after(rank, 0);
    for (std::size_t i = 0; i + 1 < pad.size(); i += 2) {
        const std::size_t d = rank - 1 - i / 2;
        before[d] = std::max<std::int64_t>(pad[i], 0);
        after[d] = std::max<std::int64_t>(pad[i + 1], 0);
        const std::int64_t cut = std::max<std::int64_t>(-pad[i], 0);
        x = l.slice(x, static_cast<int>(d), cut, 1, type.shape[d] - before[d] - after[d]);
    }
    const Shape inner = l.shapeOf(x);
    const int buffer = l.bufferOfParts(type.shape, type.dtype);
    const auto slab = [&](std::size_t d, std::int64_t start, std::int64_t extent) {
        if (extent == 0)
            return;
        Shape shape = type.shape;
        std::vector<std::int64_t> offsets(rank, 0);
        for (std::size_t outer = 0; outer < d; ++outer) {
            shape[outer] = inner[outer];
            offsets[outer] = before[outer];
        }
        shape[d] = extent;
        offsets[d] = start;
        l.storePart(l.expand(l.constant(value, type.dtype), shape), buffer, offsets);
    };
    l.storePart(x, buffer, before);
    for (std::size_t d = 0; d < rank; ++d) {
        slab(d, 0, before[d]);
        slab(d, before[d] + inner[d], after[d]);
    }
    return Views{l.loadBuffer(buffer)};
}

Result<Views> flip(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    for (const std::int64_t dim : Lowering::integers(node, 1, "dims")) {
        const int d = dimensionOf(dim, x.dims.size());
        const std::int64_t extent = l.shapeOf(x).at(static_cast<std::size_t>(d));
        if (extent > 1)
            x = l.slice(x, d, extent - 1, -1, extent);
    }
    return Views{x};
}

/// split_with_sizes, split, unbind: slices one after the other, as long as the results are.
Operator pieces(std::size_t dimPosition, bool drop) {
    return [dimPosition, drop](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        const int d =
            dimensionOf(static_cast<std::int64_t>(Lowering::number(node, dimPosition, "dim", 0)),
                        x.dims.size());
        Views views;
        std::int64_t start = 0;
        for (const TensorType &type : node.outputs) {
            const std::int64_t extent = drop ? 1 : type.shape.at(static_cast<std::size_t>(d));
            if (extent == 0)
                return failedError("into an empty piece");
            View piece = l.slice(x, d, start, 1, extent);
            if (drop)
                piece.dims.erase(piece.dims.begin() + d);
            views.push_back(std::move(piece));
            start += extent;
        }
        return views;
    };
}

/// The position along a dimension, for broadcasting against a tensor of that rank.
View positionIn(Lowering &l, const View &x, int dim) {
    View position = l.index(x.dims[dim]);
    position.dims.resize(x.dims.size() - static_cast<std::size_t>(dim));
    return position;
}

/// x with every `step`-th element from `start` on along a dimension from another tensor: of that
/// one the nearest element is read everywhere.
Result<Views> sliceScatter(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    CUDA_AGENT_ASSIGN(source, l.view(node, 1, "src"));
    const TensorType &type = node.outputs.at(0);
    x = l.expand(x, type.shape);
    const int dim =
        dimensionOf(static_cast<int>(Lowering::number(node, 2, "dim", 0)), type.shape.size());
    const std::int64_t extent = type.shape[dim];
    const auto given = Lowering::integers(node, 3, "start"),
               steps = Lowering::integers(node, 5, "step");
    const std::int64_t from = given.empty() ? 0 : given[0], step = steps.empty() ? 1 : steps[0];
    const std::int64_t start = std::clamp(from < 0 ? from + extent : from, std::int64_t{0}, extent);
    const std::int64_t count = l.shapeOf(source)[dim];
    if (count == extent)
        return Views{l.cast(source, type.dtype)};
    const DType whole = DType::int64;
    const auto number = [&](std::int64_t n) { return l.constant(static_cast<double>(n), whole); };
    const View position = positionIn(l, x, dim);
    const View moved = start == 0 ? position : l.apply("sub", {position, number(start)}, whole);
    const View place = step == 1 ? moved : l.apply("idiv", {moved, number(step)}, whole);
    const View last = number(start + step * (count - 1));
    View hit = l.apply("and",
                       {l.apply("ge", {position, number(start)}, DType::boolean),
                        l.apply("le", {position, last}, DType::boolean)},
                       DType::boolean);
    if (step != 1) {
        const View rest = l.apply("imod", {moved, number(step)}, whole);
        hit =
            l.apply("and", {hit, l.apply("eq", {rest, number(0)}, DType::boolean)}, DType::boolean);
    }
    if (l.shapeOf(source)[dim] > 1) {
        const View along{place.value, {place.dims[0]}};
        source = l.pick(source, {dim}, {along}, static_cast<std::size_t>(dim), false);
    }
    return Views{l.apply("where", {hit, l.cast(source, type.dtype), x}, type.dtype)};
}

/// The two dimensions of a diagonal, how far to the right it starts, and down.
struct Diagonal {
    int rows = 0, columns = 1;
    std::int64_t right = 0, down = 0;
};
Diagonal diagonalOf(const Node &node, std::size_t first, std::size_t rank) {
    const auto offset = static_cast<std::int64_t>(Lowering::number(node, first, "offset", 0));
    return {dimensionOf(static_cast<int>(Lowering::number(node, first + 1, "dim1", 0)), rank),
            dimensionOf(static_cast<int>(Lowering::number(node, first + 2, "dim2", 1)), rank),
            std::max<std::int64_t>(offset, 0), std::max<std::int64_t>(-offset, 0)};
}

Result<Views> diagonal(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    const Diagonal which = diagonalOf(node, 1, x.dims.size());
    const std::int64_t count = node.outputs.at(0).shape.back();
    const View along = l.index(count > 1 ? Axes{l.program.axes.add(count)} : Axes{});
    const auto from = [&](std::int64_t start) {
        return l.apply("add", {along, l.constant(static_cast<double>(start), DType::int64)},
                       DType::int64);
    };
    return Views{l.pick(x, {which.rows, which.columns}, {from(which.down), from(which.right)},
                        x.dims.size() - 2, false)};
}

/// x with its diagonal from another tensor, whose last dimension that is.
Result<Views> diagonalScatter(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    CUDA_AGENT_ASSIGN(source, l.view(node, 1, "src"));
    const TensorType &type = node.outputs.at(0);
    x = l.expand(x, type.shape);
    const Diagonal which = diagonalOf(node, 2, type.shape.size());
    const DType whole = DType::int64;
    const auto minus = [&](const View &position, std::int64_t start) {
        return l.apply("sub", {position, l.constant(static_cast<double>(start), whole)}, whole);
    };
    const View row = minus(positionIn(l, x, which.rows), which.down);
    const View column = minus(positionIn(l, x, which.columns), which.right);
    const View inside = l.apply("ge", {row, l.constant(0, whole)}, DType::boolean);
    const View hit =
        l.apply("and", {inside, l.apply("eq", {row, column}, DType::boolean)}, DType::boolean);
    // The diagonal is walked along with the rows; there is one column of it.
    const auto last = static_cast<int>(source.dims.size()) - 1;
    if (l.shapeOf(source)[last] > 1)
        source = l.pick(source, {last}, {View{row.value, {row.dims[0]}}},
                        static_cast<std::size_t>(last), false);
    const Axes along = source.dims[last];
    source.dims.pop_back();
    const bool rowsFirst = which.rows < which.columns;
    const auto put = [&](int at, const Axes &axes) {
        source.dims.insert(source.dims.begin() + at, axes);
    };
    put(std::min(which.rows, which.columns), rowsFirst ? along : Axes{});
    put(std::max(which.rows, which.columns), rowsFirst ? Axes{} : along);
    return Views{l.apply("where", {hit, l.cast(source, type.dtype), x}, type.dtype)};
}

/// Sliding windows along a dimension, their elements last.
Result<Views> unfold(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    const Shape &shape = node.outputs.at(0).shape;
    const int dim =
        dimensionOf(static_cast<int>(Lowering::number(node, 1, "dimension", 0)), x.dims.size());
    Window window;
    window.dim = dim;
    window.outputs = shape.at(static_cast<std::size_t>(dim));
    window.size = shape.back();
    window.stride = static_cast<std::int64_t>(Lowering::number(node, 3, "step", 1));
    int inside = -1;
    return Views{l.windows(x, {window}, &inside)};
}

} // namespace

void addPartOperators(OperatorTable &table) {
    table["aten.cat.default"] = cat;
    table["aten.constant_pad_nd.default"] = constantPad;
    table["aten.flip.default"] = flip;
    table["aten.split_with_sizes.default"] = pieces(2, false);
    table["aten.split_with_sizes_copy.default"] = pieces(2, false);
    table["aten.split.Tensor"] = pieces(2, false);
    table["aten.unbind.int"] = pieces(1, true);
    table["aten.slice_scatter.default"] = sliceScatter;
    table["aten.diagonal.default"] = diagonal;
    table["aten.diagonal_scatter.default"] = diagonalScatter;
    table["aten.unfold.default"] = unfold;
}

} // namespace cuda_agent::policy
