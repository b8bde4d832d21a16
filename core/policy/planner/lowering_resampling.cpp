// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/fusion.h"
#include "core/policy/planner/lowering.h"
#include "core/policy/planner/pointwise_table.h"
#include "core/policy/planner/resampling.h"

#include <cmath>
#include <numeric>

// Resizing of the last dimensions. Nearest neighbours are a view where an output is a whole number
// of times the size of the input: each element stands for an axis of its repetitions. Elsewhere
// elements are picked, by whole numbers or by the formulas of PyTorch's kernels in float
// (aten/src/ATen/native/UpSample.h), so that both round to the same neighbour.

namespace cuda_agent::policy {

namespace {

using Views = std::vector<View>;
using task::Node;

/// One dimension that changes its size.
struct Resize {
    int dim = 0;
    std::int64_t in = 1, out = 1;
    double factor = 0;  ///< as the operator was told; 0: from the sizes
    bool exact = false; ///< of its nearest neighbour the one that its middle is in
};

double factorOf(const Json &json) {
    return json.is_number() ? json.get<double>() : 0;
}

/// The last `spatial` dimensions. `.vec` forms have a list of factors at `position`, the others one
/// argument a dimension from there on.
std::vector<Resize> resizesOf(const Node &node, const Shape &in, const Shape &out,
                              std::size_t spatial, std::size_t position) {
    std::vector<Resize> result;
    const bool list = node.op.ends_with(".vec");
    const bool exact = node.op.starts_with("aten._upsample_nearest_exact");
    for (std::size_t i = 0; i < spatial; ++i) {
        const std::size_t d = in.size() - spatial + i;
        Resize resize{static_cast<int>(d), in[d], out.at(d), 0, exact};
        const Json *given =
            Lowering::find(node, position + (list ? 0 : i), list ? "scale_factors" : "scales");
        if (given != nullptr && list && given->is_array() && i < given->size())
            resize.factor = factorOf((*given)[i]);
        else if (given != nullptr && !list)
            resize.factor = factorOf(*given);
        result.push_back(resize);
    }
    return result;
}

float scaleOf(const Resize &r) {
    return resizingScale(r.in, r.out, r.factor);
}

/// How many neighbouring outputs have each element of the input for their source; 0: it differs.
std::int64_t repetitionsOf(const Resize &r) {
    const auto places = nearestPlaces(r.in, r.out, r.factor, r.exact);
    return places && places->times == 1 && places->plus == 0 && r.out == r.in * places->by
               ? places->by
               : 0;
}

/// What computing an element of a view costs, in additions.
double costOf(const Lowering &l, const View &view) {
    double cost = 0;
    for (const int id : reachableFrom(l.program, {view.value})) {
        const Value &value = l.program.values[id];
        const PointwiseInfo *info =
            value.kind == Kind::pointwise ? pointwiseInfo(value.op) : nullptr;
        cost += info != nullptr ? info->cost : 0;
    }
    return cost;
}

/// Positions along a dimension with those axes.
View positionsOn(Lowering &l, const Axes &axes, DType type) {
    View place = l.index(axes);
    l.program.values[place.value].dtype = DType::int32; // 64 bits are slow to make floats of
    return l.cast(place, type);
}

View positionsAlong(Lowering &l, std::int64_t size, DType type) {
    return positionsOn(l, size > 1 ? Axes{l.program.axes.add(size)} : Axes{}, type);
}

/// Where the nearest neighbour of each output lies along a dimension with those axes. Whole
/// numbers, as conversions are slow on a GPU: four of them would take longer than what they write.
View nearestOf(Lowering &l, const Axes &axes, const Resize &r) {
    const auto places = nearestPlaces(r.in, r.out, r.factor, r.exact);
    if (!places) {
        View place = positionsOn(l, axes, DType::float32);
        if (r.exact)
            place = l.apply("add", {place, l.constant(0.5)}, DType::float32);
        place = l.apply("mul", {place, l.constant(scaleOf(r))}, DType::float32);
        return l.cast(place, DType::int32);
    }
    View place = positionsOn(l, axes, DType::int32);
    const auto apply = [&](const char *op, std::int64_t number, std::int64_t without) {
        if (number != without)
            place = l.apply(op, {place, l.constant(static_cast<double>(number), DType::int32)},
                            DType::int32);
    };
    apply("mul", places->times, 1);
    apply("add", places->plus, 0);
    apply("idiv", places->by, 1);
    return place;
}

View nearest(Lowering &l, View x, const Resize &r) {
    const auto d = static_cast<std::size_t>(r.dim);
    const std::int64_t times = repetitionsOf(r);
    // An odd number of neighbours along the last dimension would be no run to write at once.
    const bool last = d + 1 == x.dims.size();
    if (times > 0 && (times % 2 == 0 || times == 1 || !last)) {
        if (times > 1)
            x.dims[d].push_back(l.program.axes.add(times));
        return x;
    }
    const Axes axes = r.out > 1 ? Axes{l.program.axes.add(r.out)} : Axes{};
    return l.pick(x, {r.dim}, {nearestOf(l, axes, r)}, d, false);
}

/// upsample_nearest, _upsample_nearest_exact(self, output_size, scales): output_size is what the
/// result's shape says.
Operator upsampleNearest(std::size_t spatial) {
    return [spatial](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "input"));
        // Writing and reading what is repeated costs more than all but the slowest functions.
        constexpr double slowest = 24;
        const auto resizes = resizesOf(node, l.shapeOf(x), node.outputs.at(0).shape, spatial, 2);
        if (!l.reduces(x) && costOf(l, x) > slowest &&
            std::ranges::any_of(resizes, [](const Resize &r) { return r.out > r.in; }))
            x = l.materialise(x);
        for (const Resize &r : resizes)
            x = nearest(l, x, r);
        return Views{x};
    };
}

