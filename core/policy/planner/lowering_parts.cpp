// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/group.h"
#include "core/policy/planner/lowering.h"

#include <algorithm>

// Operators that put tensors together or take them apart. What reads them computes each element
// from the part that it lies in, under a condition. Parts that results of rows go into are written
// one by one to a buffer, each by the kernel that computes it.

namespace cuda_agent::policy {

namespace {

using Views = std::vector<View>;
using task::Node;

/// Whether neighbours in memory of what x reads lie along one of these dimensions of x, where it is
/// read in another order: each of them then has a place of its own towards the border.
bool runsAlong(const Lowering &l, const View &x, const std::vector<Window> &windows) {
    const Program &program = l.program;
    return std::ranges::any_of(reachableFrom(program, {x.value}), [&](int id) {
        const Value &load = program.values[id];
        if (load.kind != Kind::load || program.buffers[load.buffer].order.empty())
            return false;
        const Axes run = program.axes.atoms(load.dims.back().axes);
        return !run.empty() && std::ranges::any_of(windows, [&](const Window &window) {
            const Axes atoms = program.axes.atoms(x.dims[static_cast<std::size_t>(window.dim)]);
            return std::ranges::find(atoms, run.back()) != atoms.end();
        });
    });
}

/// Whether parts of that dimension lie in runs of some length.
bool inRuns(const Shape &part, std::size_t dim) {
    constexpr std::int64_t run = 32;
    std::int64_t length = 1;
    for (std::size_t d = dim; d < part.size(); ++d)
        length *= part[d];
    return length >= run;
}

/// Whether it takes more operations than a few to compute an element.
bool isLong(const Lowering &l, const View &x) {
    constexpr std::ptrdiff_t few = 4;
    const std::vector<int> all = reachableFrom(l.program, {x.value});
    return std::ranges::count_if(all, [&](int id) {
               const Value &value = l.program.values[id];
               return value.kind == Kind::pointwise && value.op != "cast";
           }) > few;
}

/// Written part by part where a kernel computes whole rows of one, where there is nothing else to
/// do with them than to copy runs of memory, where there are so many that each element would
/// ask for long which one is its own, and where several read what is long to compute.
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
    constexpr std::size_t mostConditions = 4;
    std::vector<std::int64_t> offsets(type.shape.size(), 0);
    const bool copied = l.isResult(node) && std::ranges::all_of(parts, [&](const View &part) {
                            return inRuns(l.shapeOf(part), dim);
                        });
    const auto isLongToCompute = [&](const View &part) { return isLong(l, part); };
    const bool again = l.readersOf(node) > 1 && std::ranges::any_of(parts, isLongToCompute);
    if (copied || again || !l.options().inPlace || parts.size() > mostConditions ||
        std::ranges::any_of(parts, [&](const View &part) { return l.reduces(part); })) {
        const int buffer = l.bufferOfParts(type.shape, type.dtype);
        for (const View &part : parts) {
            l.storePart(part, buffer, offsets);
            offsets[dim] += l.shapeOf(part)[dim];
        }
        return Views{l.loadBuffer(buffer)};
    }
    offsets[dim] = type.shape[dim];
    View result;
    for (std::size_t i = parts.size(); i-- > 0;) {
        offsets[dim] -= l.shapeOf(parts[i])[dim];
        const View rest = result.value < 0 ? l.constant(0, type.dtype) : result;
        result = l.partOf(l.turned(parts[i]), type.shape, offsets, rest, type.dtype);
    }
    return Views{result};
}

/// Of results of rows, which are written to a buffer, the border consists of two slabs a dimension:
/// within the input's range in dimensions before it, whole in those after it.
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
    if (l.options().inPlace && !l.reduces(x))
        return Views{l.partOf(x, type.shape, before, l.constant(value, type.dtype), type.dtype)};
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

/// A dimension that joins several is walked backwards as each of them is: no place of it has to be
/// taken apart.
View turnedAround(Lowering &l, const View &x, int dim) {
    const Axes atoms = l.program.axes.atoms(x.dims[static_cast<std::size_t>(dim)]);
    View apart = x;
    apart.dims.erase(apart.dims.begin() + dim);
    for (std::size_t i = 0; i < atoms.size(); ++i)
        apart.dims.insert(apart.dims.begin() + dim + static_cast<int>(i), Axes{atoms[i]});
    const int end = dim + static_cast<int>(atoms.size());
    for (int d = dim; d < end; ++d)
        if (const auto extent = l.shapeOf(apart)[static_cast<std::size_t>(d)]; extent > 1)
            apart = l.slice(apart, d, extent - 1, -1, extent);
    Axes together;
    for (int d = dim; d < end; ++d)
        together.insert(together.end(), apart.dims[d].begin(), apart.dims[d].end());
    apart.dims.erase(apart.dims.begin() + dim, apart.dims.begin() + end);
    apart.dims.insert(apart.dims.begin() + dim, together);
    return apart;
}

Result<Views> flip(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    for (const std::int64_t dim : Lowering::integers(node, 1, "dims"))
        x = turnedAround(l, x, dimensionOf(dim, x.dims.size()));
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

/// x with every `step`-th element from `start` on along a dimension from another tensor: a part of
/// the result, or with steps in between, of that one the nearest element is read everywhere.
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
    if (step == 1) {
        std::vector<std::int64_t> before(type.shape.size(), 0);
        before[dim] = start;
        return Views{
            l.partOf(l.turned(source), type.shape, before, l.cast(x, type.dtype), type.dtype)};
    }
    const DType whole = DType::int64;
    const auto number = [&](std::int64_t n) { return l.constant(static_cast<double>(n), whole); };
    const View position = positionIn(l, x, dim);
    const View moved = start == 0 ? position : l.apply("sub", {position, number(start)}, whole);
    const View place = l.apply("idiv", {moved, number(step)}, whole);
    const std::int64_t last = start + step * (count - 1);
    std::optional<View> hit;
    const auto demand = [&](const std::string &op, const View &left, std::int64_t bound) {
        const View holds = l.apply(op, {left, number(bound)}, DType::boolean);
        hit = hit ? l.apply("and", {*hit, holds}, DType::boolean) : holds;
    };
    if (start > 0)
        demand("ge", position, start);
    if (last < extent - 1)
        demand("le", position, last);
    demand("eq", l.apply("imod", {moved, number(step)}, whole), 0);
    if (l.shapeOf(source)[dim] > 1) {
        const View along{place.value, {place.dims[0]}};
        source = l.pick(source, {dim}, {along}, static_cast<std::size_t>(dim), false);
    }
    return Views{l.apply("where", {hit.value(), l.cast(source, type.dtype), x}, type.dtype)};
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

View Lowering::partOf(const View &x, const Shape &shape, const std::vector<std::int64_t> &before,
                      const View &otherwise, DType type) {
    const Shape have = shapeOf(x);
    std::vector<Window> list;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (have[d] != shape[d])
            list.push_back({static_cast<int>(d), shape[d], 1, 1, 1, before[d]});
    }
    int inside = -1;
    View moved = windows(runsAlong(*this, x, list) ? turned(x) : x, list, &inside);
    moved.dims.resize(shape.size()); // the one place within each window
    if (inside < 0)
        return cast(moved, type);
    Value &load = program.values[moved.value];
    if (load.kind == Kind::load && load.bordered() && load.args.end()[-2] == inside &&
        load.dtype == type && program.values[otherwise.value].kind == Kind::constant) {
        load.args.back() = otherwise.value; // the load says itself what is elsewhere
        return moved;
    }
    View here{inside, moved.dims};
    // Along the other dimensions the condition is the same everywhere.
    const std::set<Axis> axes = program.axesOf(inside);
    for (Axes &dimension : here.dims)
        if (std::ranges::none_of(program.axes.atoms(dimension),
                                 [&](Axis atom) { return axes.contains(atom); }))
            dimension.clear();
    return apply("where", {here, cast(moved, type), otherwise}, type);
}

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
