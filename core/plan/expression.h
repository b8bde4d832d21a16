// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent::plan {

/// An integer expression over sizes: 64-bit integers, names, `in0.shape[1]` (a negative
/// dimension counts from the end), `in0.numel`, `in0.ndim`,
/// `+ - * / %` (division floors, by zero is an error), `cdiv(a, b)`, `min`, `max`,
/// comparisons `== != < <= > >=` and `and`/`or` (give 0 or 1), parentheses.
/// Overflow is an error, never a wrap.
class Expression {
  public:
    Expression() : Expression(std::int64_t{0}) {}
    Expression(std::int64_t constant);
    /// Errors: request, with the column.
    static Result<Expression> parse(std::string_view text);

    /// Names that it reads ("N", "in0.shape[1]").
    std::vector<std::string> names() const;
    /// Errors: request (unknown name, division by zero, overflow).
    Result<std::int64_t> evaluate(const std::map<std::string, std::int64_t> &values) const;
    const std::string &text() const { return text_; }

  private:
    struct Instruction {
        int op;
        std::int64_t value;
        std::string name;
    };
    std::string text_;
    std::vector<Instruction> code_; ///< reverse Polish
};

} // namespace cuda_agent::plan
