// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/lowering.h"
#include "core/policy/planner/ranges.h"

#include <algorithm>
#include <cmath>

// What positions can be: those that are computed from places alone need no care about the border,
// and no numbers of 64 bits.

namespace cuda_agent::policy {

namespace {

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
