// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/integers.h"
#include "core/policy/planner/lowering.h"

#include <limits>

// Convolutions as steps of a library, and as products that kernels of the planner's own compute:
// filters of [channels, taps] times the windows of each image.

namespace cuda_agent::policy {

namespace {

constexpr std::size_t mostPlaces = 3; ///< dimensions of space
constexpr std::int64_t mostTaps = 32; ///< along all of them together: bits of a word

/// What is written down about one dimension of space after the other.
struct Shaped {
    ConvolutionWindows windows;
    Product product; ///< sizes, filters of a, and b without its buffer
    bool possible = true;

    /// `rows` of each of `groups` products of an image, whose channels lie innermost if `inner`.
    Shaped(const Shape &in, std::int64_t rows, std::int64_t groups, bool inner) : groups_(groups) {
        windows.in = windows.out = windows.taps = windows.stride = windows.dilation = {1, 1, 1};
        windows.padding = {0, 0, 0};
        product.batch = in[0] * groups, product.m = rows, product.n = 1;
        product.k = product.b.batchStride = in[1] / groups;
        windows.inner = inner ? in[1] : 1;
        product.b.alongK = inner;
        possible = in.size() > 2 && in.size() - 2 <= mostPlaces;
        at_ = mostPlaces - std::min(mostPlaces, in.size() - 2);
    }
    void add(std::int64_t in, std::int64_t out, std::int64_t taps, std::int64_t stride,
             std::int64_t padding, std::int64_t dilation) {
        possible = possible && at_ < mostPlaces;
        if (!possible)
            return;
        windows.in[at_] = in, windows.out[at_] = out, windows.taps[at_] = taps;
        windows.stride[at_] = stride, windows.padding[at_] = padding;
        windows.dilation[at_] = dilation;
        product.n *= out, product.k *= taps, product.b.batchStride *= in;
        possible = product.b.batchStride < std::numeric_limits<std::int32_t>::max() &&
                   windows.taps[0] + windows.taps[1] + windows.taps[2] <= mostTaps;
        ++at_;
    }
    Product of(int filters, int input, DType type, bool tf32) const {
        Product result = product;
        result.a.buffer = filters;
        result.a.pitch = product.k;
        result.a.batchStride = groups_ > 1 ? product.m * product.k : 0;
        result.a.repeats = groups_;
        result.b.buffer = input;
        result.b.windows = windows;
        result.type = type;
        result.tf32 = tf32 && type == DType::float32;
        return result;
    }

