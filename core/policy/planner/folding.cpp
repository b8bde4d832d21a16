// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/folding.h"

#include "core/policy/planner/group.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace cuda_agent::policy {

namespace {

/// The truth of a comparison that holds or fails for all values within two ranges.
std::optional<bool> decided(const std::string &op, const Range &a, const Range &b) {
    const auto decide = [](bool always, bool never) {
        return always || never ? std::optional(always) : std::nullopt;
    };
    if (op == "lt")
        return decide(a.high < b.low, a.low >= b.high);
    if (op == "le")
        return decide(a.high <= b.low, a.low > b.high);
    if (op == "gt")
        return decide(a.low > b.high, a.high <= b.low);
    if (op == "ge")
        return decide(a.low >= b.high, a.high < b.low);
    const bool apart = a.high < b.low || b.high < a.low;
    const bool one = a.low == a.high && b.low == b.high && a.low == b.low;
    if (op == "eq")
        return decide(one, apart);
    if (op == "ne")
        return decide(apart, one);
    return std::nullopt;
}

/// Of those up to here a double, as which constants are kept, has each.
constexpr std::int64_t largestNumber = std::int64_t{1} << 53;

bool isNumber(const Value &value) {
    return value.kind == Kind::constant && std::trunc(value.number) == value.number &&
           std::fabs(value.number) <= static_cast<double>(largestNumber);
}

} // namespace

Folding::Linear Folding::linear(int id) const {
    const Value &value = program_.values[id];
    if (isNumber(value))
        return {-1, 0, static_cast<std::int64_t>(value.number), 0};
    if (value.kind == Kind::pointwise && isWhole(value.dtype))
        if (const Linear sum = linear(value); sum.steps > 0)
            return sum;
    return {id, 1, 0, 0};
}

Folding::Linear Folding::linear(const Value &value) const {
    const auto is = [&](const char *op) { return value.op == op; };
    if (value.args.size() != 2 || (!is("add") && !is("sub") && !is("mul")))
        return {};
    if (!std::ranges::all_of(value.args, [&](int arg) {
            return program_.values[arg].dtype == value.dtype || isNumber(program_.values[arg]);
        }))
        return {};
    const Linear a = linear(value.args[0]), b = linear(value.args[1]);
    Linear sum;
    sum.steps = a.steps + b.steps + 1;
    bool fits = true;
    if (is("mul")) {
        const Linear &number = b.base < 0 ? b : a, &other = b.base < 0 ? a : b;
        if (number.base >= 0)
            return {};
        sum.base = other.base;
        fits = !__builtin_mul_overflow(other.scale, number.plus, &sum.scale) &&
               !__builtin_mul_overflow(other.plus, number.plus, &sum.plus);
    } else {
        if (a.base >= 0 && b.base >= 0 && a.base != b.base)
            return {};
        sum.base = std::max(a.base, b.base);
        fits = is("sub") ? !__builtin_sub_overflow(a.scale, b.scale, &sum.scale) &&
                               !__builtin_sub_overflow(a.plus, b.plus, &sum.plus)
                         : !__builtin_add_overflow(a.scale, b.scale, &sum.scale) &&
                               !__builtin_add_overflow(a.plus, b.plus, &sum.plus);
    }
    const auto said = [](std::int64_t number) { return std::abs(number) <= largestNumber; };
    return fits && sum.scale > INT64_MIN && sum.plus > INT64_MIN && said(sum.scale) &&
                   said(sum.plus)
               ? sum
               : Linear{};
}

int Folding::made(const Linear &sum, DType type) {
    const auto number = [&](std::int64_t n) {
        return program_.constant(static_cast<double>(n), type);
    };
    if (sum.base < 0 || sum.scale == 0)
        return number(sum.plus);
    int id = sum.base;
    if (sum.scale != 1)
        id = program_.pointwise("mul", {id, number(sum.scale)}, type);
    if (sum.plus != 0)
        id = program_.pointwise(sum.plus < 0 ? "sub" : "add", {id, number(std::abs(sum.plus))},
                                type);
    return id;
}

std::optional<int> Folding::foldCondition(const Value &value) {
    if (value.args.size() == 2) {
        const auto a = ranges_.of(value.args[0]), b = ranges_.of(value.args[1]);
        const bool whole = std::ranges::all_of(
            value.args, [&](int arg) { return isWhole(program_.values[arg].dtype); });
        if (const auto truth = a && b && whole ? decided(value.op, *a, *b) : std::nullopt)
            return program_.constant(*truth ? 1 : 0, DType::boolean);
    }
    const bool both = value.op == "and";
    if (!both && value.op != "or")
        return std::nullopt;
    for (std::size_t i = 0; i < 2; ++i) {
        const Value &one = program_.values[value.args[i]];
        if (one.kind == Kind::constant && one.dtype == DType::boolean)
            return (one.number != 0) == both ? value.args[1 - i] : value.args[i];
    }
    return std::nullopt;
}

