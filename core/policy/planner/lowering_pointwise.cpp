// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/lowering.h"
#include "core/policy/planner/pointwise_table.h"
#include "core/policy/planner/ranges.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace cuda_agent::policy {

View power(Lowering &l, const View &x, double exponent, DType type) {
    const double whole = std::fabs(exponent);
    if (exponent == 0)
        return l.constant(1, type);
    if (exponent == 0.5)
        return l.apply("sqrt", {x}, type);
    if (exponent == -0.5)
        return l.apply("rsqrt", {x}, type);
    if (whole == std::floor(whole) && whole <= 4) {
        View result = x;
        if (whole == 4) {
            const View square = l.apply("mul", {x, x}, type);
            result = l.apply("mul", {square, square}, type);
        } else {
            for (int i = 1; i < static_cast<int>(whole); ++i)
                result = l.apply("mul", {result, x}, type);
        }
        return exponent > 0 ? result : l.apply("reciprocal", {result}, type);
    }
    return l.apply("pow", {x, l.constant(exponent, type)}, type);
}

namespace {

using Views = std::vector<View>;
using task::Node;

/// The type that an operation computes in: half types compute in float, as PyTorch's kernels do.
DType computeType(DType type) {
    return type == DType::float16 || type == DType::bfloat16 ? DType::float32 : type;
}

DType resultType(const Node &node) {
    return computeType(node.outputs.at(0).dtype);
}

View as(Lowering &l, const View &view, DType type) {
    const DType have = l.dtypeOf(view);
    if (have == type || (computeType(have) == type && have != type))
        return view; // half loads are widened when read
    Value &value = l.program.values[view.value];
    if (value.kind == Kind::constant)
        return l.constant(value.number, type);
    return l.cast(view, type);
}

/// The type that operands meet in: floating before integer before bool, then tensors before
/// scalars, then the larger one.
DType meetingType(Lowering &l, const View &x, const View &y) {
    const DType a = computeType(l.dtypeOf(x));
    const DType b = computeType(l.dtypeOf(y));
    const auto category = [](DType type) { return isFloating(type) ? 2 : type != DType::boolean; };
    if (category(a) != category(b))
        return category(a) > category(b) ? a : b;
    if (x.dims.empty() != y.dims.empty())
        return y.dims.empty() ? a : b;
    return sizeOf(a) >= sizeOf(b) ? a : b;
}

/// Elementwise in the result's type.
Operator unary(std::string op) {
    return [op](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        const DType type = resultType(node);
        if (!isFloating(type) && op == "relu")
            return Views{l.apply("imaximum", {as(l, x, type), l.constant(0, type)}, type)};
        if (!isFloating(type) && op != "neg")
            return failedError("of {}", nameOf(type));
        return Views{l.apply(op, {as(l, x, type)}, type)};
    };
}

Operator binary(std::string op, std::string integerOp = {}) {
    return [op, integerOp](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        CUDA_AGENT_ASSIGN(y, l.view(node, 1, "other"));
        const DType type = resultType(node);
        if (!isFloating(type) && integerOp.empty())
            return failedError("of {}", nameOf(type));
        return Views{
            l.apply(isFloating(type) ? op : integerOp, {as(l, x, type), as(l, y, type)}, type)};
    };
}

/// add and sub carry a factor for the second operand.
Operator sum(std::string op) {
    return [op](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        CUDA_AGENT_ASSIGN(y, l.view(node, 1, "other"));
        const DType type = resultType(node);
        const double alpha = Lowering::number(node, 2, "alpha", 1);
        View second = as(l, y, type);
        if (alpha != 1)
            second = l.apply("mul", {second, l.constant(alpha, type)}, type);
        return Views{l.apply(type == DType::boolean ? "or" : op, {as(l, x, type), second}, type)};
    };
}

Operator reverseSubtract() {
    return [](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        CUDA_AGENT_ASSIGN(y, l.view(node, 1, "other"));
        const DType type = resultType(node);
        return Views{l.apply("sub", {as(l, y, type), as(l, x, type)}, type)};
    };
}

/// Quotients and remainders of whole numbers, where the divisor is a number of the graph: PyTorch
/// raises an error when it is 0, which kernels cannot.
Result<View> wholeDivision(Lowering &l, const std::string &op, const View &x, const View &y,
                           DType type) {
    const Value &divisor = l.program.values[as(l, y, type).value];
    const double by = divisor.number;
    if (divisor.kind != Kind::constant || by == 0)
        return failedError("of {} by anything but a number other than 0", nameOf(type));
    const View a = as(l, x, type), b = l.constant(by, type);
    if (op == "truncdiv")
        return l.apply("idiv", {a, b}, type);
    const auto range = op == "remainder" && by > 0
                           ? Ranges(l.program, Ranges::Sizes::constant).of(a.value)
                           : std::nullopt;
    if (range && std::isfinite(range->low)) { // none below 0
        const double above = std::ceil(std::max(0.0, -range->low) / by) * by;
        return l.apply(
            "imod", {above > 0 ? l.apply("add", {a, l.constant(above, type)}, type) : a, b}, type);
    }
    const View rest = l.apply("imod", {a, b}, type); // has the sign of `a`
    if (op == "fmod")
        return rest;
    const View wrong = l.apply(by > 0 ? "lt" : "gt", {rest, l.constant(0, type)}, DType::boolean);
    const View own = l.apply("where", {wrong, l.apply("add", {rest, b}, type), rest}, type);
    if (op == "remainder")
        return own;
    return l.apply("idiv", {l.apply("sub", {a, own}, type), b}, type);
}

Operator remainder(std::string op) {
    return [op](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        CUDA_AGENT_ASSIGN(y, l.view(node, 1, "other"));
        const DType type = resultType(node);
        if (isFloating(type))
            return Views{l.apply(op, {as(l, x, type), as(l, y, type)}, type)};
        CUDA_AGENT_ASSIGN(result, wholeDivision(l, op, x, y, type));
        return Views{result};
    };
}

Operator divide() {
    return [](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        CUDA_AGENT_ASSIGN(y, l.view(node, 1, "other"));
        const DType type = resultType(node);
        const std::string mode = Lowering::text(node, 2, "rounding_mode");
        const std::string op = mode == "floor" ? "floordiv" : mode == "trunc" ? "truncdiv" : "div";
        if (!isFloating(type)) {
            CUDA_AGENT_ASSIGN(result, wholeDivision(l, op, x, y, type));
            return Views{result};
        }
        return Views{l.apply(op, {as(l, x, type), as(l, y, type)}, type)};
    };
}

Operator compare(std::string op) {
    return [op](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        CUDA_AGENT_ASSIGN(y, l.view(node, 1, "other"));
        const DType type = meetingType(l, x, y);
        return Views{l.apply(op, {as(l, x, type), as(l, y, type)}, DType::boolean)};
    };
}

Operator logical(std::string op, std::string integerOp) {
    return [op, integerOp](Lowering &l, const Node &node) -> Result<Views> {
        const DType type = resultType(node);
        const bool bits = type != DType::boolean;
        Views args;
        for (int i = 0; i < pointwiseInfo(op)->arity; ++i) {
            CUDA_AGENT_ASSIGN(x, l.view(node, i, i == 0 ? "self" : "other"));
            args.push_back(as(l, x, type));
        }
        if (bits && integerOp.empty())
            return failedError("of {}", nameOf(type));
        return Views{l.apply(bits ? integerOp : op, args, type)};
    };
}

Operator test(std::string op) {
    return [op](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        if (!isFloating(l.dtypeOf(x)))
            return Views{l.apply("ne", {x, x}, DType::boolean)};
        return Views{l.apply(op, {x}, DType::boolean)};
    };
}

Operator clamp(const char *low, const char *high) {
    return [low, high](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        const DType type = resultType(node);
        View result = as(l, x, type);
        std::size_t position = 1;
        for (const auto &[name, op] : {std::pair{low, "clampmin"}, std::pair{high, "clampmax"}}) {
            if (name == nullptr)
                continue;
            if (l.given(node, position, name)) {
                CUDA_AGENT_ASSIGN(bound, l.view(node, position, name));
                // A bound that is a tensor may be NaN and then wins.
                const bool tensor = !bound.dims.empty();
                const std::string full = std::string(op) == "clampmin" ? "maximum" : "minimum";
                result = l.apply(tensor ? full : op, {result, as(l, bound, type)}, type);
            }
            ++position;
        }
        return Views{result};
    };
}

Result<Views> pow(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
    CUDA_AGENT_ASSIGN(y, l.view(node, 1, "exponent"));
    const DType type = resultType(node);
    const Value &exponent = l.program.values[y.value];
    if (exponent.kind == Kind::constant) {
        if (!isFloating(type) && (exponent.number < 1 || exponent.number > 4))
            return failedError("of {}", nameOf(type));
        return Views{power(l, as(l, x, type), exponent.number, type)};
    }
    if (!isFloating(type))
        return failedError("of {}", nameOf(type));
    if (const Value &base = l.program.values[x.value];
        base.kind == Kind::constant && base.number == 2)
        return Views{l.apply("exp2", {as(l, y, type)}, type)};
    return Views{l.apply("pow", {as(l, x, type), as(l, y, type)}, type)};
}

Result<Views> where(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(condition, l.view(node, 0, "condition"));
    CUDA_AGENT_ASSIGN(x, l.view(node, 1, "self"));
    CUDA_AGENT_ASSIGN(y, l.view(node, 2, "other"));
    const DType type = resultType(node);
    return Views{l.apply("where", {condition, as(l, x, type), as(l, y, type)}, type)};
}

/// Operators that are formulas of one tensor.
using Formula = std::function<View(Lowering &, const View &x, const Node &, DType)>;
Operator formula(Formula make) {
    return [make](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        const DType type = resultType(node);
        if (!isFloating(type))
            return failedError("of {}", nameOf(type));
        return Views{make(l, as(l, x, type), node, type)};
    };
}

View times(Lowering &l, const View &x, double factor, DType type) {
    return factor == 1 ? x : l.apply("mul", {x, l.constant(factor, type)}, type);
}
View plus(Lowering &l, const View &x, double term, DType type) {
    return l.apply("add", {x, l.constant(term, type)}, type);
}

View gelu(Lowering &l, const View &x, const Node &node, DType t) {
    View inner;
    if (Lowering::text(node, 1, "approximate") == "tanh") {
        const View cube = l.apply("mul", {l.apply("mul", {x, x}, t), x}, t);
        const double scale = std::sqrt(2.0) * 2.0 / std::sqrt(std::numbers::pi) * 0.5;
        inner = l.apply(
            "tanh", {times(l, l.apply("add", {x, times(l, cube, 0.044715, t)}, t), scale, t)}, t);
    } else {
        inner = l.apply("erf", {times(l, x, 1 / std::numbers::sqrt2, t)}, t);
    }
    return l.apply("mul", {times(l, x, 0.5, t), plus(l, inner, 1, t)}, t);
}

/// Where x lies within the bounds nothing comes through.
Result<Views> softshrinkBackward(Lowering &l, const Node &node) {
    CUDA_AGENT_ASSIGN(grad, l.view(node, 0, "grad_out"));
    CUDA_AGENT_ASSIGN(x, l.view(node, 1, "self"));
    const DType t = resultType(node);
    const double bound = Lowering::number(node, 2, "lambd", 0.5);
    const View value = as(l, x, t);
    const View within = l.apply("and",
                                {l.apply("ge", {value, l.constant(-bound, t)}, DType::boolean),
                                 l.apply("le", {value, l.constant(bound, t)}, DType::boolean)},
                                DType::boolean);
    return Views{l.apply("where", {within, l.constant(0, t), as(l, grad, t)}, t)};
}

View elu(Lowering &l, const View &x, const Node &node, DType t) {
    const double alpha = Lowering::number(node, 1, "alpha", 1);
    const double scale = Lowering::number(node, 2, "scale", 1);
    const double inner = Lowering::number(node, 3, "input_scale", 1);
    const View negative = times(l, l.apply("expm1", {times(l, x, inner, t)}, t), alpha * scale, t);
    const View below = l.apply("le", {x, l.constant(0, t)}, DType::boolean);
    return l.apply("where", {below, negative, times(l, x, scale, t)}, t);
}

View leakyRelu(Lowering &l, const View &x, const Node &node, DType t) {
    const double slope = Lowering::number(node, 1, "negative_slope", 0.01);
    const View above = l.apply("gt", {x, l.constant(0, t)}, DType::boolean);
    return l.apply("where", {above, x, times(l, x, slope, t)}, t);
}

View softplus(Lowering &l, const View &x, double beta, double threshold, DType t) {
    const View scaled = times(l, x, beta, t);
    View soft = l.apply("log1p", {l.apply("exp", {scaled}, t)}, t);
    soft = times(l, soft, 1 / beta, t);
    const View large = l.apply("gt", {scaled, l.constant(threshold, t)}, DType::boolean);
    return l.apply("where", {large, x, soft}, t);
}

View clampBetween(Lowering &l, View x, double low, double high, DType t) {
    x = l.apply("clampmin", {x, l.constant(low, t)}, t);
    return l.apply("clampmax", {x, l.constant(high, t)}, t);
}

View logSigmoid(Lowering &l, const View &x, DType t) {
    // min(x, 0) - log1p(exp(-|x|))
    const View size = l.apply("abs", {x}, t);
    const View tail = l.apply("log1p", {l.apply("exp", {l.apply("neg", {size}, t)}, t)}, t);
    return l.apply("sub", {l.apply("clampmax", {x, l.constant(0, t)}, t), tail}, t);
}

} // namespace

