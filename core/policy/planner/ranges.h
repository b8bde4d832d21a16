// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/ir.h"

namespace cuda_agent::policy {

struct Range {
    double low = 0, high = 0;
};

/// Whether positions are of that type.
inline bool isWhole(DType type) {
    return type == DType::int32 || type == DType::int64;
}

/// What positions within dimensions, numbers and what is computed from them can be; nothing when
/// memory has a say. Remembers what it found: for one program, whose values keep their meaning.
class Ranges {
  public:
    /// Whose sizes are believed: those recorded, or only those that no other task of the plan can
    /// have otherwise.
    enum class Sizes { recorded, constant };
    explicit Ranges(const Program &program, Sizes sizes = Sizes::recorded)
        : program_(program), sizes_(sizes) {}

    std::optional<Range> of(int id);

  private:
    std::optional<Range> compute(const Value &value);
    std::optional<Range> castOf(const Value &value);

    const Program &program_;
    Sizes sizes_;
    std::map<int, std::optional<Range>> known_;
};

} // namespace cuda_agent::policy
