// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/lowering.h"

// Operators that add elements at positions: what gradients of indexing are. Each element is added
// to memory atomically, after a fill with 0; what follows reads the sums.

namespace cuda_agent::policy {

View Lowering::addAt(int value, const std::vector<Axes> &dims, const std::vector<int> &positions,
                     const std::vector<int> &picks, const Shape &shape) {
    const DType type = program.values[value].dtype;
    const int buffer = bufferOfParts(shape, type);
    std::vector<int> args{value};
    Store store{-1, dims, buffer, {}, {}};
    for (std::size_t d = 0; d < dims.size(); ++d) {
        if (picks[d] < 0)
            require(dims[d]);
        store.picks.push_back(picks[d] < 0 ? -1 : picks[d] + 1);
    }
    args.insert(args.end(), positions.begin(), positions.end());
    store.value = program.pointwise("place", args, type);
    program.stores.push_back(std::move(store));
    return loadBuffer(buffer);
}

namespace {

using Views = std::vector<View>;
using task::Node;

/// The type that sums are held in while elements are added to them.
Result<DType> sumType(DType type) {
    if (type == DType::float16 || type == DType::bfloat16)
        return DType::float32;
    if (type == DType::float32 || type == DType::float64 || type == DType::int32)
        return type;
    return failedError("of {}", nameOf(type));
}

/// The sums on top of what was there before.
View onTop(Lowering &l, const View &before, const View &sums, DType type) {
    const Value &value = l.program.values[before.value];
    if (value.kind == Kind::constant && value.number == 0)
        return l.cast(sums, type);
    return l.cast(l.apply("add", {l.cast(before, l.dtypeOf(sums)), sums}, l.dtypeOf(sums)), type);
}

/// x[:, i] = a number: of index_fill. All of an element's writers write the same.
Result<View> fillAt(Lowering &l, const View &x, const Indices &by, const View &value) {
    const std::set<Axis> varies = l.program.axesOf(value.value);
    if (by.dims.size() != 1 || by.positions[0].dims.size() > 1 || !varies.empty())
        return failedError("without accumulate, of more than one number at places of a dimension");
    const auto dim = static_cast<std::size_t>(by.dims[0]);
    const std::int64_t extent = l.shapeOf(x)[dim];
    View place = by.positions[0];
    place.value = l.within(place.value, extent, true);
    place.dims.resize(1);
    place.dims.insert(place.dims.begin(), Axes{});
    View own = l.index(x.dims[dim]);
    own.dims.resize(2);
    View hit = l.reduce("any", l.apply("eq", {own, l.cast(place, DType::int64)}, DType::boolean),
                        {1}, false, DType::boolean);
    hit.dims.resize(x.dims.size() - dim);
    const DType type = l.dtypeOf(x);
    return l.apply("where", {hit, View{l.cast(value, type).value, {}}, x}, type);
}

/// index_put(self, indices, values, accumulate): x[i, :, j] += values.
Result<Views> indexPut(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    CUDA_AGENT_ASSIGN(values, l.view(node, 2, "values"));
    CUDA_AGENT_ASSIGN(by, indicesOf(l, node));
    if (by.dims.empty())
        return failedError("without an index");
    if (!Lowering::flag(node, 3, "accumulate", false)) {
        CUDA_AGENT_ASSIGN(filled, fillAt(l, x, by, values));
        return Views{filled};
    }
    const TensorType &out = node.outputs.at(0);
    CUDA_AGENT_ASSIGN(type, sumType(out.dtype));
    const auto isIndexed = [&](std::size_t d) {
        return std::find(by.dims.begin(), by.dims.end(), static_cast<int>(d)) != by.dims.end();
    };
    auto &places = by.positions;
    const auto at = by.at;
    // All in the shape of x[i, :, j]: dimensions of the indices at `at`, the others around them.
    const std::vector<Axes> common = l.broadcast(places);
    const std::size_t rank = out.shape.size() - by.dims.size() + common.size();
    Shape shape;
    for (std::size_t d = 0; d < out.shape.size(); ++d) {
        if (!isIndexed(d))
            shape.push_back(out.shape[d]);
    }
    const Shape own = l.shapeOf(View{places[0].value, common});
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), own.begin(), own.end());
    Views all{l.expand(l.cast(values, type), shape)};
    for (const View &place : places) {
        View spread{place.value, common};
        spread.dims.insert(spread.dims.begin(), at, Axes{});
        spread.dims.resize(rank);
        all.push_back(spread);
    }
    const std::vector<Axes> walked = l.broadcast(all);
    std::vector<Axes> dims(out.shape.size());
    std::vector<int> picks(out.shape.size(), -1), positions;
    std::size_t next = 0;
    for (std::size_t d = 0; d < out.shape.size(); ++d) {
        if (!isIndexed(d)) {
            next += next == at ? common.size() : 0;
            dims[d] = walked[next++];
            continue;
        }
        picks[d] = static_cast<int>(positions.size());
        positions.push_back(l.within(all[positions.size() + 1].value, out.shape[d], true));
        for (std::size_t i = 0; picks[d] == 0 && i < common.size(); ++i)
            dims[d].insert(dims[d].end(), walked[at + i].begin(), walked[at + i].end());
    }
    return Views{onTop(l, x, l.addAt(all[0].value, dims, positions, picks, out.shape), out.dtype)};
}

/// scatter_add(self, dim, index, src); index_add(self, dim, index, source) adds whole slices.
Operator addAlong(bool slices) {
    return [slices](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        CUDA_AGENT_ASSIGN(given, l.view(node, 2, "index"));
        CUDA_AGENT_ASSIGN(source, l.view(node, 3, "src"));
        const TensorType &out = node.outputs.at(0);
        CUDA_AGENT_ASSIGN(type, sumType(out.dtype));
        CUDA_AGENT_ASSIGN(index, positionsOf(l, given));
        if (out.shape.empty() || (slices && Lowering::number(node, 4, "alpha", 1) != 1))
            return failedError("in this form");
        const auto dim = static_cast<std::size_t>(dimensionOf(
            static_cast<std::int64_t>(Lowering::number(node, 1, "dim", 0)), out.shape.size()));
        if (slices) {
            const Axes along = index.dims.empty() ? Axes{} : index.dims.at(0);
            index.dims.assign(out.shape.size(), Axes{});
            index.dims[dim] = along;
        } else {
            const Shape wanted = l.shapeOf(index);
            for (std::size_t d = 0; d < wanted.size(); ++d)
                source = l.slice(source, static_cast<int>(d), 0, 1, wanted[d]);
        }
        Views all{l.cast(source, type), index};
        const std::vector<Axes> dims = l.broadcast(all);
        std::vector<int> picks(dims.size(), -1);
        picks[dim] = 0;
        const int position = l.within(all[1].value, out.shape[dim], false);
        return Views{
            onTop(l, x, l.addAt(all[0].value, dims, {position}, picks, out.shape), out.dtype)};
    };
}

} // namespace

Result<std::vector<View>> scatterAdd(Lowering &l, const Node &node) {
    return addAlong(false)(l, node);
}

void addScatterOperators(OperatorTable &table) {
    table["aten.index_put.default"] = indexPut;
    table["aten._unsafe_index_put.default"] = indexPut;
    table["aten.scatter_add.default"] = scatterAdd;
    table["aten.index_add.default"] = addAlong(true);
}

} // namespace cuda_agent::policy
