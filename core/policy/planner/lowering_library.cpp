// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/integers.h"
#include "core/base/names.h"
#include "core/policy/planner/fusion.h"
#include "core/policy/planner/lowering.h"

#include <cmath>
#include <limits>

namespace cuda_agent::policy {

namespace {

using Views = std::vector<View>;
using task::Node;

/// A matrix operand of a GEMM step: a buffer and how the matrix lies in it.
struct Operand {
    int buffer = -1;
    bool transposed = false;
    /// Elements between stored rows and between products, where they are not the matrix's sizes.
    std::optional<std::int64_t> leading, stride;
};

/// Elements from one position of each dimension to the next in the buffer that a view reads, when
/// it reads one from its beginning and every dimension is an even walk.
std::optional<Shape> stridesOf(Lowering &l, const View &view) {
    const Value &value = l.program.values[view.value];
    if (value.kind != Kind::load || !value.args.empty())
        return std::nullopt;
    std::map<Axis, std::int64_t> byAtom;
    const Shape strides = l.program.stridesOf(value);
    for (std::size_t d = 0; d < value.dims.size(); ++d) {
        if (value.dims[d].offset != 0 || value.dims[d].step < 0)
            return std::nullopt;
        std::int64_t stride = value.dims[d].step * strides[d];
        const Axes atoms = l.program.axes.atoms(value.dims[d].axes);
        for (std::size_t i = atoms.size(); i-- > 0;) {
            byAtom[atoms[i]] += stride;
            stride *= l.program.axes.size(atoms[i]);
        }
    }
    Shape result;
    for (const Axes &dimension : view.dims) {
        const Axes atoms = l.program.axes.atoms(dimension);
        std::int64_t expected = 0;
        for (std::size_t i = atoms.size(); i-- > 0;) {
            const auto found = byAtom.find(atoms[i]);
            const std::int64_t have = found == byAtom.end() ? 0 : found->second;
            if (i + 1 == atoms.size())
                result.push_back(have);
            else if (have != expected)
                return std::nullopt;
            expected = have * l.program.axes.size(atoms[i]);
        }
        if (atoms.empty())
            result.push_back(0);
    }
    return result;
}

/// Writes an operand out, transposed when what it is computed from lies so in memory.
Operand writtenOut(Lowering &l, const View &matrix) {
    const std::size_t rank = matrix.dims.size();
    const Program &p = l.program;
    const Axes order = memoryOrder(p, p.axesOf(matrix.value), reachableFrom(p, {matrix.value}), {});
    const Axes rows = p.axes.atoms(matrix.dims[rank - 2]);
    if (order.empty() || rows.empty() || order.back() != rows.back())
        return {l.bufferOf(matrix), false, {}, {}};
    View turned = matrix;
    std::swap(turned.dims[rank - 2], turned.dims[rank - 1]);
    return {l.bufferOf(turned), true, {}, {}};
}

/// Whether a tensor is the same along that dimension.
bool isSameAlong(const Lowering &l, const View &view, std::size_t dim) {
    const std::set<Axis> axes = l.program.axesOf(view.value);
    return std::ranges::none_of(l.program.axes.atoms(view.dims[dim]),
                                [&](Axis atom) { return axes.contains(atom); });
}

/// Finds the operand in memory as it is or transposed, else writes it out; one that is the same in
/// all products, once.
Operand operand(Lowering &l, const View &matrix) {
    const std::size_t rank = matrix.dims.size();
    const Shape shape = l.shapeOf(matrix);
    const std::int64_t rows = shape[rank - 2], columns = shape[rank - 1];
    const auto strides = stridesOf(l, matrix);
    if (rank == 3 && shape[0] > 1 && !strides && isSameAlong(l, matrix, 0)) {
        Operand once = writtenOut(l, {matrix.value, {matrix.dims[1], matrix.dims[2]}});
        once.stride = 0;
        return once;
    }
    if (!strides)
        return writtenOut(l, matrix);
    const std::int64_t down = rows == 1 ? columns : (*strides)[rank - 2];
    const std::int64_t along = columns == 1 ? 1 : (*strides)[rank - 1];
    Operand result{l.program.values[matrix.value].buffer, false, {}, {}};
    std::int64_t leading = 0, contiguous = 0;
    if (along == 1 && down >= columns) {
        leading = down;
        contiguous = columns;
    } else if (down == 1 && along >= rows) {
        result.transposed = true;
        leading = along;
        contiguous = rows;
    } else {
        return writtenOut(l, matrix);
    }
    if (leading != contiguous)
        result.leading = leading;
    if (rank == 3 && shape[0] > 1 && (*strides)[0] != rows * columns)
        result.stride = (*strides)[0];
    if (result.leading || result.stride) { // numbers that hold for these sizes only
        for (const LoadDim &dimension : l.program.values[matrix.value].dims)
            l.require(dimension.axes);
    }
    return result;
}

std::string size(Lowering &l, const Axes &axes) {
    return l.program.axes.expression(axes);
}

DType accumulated(DType type) {
    return type == DType::float64 ? DType::float64 : DType::float32;
}

/// A product with a single row or column is a sum per element of the result: one sweep over the
/// matrix, at the speed of memory.
View dotProducts(Lowering &l, const View &a, const View &b, DType type) {
    const std::size_t rank = a.dims.size();
    const DType wide = accumulated(type);
    View left = l.cast(a, wide), right = l.cast(b, wide);
    std::swap(right.dims[rank - 2], right.dims[rank - 1]); // [.., n, k]
    const bool oneColumn = l.shapeOf(b)[rank - 1] == 1;
    // [.., m, k] * [.., 1, k] or [.., 1, k] * [.., n, k]
    View sum = l.reduce("sum", l.apply("mul", {left, right}, wide), {static_cast<int>(rank) - 1},
                        false, wide);
    if (oneColumn)
        sum.dims.push_back({});
    else
        sum.dims.insert(sum.dims.end() - 1, Axes{});
    return sum;
}

/// Takes constant factors off an operand: the product applies them to its result, and the operand
/// may then be found in memory as it is.
double takeFactor(Lowering &l, View &view, DType type) {
    double factor = 1;
    while (sizeOf(type) >= sizeof(float)) { // rounding to half types in between would show
        const Value &value = l.program.values[view.value];
        if (value.kind != Kind::pointwise || value.op != "mul" || value.dtype != type)
            break;
        const int constant = l.program.values[value.args[1]].kind == Kind::constant ? 1 : 0;
        const Value &number = l.program.values[value.args[constant]];
        if (number.kind != Kind::constant || !std::isfinite(number.number) || number.number == 0)
            break;
        factor *= number.number;
        view.value = value.args[1 - constant];
    }
    return factor;
}

constexpr double worthACopy = 128; // operations for each byte that is copied

/// How many elements lie side by side in what tensor cores read and write at once; 1: of a type
/// that they do not take.
std::int64_t wholeVectors(DType type, bool tf32) {
    const bool onTensorCores = sizeOf(type) == 2 || (tf32 && type == DType::float32);
    return onTensorCores ? 16 / static_cast<std::int64_t>(sizeOf(type)) : 1;
}

/// The columns of a product with what tensor cores want behind them: LoweringOptions::widen.
std::int64_t wantedWidth(Lowering &l, const View &a, const View &b, DType type, bool tf32) {
    const Shape as = l.shapeOf(a);
    const auto rows = static_cast<double>(as.end()[-2]), depth = static_cast<double>(as.back());
    const std::int64_t width = l.shapeOf(b).back(), whole = wholeVectors(type, tf32);
    // The weight is copied, and what reads the result has that from memory.
    const double bytes = (depth + rows) * static_cast<double>(sizeOf(type));
    const bool worthIt = 2 * rows * depth >= worthACopy * bytes;
    return l.options().widen && worthIt && !l.reduces(b) ? ceilDivide(width, whole) * whole : width;
}

/// The depth of a product with what tensor cores want behind it: LoweringOptions::deepen.
std::int64_t wantedDepth(Lowering &l, const View &a, const View &b, DType type, bool tf32) {
    const std::size_t rank = a.dims.size();
    const Shape as = l.shapeOf(a), bs = l.shapeOf(b);
    const std::int64_t depth = as[rank - 1];
    const std::int64_t whole = wholeVectors(type, tf32);
    if (!l.options().deepen || depth % whole == 0 || l.reduces(a) || l.reduces(b))
        return depth;
    double elements = 0; // that lie in memory already
    const auto side = [&](const View &view, const Shape &shape, std::size_t along,
                          std::size_t other) {
        const auto strides = stridesOf(l, view);
        if (!strides)
            return true;
        elements += static_cast<double>(shape[along]) * static_cast<double>(shape[other]) *
                    static_cast<double>(rank == 3 ? shape[0] : 1);
        return (*strides)[along] == 1 || shape[other] % whole == 0;
    };
    if (!side(a, as, rank - 1, rank - 2) || !side(b, bs, rank - 2, rank - 1))
        return depth; // its lines are no whole vectors then, either
    const double operations = 2 * static_cast<double>(depth) * static_cast<double>(as[rank - 2]) *
                              static_cast<double>(bs[rank - 1]) *
                              static_cast<double>(rank == 3 ? as[0] : 1);
    return operations < worthACopy * elements * static_cast<double>(sizeOf(type))
               ? depth
               : ceilDivide(depth, whole) * whole;
}

/// alpha * product of [.., m, k] and [.., k, n] of that type, the result as `result`: the same, or
/// float32 for 16-bit types, whose sums are then not rounded.
Result<View> multiply(Lowering &l, View a, View b, DType type, DType result, double alpha,
                      bool tf32) {
    if (!isFloating(type))
        return failedError("of {}", nameOf(type));
    for (View *view : {&a, &b})
        alpha *= takeFactor(l, *view, type);
    a = l.cast(a, type);
    b = l.cast(b, type);
    const std::size_t rank = a.dims.size();
    if (rank != b.dims.size() || rank < 2 || rank > 3)
        return failedError("of {} and {} dimensions", rank, b.dims.size());
    const DType wide = accumulated(type);
    if (l.shapeOf(a)[rank - 2] == 1 || l.shapeOf(b)[rank - 1] == 1) {
        const View sum = dotProducts(l, a, b, type);
        return alpha == 1 ? sum : l.apply("mul", {sum, l.constant(alpha, wide)}, wide);
    }
    if (rank == 3 && isSameAlong(l, b, 0)) { // one product of all rows
        Axes rows = a.dims[0];
        rows.insert(rows.end(), a.dims[1].begin(), a.dims[1].end());
        const Shape shape{l.shapeOf(a)[0], l.shapeOf(a)[1], l.shapeOf(b)[2]};
        CUDA_AGENT_ASSIGN(all,
                          multiply(l, {a.value, {rows, a.dims[2]}},
                                   {b.value, {b.dims[1], b.dims[2]}}, type, result, alpha, tf32));
        return l.reshape(all, shape);
    }
    LinearStep map;
    map.x = a, map.weight = b, map.alpha = alpha;
    const std::int64_t columns = l.shapeOf(b)[rank - 1];
    const std::int64_t depth = wantedDepth(l, a, b, type, tf32);
    const std::int64_t width = wantedWidth(l, a, b, type, tf32);
    l.program.widened = l.program.widened || width != columns;
    const auto withZeros = [&](View &view, std::int64_t rows, std::int64_t length) {
        Shape shape = l.shapeOf(view);
        shape[rank - 2] = rows, shape[rank - 1] = length;
        if (shape != l.shapeOf(view))
            view = l.partOf(view, shape, std::vector<std::int64_t>(rank, 0), l.constant(0, type),
                            type);
    };
    withZeros(a, l.shapeOf(a)[rank - 2], depth);
    withZeros(b, depth, width);
    const Operand left = operand(l, a);
    const Operand right = operand(l, b);
    std::vector<Axes> dims;
    const auto fresh = [&](const Axes &axes) {
        const Axes atoms = l.program.axes.atoms(axes);
        if (atoms.empty())
            return Axes{};
        const std::string text = l.program.axes.expression(atoms);
        const bool computed = !isDigit(text[0]);
        return Axes{l.program.axes.add(l.program.axes.size(atoms), computed ? text : "")};
    };
    for (std::size_t d = 0; d + 1 < rank; ++d)
        dims.push_back(fresh(a.dims[d]));
    dims.push_back(fresh(b.dims[rank - 1]));
    const int output = l.program.addScratch(result, dims);
    Json step{{"kind", "gemm"},
              {"a", l.program.buffers[left.buffer].name},
              {"b", l.program.buffers[right.buffer].name},
              {"c", l.program.buffers[output].name},
              {"m", size(l, a.dims[rank - 2])},
              {"n", size(l, b.dims[rank - 1])},
              {"k", size(l, a.dims[rank - 1])}};
    if (rank == 3)
        step["batch"] = size(l, a.dims[0]);
    for (const auto &[side, have] : {std::pair{"a", &left}, {"b", &right}}) {
        if (have->transposed)
            step[fmt::format("transpose_{}", side)] = true;
        if (have->leading)
            step[fmt::format("ld{}", side)] = *have->leading;
        if (have->stride)
            step[fmt::format("stride_{}", side)] = *have->stride;
    }
    if (alpha != 1)
        step["alpha"] = alpha;
    if (tf32 && type == DType::float32)
        step["compute"] = "tf32";
    double operations = 2 * static_cast<double>(l.shapeOf(a)[rank - 1]);
    for (const std::int64_t extent : l.program.buffers[output].shape)
        operations *= static_cast<double>(extent);
    Product matrices;
    const Shape as = l.shapeOf(a);
    matrices.batch = rank == 3 ? as[0] : 1;
    matrices.m = as[rank - 2];
    matrices.k = as[rank - 1];
    matrices.n = l.shapeOf(b)[rank - 1];
    const auto lies = [&](const Operand &have, bool alongK, std::int64_t rows) {
        const std::int64_t inner = alongK ? matrices.k : rows;
        return ProductOperand{have.buffer, alongK, have.leading.value_or(inner),
                              have.stride.value_or(rows * matrices.k)};
    };
    matrices.a = lies(left, !left.transposed, matrices.m);
    matrices.b = lies(right, right.transposed, matrices.n);
    matrices.type = type;
    matrices.alpha = alpha;
    matrices.tf32 = tf32 && type == DType::float32;
    l.program.library.push_back(
        {std::move(step), {left.buffer, right.buffer}, output, operations, matrices});
    View made{l.program.load(output, dims), dims};
    if (width != columns)
        made = l.slice(made, static_cast<int>(rank) - 1, 0, 1, columns);
    map.result = made;
    l.linear[output] = std::move(map);
    return made;
}
Result<View> multiply(Lowering &l, const View &a, const View &b, DType type, double alpha = 1) {
    return multiply(l, a, b, type, type, alpha, l.options().tf32Gemm);
}

Result<Views> product(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(a, l.view(node, 0, "self"));
    CUDA_AGENT_ASSIGN(b, l.view(node, 1, "mat2"));
    CUDA_AGENT_ASSIGN(result, multiply(l, a, b, node.outputs.at(0).dtype));
    return Views{result};
}

/// mv and dot: vectors are matrices with one row or column.
Result<Views> vectorProduct(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(a, l.view(node, 0, "self"));
    CUDA_AGENT_ASSIGN(b, l.view(node, 1, "vec"));
    if (a.dims.size() == 1)
        a.dims.insert(a.dims.begin(), Axes{});
    b.dims.push_back({});
    CUDA_AGENT_ASSIGN(result, multiply(l, a, b, node.outputs.at(0).dtype));
    result.dims.resize(node.outputs.at(0).shape.size());
    return Views{result};
}

/// addmm, baddbmm: beta * self + alpha * (a @ b). The sum is done by whatever reads the product.
Result<Views> productPlus(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(self, l.view(node, 0, "self"));
    CUDA_AGENT_ASSIGN(a, l.view(node, 1, "mat1"));
    CUDA_AGENT_ASSIGN(b, l.view(node, 2, "mat2"));
    const double beta = Lowering::number(node, 3, "beta", 1);
    const double alpha = Lowering::number(node, 4, "alpha", 1);
    const DType type = node.outputs.at(0).dtype;
    CUDA_AGENT_ASSIGN(result, multiply(l, a, b, type, alpha));
    const DType wide = accumulated(type);
    if (beta == 0) // then self may be anything
        return Views{result};
    if (beta != 1)
        self = l.apply("mul", {self, l.constant(beta, wide)}, wide);
    return Views{l.apply("add", {result, self}, wide)};
}

Result<Views> linear(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "input"));
    CUDA_AGENT_ASSIGN(weight, l.view(node, 1, "weight"));
    const Shape shape = l.shapeOf(x);
    const DType type = node.outputs.at(0).dtype;
    std::int64_t rows = 1;
    for (std::size_t d = 0; d + 1 < shape.size(); ++d)
        rows *= shape[d];
    const View flat = l.reshape(x, {rows, shape.back()});
    std::swap(weight.dims[0], weight.dims[1]);
    CUDA_AGENT_ASSIGN(y, multiply(l, flat, weight, type));
    y = l.reshape(y, node.outputs.at(0).shape);
    if (l.given(node, 2, "bias")) {
        CUDA_AGENT_ASSIGN(bias, l.view(node, 2, "bias"));
        y = l.apply("add", {y, bias}, accumulated(type));
    }
    return Views{y};
}

