// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/task/fields.h"

#include <cmath>

namespace cuda_agent::task {

namespace {

constexpr std::size_t longestText = 64u << 10;

} // namespace

Result<std::string> stringField(const Json &object, const char *key, std::string_view what,
                                bool required) {
    const auto found = object.find(key);
    if (found == object.end()) {
        if (required)
            return requestError("{} has no '{}'", what, key);
        return std::string();
    }
    if (!found->is_string() || found->get_ref<const std::string &>().size() > longestText)
        return requestError("{}.{} must be a string of at most {} bytes", what, key, longestText);
    return found->get<std::string>();
}

Result<std::int64_t> integerField(const Json &object, const char *key, std::string_view what,
                                  std::int64_t fallback) {
    const auto found = object.find(key);
    if (found == object.end())
        return fallback;
    if (!found->is_number_integer())
        return requestError("{}.{} must be an integer", what, key);
    return found->get<std::int64_t>();
}

Result<double> amountField(const Json &object, const char *key, std::string_view what) {
    const auto found = object.find(key);
    if (found == object.end())
        return 0.0;
    if (!found->is_number() || !(found->get<double>() >= 0) || !std::isfinite(found->get<double>()))
        return requestError("{}.{} must be a number that is not negative", what, key);
    return found->get<double>();
}

Result<Json> listField(const Json &object, const char *key, std::string_view what) {
    const auto found = object.find(key);
    if (found == object.end())
        return Json::array();
    if (!found->is_array())
        return requestError("{}.{} must be a list", what, key);
    return *found;
}

} // namespace cuda_agent::task
