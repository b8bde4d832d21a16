// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/group_text.h"
#include "core/policy/planner/kernel_writer.h"
#include "core/policy/planner/pointwise_table.h"

#include <cmath>

// What kernels are written with: types, literals, lines, names.

namespace cuda_agent::policy {

std::string storageType(DType type) {
    switch (type) {
    case DType::float16:
        return "__half";
    case DType::bfloat16:
        return "__nv_bfloat16";
    case DType::float32:
        return "float";
    case DType::float64:
        return "double";
    case DType::int8:
        return "signed char";
    case DType::uint8:
        return "unsigned char";
    case DType::int16:
        return "short";
    case DType::int32:
        return "int";
    case DType::int64:
        return "long long";
    case DType::boolean:
        return "bool";
    }
    return "float";
}

std::string scalarType(DType type) {
    switch (type) {
    case DType::float16:
    case DType::bfloat16:
    case DType::float32:
        return "float";
    case DType::float64:
        return "double";
    case DType::int64:
        return "long long";
    case DType::boolean:
        return "bool";
    default:
        return "int";
    }
}

bool isItsArgument(const Program &program, const Value &value) {
    return value.op == "place" ||
           (value.op == "cast" &&
            scalarType(value.dtype) == scalarType(program.values[value.args[0]].dtype));
}

std::string KernelWriter::literal(double number, DType type) const {
    const std::string kind = scalarType(type);
    if (kind == "bool")
        return number != 0 ? "true" : "false";
    if (kind == "int" || kind == "long long") {
        if (std::fabs(number) >= 0x1p63) // beyond what a literal can say
            return number > 0 ? "9223372036854775807LL" : "(-9223372036854775807LL - 1)";
        const std::string text =
            fmt::format("{}{}", static_cast<std::int64_t>(number), kind == "int" ? "" : "LL");
        return number < 0 ? "(" + text + ")" : text;
    }
    if (kind == "float")
        number = static_cast<double>(static_cast<float>(number));
    if (std::isnan(number))
        return "NAN";
    if (std::isinf(number))
        return number > 0 ? "INFINITY" : "(-INFINITY)";
    // The shortest text that is read as this number again: "0.1f".
    std::string text = kind == "double" ? fmt::format("{}", number)
                                        : fmt::format("{}", static_cast<float>(number));
    if (text.find_first_of(".e") == std::string::npos)
        text += ".0";
    text += kind == "double" ? "" : "f";
    return number < 0 ? "(" + text + ")" : text;
}

void KernelWriter::line(const std::string &text) {
    body_ +=
        text.empty() ? "\n" : std::string(static_cast<std::size_t>(depth_) * 4, ' ') + text + "\n";
}

void KernelWriter::open(const std::string &head) {
    line(head.empty() ? "{" : head + " {");
    ++depth_;
}

void KernelWriter::close(const std::string &tail) {
    --depth_;
    line(tail);
}

void KernelWriter::otherwise() {
    --depth_;
    open("} else");
}

void KernelWriter::withFirstRow(const std::function<void()> &act) {
    const std::string each = rowSubscript();
    if (each.empty())
        return act();
    std::map<int, std::string> first;
    for (const auto &scope : scopes_)
        for (const auto &[value, text] : scope)
            if (text.ends_with(each))
                first[value] = text.substr(0, text.size() - each.size()) + "[0]";
    scopes_.push_back(first);
    act();
    const auto known = std::move(scopes_.back());
    scopes_.pop_back();
    for (const auto &[value, text] : known)
        if (!first.contains(value))
            remember(value, text);
}

const std::string *KernelWriter::recall(int value) const {
    for (std::size_t i = scopes_.size(); i-- > 0;) {
        if (const auto found = scopes_[i].find(value); found != scopes_[i].end())
            return &found->second;
    }
    return nullptr;
}

std::string KernelWriter::nameFor(int id, bool many) {
    const Value &value = p_.values[id];
    std::string base;
    if (!value.name.empty() && !isReserved(value.name, double_))
        base = value.name + (many ? "_x" : "");
    else if (value.kind == Kind::load)
        base = p_.buffers[value.buffer].name + "_x";
    else
        return fmt::format("t{}", temporaries_++);
    const auto taken = [&](const std::string &name) {
        return parameterNames_.contains(name) ||
               std::ranges::any_of(names_, [&](const auto &scope) { return scope.contains(name); });
    };
    if (numbers_.empty())
        numbers_ = numbersOf(p_, told());
    const auto known = numbers_.find(id); // as thoughts call it, whichever comes first here
    int number = known == numbers_.end() ? 1 : known->second;
    while (taken(numberedName(base, number)))
        ++number;
    const auto name = numberedName(base, number);
    names_.back().insert(name);
    return name;
}

} // namespace cuda_agent::policy