/// Attention without a fused kernel: scores, their softmax, and the weighted sum of the values.
/// `mask` is where the argument "attn_bias" or "attn_mask" stands.
Operator attention(std::size_t mask, int causal) {
    return [mask, causal](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(q, l.view(node, 0, "query"));
        CUDA_AGENT_ASSIGN(k, l.view(node, 1, "key"));
        CUDA_AGENT_ASSIGN(v, l.view(node, 2, "value"));
        if (q.dims.size() != 4)
            return failedError("of {} dimensions", q.dims.size());
        const Shape qs = l.shapeOf(q), ks = l.shapeOf(k), vs = l.shapeOf(v);
        if (ks[1] != qs[1] || vs[1] != qs[1])
            return failedError("with heads that share keys");
        const DType type = node.outputs.at(0).dtype;
        const DType wide = accumulated(type);
        const double scale =
            Lowering::number(node, 99, "scale", 1 / std::sqrt(static_cast<double>(qs[3])));
        const std::int64_t batch = qs[0] * qs[1];
        std::swap(k.dims[2], k.dims[3]);
        // Fused kernels keep the scores wide, so that the softmax sees no rounding.
        CUDA_AGENT_ASSIGN(scores, multiply(l, l.reshape(q, {batch, qs[2], qs[3]}),
                                           l.reshape(k, {batch, qs[3], ks[2]}), type, wide, scale,
                                           l.options().tf32Gemm));
        View x = l.reshape(scores, {qs[0], qs[1], qs[2], ks[2]});
        if (mask > 0 && l.given(node, mask, "attn_bias")) {
            CUDA_AGENT_ASSIGN(bias, l.view(node, mask, "attn_bias"));
            x = l.apply("add", {x, bias}, wide);
        } else if (l.given(node, 99, "attn_mask")) {
            CUDA_AGENT_ASSIGN(bias, l.view(node, 99, "attn_mask"));
            x = l.apply("add", {x, bias}, wide);
        }
        if (Lowering::flag(node, static_cast<std::size_t>(causal), "is_causal", false)) {
            const View row = l.index(x.dims[2]), column = l.index(x.dims[3]);
            View allowed = l.apply(
                "le",
                {View{column.value, {{}, column.dims[0]}}, View{row.value, {row.dims[0], {}}}},
                DType::boolean);
            x = l.apply("where",
                        {allowed, x, l.constant(-std::numeric_limits<double>::infinity(), wide)},
                        wide);
        }
        x = l.cast(x, wide);
        const View largest = l.reduce("max", x, {3}, true, wide);
        const View powers = l.apply("exp", {l.apply("sub", {x, largest}, wide)}, wide);
        const View total = l.reduce("sum", powers, {3}, true, wide);
        const View weights = l.apply("div", {powers, total}, wide);
        CUDA_AGENT_ASSIGN(sums, multiply(l, l.reshape(weights, {batch, qs[2], ks[2]}),
                                         l.reshape(v, {batch, ks[2], vs[3]}), type));
        return Views{l.reshape(sums, {qs[0], qs[1], qs[2], vs[3]})};
    };
}

