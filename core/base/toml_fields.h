// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>

#include <toml++/toml.h>

namespace cuda_agent {

/// `file` names the text in the error. Errors: request, one line with the library's words.
Result<toml::table> parseToml(std::string_view text, const std::string &file);

/// A value of a TOML file as JSON; dates become null.
Json jsonOf(const toml::node &node);

/// Takes fields from a table of a file that a person wrote, and knows which ones nobody asked for.
/// The first problem is kept and told by finish(). Borrows the table. One thread.
class TomlFields {
  public:
    /// `place` begins messages: "recipe.toml", "recipe.toml: [time]".
    TomlFields(const toml::table &table, std::string place)
        : table_(table), place_(std::move(place)) {}

    /// Leaves `value` alone where the field is not there. `least` and `most` are allowed, too.
    template <typename T>
    void take(const char *name, T &value, double least, double most) {
        known_.insert(name);
        const auto *node = table_.get(name);
        if (!node)
            return;
        if (const auto given = number(*node, std::is_integral_v<T>, name, least, most))
            value = static_cast<T>(*given);
    }
    void take(const char *name, std::string &value);
    void take(const char *name, bool &value);
    void take(const char *name, std::vector<std::string> &values);
    void takeTable(const char *name, Json &value);
    /// Numbers from 0 to 1e9 by name, in place of those that were there; `known` empty: any names.
    void takeWeights(const char *name, std::map<std::string, double> &weights,
                     const std::set<std::string> &known = {});
    /// Has `read` take the fields of the table of that name, if it is there, and finishes them.
    /// Errors: request, of that table; what is no table is told by finish().
    template <typename Read>
    Result<void> section(const char *name, const Read &read) {
        const auto *inner = table(name);
        if (!inner)
            return {};
        TomlFields fields(*inner, fmt::format("{}: [{}]", place_, name));
        read(fields);
        return fields.finish();
    }
    /// The table of that name, or null.
    const toml::table *table(const char *name);

    /// Errors: request, one line: the first field that is wrong or unknown.
    Result<void> finish();

  private:
    std::optional<double> number(const toml::node &node, bool whole, const char *name, double least,
                                 double most);
    template <typename... Args>
    void say(fmt::format_string<Args...> format, Args &&...args) {
        if (problem_.empty())
            problem_ = fmt::format(format, std::forward<Args>(args)...);
    }

    const toml::table &table_;
    std::string place_;
    std::string problem_;
    std::set<std::string> known_;
};

} // namespace cuda_agent
