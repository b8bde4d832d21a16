// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/shared_loop.h"

#include "core/policy/planner/pointwise_table.h"

#include <algorithm>
#include <functional>
#include <ranges>

namespace cuda_agent::policy {

namespace {

/// Positions within rows that a thread takes together are ints.
bool staysNear(const Nest &nest, int dim) {
    constexpr std::int64_t longest = 1 << 26;
    const auto near = [&](const Access &access) {
        return std::abs(access.strides[dim]) <= longest;
    };
    return std::ranges::all_of(std::views::values(nest.accesses), near) &&
           std::ranges::all_of(nest.stores, near);
}

std::vector<int> divisorsOf(std::int64_t size, std::initializer_list<int> numbers) {
    std::vector<int> result;
    for (const int number : numbers)
        if (size % number == 0)
            result.push_back(number);
    return result;
}

/// Whether places along a row have to be worked out: some access is no even walk, or a value is
/// computed from where an element is.
bool worksOutPlaces(const Program &program, const Nest &nest) {
    const auto uneven = [&](const Access &access) { return !nest.elementStride(access); };
    return std::ranges::any_of(nest.stores, uneven) ||
           std::ranges::any_of(nest.accesses, [&](const auto &entry) {
               const auto &[id, access] = entry;
               return uneven(access) ||
                      (program.values[id].kind == Kind::index && nest.variesByElement(access));
           });
}

/// What is computed for an element and is the same for all rows along a loop, in additions.
double sharedWork(const Program &program, const Group &group, const Nest &nest, int dim) {
    constexpr double wholeNumber = 12;          // a position of 64 bits that is read
    constexpr double coordinate = 8;            // of 32 bits they hide behind what is read
    std::map<int, std::pair<bool, bool>> known; // whether it varies by element, and along the loop
    double work = 0;
    const std::function<std::pair<bool, bool>(int)> visit = [&](int id) {
        if (const auto found = known.find(id); found != known.end())
            return found->second;
        const Value &value = program.values[id];
        std::pair<bool, bool> varies{false, false};
        if (const auto access = nest.accesses.find(id); access != nest.accesses.end())
            varies = {nest.variesByElement(access->second), access->second.strides[dim] != 0};
        for (const int arg : value.args) {
            const auto other = visit(arg);
            varies = {varies.first || other.first, varies.second || other.second};
        }
        const auto *info = value.kind == Kind::pointwise ? pointwiseInfo(value.op) : nullptr;
        if (varies.first && !varies.second)
            work += info != nullptr                                           ? info->cost
                    : value.kind == Kind::load && value.dtype == DType::int64 ? wholeNumber
                                                                              : 0;
        return known[id] = varies;
    };
    for (const int root : group.roots())
        visit(root);
    const auto narrow = [&](const Store &store) {
        return sizeOf(program.buffers[store.buffer].dtype) <= 2;
    };
    if (nest.crossing && std::ranges::all_of(group.stores, narrow))
        work += coordinate * static_cast<double>(nest.elementDims().size());
    return work;
}

} // namespace

SharedLoop sharedLoopOf(const Program &program, const Group &group, const Nest &nest) {
    constexpr std::int64_t nearby = 3;
    std::vector<std::pair<int, const Access *>> loads; // buffer and where it is read
    for (const auto &[id, access] : nest.accesses) {
        const Value &value = program.values[id];
        if (value.kind == Kind::load && value.args.empty())
            loads.emplace_back(value.buffer, &access);
    }
    const std::vector<int> rows = nest.rowDims();
    for (const int d : rows) {
        if (rows.size() == 1 || (d == 0 && nest.runtimeOuter) || !staysNear(nest, d))
            continue;
        for (const auto &[buffer, access] : loads) {
            const std::int64_t step = access->strides[d];
            const auto follows = [&, &one = *access](const auto &other) {
                const std::int64_t ahead = other.second->base - one.base;
                return other.first == buffer && other.second->strides == one.strides && ahead > 0 &&
                       ahead % step == 0 && ahead / step <= nearby;
            };
            if (step > 0 && std::ranges::any_of(loads, follows))
                return {d, true, 0, divisorsOf(nest.dims[d].size, {5, 4, 6, 7, 3, 8, 2})};
        }
    }
    // Of the others the one along which the most stays the same, of those the innermost.
    SharedLoop best;
    std::pair<double, std::ptrdiff_t> most{0, worksOutPlaces(program, nest) ? 0 : 1};
    for (const int d : rows) {
        auto counts = divisorsOf(nest.dims[d].size, {4, 3, 6, 5, 2, 7});
        const auto same = std::ranges::count_if(loads, [&](const auto &load) {
            return nest.variesByElement(*load.second) && load.second->strides[d] == 0;
        });
        const std::pair shared{sharedWork(program, group, nest, d), same};
        if (counts.empty() || shared < most || !staysNear(nest, d))
            continue;
        most = shared;
        best = {d, false, shared.first, std::move(counts)};
    }
    return best;
}

} // namespace cuda_agent::policy
