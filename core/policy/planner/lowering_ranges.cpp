// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/lowering.h"

#include <algorithm>
#include <cmath>

// What positions can be: those that are computed from places alone need no care about the border,
// and no numbers of 64 bits.

namespace cuda_agent::policy {

namespace {

struct Range {
    double low = 0, high = 0;
};

/// Of arithmetic in floats: what rounding may add.
Range rounded(Range range, DType type) {
    if (isFloating(type)) {
        constexpr double relative = 1e-2; // halves have eleven bits, bfloat16 has eight
        const double slack = (sizeOf(type) < 4 ? relative : 1e-6) *
                             std::max(std::fabs(range.low), std::fabs(range.high));
        range = {range.low - slack, range.high + slack};
    }
    return range;
}

/// Of positions within dimensions and numbers, and what is computed from them; nothing when memory
/// has a say.
class Ranges {
  public:
    explicit Ranges(const Program &program) : program_(program) {}

    std::optional<Range> of(int id) {
        if (const auto known = known_.find(id); known != known_.end())
            return known->second;
        return known_[id] = compute(program_.values[id]);
    }

  private:
    std::optional<Range> compute(const Value &value) {
        if (value.kind == Kind::constant)
            return std::isfinite(value.number) ? std::optional(Range{value.number, value.number})
                                               : std::nullopt;
        if (value.kind == Kind::index)
            return Range{
                0, static_cast<double>(program_.axes.size(program_.axes.atoms(value.axes)) - 1)};
        if (value.kind != Kind::pointwise || value.args.empty())
            return std::nullopt;
        if (value.op == "cast")
            return castOf(value);
        const std::size_t from = value.op == "where" ? 1 : 0;
        if (value.args.size() != from + 2)
            return std::nullopt;
        const auto a = of(value.args[from]), b = of(value.args[from + 1]);
        if (!a || !b)
            return std::nullopt;
        return ofTwo(value, *a, *b);
    }

    std::optional<Range> castOf(const Value &value) {
        const auto range = of(value.args[0]);
        if (!range || value.dtype == DType::boolean)
            return std::nullopt;
        if (isFloating(value.dtype) || !isFloating(program_.values[value.args[0]].dtype))
            return rounded(*range, value.dtype);
        return Range{std::trunc(range->low), std::trunc(range->high)};
    }

    static std::optional<Range> ofTwo(const Value &value, Range a, Range b) {
        const bool divides = a.low >= 0 && b.low == b.high && b.low > 0;
        if (value.op == "add")
            return rounded({a.low + b.low, a.high + b.high}, value.dtype);
        if (value.op == "sub")
            return rounded({a.low - b.high, a.high - b.low}, value.dtype);
        if (value.op == "mul") {
            const auto [low, high] =
                std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
            return rounded({low, high}, value.dtype);
        }
        if (value.op == "idiv" && divides)
            return Range{std::floor(a.low / b.low), std::floor(a.high / b.low)};
        if (value.op == "imod" && divides)
            return Range{0, std::min(a.high, b.low - 1)};
        if (value.op == "imaximum")
            return Range{std::max(a.low, b.low), std::max(a.high, b.high)};
        if (value.op == "iminimum")
            return Range{std::min(a.low, b.low), std::min(a.high, b.high)};
        if (value.op == "where")
            return Range{std::min(a.low, b.low), std::max(a.high, b.high)};
        return std::nullopt;
    }

    const Program &program_;
    std::map<int, std::optional<Range>> known_;
};

bool fitsInt32(const Range &range) {
    constexpr double most = 2147483647;
    return range.low >= -most && range.high <= most;
}

} // namespace

int Lowering::narrowed(int id) {
    Ranges ranges(program);
    std::map<int, int> made;
    const std::function<int(int)> narrow = [&](int wide) -> int {
        if (const auto known = made.find(wide); known != made.end())
            return known->second;
        made[wide] = wide;
        Value value = program.values[wide];
        const auto range = ranges.of(wide);
        const bool whole = value.dtype == DType::int64;
        if (!range || (whole && !fitsInt32(*range)))
            return wide;
        const std::vector<int> before = value.args;
        for (int &arg : value.args)
            arg = narrow(arg);
        const bool fits = value.op == "cast" || std::ranges::all_of(value.args, [&](int arg) {
                              return program.values[arg].dtype != DType::int64;
                          });
        if (whole && fits)
            value.dtype = DType::int32;
        else if (whole || value.args == before)
            return wide;
        return made[wide] = program.add(std::move(value));
    };
    return narrow(id);
}

int Lowering::within(int value, std::int64_t size, bool fromEnd) {
    const auto range = Ranges(program).of(value);
    value = narrowed(value);
    const DType type = program.values[value].dtype;
    const auto number = [&](std::int64_t n) {
        return program.constant(static_cast<double>(n), type);
    };
    if (fromEnd && !(range && range->low >= 0)) {
        const int negative = program.pointwise("lt", {value, number(0)}, DType::boolean);
        const int turned = program.pointwise("add", {value, number(size)}, type);
        value = program.pointwise("where", {negative, turned, value}, type);
    }
    if (!(range && range->low >= 0))
        value = program.pointwise("imaximum", {value, number(0)}, type);
    if (!(range && range->low >= 0 && range->high <= static_cast<double>(size - 1)))
        value = program.pointwise("iminimum", {value, number(size - 1)}, type);
    return value;
}

} // namespace cuda_agent::policy