  private:
    std::size_t at_ = 0;
    std::int64_t groups_;
};

/// Whether kernels of ours read the channels of an image innermost: several at a time, which needs
/// a whole number of such reads.
bool channelsInner(const Shape &in, std::int64_t groups, DType type) {
    return groups == 1 && in[1] % static_cast<std::int64_t>(16 / sizeOf(type)) == 0;
}

View withChannelsLast(View view) {
    std::rotate(view.dims.begin() + 1, view.dims.begin() + 2, view.dims.end());
    return view;
}

/// A transposed convolution turned round, as a product. Of `stride` neighbours of the output each
/// meets taps of its own, but all of them the same places of the input: they are rows of the
/// product side by side, with zeros where a tap is none of theirs, and take turns in the result.
std::optional<View> turned(Lowering &l, const LinearStep &map, std::int64_t groups,
                           const Shape &out, DType type) {
    const Shape in = l.shapeOf(map.x), filter = l.shapeOf(map.weight);
    const std::size_t spatial = in.size() - 2;
    const bool inner = channelsInner(in, groups, type);
    Shaped shaped(in, filter[1], groups, inner);
    std::vector<Window> list; // of the filters: from each neighbour's first tap every `stride`
    NeighbourFilters neighbours;
    neighbours.channels = filter[1];
    bool whole = true, padded = false;
    for (std::size_t d = 0; d < spatial && shaped.possible; ++d) {
        const std::int64_t stride = map.stride[d], padding = map.padding[d];
        const std::int64_t size = filter[d + 2], gap = map.dilation[d];
        if (stride > 1 && gap > 1)
            return std::nullopt;
        // Place o = stride * q + phase of the output meets place (o + padding - gap * tap) / stride
        // of the input: between q + first and q + last.
        const std::int64_t last = stride == 1 ? padding : (stride - 1 + padding) / stride;
        const std::int64_t first = -floorDivide(size - 1 - padding, stride);
        const std::int64_t taps = stride == 1 ? size : last - first + 1;
        const std::int64_t places = (out[d + 2] + stride - 1) / stride;
        shaped.add(in[d + 2], places, taps, 1, -last, stride == 1 ? -gap : -1);
        shaped.product.m *= stride;
        const std::int64_t before = stride == 1 ? 0 : stride * last - padding;
        list.push_back({static_cast<int>(d) + 3, stride, taps, 1, stride, before});
        if (shaped.possible) {
            const std::size_t at = mostPlaces - spatial + d;
            neighbours.stride[at] = stride, neighbours.taps[at] = taps;
            neighbours.size[at] = size, neighbours.first[at] = -before;
            padded = padded || before > 0 || stride * taps - before > size;
        }
        whole = whole && places * stride == out[d + 2];
    }
    if (!shaped.possible)
        return std::nullopt;
    if (padded)
        shaped.product.a.filters = neighbours;
    int inside = -1;
    Shape split{groups, filter[0] / groups};
    split.insert(split.end(), filter.begin() + 1, filter.end());
    View filters = l.windows(l.reshape(map.weight, split), list, &inside);
    if (inside >= 0)
        filters.value = l.program.pointwise(
            "where", {inside, filters.value, l.program.constant(0, type)}, type);
    // From [group, in, out, phases.., taps..] to the group's rows and k, the innermost phases next
    // to each other.
    std::vector<Axes> order{filters.dims[0]};
    order.insert(order.end(), filters.dims.begin() + 3,
                 filters.dims.begin() + 3 + static_cast<std::ptrdiff_t>(spatial));
    order.insert(order.end() - 1, filters.dims[2]);
    order.insert(order.end(), filters.dims.end() - static_cast<std::ptrdiff_t>(spatial),
                 filters.dims.end());
    order.insert(order.end() - (inner ? 0 : static_cast<std::ptrdiff_t>(spatial)), filters.dims[1]);
    const int rows = l.bufferOf({filters.value, order});
    const int input = l.bufferOf(inner ? withChannelsLast(map.x) : map.x);

    const auto axis = [&](std::int64_t size, const std::string &text = {}) {
        return size == 1 ? Axes{} : Axes{l.program.axes.add(size, text)};
    };
    std::vector<Axes> phases, places;
    for (std::size_t d = 0; d < spatial; ++d) {
        phases.push_back(axis(map.stride[d]));
        places.push_back(axis((out[d + 2] + map.stride[d] - 1) / map.stride[d]));
    }
    const Axes images =
        axis(out[0], map.x.dims[0].empty() ? "" : l.program.axes.expression(map.x.dims[0]));
    const Axes group = axis(groups), channels = axis(out[1] / groups);
    std::vector<Axes> lying{images, group};
    lying.insert(lying.end(), phases.begin(), phases.end());
    lying.insert(lying.end() - 1, channels);
    lying.insert(lying.end(), places.begin(), places.end());
    const int output = l.program.addScratch(type, lying);
    Json step{{"kind", "convolution"},
              {"input", l.program.buffers[input].name},
              {"weight", l.program.buffers[rows].name},
              {"output", l.program.buffers[output].name},
              {"stride", map.stride}};
    if (l.options().tf32Convolution && type == DType::float32)
        step["compute"] = "tf32";
    const Product product = shaped.of(rows, input, type, l.options().tf32Convolution);
    const double operations = 2.0 * static_cast<double>(product.batch * product.m) *
                              static_cast<double>(product.n * product.k);
    l.program.library.push_back({std::move(step), {input, rows}, output, operations, product});
    l.program.library.back().own = true;

    View result{l.program.load(output, lying), {images, group}};
    result.dims[1].insert(result.dims[1].end(), channels.begin(), channels.end());
    for (std::size_t d = 0; d < spatial; ++d) {
        result.dims.push_back(places[d]);
        result.dims.back().insert(result.dims.back().end(), phases[d].begin(), phases[d].end());
    }
    if (whole)
        return result;
    result = l.materialise(result); // the last neighbours reach beyond the end
    for (std::size_t d = 0; d < spatial; ++d)
        result = l.slice(result, static_cast<int>(d) + 2, 0, 1, out[d + 2]);
    return result;
}

} // namespace

View convolutionStep(Lowering &l, LinearStep map, std::int64_t groups, const Shape &out,
                     DType type) {
    if (map.transposed && l.options().ownConvolutions) {
        if (const auto result = turned(l, map, groups, out, type))
            return *result;
    }
    const Shape in = l.shapeOf(map.x), filter = l.shapeOf(map.weight);
    const bool inner = !map.transposed && l.options().ownConvolutions &&
                       channelsInner(in, groups, type) && in.size() - 2 <= mostPlaces;
    const auto placed = [&](View view) { // as the step wants it
        return l.options().channelsLast || inner ? withChannelsLast(std::move(view)) : view;
    };
    const int input = l.bufferOf(placed(map.x));
    const int filters = l.bufferOf(placed(map.weight));
    std::vector<Axes> dims;
    for (const std::int64_t extent : out)
        dims.push_back(extent == 1 ? Axes{} : Axes{l.program.axes.add(extent)});
    // The batch is the input's, so that the plan serves other batch sizes too.
    if (!map.x.dims[0].empty())
        dims[0] = {l.program.axes.add(out[0], l.program.axes.expression(map.x.dims[0]))};
    const bool product = !map.transposed && !l.options().channelsLast;
    if (product && groups > 1) { // each group is a product of its own
        dims[1].clear();
        for (const std::int64_t extent : {groups, out[1] / groups}) {
            if (extent > 1)
                dims[1].push_back(l.program.axes.add(extent));
        }
    }
    const std::vector<Axes> lying =
        l.options().channelsLast ? withChannelsLast(View{-1, dims}).dims : dims;
    const int output = l.program.addScratch(type, lying);
    Json step{{"kind", "convolution"},
              {"input", l.program.buffers[input].name},
              {"weight", l.program.buffers[filters].name},
              {"output", l.program.buffers[output].name},
              {"stride", map.stride},
              {"padding", map.padding},
              {"dilation", map.dilation},
              {"groups", groups}};
    if (map.transposed) {
        step["transposed"] = true;
        step["output_padding"] = map.outputPadding;
    }
    if (l.options().tf32Convolution && type == DType::float32)
        step["compute"] = "tf32";
    if (l.options().channelsLast)
        step["layout"] = "channels_last";
    double operations = 2 * static_cast<double>(filter[1]);
    for (std::size_t d = 2; d < filter.size(); ++d)
        operations *= static_cast<double>(filter[d]);
    for (const std::int64_t extent : map.transposed ? in : out)
        operations *= static_cast<double>(extent);
    std::optional<Product> matrices;
    if (product) {
        Shaped shaped(in, filter[0] / groups, groups, inner);
        for (std::size_t d = 0; d + 2 < in.size(); ++d)
            shaped.add(in[d + 2], out[d + 2], filter[d + 2], map.stride[d], map.padding[d],
                       map.dilation[d]);
        if (shaped.possible)
            matrices = shaped.of(filters, input, type, l.options().tf32Convolution);
    }
    l.program.library.push_back({std::move(step), {input, filters}, output, operations, matrices});
    l.program.library.back().own = inner;
    map.result = View{l.program.load(output, lying), dims};
    map.convolution = true;
    const View result = map.result;
    if (groups == 1)
        l.linear[output] = std::move(map);
    return result;
}

} // namespace cuda_agent::policy
