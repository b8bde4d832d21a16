// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tools/schema.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace cuda_agent::tools {

namespace {

std::string typeOf(const Json &value) {
    if (value.is_number_integer())
        return "integer";
    if (value.is_number())
        return "number";
    return value.type_name(); // "object", "array", "string", "boolean", "null"
}

bool hasType(const Json &value, const std::string &type) {
    if (type == "integer") // 3.0 is a whole number, as in JSON Schema
        return value.is_number_integer() ||
               (value.is_number_float() && value.get<double>() == std::floor(value.get<double>()) &&
                std::abs(value.get<double>()) < 9e15);
    if (type == "number")
        return value.is_number();
    return type == typeOf(value);
}

std::string listOf(const Json &properties) {
    std::vector<std::string> names;
    for (const auto &[name, field] : properties.items())
        names.push_back(name);
    return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
}

std::string article(const std::string &type) {
    return (type == "integer" || type == "object" || type == "array" ? "an " : "a ") + type;
}

/// A text of a policy's may be no UTF-8.
std::string textOf(const Json &value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

class Checker {
  public:
    void check(const Json &value, const Json &schema, const std::string &where) {
        const std::string type = schema.value("type", "");
        if (!type.empty() && !hasType(value, type)) {
            say("{} must be {}, not {}", where, article(type), article(typeOf(value)));
            return;
        }
        if (schema.contains("enum") &&
            std::ranges::find(schema["enum"], value) == schema["enum"].end())
            say("{} must be one of {}, not {}", where, schema["enum"].dump(), textOf(value));
        if (value.is_number()) {
            const double number = value.get<double>();
            if (number < schema.value("minimum", number) ||
                number > schema.value("maximum", number))
                say("{} must lie between {} and {}, not {}", where,
                    schema.value("minimum", Json()).dump(), schema.value("maximum", Json()).dump(),
                    value.dump());
        }
        if (value.is_string() &&
            value.get_ref<const std::string &>().size() < schema.value("minLength", std::size_t{0}))
            say("{} must not be empty", where);
        if (value.is_object())
            checkObject(value, schema, where);
        if (value.is_array()) {
            if (value.size() < schema.value("minItems", std::size_t{0}))
                say("{} must not be empty", where);
            if (schema.contains("items"))
                for (std::size_t i = 0; i < value.size(); ++i)
                    check(value[i], schema["items"], fmt::format("{}[{}]", where, i));
        }
    }

    std::string text() const { return fmt::format("{}", fmt::join(problems_, "; ")); }

  private:
    template <typename... Args>
    void say(fmt::format_string<Args...> format, Args &&...args) {
        if (problems_.size() < 8)
            problems_.push_back(fmt::format(format, std::forward<Args>(args)...));
    }

    void checkObject(const Json &value, const Json &schema, const std::string &where) {
        const Json properties = schema.value("properties", Json::object());
        for (const auto &name : schema.value("required", Json::array()))
            if (!value.contains(name.get<std::string>()))
                say("{} needs '{}' ({})", where, name.get<std::string>(),
                    properties.value(name.get<std::string>(), Json::object())
                        .value("description", "required"));
        for (const auto &[name, field] : value.items()) {
            if (properties.contains(name))
                check(field, properties[name], fmt::format("'{}' of {}", name, where));
            else if (!schema.value("additionalProperties", true))
                say("{} takes no '{}'; it takes {}", where, name, listOf(properties));
        }
    }

    std::vector<std::string> problems_;
};

Json field(const char *type, std::string description) {
    return {{"type", type}, {"description", std::move(description)}};
}

} // namespace

std::string schemaProblems(const Json &value, const Json &schema, const std::string &tool) {
    Checker checker;
    checker.check(value, schema, tool);
    return checker.text();
}

Json textField(std::string description) {
    return field("string", std::move(description));
}

Json wholeField(std::string description, std::int64_t minimum, std::int64_t maximum) {
    Json result = field("integer", std::move(description));
    result["minimum"] = minimum;
    result["maximum"] = maximum;
    return result;
}

Json flagField(std::string description) {
    return field("boolean", std::move(description));
}

Json choiceField(std::string description, std::vector<std::string> choices) {
    Json result = field("string", std::move(description));
    result["enum"] = std::move(choices);
    return result;
}

Json listField(std::string description, Json items) {
    Json result = field("array", std::move(description));
    result["items"] = std::move(items);
    return result;
}

Json objectOf(Json properties, std::vector<std::string> required) {
    return {{"type", "object"},
            {"properties", std::move(properties)},
            {"required", std::move(required)},
            {"additionalProperties", false}};
}

} // namespace cuda_agent::tools