std::optional<int> Folding::foldWhole(Value &value) {
    const auto ofItsType = [&](int arg) {
        const Value &one = program_.values[arg];
        return one.dtype == value.dtype || one.kind == Kind::constant;
    };
    if (!std::ranges::all_of(value.args, ofItsType))
        return std::nullopt;
    const Linear sum = linear(value);
    const auto needed = (sum.scale != 1 ? 1 : 0) + (sum.plus != 0 ? 1 : 0);
    const bool place = sum.base < 0 || program_.values[sum.base].kind == Kind::index ||
                       ranges_.of(sum.base).has_value();
    if (place && sum.steps > 0 && (sum.base < 0 || sum.scale == 0 || sum.steps > needed))
        return made(sum, value.dtype);
    if (value.args.size() != 2)
        return std::nullopt;
    const auto a = ranges_.of(value.args[0]), b = ranges_.of(value.args[1]);
    if (!a || !b)
        return std::nullopt;
    const bool most = value.op == "imaximum" || value.op == "clampmin";
    const bool least = value.op == "iminimum" || value.op == "clampmax";
    if ((most && a->low >= b->high) || (least && a->high <= b->low))
        return value.args[0];
    if ((most && b->low >= a->high) || (least && b->high <= a->low))
        return value.args[1];
    const bool remainder = value.op == "imod";
    if ((!remainder && value.op != "idiv") || a->low < 0 || b->low <= 0 || b->low != b->high)
        return std::nullopt;
    const auto by = static_cast<std::int64_t>(b->low);
    if (a->high < b->low)
        return remainder ? value.args[0] : program_.constant(0, value.dtype);
    const Linear over = linear(value.args[0]);
    if (over.scale % by != 0 || over.plus < 0)
        return std::nullopt;
    const Linear kept{over.base, over.scale / by, over.plus / by};
    return made(remainder ? Linear{.plus = over.plus % by} : kept, value.dtype);
}

std::optional<int> Folding::foldNumbers(const Value &value) {
    std::vector<float> numbers;
    for (const int arg : value.args) {
        const Value &one = program_.values[arg];
        if (one.kind != Kind::constant || (one.dtype != DType::float32 && !isNumber(one)))
            return std::nullopt;
        numbers.push_back(static_cast<float>(one.number));
    }
    const auto made = [&](float number) { return program_.constant(number, value.dtype); };
    constexpr float most = 1 << 24; // whole numbers that floats have
    if (value.op == "cast" && numbers.size() == 1 && std::fabs(numbers[0]) <= most &&
        (value.dtype == DType::float32 || value.dtype == DType::int32))
        return made(value.dtype == DType::int32 ? std::trunc(numbers[0]) : numbers[0]);
    if (value.dtype != DType::float32 || numbers.size() != 2)
        return std::nullopt;
    if (value.op == "add")
        return made(numbers[0] + numbers[1]);
    if (value.op == "sub")
        return made(numbers[0] - numbers[1]);
    if (value.op == "mul")
        return made(numbers[0] * numbers[1]);
    if (value.op == "clampmin")
        return made(std::max(numbers[0], numbers[1]));
    return std::nullopt;
}

std::optional<int> Folding::foldPointwise(Value &value) {
    if (const auto number = foldNumbers(value))
        return number;
    if (value.op == "where") {
        const Value &condition = program_.values[value.args[0]];
        if (condition.kind != Kind::constant)
            return std::nullopt;
        const int chosen = value.args[condition.number != 0 ? 1 : 2];
        if (program_.values[chosen].dtype == value.dtype)
            return chosen;
        value.op = "cast";
        value.args = {chosen};
        return std::nullopt;
    }
    if (value.dtype == DType::boolean)
        return foldCondition(value);
    if (value.op == "cast" && program_.values[value.args[0]].dtype == value.dtype)
        return value.args[0];
    return isWhole(value.dtype) ? foldWhole(value) : std::nullopt;
}

std::optional<int> Folding::foldLoad(Value &value) {
    if (value.bordered()) {
        const Value &inside = program_.values[value.args.end()[-2]];
        if (inside.kind == Kind::constant && inside.number == 0)
            return value.args.back();
        if (inside.kind == Kind::constant)
            value.args.erase(value.args.end() - 2, value.args.end());
    }
    std::set<Axis> walked;
    for (const LoadDim &dimension : value.dims)
        for (const Axis atom : program_.axes.atoms(dimension.axes))
            walked.insert(atom);
    for (LoadDim &dimension : value.dims) {
        if (dimension.pick < 0)
            continue;
        const Linear place = linear(value.args[dimension.pick]);
        const bool single = place.base < 0 || place.scale == 0;
        Axes axes;
        if (!single) {
            const Value &base = program_.values[place.base];
            axes = program_.axes.atoms(base.axes);
            if (base.kind != Kind::index ||
                std::ranges::any_of(axes, [&](Axis atom) { return walked.contains(atom); }))
                continue;
        }
        walked.insert(axes.begin(), axes.end());
        const int picked = dimension.pick;
        dimension.axes = axes;
        dimension.offset += dimension.step * place.plus;
        dimension.step *= single ? 1 : place.scale;
        dimension.pick = -1;
        value.args.erase(value.args.begin() + picked);
        for (LoadDim &other : value.dims)
            other.pick -= other.pick > picked ? 1 : 0;
    }
    return std::nullopt;
}

std::optional<int> Folding::fold(Value &value) {
    if (value.kind == Kind::pointwise)
        return foldPointwise(value);
    return value.kind == Kind::load ? foldLoad(value) : std::nullopt;
}

int Folding::add(Value value) {
    const auto known = fold(value);
    return known ? *known : program_.add(std::move(value));
}

void Folding::foldAll() {
    std::vector<int> roots;
    for (const Store &store : program_.stores)
        roots.push_back(store.value);
    std::map<int, int> folded;
    for (const int id : reachableFrom(program_, roots)) {
        Value value = program_.values[id];
        for (int &arg : value.args)
            arg = folded.at(arg);
        const auto known = fold(value);
        folded[id] = known.value_or(id);
        if (!known)
            program_.values[id] = std::move(value);
    }
    for (Store &store : program_.stores)
        store.value = folded.at(store.value);
}

} // namespace cuda_agent::policy
