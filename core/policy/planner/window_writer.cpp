// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/kernel_writer.h"

// Windows at the border of a tensor ask of each element whether it lies inside. Most windows lie
// inside as a whole, which one look at their first and last elements tells.

namespace cuda_agent::policy {

std::optional<KernelWriter::Reach> KernelWriter::reachOf(int position, bool last) const {
    const Value &value = p_.values[position];
    if (value.kind == Kind::constant)
        return Reach{"", static_cast<std::int64_t>(value.number)};
    if (value.kind == Kind::index) {
        const Access &access = n_.accesses.at(position);
        Reach reach{"", access.base};
        std::vector<std::pair<std::string, std::int64_t>> terms;
        for (std::size_t d = 0; d < access.strides.size(); ++d) {
            const std::int64_t stride = access.strides[d];
            if (stride < 0)
                return std::nullopt;
            if (n_.dims[d].element)
                reach.number += last ? stride * (n_.dims[d].size - 1) : 0;
            else
                terms.emplace_back("(int)" + coordinates_[d], stride);
        }
        if (last && !rowSubscript().empty())
            reach.number += access.strides[loopOfRowsInHand()] * (rowsInHand() - 1);
        reach.text = sumOf(terms);
        if (reach.text == "0")
            reach.text.clear();
        return reach;
    }
    if (value.kind != Kind::pointwise || (value.op != "add" && value.op != "mul"))
        return std::nullopt;
    const auto left = reachOf(value.args[0], last), right = reachOf(value.args[1], last);
    if (!left || !right)
        return std::nullopt;
    if (value.op == "mul") {
        if (!right->text.empty() || right->number < 0)
            return std::nullopt;
        return Reach{left->text.empty() ? "" : fmt::format("({}) * {}", left->text, right->number),
                     left->number * right->number};
    }
    return Reach{left->text.empty()    ? right->text
                 : right->text.empty() ? left->text
                                       : left->text + " + " + right->text,
                 left->number + right->number};
}

std::optional<std::string> KernelWriter::wholeWindow(int condition) const {
    const Value &value = p_.values[condition];
    if (value.kind != Kind::pointwise || value.args.size() != 2)
        return std::nullopt;
    if (value.op == "and") {
        const auto left = wholeWindow(value.args[0]), right = wholeWindow(value.args[1]);
        if (!left || !right)
            return std::nullopt;
        return *left + " && " + *right;
    }
    // Positions grow along a window: the first one is the least, the last one the greatest.
    if (value.op != "ge" && value.op != "lt")
        return std::nullopt;
    const bool last = value.op == "lt";
    const auto position = reachOf(value.args[0], last), bound = reachOf(value.args[1], last);
    if (!position || !bound || position->text.empty() || !bound->text.empty())
        return std::nullopt;
    return fmt::format("{} {} {}", position->text,
                       last ? "<" : ">=", bound->number - position->number);
}

std::map<int, std::string> KernelWriter::wholeWindows(const std::vector<int> &roots) {
    std::map<int, std::string> result;
    for (const int id : reachableFrom(p_, roots)) {
        const Value &value = p_.values[id];
        int condition = -1;
        if (value.kind == Kind::load && value.bordered())
            condition = value.args.end()[-2];
        else if (value.kind == Kind::pointwise && value.op == "where")
            condition = value.args[0];
        if (condition < 0 || result.contains(condition) || perRow(condition))
            continue;
        if (const auto text = wholeWindow(condition))
            result.emplace(condition, *text);
    }
    return result;
}

} // namespace cuda_agent::policy