/// The type that gradients are added up in; failed for what is no such type.
Result<DType> gradientType(const Lowering &l, const View &grad) {
    const DType stored = l.dtypeOf(grad);
    if (!isFloating(stored))
        return failedError("of {}", nameOf(stored));
    return sizeOf(stored) < 4 ? DType::float32 : stored;
}

/// A gradient whose elements are added to others: as a tensor of its own, so that each of its
/// dimensions has axes that no other has.
View scattered(Lowering &l, const View &grad, DType type) {
    return l.cast(l.materialise(grad), type);
}

/// upsample_nearest_backward(grad_output, output_size, input_size, scales): the sum of each
/// element's repetitions, which are added to it where their number differs from one to the next.
Operator upsampleNearestBackward(std::size_t spatial) {
    return [spatial](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(grad, l.view(node, 0, "grad_output"));
        CUDA_AGENT_ASSIGN(type, gradientType(l, grad));
        const Shape out = l.shapeOf(grad);
        const auto resizes = resizesOf(node, node.outputs.at(0).shape, out, spatial, 3);
        if (std::any_of(resizes.begin(), resizes.end(),
                        [](const Resize &r) { return repetitionsOf(r) == 0; })) {
            grad = scattered(l, grad, type);
            std::vector<int> positions, picks(out.size(), -1);
            for (const Resize &r : resizes) {
                const auto d = static_cast<std::size_t>(r.dim);
                const View at = nearestOf(l, grad.dims[d], r);
                picks[d] = static_cast<int>(positions.size());
                positions.push_back(l.within(at.value, r.in, false));
                l.require(grad.dims[d]);
            }
            return Views{
                l.addAt(grad.value, grad.dims, positions, picks, node.outputs.at(0).shape)};
        }
        Shape split(out.begin(), out.end() - static_cast<std::ptrdiff_t>(spatial));
        std::vector<int> repeated;
        for (const Resize &r : resizes) {
            split.push_back(r.in);
            repeated.push_back(static_cast<int>(split.size()));
            split.push_back(repetitionsOf(r));
        }
        return Views{l.reduce("sum", l.reshape(l.cast(grad, type), split), repeated, false, type)};
    };
}