bool all(const std::vector<std::int64_t> &values, std::int64_t wanted) {
    return std::all_of(values.begin(), values.end(), [&](auto value) { return value == wanted; });
}

/// A list of a convolution's for each dimension of space; one number goes for all of them.
std::vector<std::int64_t> perPlace(const Node &node, std::size_t position, const char *name) {
    auto list = Lowering::integers(node, position, name);
    if (list.size() == 1)
        list.resize(node.outputs.at(0).shape.size() - 2, list.front());
    return list;
}

/// One filter of its own for each channel: a short sum of products over a window, which moves no
/// more than input and output. [N, C, 1, places...] * [C, multiplier, window...]
View depthwise(Lowering &l, const View &x, const View &weight, const Node &node, DType type) {
    const DType wide = accumulated(type);
    const Shape &out = node.outputs.at(0).shape;
    const Shape in = l.shapeOf(x), filter = l.shapeOf(weight);
    const auto stride = perPlace(node, 3, "stride");
    const auto padding = perPlace(node, 4, "padding");
    const auto dilation = perPlace(node, 5, "dilation");
    const std::size_t spatial = in.size() - 2;
    std::vector<Window> list;
    for (std::size_t d = 0; d < spatial; ++d)
        list.push_back({static_cast<int>(d) + 2, out[d + 2], filter[d + 2], stride[d], dilation[d],
                        padding[d]});
    int inside = -1;
    View places = l.windows(l.cast(x, wide), list, &inside);
    if (inside >= 0)
        places.value =
            l.program.pointwise("where", {inside, places.value, l.program.constant(0, wide)}, wide);
    places.dims.insert(places.dims.begin() + 2, Axes{});
    Shape split{in[1], out[1] / in[1]};
    split.insert(split.end(), filter.begin() + 2, filter.end());
    View factors = l.reshape(l.cast(weight, wide), split);
    factors.dims.insert(factors.dims.begin(), Axes{});
    factors.dims.insert(factors.dims.begin() + 3, spatial, Axes{});
    const View products = l.apply("mul", {places, factors}, wide);
    std::vector<int> over;
    for (std::size_t d = 0; d < spatial; ++d)
        over.push_back(static_cast<int>(3 + spatial + d));
    return l.reshape(l.reduce("sum", products, over, false, wide), out);
}

