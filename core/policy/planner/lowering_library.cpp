// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/lowering.h"

namespace cuda_agent::policy {

namespace {

using Views = std::vector<View>;
using task::Node;

/// A matrix operand of a GEMM step: a buffer, and whether it is stored transposed.
struct Operand {
    int buffer = -1;
    bool transposed = false;
};

/// Finds the operand in memory as it is or transposed, else writes it out.
Operand operand(Lowering &l, const View &matrix) {
    View swapped = matrix;
    const std::size_t rank = matrix.dims.size();
    std::swap(swapped.dims[rank - 1], swapped.dims[rank - 2]);
    const Value &value = l.program.values[matrix.value];
    const auto &atoms = l.program.axes;
    if (value.kind == Kind::load && value.dims.size() == rank && rank == 2 &&
        atoms.atoms(value.dims[0].axes) == atoms.atoms(swapped.dims[0]) &&
        atoms.atoms(value.dims[1].axes) == atoms.atoms(swapped.dims[1]) &&
        atoms.atoms(matrix.dims[0]) != atoms.atoms(swapped.dims[0]))
        return {l.bufferOf(swapped), true};
    return {l.bufferOf(matrix), false};
}

std::string size(Lowering &l, const Axes &axes) {
    return l.program.axes.expression(axes);
}

/// product of [.., m, k] and [.., k, n]; `bias` may be a buffer of n values.
Result<View> multiply(Lowering &l, const View &a, const View &b, int bias) {
    if (l.dtypeOf(a) != DType::float32 || l.dtypeOf(b) != DType::float32)
        return failedError("of {}", nameOf(l.dtypeOf(a)));
    const std::size_t rank = a.dims.size();
    const Operand left = operand(l, a);
    const Operand right = operand(l, b);
    std::vector<Axes> dims;
    const auto fresh = [&](const Axes &axes) {
        const Axes atoms = l.program.axes.atoms(axes);
        if (atoms.empty())
            return Axes{};
        const std::string text = l.program.axes.expression(atoms);
        const bool computed = std::isdigit(static_cast<unsigned char>(text[0])) == 0;
        return Axes{l.program.axes.add(l.program.axes.size(atoms), computed ? text : "")};
    };
    for (std::size_t d = 0; d + 1 < rank; ++d)
        dims.push_back(fresh(a.dims[d]));
    dims.push_back(fresh(b.dims[rank - 1]));
    const int output = l.program.addScratch(DType::float32, dims);
    Json step{{"kind", "gemm"},
              {"a", l.program.buffers[left.buffer].name},
              {"b", l.program.buffers[right.buffer].name},
              {"c", l.program.buffers[output].name},
              {"m", size(l, a.dims[rank - 2])},
              {"n", size(l, b.dims[rank - 1])},
              {"k", size(l, a.dims[rank - 1])}};
    if (rank == 3)
        step["batch"] = size(l, a.dims[0]);
    if (left.transposed)
        step["transpose_a"] = true;
    if (right.transposed)
        step["transpose_b"] = true;
    if (l.tf32Gemm())
        step["compute"] = "tf32";
    std::vector<int> reads{left.buffer, right.buffer};
    if (bias >= 0) {
        step["bias"] = l.program.buffers[bias].name;
        reads.push_back(bias);
    }
    l.program.library.push_back({std::move(step), reads, output});
    return View{l.program.load(output, dims), dims};
}

Result<Views> product(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(a, l.view(node, 0, "self"));
    CUDA_AGENT_ASSIGN(b, l.view(node, 1, "mat2"));
    CUDA_AGENT_ASSIGN(result, multiply(l, a, b, -1));
    return Views{result};
}

/// addmm, baddbmm: beta * self + alpha * (a @ b)
Result<Views> productPlus(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(self, l.view(node, 0, "self"));
    CUDA_AGENT_ASSIGN(a, l.view(node, 1, "mat1"));
    CUDA_AGENT_ASSIGN(b, l.view(node, 2, "mat2"));
    const double beta = Lowering::number(node, 3, "beta", 1);
    const double alpha = Lowering::number(node, 4, "alpha", 1);
    const auto scaled = [&](const View &v, double factor) {
        return factor == 1 ? v : l.apply("mul", {v, l.constant(factor)}, DType::float32);
    };
    // The bias is added by whatever kernel reads the product.
    CUDA_AGENT_ASSIGN(result, multiply(l, a, b, -1));
    View total = l.apply("add", {scaled(result, alpha), scaled(self, beta)}, DType::float32);
    return Views{total};
}

Result<Views> linear(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "input"));
    CUDA_AGENT_ASSIGN(weight, l.view(node, 1, "weight"));
    const Shape shape = l.shapeOf(x);
    std::int64_t rows = 1;
    for (std::size_t d = 0; d + 1 < shape.size(); ++d)
        rows *= shape[d];
    const View flat = l.reshape(x, {rows, shape.back()});
    std::swap(weight.dims[0], weight.dims[1]);
    CUDA_AGENT_ASSIGN(y, multiply(l, flat, weight, -1));
    y = l.reshape(y, node.outputs.at(0).shape);
    if (l.given(node, 2, "bias")) {
        CUDA_AGENT_ASSIGN(bias, l.view(node, 2, "bias"));
        y = l.apply("add", {y, bias}, DType::float32);
    }
    return Views{y};
}

/// convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
Result<Views> convolution(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "input"));
    CUDA_AGENT_ASSIGN(weight, l.view(node, 1, "weight"));
    if (l.dtypeOf(x) != DType::float32)
        return failedError("of {}", nameOf(l.dtypeOf(x)));
    const int input = l.bufferOf(x);
    const int filter = l.bufferOf(weight);
    BufferInfo info;
    std::vector<Axes> dims;
    for (const std::int64_t extent : node.outputs.at(0).shape)
        dims.push_back(extent == 1 ? Axes{} : Axes{l.program.axes.add(extent)});
    // The batch is the input's, so that the plan serves other batch sizes too.
    if (!x.dims[0].empty())
        dims[0] = {
            l.program.axes.add(node.outputs[0].shape[0], l.program.axes.expression(x.dims[0]))};
    const int output = l.program.addScratch(DType::float32, dims);
    Json step{{"kind", "convolution"},
              {"input", l.program.buffers[input].name},
              {"weight", l.program.buffers[filter].name},
              {"output", l.program.buffers[output].name},
              {"stride", Lowering::integers(node, 3, "stride")},
              {"padding", Lowering::integers(node, 4, "padding")},
              {"dilation", Lowering::integers(node, 5, "dilation")},
              {"groups", static_cast<std::int64_t>(Lowering::number(node, 8, "groups", 1))}};
    if (Lowering::flag(node, 6, "transposed", false)) {
        step["transposed"] = true;
        step["output_padding"] = Lowering::integers(node, 7, "output_padding");
    }
    if (l.tf32Convolution())
        step["compute"] = "tf32";
    l.program.library.push_back({std::move(step), {input, filter}, output});
    View result{l.program.load(output, dims), dims};
    if (l.given(node, 2, "bias")) {
        CUDA_AGENT_ASSIGN(bias, l.view(node, 2, "bias"));
        View placed{bias.value, std::vector<Axes>(dims.size())};
        placed.dims[1] = bias.dims.at(0);
        result = l.apply("add", {result, placed}, DType::float32);
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
    table["aten.convolution.default"] = convolution;
}

} // namespace cuda_agent::policy
