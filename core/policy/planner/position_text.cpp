// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/position_text.h"

#include "core/policy/planner/group_text.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace cuda_agent::policy {

namespace {

/// The integer of a comparison's right side, which is a constant.
std::optional<std::int64_t> boundOf(const Program &program, const Value &comparison) {
    const Value &right = program.values[comparison.args[1]];
    constexpr double most = 1e15; // doubles up to it have every integer
    if (right.kind != Kind::constant || std::floor(right.number) != right.number ||
        std::abs(right.number) > most)
        return std::nullopt;
    return static_cast<std::int64_t>(right.number);
}

/// The conditions that `id` asks for together.
void addConditions(const Program &program, int id, std::vector<int> &conditions) {
    const Value &value = program.values[id];
    if (value.kind != Kind::pointwise)
        return;
    if (value.op == "and")
        for (const int arg : value.args)
            addConditions(program, arg, conditions);
    else if (value.args.size() == 2)
        conditions.push_back(id);
}

class PositionText {
  public:
    PositionText(const Program &program, const ScheduledGroup &group)
        : program_(program), nest_(group.nest), borders_(borderTexts(program, group)) {
        const auto call = [&](const std::vector<int> &dims, const char *one, char many) {
            for (std::size_t i = 0; i < dims.size(); ++i)
                names_[dims[i]] = dims.size() == 1 ? one : fmt::format("{}{}", many, i);
        };
        call(nest_.rowDims(), "row", 'k');
        call(nest_.elementDims(), "i", 'r');
    }

    std::string ofLoad(const Value &load) const {
        std::vector<std::string> picked;
        for (std::size_t k = 0; k < load.picks(); ++k)
            picked.push_back(of(load.args[k]));
        const std::string &buffer = program_.buffers[load.buffer].name;
        const std::string place =
            picked.empty() ? buffer : fmt::format("{}[{}]", buffer, fmt::join(picked, ", "));
        std::string text = load.name.empty() || load.name == buffer
                               ? place
                               : fmt::format("{} = {}", load.name, place);
        if (load.bordered())
            text +=
                fmt::format(" where {}, else {}", of(load.args.end()[-2]), of(load.args.back()));
        return text;
    }

  private:
    /// The text of a value; in parentheses where it is a sum or the like within a product.
    std::string of(int id, bool inside = false) const {
        const Value &value = program_.values[id];
        if (value.kind == Kind::constant)
            return fmt::format("{}", value.number);
        if (value.kind == Kind::index)
            return ofIndex(id, inside);
        if (!value.name.empty())
            return value.name;
        if (value.kind == Kind::load)
            return program_.buffers[value.buffer].name;
        if (value.kind != Kind::pointwise)
            return value.op;
        if (value.op == "cast")
            return of(value.args[0], inside);
        static const std::map<std::string, const char *> signs{
            {"add", "+"}, {"sub", "-"}, {"mul", "*"}, {"idiv", "/"}, {"imod", "%"}, {"and", "and"},
            {"ge", ">="}, {"gt", ">"},  {"le", "<="}, {"lt", "<"},   {"eq", "=="},  {"ne", "!="}};
        const auto sign = signs.find(value.op);
        if (sign == signs.end() || value.args.size() != 2) {
            std::vector<std::string> arguments;
            for (const int arg : value.args)
                arguments.push_back(of(arg));
            return fmt::format("{}({})", value.op, fmt::join(arguments, ", "));
        }
        const bool joins = value.op == "and";
        const auto bound =
            value.op == "lt" || value.op == "ge" ? boundOf(program_, value) : std::nullopt;
        const auto border = bound ? borders_.find(*bound) : borders_.end();
        const auto text =
            fmt::format("{} {} {}", of(value.args[0], !joins), sign->second,
                        border == borders_.end() ? of(value.args[1], !joins) : border->second);
        return inside ? fmt::format("({})", text) : text;
    }

    std::string ofIndex(int id, bool inside) const {
        const auto access = nest_.accesses.find(id);
        if (access == nest_.accesses.end())
            return "place";
        std::vector<std::string> terms;
        for (std::size_t d = 0; d < access->second.strides.size(); ++d) {
            const std::int64_t stride = access->second.strides[d];
            if (stride != 0)
                terms.push_back(
                    stride == 1 ? names_.at(static_cast<int>(d))
                                : fmt::format("{} * {}", names_.at(static_cast<int>(d)), stride));
        }
        if (access->second.base != 0 || terms.empty())
            terms.push_back(fmt::format("{}", access->second.base));
        const auto text = fmt::format("{}", fmt::join(terms, " + "));
        return inside && terms.size() > 1 ? fmt::format("({})", text) : text;
    }

    const Program &program_;
    const Nest &nest_;
    std::map<std::int64_t, std::string> borders_;
    std::map<int, std::string> names_; ///< of loops
};

} // namespace

std::map<std::int64_t, std::string> borderTexts(const Program &program,
                                                const ScheduledGroup &group) {
    std::map<std::int64_t, std::string> texts;
    if (group.group->product >= 0)
        return texts;
    for (const int id : inOrderFrom(program, group.group->roots())) {
        if (program.values[id].op != "and")
            continue;
        std::vector<int> conditions;
        addConditions(program, id, conditions);
        std::map<int, std::int64_t> begins; // by what is compared
        for (const int condition : conditions) {
            const Value &value = program.values[condition];
            if (const auto bound = boundOf(program, value); bound && value.op == "ge")
                begins.try_emplace(value.args[0], *bound);
        }
        for (const int condition : conditions) {
            const Value &value = program.values[condition];
            const auto end = value.op == "lt" ? boundOf(program, value) : std::nullopt;
            const auto begin = begins.find(value.args[0]);
            if (end && *end >= leastSpelled && begin != begins.end() && begin->second > 0 &&
                begin->second < *end)
                texts.try_emplace(*end,
                                  fmt::format("({} + {})", *end - begin->second, begin->second));
        }
    }
    return texts;
}

std::string describePositions(const Program &program, const ScheduledGroup &group) {
    if (group.group->product >= 0)
        return {};
    const PositionText positions(program, group);
    std::vector<std::string> lines;
    for (const int id : inOrderFrom(program, group.group->roots())) {
        const Value &value = program.values[id];
        if (value.kind != Kind::load || value.args.empty())
            continue;
        auto line = positions.ofLoad(value);
        constexpr std::size_t most = 240; // who cannot say it shorter does not help to copy it
        if (line.size() <= most && std::ranges::find(lines, line) == lines.end())
            lines.push_back(std::move(line));
    }
    return fmt::format("{}", fmt::join(lines, "; "));
}

} // namespace cuda_agent::policy
