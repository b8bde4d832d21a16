// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/axes.h"

#include <algorithm>

namespace cuda_agent::policy {

Axis AxisTable::add(std::int64_t size, std::string expression) {
    entries_.push_back({size, std::move(expression), {}});
    return static_cast<Axis>(entries_.size()) - 1;
}

Axes AxisTable::atoms(const Axes &axes) const {
    Axes result;
    for (const Axis axis : axes) {
        if (entries_[axis].parts.empty()) {
            result.push_back(axis);
        } else {
            const Axes inner = atoms(entries_[axis].parts);
            result.insert(result.end(), inner.begin(), inner.end());
        }
    }
    return result;
}

std::int64_t AxisTable::size(const Axes &axes) const {
    std::int64_t product = 1;
    for (const Axis axis : axes)
        product *= entries_[axis].size;
    return product;
}

std::string AxisTable::expression(Axis atom) const {
    const Entry &entry = entries_[atom];
    return entry.expression.empty() ? std::to_string(entry.size) : entry.expression;
}

std::string AxisTable::expression(const Axes &axes) const {
    std::int64_t constants = 1;
    std::string text;
    for (const Axis axis : atoms(axes)) {
        if (constant(axis)) {
            constants *= size(axis);
        } else {
            text += (text.empty() ? "" : " * ") + expression(axis);
        }
    }
    if (text.empty())
        return std::to_string(constants);
    return constants == 1 ? text : text + " * " + std::to_string(constants);
}

void AxisTable::split(Axis atom, std::int64_t inner) {
    const std::int64_t outer = entries_[atom].size / inner;
    const std::string &expression = entries_[atom].expression;
    const Axis first = add(outer, expression.empty() ? ""
                                                     : "(" + entries_[atom].expression + " / " +
                                                           std::to_string(inner) + ")");
    const Axis second = add(inner);
    entries_[atom].parts = {first, second};
}

bool AxisTable::join(const Axes &left, const Axes &right,
                     const std::function<bool(Axis, Axis)> &apart) {
    Axes a = atoms(left);
    Axes b = atoms(right);
    while (!a.empty() && !b.empty()) {
        const Axis x = a.back();
        const Axis y = b.back();
        if (x == y) {
            a.pop_back();
            b.pop_back();
        } else if (size(x) == size(y)) {
            if (apart(x, y))
                return false;
            // Keep the one whose size the plan can compute from an input.
            const bool keepY = constant(x) && !constant(y);
            entries_[keepY ? x : y].parts = {keepY ? y : x};
            a.pop_back();
            b.pop_back();
        } else {
            Axes &larger = size(x) > size(y) ? a : b;
            const std::int64_t inner = std::min(size(x), size(y));
            const Axis atom = larger.back();
            if (size(atom) % inner != 0)
                return false;
            split(atom, inner);
            // The other list may hold the atom that was split.
            a = atoms(a);
            b = atoms(b);
        }
        a = atoms(a);
        b = atoms(b);
    }
    return a.empty() && b.empty();
}

std::optional<std::vector<Axes>> AxisTable::regroup(const Axes &axes,
                                                    const std::vector<std::int64_t> &sizes) {
    Axes rest = atoms(axes);
    std::vector<Axes> result(sizes.size());
    for (std::size_t d = sizes.size(); d-- > 0;) {
        std::int64_t needed = sizes[d];
        while (needed > 1) {
            if (rest.empty())
                return std::nullopt;
            const Axis atom = rest.back();
            const std::int64_t have = size(atom);
            if (have <= needed) {
                if (needed % have != 0)
                    return std::nullopt;
                result[d].insert(result[d].begin(), atom);
                rest.pop_back();
                needed /= have;
            } else {
                if (have % needed != 0)
                    return std::nullopt;
                split(atom, needed);
                rest = atoms(rest);
            }
        }
    }
    if (!rest.empty())
        return std::nullopt;
    for (Axes &dimension : result)
        dimension = atoms(dimension);
    return result;
}

} // namespace cuda_agent::policy
