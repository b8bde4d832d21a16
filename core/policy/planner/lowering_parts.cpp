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
        Node one;
        one.args = Json::array({item});
        CUDA_AGENT_ASSIGN(part, l.view(one, 0, "tensors"));
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

} // namespace

void addPartOperators(OperatorTable &table) {
    table["aten.cat.default"] = cat;
    table["aten.constant_pad_nd.default"] = constantPad;
    table["aten.flip.default"] = flip;
    table["aten.split_with_sizes.default"] = pieces(2, false);
    table["aten.split_with_sizes_copy.default"] = pieces(2, false);
    table["aten.split.Tensor"] = pieces(2, false);
    table["aten.unbind.int"] = pieces(1, true);
}

} // namespace cuda_agent::policy
