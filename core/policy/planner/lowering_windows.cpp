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
        if (window.size > 1 && program.axes.atoms(source.dims[window.dim]).size() > 1) {
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
        const int place = times(axes.back().first, window.stride);
        const int position =
            axes.back().second.empty()
                ? place
                : program.pointwise("add", {place, times(axes.back().second, window.dilation)},
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
            if (old.size() > 1) { // no stride of its own: each element is read where it lies
                const int position = program.pointwise(
                    "sub", {times(axes[w].first, list[w].stride), number(list[w].padding)},
                    DType::int32);
                pickTargets(source.dims[list[w].dim], position, fresh);
                for (const Axis atom : old)
                    fresh[atom].inside = *inside;
                continue;
            }
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

namespace {

using Views = std::vector<View>;
using task::Node;

/// The windows of a pooling operator from `in` to `out` over the last `spatial` dimensions, whose
/// sizes are arguments from position `first` on.
Result<std::vector<Window>> windowsOf(const Node &node, const Shape &in, const Shape &out,
                                      std::size_t spatial, bool dilated, std::size_t first = 1) {
    const auto list = [&](std::size_t position, const char *name,
                          const std::vector<std::int64_t> &fallback) {
        std::vector<std::int64_t> values = Lowering::integers(node, position, name);
        if (values.empty())
            values = fallback;
        if (values.size() == 1)
            values.resize(spatial, values[0]);
        return values;
    };
    const auto kernel = list(first, "kernel_size", {});
    if (kernel.size() != spatial || in.size() < spatial)
        return failedError("of {} sizes for {} dimensions", kernel.size(), spatial);
    const auto stride = list(first + 1, "stride", kernel);
    const auto padding = list(first + 2, "padding", {0});
    const auto dilation =
        dilated ? list(first + 3, "dilation", {1}) : std::vector<std::int64_t>(spatial, 1);
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

/// The largest element of each window, and its position in the pooled dimensions, counted
/// row-major.
Result<Views> largest(Lowering &l, const View &x, const std::vector<Window> &list) {
    if (!isFloating(l.dtypeOf(x)))
        return failedError("of {}", nameOf(l.dtypeOf(x)));
    const Shape in = l.shapeOf(x);
    const std::size_t spatial = list.size();
    int inside = -1;
    const View opened = l.windows(l.cast(x, wide(l.dtypeOf(x))), list, &inside);
    const View masked = choose(l, inside, opened, -std::numeric_limits<double>::infinity());
    const auto over = lastDimensions(masked, spatial);
    const View most = l.reduce("max", masked, over, false, l.dtypeOf(masked));
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
    return Views{most, View{place, best.dims}};
}

Operator maxPool(std::size_t spatial) {
    return [spatial](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        CUDA_AGENT_ASSIGN(list,
                          windowsOf(node, l.shapeOf(x), node.outputs.at(0).shape, spatial, true));
        return largest(l, x, list);
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
        const int count = p.pointwise("cast", {l.narrowed(op("sub", to, from))}, type);
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
        CUDA_AGENT_ASSIGN(list,
                          windowsOf(node, l.shapeOf(x), node.outputs.at(0).shape, spatial, false));
        return average(l, x, list, Lowering::flag(node, 5, "count_include_pad", true),
                       Lowering::number(node, 6, "divisor_override", 0));
    };
}

/// Windows of one size, where the input's sizes are multiples of the output's.
Result<std::vector<Window>> adaptiveWindows(const Shape &in, const Shape &out,
                                            std::size_t spatial) {
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

/// Windows that differ in size, of a dimension of `in` elements that becomes one of `out`: window o
/// is from o * in / out, rounded down, to (o + 1) * in / out, rounded up. The windows that an
/// element lies in are found by the same formula with the sizes exchanged.
struct Uneven {
    int first = -1, end = -1; ///< values, along the axis of the windows
    std::int64_t most = 1;    ///< elements of the largest
};

Uneven unevenWindows(Lowering &l, const Axes &axes, std::int64_t in, std::int64_t out) {
    auto &p = l.program;
    const auto number = [&](std::int64_t n) {
        return p.constant(static_cast<double>(n), DType::int64);
    };
    const auto op = [&](const char *name, int a, int b) {
        return p.pointwise(name, {a, b}, DType::int64);
    };
    const int from = op("mul", l.index(axes).value, number(in));
    Uneven windows;
    windows.first = op("idiv", from, number(out));
    windows.end = op("idiv", op("add", from, number(in + out - 1)), number(out));
    for (std::int64_t o = 0; o < out; ++o)
        windows.most = std::max(windows.most, ((o + 1) * in + out - 1) / out - o * in / out);
    return windows;
}

/// Divided by the sizes of the windows along those dimensions, which have as many elements in `in`.
View overSizes(Lowering &l, View view, const Shape &in, const std::vector<int> &dims) {
    const DType type = l.dtypeOf(view);
    const Shape shape = l.shapeOf(view);
    for (const int d : dims) {
        const Uneven w = unevenWindows(l, view.dims[d], in[d], shape[d]);
        const int size = l.program.pointwise("sub", {w.end, w.first}, DType::int64);
        view.value = l.program.pointwise(
            "div", {view.value, l.program.pointwise("cast", {size}, type)}, type);
    }
    return view;
}

/// The sums of the windows by which the dimensions become those of `out`.
View unevenSums(Lowering &l, const View &x, const Shape &out, const std::vector<int> &dims) {
    auto &p = l.program;
    View opened = l.reduces(x) ? l.materialise(x) : x;
    int inside = -1;
    for (const int d : dims) {
        const std::int64_t in = l.shapeOf(opened)[d];
        const Axes place = out[d] > 1 ? Axes{p.axes.add(out[d])} : Axes{};
        const Uneven w = unevenWindows(l, place, in, out[d]);
        const Axes within = w.most > 1 ? Axes{p.axes.add(w.most)} : Axes{};
        const int at = p.pointwise("add", {w.first, l.index(within).value}, DType::int64);
        const int holds = p.pointwise("lt", {at, w.end}, DType::boolean);
        inside = inside < 0 ? holds : p.pointwise("and", {inside, holds}, DType::boolean);
        opened =
            l.pick(opened, {d}, {View{at, {place, within}}}, static_cast<std::size_t>(d), false);
        opened.dims.erase(opened.dims.begin() + d + 1);
        opened.dims.push_back(within);
    }
    const View masked = choose(l, inside, opened, 0);
    return l.reduce("sum", masked, lastDimensions(masked, dims.size()), false, l.dtypeOf(masked));
}

Operator adaptiveAveragePool(std::size_t spatial) {
    return [spatial](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        const Shape in = l.shapeOf(x);
        const Shape &out = node.outputs.at(0).shape;
        const auto list = adaptiveWindows(in, out, spatial);
        if (list || !isFloating(l.dtypeOf(x)))
            return average(l, x, list ? *list : std::vector<Window>{}, true, 0);
        const std::vector<int> dims = lastDimensions(x, spatial);
        const View sums = unevenSums(l, l.cast(x, wide(l.dtypeOf(x))), out, dims);
        return Views{overSizes(l, sums, in, dims)};
    };
}

Operator adaptiveMaxPool(std::size_t spatial) {
    return [spatial](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        CUDA_AGENT_ASSIGN(list, adaptiveWindows(l.shapeOf(x), node.outputs.at(0).shape, spatial));
        return largest(l, x, list);
    };
}

// --- backward: each element of the input gathers from the windows that it lies in ---------------

/// What an element of a pool's input sees: results of the windows around it.
struct Covering {
    std::vector<View> views;    ///< as the input, with dimensions for the windows at the end
    int inside = -1;            ///< where there is such a window; -1: everywhere
    std::vector<Axes> elements; ///< of the dimensions that were pooled, in the order of the windows
};

/// Windows side by side that cover the dimension: each result stands for the axis of its elements.
bool areTiles(const Window &w, std::int64_t in) {
    return w.stride == w.size && w.dilation == 1 && w.padding == 0 && w.outputs * w.size == in;
}

/// One more dimension of `covering`: of the windows o with o * stride - padding <= i, the last
/// ones, as many as reach so far.
void cover(Lowering &l, const Window &w, std::int64_t in, Covering &covering) {
    auto &p = l.program;
    const auto d = static_cast<std::size_t>(w.dim);
    if (areTiles(w, in)) {
        const Axes within = w.size > 1 ? Axes{p.axes.add(w.size)} : Axes{};
        for (View &view : covering.views) {
            view.dims[d].insert(view.dims[d].end(), within.begin(), within.end());
            view.dims.emplace_back();
        }
        covering.elements.push_back(covering.views[0].dims[d]);
        return;
    }
    const std::int64_t reach = w.dilation * (w.size - 1) + 1;
    const std::int64_t most = std::min(w.outputs, (reach + w.stride - 1) / w.stride);
    const auto number = [&](std::int64_t n) {
        return p.constant(static_cast<double>(n), DType::int32);
    };
    const auto op = [&](const char *name, int a, int b, DType type = DType::int32) {
        return p.pointwise(name, {a, b}, type);
    };
    const auto place = [&](const Axes &axes) {
        const int id = l.index(axes).value;
        p.values[id].dtype = DType::int32;
        return id;
    };
    const Axes element = in > 1 ? Axes{p.axes.add(in)} : Axes{};
    const Axes window = most > 1 ? Axes{p.axes.add(most)} : Axes{};
    const int padded = op("add", place(element), number(w.padding));
    const int last = op("iminimum", op("idiv", padded, number(w.stride)), number(w.outputs - 1));
    const int at = op("sub", last, place(window));
    const int distance = op("sub", padded, op("mul", at, number(w.stride)));
    for (const int holds : {op("ge", at, number(0), DType::boolean),
                            op("lt", distance, number(reach), DType::boolean)})
        covering.inside =
            covering.inside < 0 ? holds : op("and", covering.inside, holds, DType::boolean);
    for (View &view : covering.views) {
        view = l.pick(view, {w.dim}, {View{at, {element, window}}}, d, false);
        view.dims.erase(view.dims.begin() + w.dim + 1);
        view.dims.push_back(window);
    }
    covering.elements.push_back(element);
}

/// The views are joined first, so that they are read along the same axes; results of reductions are
/// read back where windows overlap.
Covering covered(Lowering &l, std::vector<View> views, const std::vector<Window> &list,
                 const Shape &in) {
    const bool tiles = std::all_of(list.begin(), list.end(), [&](const Window &w) {
        return areTiles(w, in[static_cast<std::size_t>(w.dim)]);
    });
    for (View &view : views)
        view = tiles || !l.reduces(view) ? view : l.materialise(view);
    const std::vector<Axes> dims = l.broadcast(views);
    Covering covering;
    covering.views = std::move(views);
    for (View &view : covering.views)
        view.dims = dims;
    for (const Window &w : list)
        cover(l, w, in[static_cast<std::size_t>(w.dim)], covering);
    return covering;
}

View sumOfWindows(Lowering &l, const Covering &covering, const View &value, std::size_t spatial) {
    const View masked = choose(l, covering.inside, value, 0);
    return l.reduce("sum", masked, lastDimensions(masked, spatial), false, l.dtypeOf(masked));
}

View averageBackward(Lowering &l, const View &grad, const std::vector<Window> &list,
                     const Shape &in, bool countPadding, double divisor) {
    const DType type = wide(l.dtypeOf(grad));
    View share = l.cast(grad, type);
    const int count = divisor != 0 ? l.program.constant(divisor, type)
                                   : elementsOf(l, list, in, share, countPadding, type);
    share.value = l.program.pointwise("div", {share.value, count}, type);
    const Covering covering = covered(l, {share}, list, in);
    return sumOfWindows(l, covering, covering.views[0], list.size());
}

/// The sizes of what was pooled; the plan holds those of the pooled dimensions as numbers.
Result<Shape> pooledShape(Lowering &l, const Node &node, std::size_t spatial) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 1, "self"));
    for (std::size_t d = x.dims.size() - spatial; d < x.dims.size(); ++d)
        l.require(x.dims[d]);
    return l.shapeOf(x);
}

/// avg_pool_backward(grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad,
/// divisor_override)
Operator averagePoolBackward(std::size_t spatial) {
    return [spatial](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(grad, l.view(node, 0, "grad_output"));
        CUDA_AGENT_ASSIGN(in, pooledShape(l, node, spatial));
        CUDA_AGENT_ASSIGN(list, windowsOf(node, in, l.shapeOf(grad), spatial, false, 2));
        return Views{averageBackward(l, grad, list, in,
                                     Lowering::flag(node, 6, "count_include_pad", true),
                                     Lowering::number(node, 7, "divisor_override", 0))};
    };
}

/// _adaptive_avg_pool_backward(grad, self)
Operator adaptiveAveragePoolBackward(std::size_t spatial) {
    return [spatial](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(grad, l.view(node, 0, "grad_output"));
        CUDA_AGENT_ASSIGN(in, pooledShape(l, node, spatial));
        if (const auto list = adaptiveWindows(in, l.shapeOf(grad), spatial))
            return Views{averageBackward(l, grad, *list, in, true, 0)};
        const std::vector<int> dims = lastDimensions(grad, spatial);
        const View share = overSizes(l, l.cast(grad, wide(l.dtypeOf(grad))), in, dims);
        return Views{unevenSums(l, share, in, dims)};
    };
}

/// max_pool_with_indices_backward(grad, self, kernel_size, stride, padding, dilation, ceil_mode,
/// indices): an element gets the sum over the windows whose largest element it is.
Operator maxPoolBackward(std::size_t spatial) {
    return [spatial](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(grad, l.view(node, 0, "grad_output"));
        CUDA_AGENT_ASSIGN(indices, l.view(node, 7, "indices"));
        CUDA_AGENT_ASSIGN(in, pooledShape(l, node, spatial));
        CUDA_AGENT_ASSIGN(list, windowsOf(node, in, l.shapeOf(grad), spatial, true, 2));
        const DType type = wide(l.dtypeOf(grad));
        const Covering covering = covered(l, {l.cast(grad, type), indices}, list, in);
        View own{-1, std::vector<Axes>(covering.views[0].dims.size())};
        Axes element; // within the dimensions that were pooled
        for (std::size_t k = 0; k < list.size(); ++k) {
            const Axes &dimension = covering.elements[k];
            own.dims[static_cast<std::size_t>(list[k].dim)] = dimension;
            element.insert(element.end(), dimension.begin(), dimension.end());
        }
        own.value = l.index(element).value;
        const View chosen = l.apply("eq", {covering.views[1], own}, DType::boolean);
        const View given = l.apply("where", {chosen, covering.views[0], l.constant(0, type)}, type);
        return Views{sumOfWindows(l, covering, given, spatial)};
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
        table[fmt::format("aten.adaptive_max_pool{}d.default", n)] = adaptiveMaxPool(n);
        table[fmt::format("aten.avg_pool{}d_backward.default", n)] = averagePoolBackward(n);
        table[fmt::format("aten._adaptive_avg_pool{}d_backward.default", n)] =
            adaptiveAveragePoolBackward(n);
        table[fmt::format("aten.max_pool{}d_with_indices_backward.default", n)] =
            maxPoolBackward(n);
    }
}

} // namespace cuda_agent::policy
