// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/fixed_sizes.h"

#include "core/base/names.h"
#include "core/learn/corpus/plan_expressions.h"

namespace cuda_agent::learn {

namespace {

/// By how expressions name them, "in0.shape[1]".
using Sizes = std::map<std::string, std::int64_t, std::less<>>;

Result<TensorType> typeOf(const Json &buffer, const plan::Signature &signature) {
    const auto name = buffer.value("name", "");
    if (buffer.value("role", "") == "input") {
        const auto index = buffer.value("index", std::size_t{0});
        if (index < signature.inputs.size())
            return signature.inputs[index];
    } else if (const auto found = signature.parameters.find(buffer.value("key", ""));
               found != signature.parameters.end()) {
        return found->second;
    }
    return requestError("the task has nothing for the plan's buffer '{}'", name);
}

/// `text` with each name of `sizes` as its number.
std::string substituted(const std::string &text, const Sizes &sizes) {
    std::string result;
    std::size_t at = 0;
    while (at < text.size()) {
        auto end = at;
        while (end < text.size() && isNamePart(text[end]))
            ++end;
        if (end == at) {
            result += text[at++];
            continue;
        }
        constexpr std::string_view shape = ".shape[";
        if (text.compare(end, shape.size(), shape) == 0) {
            const auto close = text.find(']', end);
            const auto found =
                close == text.npos ? sizes.end() : sizes.find(text.substr(at, close + 1 - at));
            if (found != sizes.end()) {
                result += fmt::to_string(found->second);
                at = close + 1;
                continue;
            }
        }
        result.append(text, at, end - at);
        at = end;
    }
    return result;
}

/// Quotients of products, "(963 * 16 / 2)", as their numbers: sizes of which the prompt shows that.
Result<std::string> withoutQuotients(std::string text) {
    for (auto slash = text.find(" / "); slash != text.npos; slash = text.find(" / ", slash + 1)) {
        const auto open = text.rfind('(', slash);
        const auto close = text.find(')', slash);
        if (open == text.npos || close == text.npos)
            continue;
        const auto inner = text.substr(open + 1, close - open - 1);
        const bool plain = inner.find_first_not_of("0123456789 */") == inner.npos;
        const bool called = open > 0 && isNamePart(text[open - 1]);
        if (!plain || called)
            continue;
        CUDA_AGENT_ASSIGN(parsed, plan::Expression::parse(inner));
        CUDA_AGENT_ASSIGN(value, parsed.evaluate({}));
        text.replace(open, close + 1 - open, fmt::to_string(value));
        slash = open;
    }
    return text;
}

Result<void> substitute(Json &plan, const Sizes &sizes) {
    for (auto &[key, value] : plan.items()) {
        if (value.is_structured()) {
            CUDA_AGENT_TRY(substitute(value, sizes));
        } else if (isExpression(plan, key, value)) {
            CUDA_AGENT_ASSIGN(text, withoutQuotients(substituted(value.get<std::string>(), sizes)));
            value = std::move(text);
        }
    }
    return {};
}

} // namespace

Result<Json> withFixedSizes(Json plan, const plan::Signature &signature) {
    Sizes sizes;
    for (Json &buffer : plan["buffers"]) {
        const auto role = buffer.value("role", "");
        if (role != "input" && role != "parameter")
            continue;
        CUDA_AGENT_ASSIGN(type, typeOf(buffer, signature));
        const auto rank = static_cast<int>(type.shape.size());
        for (int d = 0; d < rank; ++d)
            for (const int place : {d, d - rank})
                sizes[fmt::format("{}.shape[{}]", buffer.value("name", ""), place)] = type.shape[d];
        if (role == "input")
            buffer["shape"] = type.shape;
    }
    plan.erase("requires");
    CUDA_AGENT_TRY(substitute(plan, sizes));
    for (Json &buffer : plan["buffers"]) {
        if (!buffer.contains("shape"))
            continue;
        for (Json &size : buffer["shape"]) {
            if (!size.is_string())
                continue;
            CUDA_AGENT_ASSIGN(parsed, plan::Expression::parse(size.get<std::string>()));
            CUDA_AGENT_ASSIGN(value, parsed.evaluate({}));
            size = value;
        }
    }
    return plan;
}

} // namespace cuda_agent::learn
