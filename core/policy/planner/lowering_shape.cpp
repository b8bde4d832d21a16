// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/lowering.h"

namespace cuda_agent::policy {

namespace {

using Views = std::vector<View>;
using task::Node;

Result<Views> identity(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    return Views{x};
}

/// view, reshape, flatten: the result's shape says it all.
Result<Views> reshape(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    return Views{l.reshape(x, node.outputs.at(0).shape)};
}

/// Where it names the elements as they come, as adaptive pooling does for its layout alone.
Result<Views> asStrided(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    const auto *source = l.producer(node, 0, "self");
    const TensorType &type = node.outputs.at(0);
    const TensorType named{type.dtype, Lowering::integers(node, 1, "size"),
                           Lowering::integers(node, 2, "stride")};
    if (source == nullptr || source->outputs.empty() ||
        source->outputs[0].elements() != type.elements() || !source->outputs[0].contiguous() ||
        named.shape.size() != named.strides.size() || !named.contiguous() ||
        Lowering::number(node, 3, "storage_offset", 0) != 0)
        return failedError("names elements in another order than they lie");
    return Views{l.reshape(x, type.shape)};
}

Result<Views> permute(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    View result{x.value, {}};
    for (const std::int64_t dim : Lowering::integers(node, 1, "dims"))
        result.dims.push_back(x.dims.at(dimensionOf(dim, x.dims.size())));
    return Views{result};
}

Result<Views> transpose(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    if (x.dims.size() < 2)
        return Views{x};
    const std::size_t rank = x.dims.size();
    const int a = dimensionOf(static_cast<int>(Lowering::number(node, 1, "dim0", 0)), rank);
    const int b = dimensionOf(static_cast<int>(Lowering::number(node, 2, "dim1", 1)), rank);
    std::swap(x.dims.at(a), x.dims.at(b));
    return Views{x};
}

Result<Views> expand(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    return Views{l.expand(x, node.outputs.at(0).shape)};
}

/// Repeated dimensions get an outer axis that nothing depends on.
Result<Views> repeat(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    const auto times = Lowering::integers(node, 1, "repeats");
    View result{x.value, std::vector<Axes>(times.size())};
    const std::size_t lead = times.size() - x.dims.size();
    for (std::size_t d = 0; d < times.size(); ++d) {
        if (times[d] > 1)
            result.dims[d] = {l.program.axes.add(times[d])};
        if (d >= lead)
            result.dims[d].insert(result.dims[d].end(), x.dims[d - lead].begin(),
                                  x.dims[d - lead].end());
    }
    return Views{result};
}

Result<Views> unsqueeze(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    const int dim =
        dimensionOf(static_cast<int>(Lowering::number(node, 1, "dim", 0)), x.dims.size() + 1);
    x.dims.insert(x.dims.begin() + dim, Axes{});
    return Views{x};
}

Result<Views> squeeze(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    const std::vector<int> dims = dimensionsOf(node, 1, x.dims.size());
    View result{x.value, {}};
    for (std::size_t d = 0; d < x.dims.size(); ++d) {
        const bool named = std::find(dims.begin(), dims.end(), static_cast<int>(d)) != dims.end();
        if (!named || !l.program.axes.atoms(x.dims[d]).empty())
            result.dims.push_back(x.dims[d]);
    }
    return Views{result};
}

Result<Views> select(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    const int dim =
        dimensionOf(static_cast<int>(Lowering::number(node, 1, "dim", 0)), x.dims.size());
    const auto at = static_cast<std::int64_t>(Lowering::number(node, 2, "index", 0));
    const std::int64_t extent = l.shapeOf(x).at(dim);
    View result = l.slice(x, dim, at < 0 ? at + extent : at, 1, 1);
    result.dims.erase(result.dims.begin() + dim);
    return Views{result};
}

Result<Views> slice(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    const int dim =
        dimensionOf(static_cast<int>(Lowering::number(node, 1, "dim", 0)), x.dims.size());
    const std::int64_t extent = l.shapeOf(x).at(dim);
    // Ends come as INT64_MAX, which a double does not hold.
    const auto bound = [&](std::size_t position, const char *name, std::int64_t fallback) {
        const auto values = Lowering::integers(node, position, name);
        const std::int64_t value = values.empty() ? fallback : values[0];
        return std::clamp(value < 0 ? value + extent : value, std::int64_t{0}, extent);
    };
    const std::int64_t start = bound(2, "start", 0);
    const auto steps = Lowering::integers(node, 4, "step");
    return Views{
        l.slice(x, dim, start, steps.empty() ? 1 : steps[0], node.outputs.at(0).shape.at(dim))};
}

View filled(Lowering &l, double value, const TensorType &type) {
    return l.expand(l.constant(value, type.dtype), type.shape);
}

Operator fill(double fixed) {
    return [fixed](Lowering &l, const Node &node) -> Result<Views> {
        return Views{filled(l, fixed, node.outputs.at(0))};
    };
}

/// full, full_like, scalar_tensor: the value is an argument.
Operator fillFrom(std::size_t position, const char *name) {
    return [position, name](Lowering &l, const Node &node) -> Result<Views> {
        const double value = Lowering::number(node, position, name, 0);
        return Views{filled(l, value, node.outputs.at(0))};
    };
}

Result<Views> arange(Lowering &l, const Node &node) {
    const TensorType &type = node.outputs.at(0);
    const bool onlyEnd = node.op == "aten.arange.default";
    const double start = onlyEnd ? 0 : Lowering::number(node, 0, "start", 0);
    const double step = onlyEnd ? 1 : Lowering::number(node, 2, "step", 1);
    Axes axes;
    if (type.shape.at(0) > 1)
        axes = {l.program.axes.add(type.shape[0])};
    View result = l.cast(l.index(axes), type.dtype);
    if (step != 1)
        result = l.apply("mul", {result, l.constant(step, type.dtype)}, type.dtype);
    if (start != 0)
        result = l.apply("add", {result, l.constant(start, type.dtype)}, type.dtype);
    return Views{result};
}

} // namespace

void addShapeOperators(OperatorTable &table) {
    const auto put = [&](std::initializer_list<const char *> names, const Operator &op) {
        for (const char *name : names)
            table[std::string("aten.") + name] = op;
    };
    put({"clone.default", "alias.default", "detach.default", "contiguous.default",
         "lift_fresh_copy.default"},
        identity);
    table["prims.copy_strided.default"] = identity; // says only how the copy lies in memory
    put({"copy.default"}, [](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 1, "src"));
        return Views{l.expand(l.cast(x, node.outputs.at(0).dtype), node.outputs.at(0).shape)};
    });
    put({"view.default", "_unsafe_view.default", "reshape.default", "flatten.using_ints"}, reshape);
    put({"as_strided.default"}, asStrided);
    put({"permute.default"}, permute);
    put({"transpose.int", "t.default"}, transpose);
    put({"expand.default"}, expand);
    put({"repeat.default"}, repeat);
    put({"unsqueeze.default"}, unsqueeze);
    put({"squeeze.default", "squeeze.dim", "squeeze.dims"}, squeeze);
    put({"select.int"}, select);
    put({"slice.Tensor"}, slice);
    put({"zeros.default", "zeros_like.default", "new_zeros.default"}, fill(0));
    // What an empty tensor holds is nobody's to read; it is written over.
    put({"empty.memory_format", "empty_permuted.default", "empty_like.default", "new_empty.default",
         "empty_strided.default", "new_empty_strided.default"},
        fill(0));
    put({"ones.default", "ones_like.default", "new_ones.default"}, fill(1));
    put({"full.default", "full_like.default"}, fillFrom(1, "fill_value"));
    put({"new_full.default"}, fillFrom(2, "fill_value"));
    put({"fill.Scalar"}, fillFrom(1, "value"));
    put({"scalar_tensor.default"}, fillFrom(0, "s"));
    put({"arange.default", "arange.start", "arange.start_step"}, arange);
}

} // namespace cuda_agent::policy
