// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/lowering.h"

#include <cmath>
#include <limits>

namespace cuda_agent::policy {

namespace {

using Views = std::vector<View>;
using task::Node;

DType accumulatorType(DType type) {
    if (type == DType::float16 || type == DType::bfloat16)
        return DType::float32;
    return isFloating(type) ? type : DType::int64;
}

DType resultType(const Node &node) {
    const DType type = node.outputs.at(0).dtype;
    return isFloating(type) ? accumulatorType(type) : type;
}

/// Half loads are widened when read, so only true changes of type cost a cast.
View widened(Lowering &l, const View &x, DType type) {
    const DType have = l.dtypeOf(x);
    return isFloating(have) && accumulatorType(have) == type ? x : l.cast(x, type);
}

Operator additive(std::string op) {
    return [op](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        const DType type = resultType(node);
        const auto dims = node.op.ends_with(".default") ? allDimensions(x.dims.size())
                                                        : dimensionsOf(node, 1, x.dims.size());
        const bool keep = Lowering::flag(node, 2, "keepdim", false);
        return Views{l.reduce(op, widened(l, x, type), dims, keep, type)};
    };
}

Result<Views> mean(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    const DType type = resultType(node);
    const auto dims = node.op == "aten.mean.default" ? allDimensions(x.dims.size())
                                                     : dimensionsOf(node, 1, x.dims.size());
    const bool keep = node.op != "aten.mean.default" && Lowering::flag(node, 2, "keepdim", false);
    const View wide = widened(l, x, type);
    const View total = l.reduce("sum", wide, dims, keep, type);
    return Views{l.apply("div", {total, l.count(wide, dims, type)}, type)};
}

Operator extreme(std::string op) {
    return [op](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        const auto dims = node.op.ends_with(".default") && !l.given(node, 1, "dim")
                              ? allDimensions(x.dims.size())
                              : dimensionsOf(node, 1, x.dims.size());
        const bool keep = Lowering::flag(node, 2, "keepdim", false);
        const View wide = widened(l, x, resultType(node));
        return Views{l.reduce(op, wide, dims, keep, resultType(node))};
    };
}

/// max.dim and min.dim: values and positions.
Operator extremeWithIndex(std::string op) {
    return [op](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        const auto dims = dimensionsOf(node, 1, x.dims.size());
        const bool keep = Lowering::flag(node, 2, "keepdim", false);
        const DType type = resultType(node);
        const View wide = widened(l, x, type);
        return Views{l.reduce(op, wide, dims, keep, type),
                     l.reduce("arg" + op, wide, dims, keep, DType::int64)};
    };
}

Operator position(std::string op) {
    return [op](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        const bool keep = Lowering::flag(node, 2, "keepdim", false);
        const auto dims = l.given(node, 1, "dim") ? dimensionsOf(node, 1, x.dims.size())
                                                  : allDimensions(x.dims.size());
        return Views{l.reduce(op, x, dims, keep, DType::int64)};
    };
}

Operator truth(std::string op) {
    return [op](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        const auto dims = node.op.ends_with(".default") ? allDimensions(x.dims.size())
                                                        : dimensionsOf(node, 1, x.dims.size());
        const bool keep = Lowering::flag(node, 2, "keepdim", false);
        return Views{l.reduce(op, l.cast(x, DType::boolean), dims, keep, DType::boolean)};
    };
}

/// var, std and var_mean with either correction argument.
View variance(Lowering &l, const View &x, const std::vector<int> &dims, double correction,
              bool keep, DType type, View *average) {
    const View squares = l.squaredDeviations(x, dims, keep, average);
    View n = l.count(x, dims, type);
    if (correction != 0)
        n = l.apply("sub", {n, l.constant(correction, type)}, type);
    return l.apply("div", {squares, n}, type);
}

Operator spread(bool root, bool withMean) {
    return [root, withMean](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        const DType type = resultType(node);
        const auto dims = dimensionsOf(node, 1, x.dims.size());
        double correction = 1;
        if (node.op.ends_with(".dim"))
            correction = Lowering::flag(node, 2, "unbiased", true) ? 1 : 0;
        else if (const auto found = node.kwargs.find("correction");
                 found != node.kwargs.end() && found->is_number())
            correction = found->get<double>();
        const bool keep = Lowering::flag(node, 3, "keepdim", false);
        View average;
        View result = variance(l, widened(l, x, type), dims, correction, keep, type, &average);
        if (root)
            result = l.apply("sqrt", {result}, type);
        return withMean ? Views{result, average} : Views{result};
    };
}

Result<Views> vectorNorm(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    const DType type = resultType(node);
    // linalg_vector_norm(self, ord=2, dim, keepdim); norm.ScalarOpt_dim(self, p, dim, keepdim)
    const double order = l.given(node, 1, "ord") ? Lowering::number(node, 1, "ord", 2)
                         : l.given(node, 1, "p") ? Lowering::number(node, 1, "p", 2)
                                                 : 2;
    const auto dims = l.given(node, 2, "dim") ? dimensionsOf(node, 2, x.dims.size())
                                              : allDimensions(x.dims.size());
    const bool keep = Lowering::flag(node, 3, "keepdim", false);
    const View wide = widened(l, x, type);
    const View size = l.apply("abs", {wide}, type);
    if (order == 2) {
        const View squares = l.apply("mul", {wide, wide}, type);
        return Views{l.apply("sqrt", {l.reduce("sum", squares, dims, keep, type)}, type)};
    }
    if (order == 1)
        return Views{l.reduce("sum", size, dims, keep, type)};
    if (std::isinf(order))
        return Views{l.reduce(order > 0 ? "max" : "min", size, dims, keep, type)};
    if (order == 0) {
        const View nonzero = l.apply("ne", {wide, l.constant(0, type)}, DType::boolean);
        return Views{l.reduce("sum", l.cast(nonzero, type), dims, keep, type)};
    }
    const View total = l.reduce("sum", power(l, size, order, type), dims, keep, type);
    return Views{l.apply("pow", {total, l.constant(1 / order, type)}, type)};
}

/// _trilinear(a, b, c, expand1, expand2, expand3, sumdim): the sum of products of three tensors,
/// which get dimensions of size 1 at those places.
Result<Views> trilinear(Lowering &l, const Node &node) {
    const DType type = resultType(node);
    View product = l.constant(1, type);
    for (std::size_t i = 0; i < 3; ++i) {
        CUDA_AGENT_ASSIGN(x, l.view(node, i, "i"));
        auto places = Lowering::integers(node, 3 + i, "expand");
        std::sort(places.begin(), places.end());
        for (const std::int64_t place : places)
            x.dims.insert(x.dims.begin() + place, Axes{});
        const View wide = widened(l, x, type);
        product = i == 0 ? wide : l.apply("mul", {product, wide}, type);
    }
    std::vector<int> dims;
    for (const std::int64_t dim : Lowering::integers(node, 6, "sumdim"))
        dims.push_back(static_cast<int>(dim));
    return Views{l.reduce("sum", product, dims, false, type)};
}

Result<Views> logSumExp(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    const DType type = resultType(node);
    const auto dims = dimensionsOf(node, 1, x.dims.size());
    const bool keep = Lowering::flag(node, 2, "keepdim", false);
    const View wide = widened(l, x, type);
    const View largest = l.reduce("max", wide, dims, true, type);
    const View total = l.reduce(
        "sum", l.apply("exp", {l.apply("sub", {wide, largest}, type)}, type), dims, true, type);
    View result = l.apply("add", {l.apply("log", {total}, type), largest}, type);
    // A row whose largest element is infinite: the answer is that infinity, not NaN.
    const View infinite = l.apply("isinf", {largest}, DType::boolean);
    result = l.apply("where", {infinite, largest, result}, type);
    if (!keep) {
        for (std::size_t i = dims.size(); i-- > 0;)
            result.dims.erase(result.dims.begin() + dims[i]);
    }
    return Views{result};
}

Operator softmax(bool logarithm) {
    return [logarithm](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        const DType type = resultType(node);
        if (x.dims.empty())
            return Views{l.constant(logarithm ? 0 : 1, type)};
        const std::vector<int> dims{
            dimensionOf(static_cast<int>(Lowering::number(node, 1, "dim", -1)), x.dims.size())};
        const View wide = widened(l, x, type);
        const View largest = l.reduce("max", wide, dims, true, type);
        const View shifted = l.apply("sub", {wide, largest}, type);
        const View powers = l.apply("exp", {shifted}, type);
        const View total = l.reduce("sum", powers, dims, true, type);
        if (logarithm)
            return Views{l.apply("sub", {shifted, l.apply("log", {total}, type)}, type)};
        return Views{l.apply("div", {powers, total}, type)};
    };
}

} // namespace

void addReductionOperators(OperatorTable &table) {
    const auto put = [&](std::initializer_list<const char *> names, const Operator &op) {
        for (const char *name : names)
            table[std::string("aten.") + name] = op;
    };
    put({"sum.default", "sum.dim_IntList"}, additive("sum"));
    put({"prod.default", "prod.dim_int"}, additive("prod"));
    put({"mean.default", "mean.dim"}, mean);
    put({"amax.default", "max.default"}, extreme("max"));
    put({"amin.default", "min.default"}, extreme("min"));
    put({"max.dim"}, extremeWithIndex("max"));
    put({"min.dim"}, extremeWithIndex("min"));
    put({"argmax.default"}, position("argmax"));
    put({"argmin.default"}, position("argmin"));
    put({"any.default", "any.dim", "any.dims"}, truth("any"));
    put({"all.default", "all.dim", "all.dims"}, truth("all"));
    put({"var.correction", "var.dim"}, spread(false, false));
    put({"std.correction", "std.dim"}, spread(true, false));
    put({"var_mean.correction", "var_mean.dim"}, spread(false, true));
    put({"linalg_vector_norm.default", "norm.Scalar", "norm.ScalarOpt_dim"}, vectorNorm);
    put({"logsumexp.default"}, logSumExp);
    put({"_trilinear.default"}, trilinear);
    put({"_softmax.default", "softmax.int"}, softmax(false));
    put({"_log_softmax.default", "log_softmax.int"}, softmax(true));
}

} // namespace cuda_agent::policy