/// The two neighbours of each output along a dimension, and how far it is from the first.
struct Neighbours {
    View first, second, distance;
};

/// Where outputs at the positions `at`, of type `t`, lie among inputs.
View sourceOf(Lowering &l, const View &at, const Resize &r, bool alignCorners, DType t) {
    const auto number = [&](double exact, float rounded) {
        return l.constant(t == DType::float64 ? exact : rounded, t);
    };
    if (alignCorners) {
        const auto cells = [](auto in, auto out) { return out > 0 ? in / out : 0; };
        return l.apply(
            "mul",
            {at, number(cells(static_cast<double>(r.in - 1), static_cast<double>(r.out - 1)),
                        cells(static_cast<float>(r.in - 1), static_cast<float>(r.out - 1)))},
            t);
    }
    const double exact =
        r.factor > 0 ? 1 / r.factor : static_cast<double>(r.in) / static_cast<double>(r.out);
    const View middle = l.apply("add", {at, l.constant(0.5, t)}, t);
    return l.apply("sub",
                   {l.apply("mul", {middle, number(exact, scaleOf(r))}, t), l.constant(0.5, t)}, t);
}

/// `at`: positions of outputs, of type `t`.
Neighbours linearNeighbours(Lowering &l, View at, const Resize &r, bool alignCorners, DType t) {
    at = sourceOf(l, at, r, alignCorners, t);
    if (!alignCorners)
        at = l.apply("clampmin", {at, l.constant(0, t)}, t);
    const View last = l.constant(static_cast<double>(r.in - 1), DType::int32);
    const View one = l.constant(1, DType::int32);
    Neighbours n;
    n.first = l.apply("iminimum", {l.cast(at, DType::int32), last}, DType::int32);
    n.second =
        l.apply("iminimum", {l.apply("add", {n.first, one}, DType::int32), last}, DType::int32);
    n.distance = l.apply("sub", {at, l.cast(n.first, t)}, t);
    return n;
}

/// What an output is the weighted sum of along a dimension.
struct Taps {
    std::vector<View> places, weights;
};

/// The taps of a dimension whose outputs are at positions of a type.
using TapsOf = Taps (*)(Lowering &, const View &, const Resize &, bool, DType);

Taps linearTaps(Lowering &l, const View &at, const Resize &r, bool alignCorners, DType t) {
    const Neighbours n = linearNeighbours(l, at, r, alignCorners, t);
    return {{n.first, n.second}, {l.apply("sub", {l.constant(1, t), n.distance}, t), n.distance}};
}

/// Cubic convolution of four neighbours, those over the border for the last ones before it (R.
/// Keys, 1981, with a = -0.75).
Taps cubicTaps(Lowering &l, const View &at, const Resize &r, bool alignCorners, DType t) {
    constexpr double a = -0.75;
    const auto op = [&](const char *name, const View &x, double number) {
        return l.apply(name, {x, l.constant(number, t)}, t);
    };
    const auto times = [&](const View &x, const View &y) { return l.apply("mul", {x, y}, t); };
    const auto near = [&](const View &x) { // ((a + 2) x - (a + 3)) x^2 + 1
        return op("add", times(times(op("sub", op("mul", x, a + 2), a + 3), x), x), 1);
    };
    const auto far = [&](const View &x) { // ((a x - 5 a) x + 8 a) x - 4 a
        const View inner = times(op("sub", op("mul", x, a), 5 * a), x);
        return op("sub", times(op("add", inner, 8 * a), x), 4 * a);
    };
    const View source = sourceOf(l, at, r, alignCorners, t);
    const View floor = l.apply("floor", {source}, t);
    const View distance = l.apply("sub", {source, floor}, t);
    const View rest = l.apply("sub", {l.constant(1, t), distance}, t);
    Taps taps{{},
              {far(op("add", distance, 1)), near(distance), near(rest), far(op("add", rest, 1))}};
    const View first = l.cast(floor, DType::int32);
    for (int k = -1; k < 3; ++k) {
        const auto whole = [&](const char *name, const View &x, std::int64_t number) {
            return l.apply(name, {x, l.constant(static_cast<double>(number), DType::int32)},
                           DType::int32);
        };
        const View place = k == 0 ? first : whole("add", first, k);
        taps.places.push_back(whole("iminimum", whole("imaximum", place, 0), r.in - 1));
    }
    return taps;
}