void addPointwiseOperators(OperatorTable &table) {
    const auto put = [&](std::initializer_list<const char *> names, const Operator &op) {
        for (const char *name : names)
            table[std::string("aten.") + name] = op;
    };
    for (const char *op :
         {"exp",   "exp2",       "expm1",   "log",  "log1p", "log2", "log10",  "sqrt",  "sin",
          "cos",   "tan",        "asin",    "acos", "atan",  "sinh", "cosh",   "tanh",  "asinh",
          "acosh", "atanh",      "erf",     "erfc", "floor", "ceil", "trunc",  "round", "sign",
          "rsqrt", "reciprocal", "sigmoid", "silu", "neg",   "relu", "erfinv", "lgamma"})
        table[std::string("aten.") + op + ".default"] = unary(op);
    put({"i0.default", "special_modified_bessel_i0.default"}, unary("bessel_i0"));
    put({"special_i1.default", "special_modified_bessel_i1.default"}, unary("bessel_i1"));
    for (const char *op : {"bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1"})
        table[fmt::format("aten.special_{}.default", op)] = unary(op);
    put({"abs.default"}, [](Lowering &l, const Node &node) -> Result<Views> {
        CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
        const DType type = resultType(node);
        return Views{l.apply(isFloating(type) ? "abs" : "iabs", {as(l, x, type)}, type)};
    });
    put({"add.Tensor", "add.Scalar"}, sum("add"));
    put({"sub.Tensor", "sub.Scalar"}, sum("sub"));
    put({"rsub.Scalar", "rsub.Tensor"}, reverseSubtract());
    put({"mul.Tensor", "mul.Scalar"}, binary("mul", "mul"));
    put({"div.Tensor", "div.Scalar", "div.Tensor_mode", "div.Scalar_mode"}, divide());
    put({"maximum.default"}, binary("maximum", "imaximum"));
    put({"minimum.default"}, binary("minimum", "iminimum"));
    put({"fmax.default"}, binary("fmax", "imaximum"));
    put({"fmin.default"}, binary("fmin", "iminimum"));
    put({"atan2.default"}, binary("atan2"));
    put({"hypot.default"}, binary("hypot"));
    put({"copysign.Tensor", "copysign.Scalar"}, binary("copysign"));
    put({"fmod.Scalar", "fmod.Tensor"}, remainder("fmod"));
    put({"remainder.Scalar", "remainder.Tensor"}, remainder("remainder"));
    for (const char *op : {"eq", "ne", "lt", "le", "gt", "ge"}) {
        table[fmt::format("aten.{}.Tensor", op)] = compare(op);
        table[fmt::format("aten.{}.Scalar", op)] = compare(op);
    }
    put({"logical_and.default", "bitwise_and.Tensor", "bitwise_and.Scalar"},
        logical("and", "iand"));
    put({"logical_or.default", "bitwise_or.Tensor", "bitwise_or.Scalar"}, logical("or", "ior"));
    put({"logical_xor.default", "bitwise_xor.Tensor", "bitwise_xor.Scalar"},
        logical("xor", "ixor"));
    put({"logical_not.default", "bitwise_not.default"}, logical("not", "inot"));
    put({"isnan.default"}, test("isnan"));
    put({"isinf.default"}, test("isinf"));
    put({"clamp.default", "clamp.Tensor", "hardtanh.default"}, clamp("min", "max"));
    table["aten.hardtanh.default"] =
        formula([](Lowering &l, const View &x, const Node &node, DType t) {
            return clampBetween(l, x, Lowering::number(node, 1, "min_val", -1),
                                Lowering::number(node, 2, "max_val", 1), t);
        });
    put({"clamp_min.default", "clamp_min.Tensor"}, clamp("min", nullptr));
    put({"clamp_max.default", "clamp_max.Tensor"}, clamp(nullptr, "max"));
    put({"pow.Tensor_Scalar", "pow.Scalar", "pow.Tensor_Tensor"}, pow);
    put({"where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar"}, where);
    put({"square.default"}, formula([](Lowering &l, const View &x, const Node &, DType t) {
            return power(l, x, 2, t);
        }));
    put({"softshrink_backward.default"}, softshrinkBackward);
    put({"gelu.default"}, formula(gelu));
    put({"elu.default"}, formula(elu));
    put({"leaky_relu.default"}, formula(leakyRelu));
    put({"relu6.default"}, formula([](Lowering &l, const View &x, const Node &, DType t) {
            return clampBetween(l, x, 0, 6, t);
        }));
    put({"softplus.default"}, formula([](Lowering &l, const View &x, const Node &node, DType t) {
            return softplus(l, x, Lowering::number(node, 1, "beta", 1),
                            Lowering::number(node, 2, "threshold", 20), t);
        }));
    put({"mish.default"}, formula([](Lowering &l, const View &x, const Node &, DType t) {
            return l.apply("mul", {x, l.apply("tanh", {softplus(l, x, 1, 20, t)}, t)}, t);
        }));
    put({"log_sigmoid_forward.default", "log_sigmoid.default"},
        formula(
            [](Lowering &l, const View &x, const Node &, DType t) { return logSigmoid(l, x, t); }));
    put({"hardsigmoid.default"}, formula([](Lowering &l, const View &x, const Node &, DType t) {
            return times(l, clampBetween(l, plus(l, x, 3, t), 0, 6, t), 1.0 / 6, t);
        }));
    put({"hardswish.default"}, formula([](Lowering &l, const View &x, const Node &, DType t) {
            const View gate = clampBetween(l, plus(l, x, 3, t), 0, 6, t);
            return times(l, l.apply("mul", {x, gate}, t), 1.0 / 6, t);
        }));
    put({"_to_copy.default", "convert_element_type.default"},
        [](Lowering &l, const Node &node) -> Result<Views> {
            CUDA_AGENT_ASSIGN(x, l.view(node, 0, "self"));
            return Views{l.cast(x, node.outputs.at(0).dtype)};
        });
    table["prims.convert_element_type.default"] = table["aten.convert_element_type.default"];
}

bool isPointwise(const std::string &op) {
    static const OperatorTable table = [] {
        OperatorTable result;
        addPointwiseOperators(result);
        return result;
    }();
    return table.contains(op);
}

} // namespace cuda_agent::policy
