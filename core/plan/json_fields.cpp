// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/json_fields.h"

#include "core/base/names.h"

#include <cmath>

namespace cuda_agent::plan {

namespace {

/// The value as it stands in the file, short enough for a message.
std::string shown(const Json &json) {
    std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() <= 60)
        return text;
    text.resize(57);
    return text.append("...");
}

} // namespace

bool isPlanName(std::string_view text) {
    constexpr std::size_t longest = 200;
    return text.size() <= longest && isIdentifier(text);
}

Result<Expression> expressionFromJson(const Json &json, std::string_view path) {
    if (json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX)
        return requestError("{}: {} does not fit 64 bits", path, shown(json));
    if (json.is_number_integer())
        return Expression(json.get<std::int64_t>());
    if (json.is_number_float() && std::floor(json.get<double>()) == json.get<double>() &&
        std::abs(json.get<double>()) < 9e15)
        return Expression(static_cast<std::int64_t>(json.get<double>()));
    if (!json.is_string())
        return requestError(
            "{}: {} must be a whole number or an expression such as \"cdiv(N, 256)\"", path,
            shown(json));
    auto expression = Expression::parse(json.get_ref<const std::string &>());
    if (!expression)
        return requestError("{}: {}", path, expression.error().message);
    return expression;
}

Result<JsonFields> JsonFields::open(const Json &json, std::string path,
                                    std::initializer_list<std::string_view> allowed) {
    const std::string where = path.empty() ? "plan" : path;
    if (!json.is_object())
        return requestError("{}: {} must be an object", where, shown(json));
    for (const auto &[name, value] : json.items()) {
        if (std::find(allowed.begin(), allowed.end(), name) == allowed.end())
            return requestError("{}: the field '{}' is not known here; known are {}", where,
                                name.substr(0, 60), fmt::join(allowed, ", "));
    }
    return JsonFields(json, std::move(path));
}

std::string JsonFields::path(std::string_view name) const {
    return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

Result<const Json *> JsonFields::need(const char *name, std::string_view what) const {
    const auto found = json_->find(name);
    if (found == json_->end())
        return requestError("{}: missing; give {}", path(name), what);
    return &*found;
}

Result<std::string> JsonFields::text(const char *name) const {
    CUDA_AGENT_ASSIGN(value, need(name, "a text"));
    if (!value->is_string())
        return requestError("{}: {} must be a text", path(name), shown(*value));
    return value->get<std::string>();
}

Result<std::string> JsonFields::text(const char *name, std::string fallback) const {
    if (!has(name))
        return fallback;
    return text(name);
}

Result<std::string> JsonFields::identifier(const char *name) const {
    CUDA_AGENT_ASSIGN(value, text(name));
    if (!isPlanName(value))
        return requestError(
            "{}: '{}' must be a name of letters, digits and '_' that does not start with a digit",
            path(name), value.substr(0, 60));
    return value;
}

Result<std::int64_t> JsonFields::integer(const char *name, std::int64_t low,
                                         std::int64_t high) const {
    CUDA_AGENT_ASSIGN(value, need(name, "a whole number"));
    if (!value->is_number_integer() ||
        (value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX) ||
        value->get<std::int64_t>() < low || value->get<std::int64_t>() > high)
        return requestError("{}: {} must be a whole number from {} to {}", path(name),
                            shown(*value), low, high);
    return value->get<std::int64_t>();
}

Result<std::int64_t> JsonFields::integer(const char *name, std::int64_t low, std::int64_t high,
                                         std::int64_t fallback) const {
    if (!has(name))
        return fallback;
    return integer(name, low, high);
}

Result<double> JsonFields::number(const char *name, double fallback) const {
    if (!has(name))
        return fallback;
    const Json &value = at(name);
    if (!value.is_number() || !std::isfinite(value.get<double>()))
        return requestError("{}: {} must be a number", path(name), shown(value));
    return value.get<double>();
}

Result<bool> JsonFields::flag(const char *name, bool fallback) const {
    if (!has(name))
        return fallback;
    if (!at(name).is_boolean())
        return requestError("{}: {} must be true or false", path(name), shown(at(name)));
    return at(name).get<bool>();
}

Result<Expression> JsonFields::expression(const char *name) const {
    CUDA_AGENT_ASSIGN(value, need(name, "a whole number or an expression"));
    return expressionFromJson(*value, path(name));
}

Result<Expression> JsonFields::expression(const char *name, std::string_view fallback) const {
    if (!has(name))
        return Expression::parse(fallback);
    return expression(name);
}

Result<const Json *> JsonFields::list(const char *name, std::size_t most) const {
    CUDA_AGENT_ASSIGN(value, need(name, "a list"));
    if (!value->is_array())
        return requestError("{}: {} must be a list", path(name), shown(*value));
    if (value->size() > most)
        return requestError("{}: has {} entries; at most {} are allowed", path(name), value->size(),
                            most);
    return value;
}

Result<std::vector<Expression>> JsonFields::expressions(const char *name, std::size_t low,
                                                        std::size_t high) const {
    CUDA_AGENT_ASSIGN(values, list(name, high));
    if (values->size() < low)
        return requestError("{}: has {} entries; {} are needed", path(name), values->size(), low);
    std::vector<Expression> expressions;
    for (std::size_t i = 0; i < values->size(); ++i) {
        CUDA_AGENT_ASSIGN(value,
                          expressionFromJson(values->at(i), fmt::format("{}[{}]", path(name), i)));
        expressions.push_back(std::move(value));
    }
    return expressions;
}

Result<std::vector<std::int64_t>> JsonFields::integers(const char *name, std::int64_t low,
                                                       std::int64_t high, std::size_t most) const {
    std::vector<std::int64_t> result;
    if (!has(name))
        return result;
    CUDA_AGENT_ASSIGN(values, list(name, most));
    for (std::size_t i = 0; i < values->size(); ++i) {
        const Json &value = values->at(i);
        if (!value.is_number_integer() ||
            (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) ||
            value.get<std::int64_t>() < low || value.get<std::int64_t>() > high)
            return requestError("{}[{}]: {} must be a whole number from {} to {}", path(name), i,
                                shown(value), low, high);
        result.push_back(value.get<std::int64_t>());
    }
    return result;
}

} // namespace cuda_agent::plan