/// upsample_linear1d, upsample_bilinear2d, upsample_trilinear3d, upsample_bicubic2d(self,
/// output_size, align_corners, scales): weighted sums of neighbours, one dimension after the other,
/// the last one first. What costs more than `mostCost` is not computed again for each of them.
Operator upsampleBetween(std::size_t spatial, TapsOf tapsOf, double mostCost) {
    return [=](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "input"));
        const DType stored = l.dtypeOf(x);
        if (!isFloating(stored))
            return failedError("of {}", nameOf(stored));
        const DType t = sizeOf(stored) < 4 ? DType::float32 : stored;
        const bool corners = Lowering::flag(node, 2, "align_corners", false);
        const auto resizes = resizesOf(node, l.shapeOf(x), node.outputs.at(0).shape, spatial, 3);
        const bool cheap = !l.reduces(x) && costOf(l, x) <= mostCost;
        View source = cheap ? x : l.materialise(x);
        std::vector<View> parts{l.cast(source, t)}; // of a sum, by the places along each dimension
        std::vector<Taps> taps;
        for (const Resize &r : resizes) {
            taps.push_back(tapsOf(l, positionsAlong(l, r.out, t), r, corners, t));
            std::vector<View> more;
            for (const View &view : parts) {
                for (const View &at : taps.back().places)
                    more.push_back(
                        l.pick(view, {r.dim}, {at}, static_cast<std::size_t>(r.dim), false));
            }
            parts = std::move(more);
        }
        for (std::size_t k = resizes.size(); k-- > 0;) {
            std::vector<View> weights = taps[k].weights;
            for (View &weight : weights)
                weight.dims.resize(resizes.size() - k); // the dimensions after its own
            std::vector<View> sums;
            for (std::size_t i = 0; i < parts.size(); i += weights.size()) {
                View sum = l.apply("mul", {weights[0], parts[i]}, t);
                for (std::size_t j = 1; j < weights.size(); ++j)
                    sum = l.apply("add", {sum, l.apply("mul", {weights[j], parts[i + j]}, t)}, t);
                sums.push_back(sum);
            }
            parts = std::move(sums);
        }
        return Views{parts[0]};
    };
}

/// upsample_linear1d_backward, upsample_bilinear2d_backward, upsample_trilinear3d_backward(
/// grad_output, output_size, input_size, align_corners, scales): each element is added to its
/// neighbours by their weights.
Operator upsampleLinearBackward(std::size_t spatial) {
    return [spatial](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(grad, l.view(node, 0, "grad_output"));
        CUDA_AGENT_ASSIGN(t, gradientType(l, grad));
        const bool corners = Lowering::flag(node, 3, "align_corners", false);
        const Shape &in = node.outputs.at(0).shape;
        const auto resizes = resizesOf(node, in, l.shapeOf(grad), spatial, 4);
        grad = scattered(l, grad, t);
        std::vector<Axes> dims = grad.dims;
        std::vector<int> positions, picks(dims.size(), -1);
        int value = grad.value;
        for (const Resize &r : resizes) {
            const auto d = static_cast<std::size_t>(r.dim);
            const Neighbours n =
                linearNeighbours(l, positionsOn(l, grad.dims[d], t), r, corners, t);
            const auto op = [&](const char *name, std::vector<int> args, DType type) {
                return l.program.pointwise(name, std::move(args), type);
            };
            // Both neighbours are one more loop.
            const Axis side = l.program.axes.add(2);
            const int far = op("eq", {l.index({side}).value, l.program.constant(1, DType::int64)},
                               DType::boolean);
            const int near = op("sub", {l.program.constant(1, t), n.distance.value}, t);
            const int weight = op("where", {far, n.distance.value, near}, t);
            const int at = op("where", {far, n.second.value, n.first.value}, DType::int32);
            value = op("mul", {value, weight}, t);
            picks[d] = static_cast<int>(positions.size());
            positions.push_back(l.within(at, r.in, false));
            l.require(grad.dims[d]);
            dims[d].push_back(side);
        }
        return Views{l.addAt(value, dims, positions, picks, in)};
    };
}

} // namespace

