// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/lowering.h"

// Operators that read at positions which are computed or given. What is read there is computed
// there: the picked axis of an expression gives way to the position, in all that it consists of.
// PyTorch raises an error where a position lies outside; kernels stay inside by taking the border.

namespace cuda_agent::policy {

void Lowering::pickTargets(const Axes &dimension, int position, Targets &fresh) {
    const Axes atoms = program.axes.atoms(dimension);
    const DType type = program.values[position].dtype;
    std::int64_t below = 1;
    for (std::size_t i = atoms.size(); i-- > 0;) {
        int own = position;
        const auto number = [&](std::int64_t n) {
            return program.constant(static_cast<double>(n), type);
        };
        if (below > 1)
            own = program.pointwise("idiv", {own, number(below)}, type);
        if (i > 0)
            own = program.pointwise("imod", {own, number(program.axes.size(atoms[i]))}, type);
        fresh[atoms[i]].pick = own;
        below *= program.axes.size(atoms[i]);
    }
}

int Lowering::movedIndex(const Value &index, const Targets &fresh) {
    const Axes atoms = program.axes.atoms(index.axes);
    const auto number = [&](std::int64_t n) {
        return program.constant(static_cast<double>(n), index.dtype);
    };
    const auto times = [&](int value, std::int64_t factor) {
        return factor == 1 ? value : program.pointwise("mul", {value, number(factor)}, index.dtype);
    };
    const auto plus = [&](int sum, int term) {
        return sum < 0 ? term : program.pointwise("add", {sum, term}, index.dtype);
    };
    const auto within = [&](const Axes &axes) {
        Value place = index;
        place.axes = axes;
        return program.add(std::move(place));
    };
    int sum = -1;
    std::int64_t below = 1;
    for (std::size_t i = atoms.size(); i-- > 0;) {
        const auto found = fresh.find(atoms[i]);
        int term = -1;
        if (found == fresh.end()) {
            term = within({atoms[i]});
        } else {
            const Target &own = found->second;
            if (own.pick >= 0)
                term = program.pointwise("cast", {own.pick}, index.dtype);
            if (!own.axes.empty())
                term = plus(term, times(within(own.axes), own.step));
            if (!own.window.empty())
                term = plus(term, times(within(own.window), own.windowStep));
            if (own.offset != 0 || term < 0)
                term = plus(term, number(own.offset));
        }
        sum = plus(sum, times(term, below));
        below *= program.axes.size(atoms[i]);
    }
    return sum;
}

View Lowering::pick(const View &view, const std::vector<int> &dims,
                    const std::vector<View> &positions, std::size_t at, bool fromEnd) {
    // Worth it where most of the elements are read.
    std::int64_t have = 1, picked = 1;
    for (const int d : dims)
        have *= shapeOf(view)[d];
    for (const View &place : positions) {
        for (const std::int64_t size : shapeOf(place))
            picked *= size;
    }
    View source = 2 * picked >= have ? turned(view) : view;
    for (;;) {
        std::set<Axis> others;
        for (std::size_t d = 0; d < source.dims.size(); ++d) {
            if (std::find(dims.begin(), dims.end(), static_cast<int>(d)) != dims.end())
                require(source.dims[d]);
            else
                for (const Axis atom : program.axes.atoms(source.dims[d]))
                    others.insert(atom);
        }
        // What is picked by a result of the tensor itself has axes of its own.
        std::vector<View> places = positions;
        for (View &place : places) {
            const std::set<Axis> axes = program.axesOf(place.value);
            if (std::any_of(axes.begin(), axes.end(), [&](Axis a) { return others.contains(a); }))
                place = refreshed(place);
        }
        const std::vector<Axes> common = broadcast(places);
        const Shape shape = shapeOf(source);
        Targets fresh;
        for (std::size_t k = 0; k < dims.size(); ++k)
            pickTargets(source.dims[dims[k]], within(places[k].value, shape[dims[k]], fromEnd),
                        fresh);
        View result;
        if (cloneWith(source, fresh, result)) {
            std::vector<Axes> kept;
            for (std::size_t d = 0; d < result.dims.size(); ++d) {
                if (std::find(dims.begin(), dims.end(), static_cast<int>(d)) == dims.end())
                    kept.push_back(result.dims[d]);
            }
            kept.insert(kept.begin() + static_cast<std::ptrdiff_t>(at), common.begin(),
                        common.end());
            return {result.value, kept};
        }
        source = materialise(source); // results of reductions are read back from memory
    }
}

View Lowering::pickAlong(const View &view, int dim, const View &positions) {
    View source = view;
    const Shape wanted = shapeOf(positions);
    for (std::size_t d = 0; d < wanted.size(); ++d) {
        if (static_cast<int>(d) != dim)
            source = slice(source, static_cast<int>(d), 0, 1, wanted[d]);
    }
    for (;;) {
        require(source.dims[dim]);
        const Axes along = source.dims[dim];
        View others = source;
        others.dims[dim] = {};
        std::vector<View> operands{others, positions};
        const std::vector<Axes> common = broadcast(operands); // the first one stays as it is
        Targets fresh;
        pickTargets(along, within(operands[1].value, shapeOf(source)[dim], false), fresh);
        View result;
        if (cloneWith(source, fresh, result))
            return {result.value, common};
        source = materialise(source);
    }
}

Result<View> positionsOf(Lowering &l, const View &index) {
    const DType type = l.dtypeOf(index);
    if (type == DType::int64 || type == DType::int32)
        return index;
    return failedError("with an index of {}; int64 and int32 can be done", nameOf(type));
}

Result<Indices> indicesOf(Lowering &l, const task::Node &node) {
    const Json *list = Lowering::find(node, 1, "indices");
    if (list == nullptr || !list->is_array())
        return failedError("takes a list of indices");
    Indices by;
    for (std::size_t d = 0; d < list->size(); ++d) {
        if ((*list)[d].is_null())
            continue;
        CUDA_AGENT_ASSIGN(index, l.view((*list)[d], "index"));
        CUDA_AGENT_ASSIGN(positions, positionsOf(l, index));
        by.dims.push_back(static_cast<int>(d));
        by.positions.push_back(positions);
    }
    const bool together = !by.dims.empty() &&
                          by.dims.back() - by.dims.front() + 1 == static_cast<int>(by.dims.size());
    by.at = together ? static_cast<std::size_t>(by.dims.front()) : 0;
    return by;
}

namespace {

using Views = std::vector<View>;
using task::Node;

Result<Views> embedding(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(weight, l.view(node, 0, "weight"));
    CUDA_AGENT_ASSIGN(index, l.view(node, 1, "indices"));
    CUDA_AGENT_ASSIGN(positions, positionsOf(l, index));
    return Views{l.pick(weight, {0}, {positions}, 0, false)};
}

/// Bags of one size: the offsets are its multiples. "sum", "mean" or "max" over the rows of a bag.
Result<Views> embeddingBag(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(weight, l.view(node, 0, "weight"));
    CUDA_AGENT_ASSIGN(index, l.view(node, 1, "indices"));
    CUDA_AGENT_ASSIGN(offsets, l.view(node, 2, "offsets"));
    const std::int64_t bags = node.outputs.at(0).shape.at(0);
    const std::int64_t all = l.shapeOf(index).at(0);
    const Value &offset = l.program.values[offsets.value];
    const auto is = [&](int value, Kind kind) { return l.program.values[value].kind == kind; };
    const bool multiples = offset.op == "mul" && is(offset.args[0], Kind::index) &&
                           is(offset.args[1], Kind::constant) &&
                           l.program.values[offset.args[1]].number * static_cast<double>(bags) ==
                               static_cast<double>(all);
    const bool positions = offset.kind == Kind::index && bags == all;
    const bool one = bags == 1 && offset.kind == Kind::constant && offset.number == 0;
    if (!multiples && !positions && !one)
        return failedError("of bags that differ in size");
    if (l.given(node, 6, "per_sample_weights") || Lowering::number(node, 8, "padding_idx", -1) >= 0)
        return failedError("with weights for samples or a padding index");
    CUDA_AGENT_ASSIGN(places, positionsOf(l, index));
    const View rows = l.pick(weight, {0}, {l.reshape(places, {bags, all / bags})}, 0, false);
    const DType stored = l.dtypeOf(weight);
    const View wide = l.cast(rows, sizeOf(stored) < 4 ? DType::float32 : stored);
    const int mode = static_cast<int>(Lowering::number(node, 4, "mode", 0));
    if (mode == 1)
        return Views{l.mean(wide, {1}, false)};
    return Views{l.reduce(mode == 2 ? "max" : "sum", wide, {1}, false, l.dtypeOf(wide))};
}

Result<Views> indexSelect(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    CUDA_AGENT_ASSIGN(index, l.view(node, 2, "index"));
    CUDA_AGENT_ASSIGN(positions, positionsOf(l, index));
    if (x.dims.empty())
        return Views{x};
    const int dim =
        dimensionOf(static_cast<int>(Lowering::number(node, 1, "dim", 0)), x.dims.size());
    if (positions.dims.empty())
        positions.dims.emplace_back();
    return Views{l.pick(x, {dim}, {positions}, static_cast<std::size_t>(dim), false)};
}

/// x[i, :, j].
Result<Views> indexTensor(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    CUDA_AGENT_ASSIGN(by, indicesOf(l, node));
    if (by.dims.empty())
        return Views{x};
    return Views{l.pick(x, by.dims, by.positions, by.at, true)};
}

/// take(x, index): positions in the tensor as one row.
Result<Views> take(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    CUDA_AGENT_ASSIGN(index, l.view(node, 1, "index"));
    CUDA_AGENT_ASSIGN(positions, positionsOf(l, index));
    std::int64_t elements = 1;
    for (const std::int64_t extent : l.shapeOf(x))
        elements *= extent;
    return Views{l.pick(l.reshape(x, {elements}), {0}, {positions}, 0, true)};
}

/// Where an operator like scatter finds its elements: one along a dimension.
struct Picked {
    View x;
    int dim = 0;
    Axes along; ///< none where the dimension has size 1: then the one element is picked
    View hit;   ///< boolean, of x's shape
};

/// Takes "self", "dim" and "index". The index has size 1 along the dimension and x's sizes beside.
Result<Picked> picked(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    CUDA_AGENT_ASSIGN(index, l.view(node, 2, "index"));
    Picked result{x, 0, {}, {}};
    if (x.dims.empty())
        return result;
    result.dim = dimensionOf(static_cast<int>(Lowering::number(node, 1, "dim", 0)), x.dims.size());
    const Shape have = l.shapeOf(x);
    const Shape wanted = l.shapeOf(index);
    for (std::size_t d = 0; d < have.size(); ++d) {
        if (wanted[d] != (static_cast<int>(d) == result.dim ? 1 : have[d]))
            return failedError("with an index of more than one element along the dimension");
    }
    result.along = l.program.axes.atoms(x.dims[result.dim]);
    if (result.along.empty())
        return result;
    View position = l.index(result.along);
    position.dims.assign(x.dims.size(), Axes{});
    position.dims[result.dim] = result.along;
    result.hit = l.apply("eq", {position, index}, DType::boolean);
    return result;
}

/// The sum that picks one element, which fuses with other reductions of the row.
Result<Views> gatherByHits(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(place, picked(l, node));
    if (place.along.empty())
        return Views{place.x};
    // All but one term are 0: no sum is rounded, but halves are added as float.
    const DType stored = l.dtypeOf(place.x);
    const DType type = isFloating(stored) && sizeOf(stored) < 4 ? DType::float32 : stored;
    const View kept = l.apply("where", {place.hit, place.x, l.constant(0, type)}, type);
    return Views{l.reduce("sum", kept, {place.dim}, true, type)};
}

Result<Views> gather(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    CUDA_AGENT_ASSIGN(index, l.view(node, 2, "index"));
    CUDA_AGENT_ASSIGN(positions, positionsOf(l, index));
    if (x.dims.empty() || positions.dims.empty())
        return Views{x};
    const int dim =
        dimensionOf(static_cast<int>(Lowering::number(node, 1, "dim", 0)), x.dims.size());
    Shape one = l.shapeOf(x);
    one[dim] = 1;
    if (l.reduces(x) && l.shapeOf(positions) == one)
        return gatherByHits(l, node);
    return Views{l.pickAlong(x, dim, positions)};
}

/// Whether a tensor is 0, and the positions come from putting that many elements in order: then all
/// differ, and what is added there is what is there.
Result<bool> addsToNothing(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    CUDA_AGENT_ASSIGN(index, l.view(node, 2, "index"));
    const Value &zero = l.program.values[x.value], &places = l.program.values[index.value];
    if (zero.kind != Kind::constant || zero.number != 0 || places.kind != Kind::order ||
        places.op != "argsorted" || x.dims.empty())
        return false;
    const int dim =
        dimensionOf(static_cast<int>(Lowering::number(node, 1, "dim", 0)), x.dims.size());
    return l.program.axes.atoms(index.dims[dim]) == l.program.axes.atoms(places.places) &&
           l.shapeOf(x)[dim] >= l.program.axes.size(l.program.axes.atoms(places.axes));
}

/// One element along the dimension becomes another.
Result<Views> scatter(Lowering &l, const Node &node) {
    if (node.op == "aten.scatter.src") {
        CUDA_AGENT_ASSIGN(adds, addsToNothing(l, node));
        if (adds)
            return scatterAdd(l, node);
    }
    CUDA_AGENT_ASSIGN(place, picked(l, node));
    const TensorType &type = node.outputs.at(0);
    View fresh;
    if (node.op == "aten.scatter.value") {
        fresh = l.constant(Lowering::number(node, 3, "value", 0), type.dtype);
    } else {
        CUDA_AGENT_ASSIGN(source, l.view(node, 3, "src"));
        fresh = source;
    }
    if (place.along.empty())
        return Views{l.expand(fresh, type.shape)};
    return Views{l.apply("where", {place.hit, fresh, place.x}, type.dtype)};
}

} // namespace

void addIndexingOperators(OperatorTable &table) {
    table["aten.embedding.default"] = embedding;
    table["aten._embedding_bag_forward_only.default"] = embeddingBag;
    table["aten.index_select.default"] = indexSelect;
    table["aten.index.Tensor"] = indexTensor;
    table["aten._unsafe_index.Tensor"] = indexTensor;
    table["aten.take.default"] = take;
    table["aten.gather.default"] = gather;
    table["aten.scatter.value"] = scatter;
    table["aten.scatter.src"] = scatter;
}

} // namespace cuda_agent::policy
