// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"
#include "core/plan/expression.h"

#include <initializer_list>
#include <string>

namespace cuda_agent::plan {

/// Reads the fields of one JSON object and names them in errors ("steps[2].grid[0]: ...").
/// Keeps a reference: the JSON must outlive it.
class JsonFields {
  public:
    /// Errors: request, when `json` is not an object or has a field outside `allowed`.
    static Result<JsonFields> open(const Json &json, std::string path,
                                   std::initializer_list<std::string_view> allowed);

    bool has(const char *name) const { return json_->contains(name); }
    const Json &at(const char *name) const { return json_->at(name); }
    std::string path(std::string_view name) const;
    const std::string &path() const { return path_; }

    Result<std::string> text(const char *name) const;
    Result<std::string> text(const char *name, std::string fallback) const;
    /// Letters, digits and underscores, not starting with a digit.
    Result<std::string> identifier(const char *name) const;
    Result<std::int64_t> integer(const char *name, std::int64_t low, std::int64_t high) const;
    Result<std::int64_t> integer(const char *name, std::int64_t low, std::int64_t high,
                                 std::int64_t fallback) const;
    /// A finite number.
    Result<double> number(const char *name, double fallback) const;
    Result<bool> flag(const char *name, bool fallback) const;
    /// Errors also when the field is missing.
    Result<Expression> expression(const char *name) const;
    Result<Expression> expression(const char *name, std::string_view fallback) const;
    /// A list of expressions. Errors also when the field is missing.
    Result<std::vector<Expression>> expressions(const char *name, std::size_t low,
                                                std::size_t high) const;
    /// A list of whole numbers within [low, high]; empty when the field is missing.
    Result<std::vector<std::int64_t>> integers(const char *name, std::int64_t low,
                                               std::int64_t high, std::size_t most) const;
    /// The list itself. Errors: not a list, more than `most` entries, missing.
    Result<const Json *> list(const char *name, std::size_t most) const;

  private:
    JsonFields(const Json &json, std::string path) : json_(&json), path_(std::move(path)) {}
    Result<const Json *> need(const char *name, std::string_view what) const;

    const Json *json_;
    std::string path_;
};

/// An identifier of a reasonable length.
bool isPlanName(std::string_view text);
/// A number or text as an expression. Errors: request, naming `path`.
Result<Expression> expressionFromJson(const Json &json, std::string_view path);

} // namespace cuda_agent::plan