/// Windows of one element: a product for each image, of the filters and all its places.
Result<View> pointwiseConvolution(Lowering &l, const View &x, const View &weight, const Node &node,
                                  DType type) {
    const Shape in = l.shapeOf(x);
    std::int64_t places = 1;
    for (std::size_t d = 2; d < in.size(); ++d)
        places *= in[d];
    const View flat = l.reshape(x, {in[0], in[1], places});
    const View filters{weight.value, {flat.dims[0], weight.dims[0], weight.dims[1]}};
    CUDA_AGENT_ASSIGN(result,
                      multiply(l, filters, flat, type, type, 1, l.options().tf32Convolution));
    return l.reshape(result, node.outputs.at(0).shape);
}

View withBias(Lowering &l, const View &result, const View &bias) {
    View placed{bias.value, std::vector<Axes>(result.dims.size())};
    placed.dims[1] = bias.dims.at(0);
    return l.apply("add", {result, placed}, DType::float32);
}

/// convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
Result<Views> convolution(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "input"));
    CUDA_AGENT_ASSIGN(weight, l.view(node, 1, "weight"));
    const DType type = node.outputs.at(0).dtype;
    if (!isFloating(type) || type == DType::float64)
        return failedError("of {}", nameOf(type));
    x = l.cast(x, type);
    weight = l.cast(weight, type);
    const auto groups = static_cast<std::int64_t>(Lowering::number(node, 8, "groups", 1));
    const bool transposed = Lowering::flag(node, 6, "transposed", false);
    const Shape in = l.shapeOf(x), filter = l.shapeOf(weight);
    if (x.dims.size() != node.outputs.at(0).shape.size() || x.dims.size() != weight.dims.size())
        return failedError("without a batch");
    const Shape window(filter.begin() + 2, filter.end());
    std::int64_t taps = 1;
    for (const std::int64_t extent : window)
        taps *= extent;
    constexpr std::int64_t mostTaps = 64;
    View result;
    if (!transposed && groups == in[1] && groups > 1 && filter[1] == 1 && taps <= mostTaps) {
        result = depthwise(l, x, weight, node, type);
    } else if (!transposed && groups == 1 && taps == 1 && filter[0] > 1 &&
               all(perPlace(node, 3, "stride"), 1) && all(perPlace(node, 4, "padding"), 0)) {
        CUDA_AGENT_ASSIGN(product, pointwiseConvolution(l, x, weight, node, type));
        result = product;
    } else {
        LinearStep step;
        step.x = x, step.weight = weight, step.transposed = transposed;
        step.stride = perPlace(node, 3, "stride");
        step.padding = perPlace(node, 4, "padding");
        step.dilation = perPlace(node, 5, "dilation");
        step.outputPadding = perPlace(node, 7, "output_padding");
        result = convolutionStep(l, std::move(step), groups, node.outputs.at(0).shape, type);
    }
    if (l.given(node, 2, "bias")) {
        CUDA_AGENT_ASSIGN(bias, l.view(node, 2, "bias"));
        result = withBias(l, result, bias);
    }
    return Views{result};
}

} // namespace

void addLibraryOperators(OperatorTable &table) {
    table["aten.mm.default"] = product;
    table["aten.bmm.default"] = product;
    table["aten.addmm.default"] = productPlus;
    table["aten.baddbmm.default"] = productPlus;
    table["aten.linear.default"] = linear;
    table["aten.mv.default"] = vectorProduct;
    table["aten.dot.default"] = vectorProduct;
    table["aten._scaled_dot_product_flash_attention.default"] = attention(0, 4);
    table["aten._scaled_dot_product_efficient_attention.default"] = attention(3, 6);
    table["aten._scaled_dot_product_cudnn_attention.default"] = attention(3, 6);
    table["aten._scaled_dot_product_flash_attention_for_cpu.default"] = attention(0, 4);
    table["aten.convolution.default"] = convolution;
}

} // namespace cuda_agent::policy
