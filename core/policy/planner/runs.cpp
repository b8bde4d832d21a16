// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/runs.h"

#include <algorithm>
#include <optional>

namespace cuda_agent::policy {

namespace {

constexpr int widest = 8;

/// The largest power of two up to `width` that divides a number.
int fitted(int width, std::int64_t number) {
    while (width > 1 && number % width != 0)
        width /= 2;
    return width;
}

bool variesInRuns(const Program &program, const Nest &nest, int value) {
    const std::vector<int> all = reachableFrom(program, {value});
    return std::ranges::any_of(all, [&](int id) {
        const auto access = nest.accesses.find(id);
        return access != nest.accesses.end() &&
               (nest.crossing ? nest.variesByElement(access->second)
                              : access->second.strides.back() != 0);
    });
}

/// A position as a sum over the loops.
std::optional<Access> walkOf(const Program &program, const Nest &nest, int position) {
    const Value &value = program.values[position];
    Access walk{0, std::vector<std::int64_t>(nest.dims.size(), 0)};
    if (value.kind == Kind::constant) {
        walk.base = static_cast<std::int64_t>(value.number);
        return walk;
    }
    if (value.kind == Kind::index)
        return nest.accesses.at(position);
    if (value.kind != Kind::pointwise)
        return {};
    if (value.op == "cast" && !isFloating(value.dtype))
        return walkOf(program, nest, value.args[0]);
    if (value.op != "add" && value.op != "sub" && value.op != "mul")
        return {};
    const auto left = walkOf(program, nest, value.args[0]);
    const auto right = walkOf(program, nest, value.args[1]);
    const bool times = value.op == "mul";
    if (!left || !right || (times && program.values[value.args[1]].kind != Kind::constant))
        return {};
    const auto combined = [&](std::int64_t a, std::int64_t b) {
        return times ? a * right->base : value.op == "add" ? a + b : a - b;
    };
    walk.base = combined(left->base, right->base);
    for (std::size_t d = 0; d < walk.strides.size(); ++d)
        walk.strides[d] = combined(left->strides[d], right->strides[d]);
    return walk;
}

/// How many neighbours have the same answer to a condition at least, up to 8, from each multiple of
/// their number on.
int sameAnswers(const Program &program, const Nest &nest, int condition) {
    if (!variesInRuns(program, nest, condition))
        return widest;
    const Value &value = program.values[condition];
    if (value.kind != Kind::pointwise || value.args.size() != 2)
        return 1;
    if (value.op == "and")
        return std::min(sameAnswers(program, nest, value.args[0]),
                        sameAnswers(program, nest, value.args[1]));
    const auto position = walkOf(program, nest, value.args[0]);
    const auto bound = walkOf(program, nest, value.args[1]);
    if ((value.op != "ge" && value.op != "lt") || !position || !bound)
        return 1;
    if (position->strides.back() - bound->strides.back() != 1)
        return 1;
    int width = fitted(widest, position->base - bound->base);
    for (std::size_t d = 0; d + 1 < nest.dims.size(); ++d)
        width = fitted(width, position->strides[d] - bound->strides[d]);
    return width;
}

} // namespace

int widestRun(const Nest &nest, const Access &access) {
    if (nest.dims.empty() || access.strides.back() != 1)
        return 0;
    int width = fitted(widest, access.base);
    if (nest.crossing) {
        if (nest.elementStride(access) != 1)
            return 0;
        for (const int d : nest.rowDims())
            width = fitted(width, access.strides[d]);
        if (!nest.openLength())
            return fitted(width, nest.elements());
        const std::int64_t open = nest.dims[0].size; // either it or what lies inside is a multiple
        return std::max(fitted(width, open), fitted(width, nest.elements() / open));
    }
    for (std::size_t d = 0; d + 1 < access.strides.size(); ++d)
        width = fitted(width, access.strides[d]);
    return fitted(width, nest.dims.back().size);
}

bool asksOnceForARun(const Program &program, const Nest &nest, int load) {
    const auto &args = program.values[load].args;
    return std::ranges::none_of(args, [&](int arg) { return variesInRuns(program, nest, arg); });
}

int widestRun(const Program &program, const Nest &nest, int load) {
    const Value &value = program.values[load];
    const auto access = nest.accesses.find(load);
    if (value.kind != Kind::load || access == nest.accesses.end() ||
        (nest.crossing && !value.args.empty()))
        return 0;
    for (std::size_t pick = 0; pick < value.picks(); ++pick)
        if (variesInRuns(program, nest, value.args[pick]))
            return 0;
    Access moved = access->second; // a picked position moves it by a multiple of the stride
    const auto strides = program.stridesOf(value);
    for (std::size_t d = 0; d < value.dims.size(); ++d)
        if (value.dims[d].pick >= 0)
            moved.strides.insert(moved.strides.begin(), strides[d] * value.dims[d].step);
    const int width = widestRun(nest, moved);
    if (!value.bordered() || width == 0)
        return width;
    if (program.values[value.args.back()].kind != Kind::constant)
        return 0;
    const int same = sameAnswers(program, nest, value.args.end()[-2]);
    return same == 1 ? 0 : std::min(width, same);
}

bool readsAskedInRuns(const Program &program, const Group &group, const Nest &nest,
                      const Schedule &schedule, int load) {
    using Form = Schedule::Form;
    if (schedule.form == Form::tile || !group.scans.empty() || nest.crossing)
        return false;
    const Value &value = program.values[load];
    if (asksOnceForARun(program, nest, load) && !(value.bordered() && group.hasReductions()))
        return !value.bordered() || program.values[value.args.back()].kind == Kind::constant;
    return (schedule.form == Form::row || schedule.form == Form::column) &&
           widestRun(program, nest, load) >= schedule.vector;
}

} // namespace cuda_agent::policy
