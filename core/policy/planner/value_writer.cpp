// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// How a kernel says its values: what it loads, computes and asks, each by a name where it is needed
// again.

#include "core/policy/planner/kernel_writer.h"

#include "core/base/names.h"
#include "core/policy/planner/pointwise_table.h"

namespace cuda_agent::policy {

namespace {

/// Whether it compares places, or joins such comparisons: where one is asked for with others, it is
/// written there rather than named, "t0 >= 3 && t0 < 43".
bool isPartOfACondition(const Program &program, int id) {
    const Value &value = program.values[id];
    if (value.kind != Kind::pointwise || value.dtype != DType::boolean || !value.name.empty() ||
        value.args.size() != 2)
        return false;
    const auto are = [&](const auto &test) { return std::ranges::all_of(value.args, test); };
    if (value.op == "and")
        return are([&](int arg) { return isPartOfACondition(program, arg); });
    return (value.op == "ge" || value.op == "lt") && are([&](int arg) {
               const DType type = program.values[arg].dtype;
               return !isFloating(type) && type != DType::boolean;
           });
}

} // namespace

std::string KernelWriter::movedBy(int position, std::int64_t stride, int buffer,
                                  const std::string &index) {
    const BufferInfo &info = p_.buffers[buffer];
    const bool large =
        p_.bytesOf(buffer) / static_cast<std::int64_t>(sizeOf(info.dtype)) >= (1ll << 31);
    const std::string name = fmt::format("({}){}", large ? "long long" : "int", valueOf(position));
    const std::string term = sumOf({{name, stride}});
    return index == "0" ? term : term == "0" ? index : index + " + " + term;
}

std::string KernelWriter::withPicks(const Value &load, const std::string &index) {
    std::string text = index;
    const auto strides = p_.stridesOf(load);
    for (std::size_t d = 0; d < load.dims.size(); ++d) {
        const LoadDim &dim = load.dims[d];
        if (dim.pick >= 0)
            text = movedBy(load.args[dim.pick], strides[d] * dim.step, load.buffer, text);
    }
    return text;
}

std::string KernelWriter::placeText(int store) {
    const Store &target = g_.stores[store];
    std::string text = elementOffset(n_.stores[store]);
    const auto strides = p_.stridesOf(target.buffer);
    for (std::size_t d = 0; d < target.picks.size(); ++d) {
        if (target.picks[d] >= 0)
            text = movedBy(p_.values[target.value].args[target.picks[d]], strides[d], target.buffer,
                           text);
    }
    return text;
}

std::string KernelWriter::loadText(int id, const std::string &index) {
    const Value &value = p_.values[id];
    std::string at =
        fmt::format("{}[{}]", pointer(n_.accesses.at(id), value.buffer), withPicks(value, index));
    if (value.dtype == DType::float16)
        at = "__half2float(" + at + ")";
    if (value.dtype == DType::bfloat16)
        at = "__bfloat162float(" + at + ")";
    if (!value.bordered())
        return at;
    const std::string inside = valueOf(value.args.end()[-2]);
    if (inside == "true")
        return at;
    const std::string otherwise = valueOf(value.args.back());
    return fmt::format("{} ? {} : {}", inside, at, otherwise);
}

std::string KernelWriter::stored(int store, const std::string &value) {
    const DType type = p_.buffers[g_.stores[store].buffer].dtype;
    const DType have = p_.values[g_.stores[store].value].dtype;
    const bool floating = isFloating(have);
    if (type == DType::float16)
        return fmt::format("__float2half_rn({}{})", floating ? "" : "(float)", value);
    if (type == DType::bfloat16)
        return fmt::format("__float2bfloat16_rn({}{})", floating ? "" : "(float)", value);
    return scalarType(type) == scalarType(have) ? value
                                                : fmt::format("({}){}", storageType(type), value);
}

bool KernelWriter::holds(int condition) const {
    const std::string *known = recall(condition);
    const Value &value = p_.values[condition];
    return known != nullptr ? *known == "true" : value.kind == Kind::constant && value.number != 0;
}

std::vector<int> KernelWriter::neededFor(int root) const {
    std::vector<int> needed;
    std::set<int> seen;
    const std::function<void(int, bool)> visit = [&](int id, bool joined) {
        if (!seen.insert(id).second || recall(id) != nullptr)
            return;
        const Value &value = p_.values[id];
        const bool part = isPartOfACondition(p_, id);
        if (!(part && joined))
            needed.push_back(id);
        std::vector<int> args = value.args;
        if (value.kind == Kind::pointwise && value.op == "where" && holds(args[0]))
            args = {args[1]};
        else if (value.kind == Kind::load && value.bordered() && holds(args.end()[-2]))
            args.resize(value.picks());
        for (const int arg : args)
            visit(arg, part && value.op == "and");
    };
    visit(root, false);
    return inOrder(p_, needed);
}

std::string KernelWriter::valueOf(int id) {
    if (!ordering_ && recall(id) == nullptr) {
        ordering_ = true;
        for (const int needed : neededFor(id))
            evaluate(needed);
        ordering_ = false;
    }
    return evaluate(id);
}

std::string KernelWriter::evaluate(int id) {
    const Value &value = p_.values[id];
    const std::string type = scalarType(value.dtype);
    const auto named = [&](const std::string &code) {
        const std::string name = nameFor(id);
        line(fmt::format("const {} {} = {};", type, name, code));
        remember(id, name);
        return name;
    };
    if (const std::string *known = recall(id))
        return wantsName(id, *known) ? named(*known) : *known;
    std::string code;
    switch (value.kind) {
    case Kind::constant:
        return literal(value.number, value.dtype);
    case Kind::count: {
        std::int64_t fixed = 1;
        std::string open;
        for (const Axis atom : p_.axes.atoms(value.axes)) {
            if (p_.axes.constant(atom) || n_.baked.contains(atom))
                fixed *= p_.axes.size(atom);
            else
                open += (open.empty() ? "" : " * ") + p_.axes.expression(atom);
        }
        if (open.empty())
            return literal(static_cast<double>(fixed), value.dtype);
        if (fixed != 1)
            open += fmt::format(" * {}", fixed);
        return fmt::format("({}){}", type, sizeParameter(open, fmt::format("count{}", id)));
    }
    case Kind::index: {
        const Access &access = n_.accesses.at(id);
        std::vector<std::pair<std::string, std::int64_t>> terms;
        for (const int d : rowDims_)
            terms.emplace_back(coordinates_[d], access.strides[d]);
        const std::string row = sumOf(terms);
        const std::string element = elementOffset(access);
        // Loop variables are ints.
        if (type == "int" && row == "0" && value.name.empty() && isIdentifier(element))
            return element;
        code = row == "0" ? element : element == "0" ? row : row + " + " + element;
        code = fmt::format("({})({})", type, code);
        break;
    }
    case Kind::load:
        code = loadText(id, elementOffset(n_.accesses.at(id)));
        break;
    case Kind::pointwise: {
        if (value.op == "where" && valueOf(value.args[0]) == "true")
            return valueOf(value.args[1]);
        if (value.op == "and" && isPartOfACondition(p_, id)) {
            code = conditionText(id);
            break;
        }
        std::vector<std::string> operands;
        for (const int arg : value.args)
            operands.push_back(valueOf(arg));
        if (isItsArgument(p_, value))
            return operands[0];
        if (value.op == "cast") {
            code =
                type == "bool" ? operands[0] + " != 0" : fmt::format("({}){}", type, operands[0]);
        } else {
            if (value.op == "remainder")
                out_.helpers.insert("floorModulo");
            if (value.op == "hypot")
                out_.helpers.insert("hypotenuse");
            // "r1 - 303" rather than "r1 + (-303)"
            const bool less = value.op == "add" && operands[1].starts_with("(-") &&
                              p_.values[value.args[1]].kind == Kind::constant;
            if (less)
                operands[1] = operands[1].substr(2, operands[1].size() - 3);
            code = pointwiseText(less ? "sub" : value.op, operands,
                                 type == "double" ? Precision::doubles
                                 : rough_         ? Precision::rough
                                                  : Precision::floats);
        }
        break;
    }
    case Kind::reduce:
    case Kind::scan:
    case Kind::order:
        return "/* reduction used before it is known */";
    }
    return named(code);
}

std::string KernelWriter::conditionText(int id) {
    std::vector<std::string> parts;
    const std::function<void(int)> add = [&](int part) {
        const Value &value = p_.values[part];
        if (recall(part) != nullptr || !isPartOfACondition(p_, part)) {
            if (auto text = valueOf(part); text != "true")
                parts.push_back(std::move(text));
        } else if (value.op == "and") {
            for (const int arg : value.args)
                add(arg);
        } else {
            parts.push_back(pointwiseText(
                value.op, {valueOf(value.args[0]), valueOf(value.args[1])}, Precision::floats));
        }
    };
    add(id);
    return parts.empty() ? "true" : fmt::format("{}", fmt::join(parts, " && "));
}

bool KernelWriter::wantsName(int id, const std::string &code) const {
    const Value &value = p_.values[id];
    return (value.kind == Kind::reduce || value.kind == Kind::scan) && !value.name.empty() &&
           code.find_first_of(".(") != code.npos;
}

} // namespace cuda_agent::policy
