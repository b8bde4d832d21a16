// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/pointwise_table.h"

#include <cctype>
#include <map>
#include <set>

namespace cuda_agent::policy {

namespace {

// NaN passes through every one of these as it does in PyTorch: a comparison with NaN is false, so
// clamps and relu are written to keep the operand then, and maximum and minimum test for it.
const std::map<std::string, PointwiseInfo> table{
    {"add", {2, "{0} + {1}"}},
    {"sub", {2, "{0} - {1}"}},
    {"mul", {2, "{0} * {1}"}},
    {"div", {2, "{0} / {1}", 8, "__fdividef({0}, {1})"}},
    {"floordiv", {2, "floor@({0} / {1})", 10}},
    {"truncdiv", {2, "trunc@({0} / {1})", 10}},
    {"fmod", {2, "fmod@({0}, {1})", 30}},
    {"remainder", {2, "floorModulo({0}, {1})", 34}},
    {"neg", {1, "-{0}"}},
    {"abs", {1, "fabs@({0})"}},
    {"idiv", {2, "{0} / {1}", 8}}, // of whole numbers, towards 0
    {"imod", {2, "{0} % {1}", 8}},
    {"iabs", {1, "({0} < 0 ? -{0} : {0})"}},
    {"exp", {1, "exp@({0})", 10}},
    {"exp2", {1, "exp2@({0})", 8}},
    {"expm1", {1, "expm1@({0})", 16}},
    {"log", {1, "log@({0})", 14}},
    {"log1p", {1, "log1p@({0})", 20}},
    {"log2", {1, "log2@({0})", 14}},
    {"log10", {1, "log10@({0})", 14}},
    {"sqrt", {1, "sqrt@({0})", 8}},
    {"rsqrt", {1, "1.0@ / sqrt@({0})", 14}},
    {"reciprocal", {1, "1.0@ / {0}", 8, "__fdividef(1.0@, {0})"}},
    {"pow", {2, "pow@({0}, {1})", 50}},
    {"sin", {1, "sin@({0})", 20}},
    {"cos", {1, "cos@({0})", 20}},
    {"tan", {1, "tan@({0})", 30}},
    {"asin", {1, "asin@({0})", 20}},
    {"acos", {1, "acos@({0})", 20}},
    {"atan", {1, "atan@({0})", 20}},
    {"atan2", {2, "atan2@({0}, {1})", 30}},
    {"hypot", {2, "hypotenuse({0}, {1})", 12}},
    {"copysign", {2, "copysign@({0}, {1})"}},
    {"sinh", {1, "sinh@({0})", 24}},
    {"cosh", {1, "cosh@({0})", 24}},
    {"tanh", {1, "tanh@({0})", 20}},
    {"asinh", {1, "asinh@({0})", 24}},
    {"acosh", {1, "acosh@({0})", 24}},
    {"atanh", {1, "atanh@({0})", 24}},
    {"erf", {1, "erf@({0})", 20}},
    {"erfc", {1, "erfc@({0})", 30}},
    {"erfinv", {1, "erfinv@({0})", 40}},
    {"lgamma", {1, "lgamma@({0})", 60}},
    // Of infinity these are NaN in PyTorch.
    {"bessel_i0", {1, "({0} - {0} == 0 ? cyl_bessel_i0@({0}) : NAN)", 40}},
    {"bessel_i1", {1, "({0} - {0} == 0 ? cyl_bessel_i1@({0}) : NAN)", 40}},
    {"bessel_j0", {1, "({0} - {0} == 0 ? j0@({0}) : NAN)", 60}},
    {"bessel_j1", {1, "({0} - {0} == 0 ? j1@({0}) : NAN)", 60}},
    {"bessel_y0", {1, "({0} - {0} == 0 ? y0@({0}) : NAN)", 60}},
    {"bessel_y1", {1, "({0} - {0} == 0 ? y1@({0}) : NAN)", 60}},
    {"floor", {1, "floor@({0})"}},
    {"ceil", {1, "ceil@({0})"}},
    {"round", {1, "rint@({0})"}},
    {"trunc", {1, "trunc@({0})"}},
    {"sign", {1, "({0} > 0 ? 1.0@ : ({0} < 0 ? -1.0@ : 0.0@))", 2}},
    {"relu", {1, "({0} < 0 ? 0.0@ : {0})"}},
    {"sigmoid", {1, "1.0@ / (1.0@ + exp@(-{0}))", 20, "__fdividef(1.0@, 1.0@ + exp@(-{0}))"}},
    {"silu", {1, "{0} / (1.0@ + exp@(-{0}))", 20, "__fdividef({0}, 1.0@ + exp@(-{0}))"}},
    {"maximum", {2, "({0} > {1} || {0} != {0} ? {0} : {1})", 2}},
    {"minimum", {2, "({0} < {1} || {0} != {0} ? {0} : {1})", 2}},
    {"imaximum", {2, "({0} > {1} ? {0} : {1})"}},
    {"iminimum", {2, "({0} < {1} ? {0} : {1})"}},
    {"fmax", {2, "fmax@({0}, {1})", 2}}, // of a number and NaN: the number
    {"fmin", {2, "fmin@({0}, {1})", 2}},
    {"clampmin", {2, "({0} < {1} ? {1} : {0})"}},
    {"clampmax", {2, "({0} > {1} ? {1} : {0})"}},
    {"where", {3, "({0} ? {1} : {2})"}},
    {"eq", {2, "{0} == {1}"}},
    {"ne", {2, "{0} != {1}"}},
    {"lt", {2, "{0} < {1}"}},
    {"le", {2, "{0} <= {1}"}},
    {"gt", {2, "{0} > {1}"}},
    {"ge", {2, "{0} >= {1}"}},
    {"and", {2, "{0} && {1}"}},
    {"or", {2, "{0} || {1}"}},
    {"xor", {2, "{0} != {1}"}},
    {"not", {1, "!{0}"}},
    {"iand", {2, "{0} & {1}"}},
    {"ior", {2, "{0} | {1}"}},
    {"ixor", {2, "{0} ^ {1}"}},
    {"inot", {1, "~{0}"}},
    {"isnan", {1, "{0} != {0}"}},
    {"isinf", {1, "fabs@({0}) == INFINITY"}},
};

/// Functions that `table` calls, without the "f" of those for floats.
std::set<std::string> functionsOf(bool doublePrecision) {
    std::set<std::string> result;
    for (const auto &[op, info] : table) {
        std::string word;
        for (const char c : info.text) {
            if (c == '(' && !word.empty())
                result.insert(word);
            if (c == '@' && !doublePrecision)
                word += 'f';
            else if (c != '@')
                word = std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? word + c : "";
        }
    }
    return result;
}

} // namespace

const PointwiseInfo *pointwiseInfo(const std::string &op) {
    const auto found = table.find(op);
    return found == table.end() ? nullptr : &found->second;
}

std::string pointwiseText(const std::string &op, const std::vector<std::string> &operands,
                          Precision precision) {
    const PointwiseInfo &info = table.at(op);
    const bool rough = precision == Precision::rough && !info.rough.empty();
    const std::string &text = rough ? info.rough : info.text;
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '@') {
            result += precision == Precision::doubles ? "" : "f";
        } else if (text[i] == '{') {
            result += operands.at(text[i + 1] - '0');
            i += 2;
        } else {
            result += text[i];
        }
    }
    return result;
}

bool isReserved(const std::string &name, bool doublePrecision) {
    // What operators of PyTorch are called, or may come to be.
    static const std::set<std::string> words{
        "all",    "and",     "any",    "at",       "begin", "bool",  "cdiv",   "char",
        "count",  "default", "delete", "double",   "end",   "first", "float",  "held",
        "int",    "lane",    "last",   "long",     "mask",  "max",   "min",    "new",
        "not",    "or",      "own",    "part",     "parts", "rest",  "row",    "rows",
        "short",  "signed",  "start",  "state",    "step",  "sum",   "switch", "this",
        "thread", "tiles",   "union",  "unsigned", "width", "xor"};
    static const std::set<std::string> floats = functionsOf(false), doubles = functionsOf(true);
    return words.contains(name) || (doublePrecision ? doubles : floats).contains(name);
}

} // namespace cuda_agent::policy
