// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/toml_fields.h"

#include <fmt/ranges.h>

namespace cuda_agent {

Json jsonOf(const toml::node &node) {
    if (const auto *table = node.as_table()) {
        Json result = Json::object();
        for (const auto &[key, value] : *table)
            result[std::string(key.str())] = jsonOf(value);
        return result;
    }
    if (const auto *array = node.as_array()) {
        Json result = Json::array();
        for (const auto &value : *array)
            result.push_back(jsonOf(value));
        return result;
    }
    if (const auto *text = node.as_string())
        return text->get();
    if (const auto *whole = node.as_integer())
        return whole->get();
    if (const auto *number = node.as_floating_point())
        return number->get();
    if (const auto *flag = node.as_boolean())
        return flag->get();
    return nullptr;
}

std::optional<double> TomlFields::number(const toml::node &node, bool whole, const char *name,
                                         double least, double most) {
    const auto given = node.value<double>();
    if (!given || (whole && !node.is_integer()) || !(*given >= least) || !(*given <= most)) {
        say("{}: {} must be a {} from {} to {}", place_, name, whole ? "whole number" : "number",
            least, most);
        return {};
    }
    return given;
}

void TomlFields::take(const char *name, std::string &value) {
    known_.insert(name);
    if (const auto *node = table_.get(name)) {
        if (!node->is_string())
            return say("{}: {} must be a text", place_, name);
        value = *node->value<std::string>();
    }
}

void TomlFields::take(const char *name, bool &value) {
    known_.insert(name);
    if (const auto *node = table_.get(name)) {
        if (!node->is_boolean())
            return say("{}: {} must be true or false", place_, name);
        value = *node->value<bool>();
    }
}

void TomlFields::take(const char *name, std::vector<std::string> &values) {
    known_.insert(name);
    const auto *node = table_.get(name);
    if (!node)
        return;
    const auto *array = node->as_array();
    std::vector<std::string> given;
    for (std::size_t i = 0; array && i < array->size(); ++i)
        if (const auto text = (*array)[i].value<std::string>(); (*array)[i].is_string())
            given.push_back(*text);
    if (!array || given.size() != array->size())
        return say("{}: {} must be a list of texts", place_, name);
    values = std::move(given);
}

void TomlFields::takeTable(const char *name, Json &value) {
    known_.insert(name);
    if (const auto *node = table_.get(name)) {
        if (!node->is_table())
            return say("{}: {} must be a table", place_, name);
        value = jsonOf(*node);
    }
}

void TomlFields::takeWeights(const char *name, std::map<std::string, double> &weights,
                             const std::set<std::string> &known) {
    known_.insert(name);
    const auto *node = table_.get(name);
    if (!node)
        return;
    const auto *table = node->as_table();
    if (!table)
        return say("{}: {} must be a table of numbers", place_, name);
    std::map<std::string, double> given;
    double sum = 0;
    for (const auto &[key, value] : *table) {
        const std::string which(key.str());
        if (!known.empty() && !known.contains(which))
            return say("{}: {} has no '{}'; there are {}", place_, name, which,
                       fmt::join(known, ", "));
        const auto weight = number(value, false, which.c_str(), 0, 1e9);
        if (!weight)
            return;
        sum += given[which] = *weight;
    }
    if (!(sum > 0))
        return say("{}: one of {} must be above 0", place_, name);
    weights = std::move(given);
}

Result<toml::table> parseToml(std::string_view text, const std::string &file) {
    try {
        return toml::parse(text);
    } catch (const toml::parse_error &problem) { // the library's way to say it
        return requestError("{}:{}: not TOML: {}", file, problem.source().begin.line,
                            std::string(problem.description()));
    }
}

const toml::table *TomlFields::table(const char *name) {
    known_.insert(name);
    const auto *node = table_.get(name);
    if (node && !node->is_table())
        say("{}: {} must be a table", place_, name);
    return node ? node->as_table() : nullptr;
}

Result<void> TomlFields::finish() {
    for (const auto &[key, value] : table_)
        if (!known_.contains(std::string(key.str())))
            say("{}: there is no field '{}'; there are {}", place_, std::string(key.str()),
                fmt::join(known_, ", "));
    if (!problem_.empty())
        return requestError("{}", problem_);
    return {};
}

} // namespace cuda_agent
