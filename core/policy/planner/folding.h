// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/ranges.h"

namespace cuda_agent::policy {

/// Makes values shorter where positions alone decide: conditions on them, what such a condition
/// chooses between, the border that a position is kept within. A position plus and times numbers
/// becomes one sum of one product, and a load that picks such a one walks along its axes instead.
/// Floating numbers are left alone but where positions of one place are computed from numbers
/// alone, in float. For one program, whose axes are not joined meanwhile.
class Folding {
  public:
    explicit Folding(Program &program)
        : program_(program), ranges_(program, Ranges::Sizes::constant) {}

    /// Rewrites a value whose arguments are folded. Returns another one where it is equal to that.
    std::optional<int> fold(Value &value);
    /// Adds it, or returns one that is equal to it.
    int add(Value value);
    /// All that the stores reach.
    void foldAll();

  private:
    /// scale * (value of base) + plus, in whole numbers; without a base the number `plus`.
    struct Linear {
        int base = -1;
        std::int64_t scale = 0, plus = 0;
        int steps = 0; ///< operations that it stands for
    };
    Linear linear(int id) const;
    Linear linear(const Value &value) const;
    int made(const Linear &sum, DType type);

    std::optional<int> foldPointwise(Value &value);
    std::optional<int> foldCondition(const Value &value);
    std::optional<int> foldWhole(Value &value);
    std::optional<int> foldNumbers(const Value &value);
    std::optional<int> foldLoad(Value &value);

    Program &program_;
    Ranges ranges_;
};

} // namespace cuda_agent::policy
