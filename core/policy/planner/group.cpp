// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/group.h"

#include <algorithm>
#include <functional>

namespace cuda_agent::policy {

std::vector<int> reachableFrom(const Program &program, const std::vector<int> &roots,
                               const std::set<int> &known) {
    std::vector<int> order;
    std::set<int> seen = known;
    const std::function<void(int)> visit = [&](int id) {
        if (!seen.insert(id).second)
            return;
        for (const int arg : program.values[id].args)
            visit(arg);
        order.push_back(id);
    };
    for (const int root : roots)
        visit(root);
    return order;
}

std::vector<int> inOrder(const Program &program, const std::vector<int> &values) {
    std::map<int, int> missing; // arguments that have not come yet
    std::map<int, std::vector<int>> users;
    for (const int id : values)
        missing[id] = 0;
    for (const int id : values) {
        for (const int arg : program.values[id].args) {
            if (!missing.contains(arg))
                continue;
            ++missing[id];
            users[arg].push_back(id);
        }
    }
    std::set<std::pair<int, int>> ready; // see orderOf
    for (const auto &[id, count] : missing) {
        if (count == 0)
            ready.insert(program.orderOf(id));
    }
    std::vector<int> order;
    while (!ready.empty()) {
        const int id = ready.begin()->second;
        ready.erase(ready.begin());
        order.push_back(id);
        for (const int user : users[id]) {
            if (--missing[user] == 0)
                ready.insert(program.orderOf(user));
        }
    }
    return order;
}

std::vector<int> inOrderFrom(const Program &program, const std::vector<int> &roots) {
    return inOrder(program, reachableFrom(program, roots));
}

std::vector<int> Group::roots() const {
    std::vector<int> result = reduces;
    result.insert(result.end(), scans.begin(), scans.end());
    result.insert(result.end(), orders.begin(), orders.end());
    if (logits >= 0)
        result.push_back(logits);
    for (const Store &store : stores)
        result.push_back(store.value);
    return result;
}

std::set<Axis> Group::elements() const {
    std::set<Axis> result = rows;
    const std::set<Axis> &inner = orders.empty() ? reduced : places;
    result.insert(inner.begin(), inner.end());
    return result;
}

bool forgivesRoundoff(const Program &program, const Group &group) {
    static const std::set<std::string> steps{"floor", "ceil",     "round",    "trunc", "sign",
                                             "fmod",  "floordiv", "truncdiv", "eq",    "remainder",
                                             "ne",    "lt",       "le",       "gt",    "ge",
                                             "and",   "or",       "xor",      "not"};
    const auto isShort = [&](const Store &store) {
        return sizeOf(program.buffers[store.buffer].dtype) == 2;
    };
    if (!std::ranges::all_of(group.stores, isShort) || !group.orders.empty())
        return false;
    return std::ranges::none_of(reachableFrom(program, group.roots()), [&](int id) {
        const Value &value = program.values[id];
        const bool whole = value.op == "cast" && !isFloating(value.dtype);
        return value.kind == Kind::pointwise && (whole || steps.contains(value.op)) &&
               std::ranges::any_of(value.args,
                                   [&](int arg) { return isFloating(program.values[arg].dtype); });
    });
}

bool areMoments(const Program &program, int first, int second) {
    const auto &values = program.values;
    const Value &sum = values[first];
    const Value &squares = values[second];
    if (sum.op != "sum" || squares.op != "sum" || !isFloating(sum.dtype) ||
        program.axes.atoms(sum.axes) != program.axes.atoms(squares.axes))
        return false;
    const Value &square = values[squares.args[0]];
    if (square.op != "mul" || square.args[0] != square.args[1])
        return false;
    const Value &distance = values[square.args[0]];
    if (distance.op != "sub" || distance.args[0] != sum.args[0])
        return false;
    const Value &mean = values[distance.args[1]];
    return mean.op == "div" && mean.args[0] == first && values[mean.args[1]].kind == Kind::count &&
           program.axes.atoms(values[mean.args[1]].axes) == program.axes.atoms(sum.axes);
}

bool areMaxAndSumOfExp(const Program &program, int first, int second) {
    const auto &values = program.values;
    const Value &largest = values[first];
    const Value &sum = values[second];
    if (largest.op != "max" || sum.op != "sum" || !isFloating(sum.dtype) ||
        program.axes.atoms(largest.axes) != program.axes.atoms(sum.axes))
        return false;
    const Value &power = values[sum.args[0]];
    if (power.op != "exp")
        return false;
    const Value &shifted = values[power.args[0]];
    return shifted.op == "sub" && shifted.args[0] == largest.args[0] && shifted.args[1] == first;
}

Axes walkedAxes(const Program &program, const Value &load) {
    Axes all;
    for (const LoadDim &dimension : load.dims) {
        if (dimension.pick >= 0) { // it jumps with all that its position depends on
            const std::set<Axis> picked = program.axesOf(load.args[dimension.pick]);
            all.insert(all.end(), picked.begin(), picked.end());
        }
        all.insert(all.end(), dimension.axes.begin(), dimension.axes.end());
    }
    Axes result; // of an axis that is walked along in several dimensions the innermost one
    for (const Axis atom : program.axes.atoms(all)) {
        std::erase(result, atom);
        result.push_back(atom);
    }
    return result;
}

Axes walkedAxes(const Program &program, const Store &store) {
    Axes all;
    for (const Axes &dimension : store.dims)
        all.insert(all.end(), dimension.begin(), dimension.end());
    return program.axes.atoms(all);
}

bool goesThroughTiles(const Program &program, const Value &load) {
    return load.args.empty() ||
           (load.picks() == 0 && program.values[load.args.back()].kind == Kind::constant);
}

Axes memoryOrder(const Program &program, const std::set<Axis> &wanted,
                 const std::vector<int> &values, const std::vector<Store> &stores) {
    // Candidates: the axes of each access, outermost first; the one that moves most bytes leads.
    std::vector<std::pair<std::int64_t, Axes>> accesses;
    const auto consider = [&](const Axes &axes, int buffer, bool store) {
        Axes list;
        std::int64_t bytes = static_cast<std::int64_t>(sizeOf(program.buffers[buffer].dtype));
        for (const Axis atom : axes) {
            if (wanted.contains(atom)) {
                list.push_back(atom);
                bytes *= program.axes.size(atom);
            }
        }
        accesses.emplace_back(2 * bytes + (store ? 1 : 0), std::move(list));
    };
    for (const int id : values) {
        const Value &value = program.values[id];
        if (value.kind == Kind::load)
            consider(walkedAxes(program, value), value.buffer, false);
    }
    for (const Store &store : stores)
        consider(walkedAxes(program, store), store.buffer, true);
    std::stable_sort(accesses.begin(), accesses.end(),
                     [](const auto &a, const auto &b) { return a.first > b.first; });
    Axes order;
    for (const auto &[bytes, list] : accesses) {
        // Axes not seen yet go outside of those that are.
        Axes fresh;
        for (const Axis atom : list) {
            if (std::find(order.begin(), order.end(), atom) == order.end())
                fresh.push_back(atom);
        }
        order.insert(order.begin(), fresh.begin(), fresh.end());
    }
    for (const Axis atom : wanted) {
        if (std::find(order.begin(), order.end(), atom) == order.end())
            order.insert(order.begin(), atom);
    }
    return order;
}

} // namespace cuda_agent::policy