float resizingScale(std::int64_t in, std::int64_t out, double factor) {
    return factor > 0 ? static_cast<float>(1 / factor)
                      : static_cast<float>(in) / static_cast<float>(out);
}

std::int64_t nearestInFloat(std::int64_t place, std::int64_t in, float scale, bool exact) {
    const float from = (static_cast<float>(place) + (exact ? 0.5f : 0.0f)) * scale;
    return std::min(static_cast<std::int64_t>(std::floor(from)), in - 1);
}

std::optional<NearestPlaces> nearestPlaces(std::int64_t in, std::int64_t out, double factor,
                                           bool exact) {
    constexpr std::int64_t most = 1 << 20, mostParts = 64;
    if (in < 1 || out < 1 || in > most || out > most)
        return std::nullopt;
    // `count` elements of the input are `parts` of the output.
    std::int64_t count = in / std::gcd(in, out), parts = out / std::gcd(in, out);
    if (factor > 0) {
        count = 1;
        while (count <= mostParts && std::floor(factor * static_cast<double>(count)) !=
                                         factor * static_cast<double>(count))
            ++count;
        if (count > mostParts || factor > static_cast<double>(most))
            return std::nullopt;
        parts = static_cast<std::int64_t>(factor * static_cast<double>(count));
    }
    const float scale = resizingScale(in, out, factor);
    std::vector<NearestPlaces> candidates{{count, 0, parts}};
    if (exact) {
        const std::int64_t common = count % 2 == 0 ? 2 : 1;
        candidates.push_back({2 * count / common, count / common, 2 * parts / common});
    }
    for (const NearestPlaces &places : candidates) {
        if (out * places.times + places.plus > INT32_MAX)
            continue;
        bool same = true;
        for (std::int64_t place = 0; place < out && same; ++place)
            same = places.of(place) == nearestInFloat(place, in, scale, exact);
        if (same)
            return places;
    }
    return std::nullopt;
}

void addResamplingOperators(OperatorTable &table) {
    constexpr const char *linear[] = {"linear1d", "bilinear2d", "trilinear3d"};
    for (std::size_t n = 1; n <= 3; ++n) {
        for (const char *form : {"vec", "default"}) {
            for (const char *kind : {"upsample_nearest", "_upsample_nearest_exact"}) {
                table[fmt::format("aten.{}{}d.{}", kind, n, form)] = upsampleNearest(n);
                table[fmt::format("aten.{}{}d_backward.{}", kind, n, form)] =
                    upsampleNearestBackward(n);
            }
            table[fmt::format("aten.upsample_{}.{}", linear[n - 1], form)] =
                upsampleBetween(n, linearTaps, 8);
            table[fmt::format("aten.upsample_{}_backward.{}", linear[n - 1], form)] =
                upsampleLinearBackward(n);
        }
    }
    for (const char *form : {"vec", "default"})
        table[fmt::format("aten.upsample_bicubic2d.{}", form)] = upsampleBetween(2, cubicTaps, 2);
}

} // namespace cuda_agent::policy
