// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/lowering.h"

#include <limits>

// Pooling is a reduction over an axis of its own, along which windows of a tensor are read; running
// sums and products are scans.

namespace cuda_agent::policy {

View Lowering::windows(const View &view, const std::vector<Window> &list, int *inside) {
    View source = view;
    for (const Window &window : list) {
        if (program.axes.atoms(source.dims[window.dim]).size() > 1) {
            source = materialise(source);
            break;
        }
    }
    *inside = -1;
    const auto axis = [&](std::int64_t size) {
        return size > 1 ? Axes{program.axes.add(size)} : Axes{};
    };
    const auto number = [&](std::int64_t n) {
        return program.constant(static_cast<double>(n), DType::int32);
    };
    const auto times = [&](const Axes &axes, std::int64_t factor) {
        if (axes.empty())
            return number(0);
        Value place;
        place.kind = Kind::index;
        place.dtype = DType::int32;
        place.axes = axes;
        const int id = program.add(std::move(place));
        return factor == 1 ? id : program.pointwise("mul", {id, number(factor)}, DType::int32);
    };
    const auto demand = [&](const char *op, int position, std::int64_t bound) {
        const int holds = program.pointwise(op, {position, number(bound)}, DType::boolean);
        *inside = *inside < 0 ? holds : program.pointwise("and", {*inside, holds}, DType::boolean);
    };
    std::vector<std::pair<Axes, Axes>> axes; // of places, and within the window
    for (const Window &window : list) {
        const Axes old = program.axes.atoms(source.dims[window.dim]);
        const std::int64_t extent = program.axes.size(old);
        require(old);
        axes.emplace_back(axis(window.outputs), axis(window.size));
        const std::int64_t last = window.stride * (window.outputs - 1) +
                                  window.dilation * (window.size - 1) - window.padding;
        if (window.padding <= 0 && last < extent)
            continue;
        const int position = program.pointwise(
            "add",
            {times(axes.back().first, window.stride), times(axes.back().second, window.dilation)},
            DType::int32);
        if (window.padding > 0)
            demand("ge", position, window.padding);
        if (last >= extent)
            demand("lt", position, extent + window.padding);
    }
    View result;
    for (int attempt = 0; attempt < 2; ++attempt) {
        Targets fresh;
        for (std::size_t w = 0; w < list.size(); ++w) {
            const Axes old = program.axes.atoms(source.dims[list[w].dim]);
            if (old.empty())
                continue;
            Target &target = fresh[old[0]];
            target.axes = axes[w].first;
            target.offset = -list[w].padding;
            target.step = list[w].stride;
            target.window = axes[w].second;
            target.windowStep = list[w].dilation;
            target.inside = *inside;
        }
        if (cloneWith(source, fresh, result))
            break;
        source = materialise(source); // results of reductions are read back from memory
    }
    for (std::size_t w = 0; w < list.size(); ++w) {
        result.dims[list[w].dim] = axes[w].first;
        result.dims.push_back(axes[w].second);
    }
    return result;
}

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

/// The windows of a pooling operator over the last `spatial` dimensions.
Result<std::vector<Window>> windowsOf(const Node &node, const Shape &in, std::size_t spatial,
                                      bool dilated) {
    const auto list = [&](std::size_t position, const char *name,
                          const std::vector<std::int64_t> &fallback) {
        std::vector<std::int64_t> values = Lowering::integers(node, position, name);
        if (values.empty())
            values = fallback;
        if (values.size() == 1)
            values.resize(spatial, values[0]);
        return values;
    };
    const auto kernel = list(1, "kernel_size", {});
    if (kernel.size() != spatial || in.size() < spatial)
        return failedError("of {} sizes for {} dimensions", kernel.size(), spatial);
    const auto stride = list(2, "stride", kernel);
    const auto padding = list(3, "padding", {0});
    const auto dilation =
        dilated ? list(4, "dilation", {1}) : std::vector<std::int64_t>(spatial, 1);
    const Shape &out = node.outputs.at(0).shape;
    std::vector<Window> result;
    for (std::size_t i = 0; i < spatial; ++i) {
        const std::size_t d = in.size() - spatial + i;
        result.push_back(
            {static_cast<int>(d), out.at(d), kernel[i], stride[i], dilation[i], padding[i]});
    }
    return result;
}

std::vector<int> lastDimensions(const View &view, std::size_t count) {
    std::vector<int> dims;
    for (std::size_t i = view.dims.size() - count; i < view.dims.size(); ++i)
        dims.push_back(static_cast<int>(i));
    return dims;
}

View choose(Lowering &l, int inside, const View &view, double otherwise) {
    if (inside < 0)
        return view;
    const DType type = l.dtypeOf(view);
    return {l.program.pointwise("where", {inside, view.value, l.program.constant(otherwise, type)},
                                type),
            view.dims};
}

DType wide(DType type) {
    return type == DType::float16 || type == DType::bfloat16 ? DType::float32 : type;
}

/// max_pool with positions in the input's last dimensions, counted row-major.
Operator maxPool(std::size_t spatial) {
    return [spatial](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        if (!isFloating(l.dtypeOf(x)))
            return failedError("of {}", nameOf(l.dtypeOf(x)));
        const Shape in = l.shapeOf(x);
        CUDA_AGENT_ASSIGN(list, windowsOf(node, in, spatial, true));
        int inside = -1;
        const View opened = l.windows(l.cast(x, wide(l.dtypeOf(x))), list, &inside);
        const View masked = choose(l, inside, opened, -std::numeric_limits<double>::infinity());
        const auto over = lastDimensions(masked, spatial);
        const View largest = l.reduce("max", masked, over, false, l.dtypeOf(masked));
        const View best = l.reduce("argmax", masked, over, false, DType::int64);
        // From the place within the window to the place within the input.
        auto &p = l.program;
        const auto number = [&](std::int64_t n) {
            return p.constant(static_cast<double>(n), DType::int64);
        };
        const auto op = [&](const char *name, int a, int b) {
            return p.pointwise(name, {a, b}, DType::int64);
        };
        int rest = best.value, place = number(0);
        std::int64_t below = 1;
        for (std::size_t i = spatial; i-- > 0;) {
            const Window &w = list[i];
            const int own = op("imod", rest, number(w.size));
            rest = op("idiv", rest, number(w.size));
            const int start = op("mul", l.index(best.dims[w.dim]).value, number(w.stride));
            const int at =
                op("sub", op("add", start, op("mul", own, number(w.dilation))), number(w.padding));
            place = op("add", place, op("mul", at, number(below)));
            below *= in[w.dim];
        }
        return Views{largest, View{place, best.dims}};
    };
}

/// How many elements a window has that count, as a value.
int elementsOf(Lowering &l, const std::vector<Window> &list, const Shape &in, const View &out,
               bool countPadding, DType type) {
    auto &p = l.program;
    double fixed = 1;
    int varying = -1;
    for (const Window &w : list) {
        const std::int64_t low = countPadding ? -w.padding : 0;
        const std::int64_t high = in[w.dim] + (countPadding ? w.padding : 0);
        const std::int64_t last = w.stride * (w.outputs - 1) + w.size - w.padding;
        if (low <= -w.padding && last <= high) {
            fixed *= static_cast<double>(w.size);
            continue;
        }
        const auto number = [&](std::int64_t n) {
            return p.constant(static_cast<double>(n), DType::int64);
        };
        const auto op = [&](const char *name, int a, int b) {
            return p.pointwise(name, {a, b}, DType::int64);
        };
        const int start = op("sub", op("mul", l.index(out.dims[w.dim]).value, number(w.stride)),
                             number(w.padding));
        const int from = op("imaximum", start, number(low));
        const int to = op("iminimum", op("add", start, number(w.size)), number(high));
        const int count = p.pointwise("cast", {op("sub", to, from)}, type);
        varying = varying < 0 ? count : p.pointwise("mul", {varying, count}, type);
    }
    const int constant = p.constant(fixed, type);
    if (varying < 0)
        return constant;
    return fixed == 1 ? varying : p.pointwise("mul", {varying, constant}, type);
}

Result<Views> average(Lowering &l, const View &x, const std::vector<Window> &list,
                      bool countPadding, double divisor) {
    if (!isFloating(l.dtypeOf(x)))
        return failedError("of {}", nameOf(l.dtypeOf(x)));
    const DType type = wide(l.dtypeOf(x));
    int inside = -1;
    const View opened = l.windows(l.cast(x, type), list, &inside);
    const View masked = choose(l, inside, opened, 0);
    View total = l.reduce("sum", masked, lastDimensions(masked, list.size()), false, type);
    const int count = divisor != 0 ? l.program.constant(divisor, type)
                                   : elementsOf(l, list, l.shapeOf(x), total, countPadding, type);
    total.value = l.program.pointwise("div", {total.value, count}, type);
    return Views{total};
}

/// avg_pool(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
Operator averagePool(std::size_t spatial) {
    return [spatial](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        CUDA_AGENT_ASSIGN(list, windowsOf(node, l.shapeOf(x), spatial, false));
        return average(l, x, list, Lowering::flag(node, 5, "count_include_pad", true),
                       Lowering::number(node, 6, "divisor_override", 0));
    };
}

/// Windows of one size, where the input's sizes are multiples of the output's.
Result<std::vector<Window>> adaptiveWindows(const Node &node, const Shape &in,
                                            std::size_t spatial) {
    const Shape &out = node.outputs.at(0).shape;
    std::vector<Window> list;
    for (std::size_t d = in.size() - spatial; d < in.size(); ++d) {
        if (out[d] == 0 || in[d] % out[d] != 0)
            return failedError("from {} to {} elements, whose windows differ in size", in[d],
                               out[d]);
        const std::int64_t size = in[d] / out[d];
        list.push_back({static_cast<int>(d), out[d], size, size, 1, 0});
    }
    return list;
}

Operator adaptiveAveragePool(std::size_t spatial) {
    return [spatial](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        CUDA_AGENT_ASSIGN(list, adaptiveWindows(node, l.shapeOf(x), spatial));
        return average(l, x, list, true, 0);
    };
}

Operator running(std::string op) {
    return [op](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        const DType stored = node.outputs.at(0).dtype;
        const DType type = isFloating(stored) ? wide(stored) : DType::int64;
        const View cast = l.cast(x, type);
        if (x.dims.empty())
            return Views{cast};
        const int dim =
            dimensionOf(static_cast<int>(Lowering::number(node, 1, "dim", 0)), x.dims.size());
        return Views{l.scan(op, cast, dim, type)};
    };
}

} // namespace

void addWindowOperators(OperatorTable &table) {
    for (std::size_t n = 1; n <= 3; ++n) {
        table[fmt::format("aten.max_pool{}d_with_indices.default", n)] = maxPool(n);
        table[fmt::format("aten.max_pool{}d.default", n)] = maxPool(n);
        table[fmt::format("aten.avg_pool{}d.default", n)] = averagePool(n);
        table[fmt::format("aten._adaptive_avg_pool{}d.default", n)] = adaptiveAveragePool(n);
        table[fmt::format("aten.adaptive_avg_pool{}d.default", n)] = adaptiveAveragePool(n);
    }
    table["aten.cumsum.default"] = running("sum");
    table["aten.cumprod.default"] = running("prod");
}

} // namespace cuda_agent::policy
