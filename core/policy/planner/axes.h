// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cuda_agent::policy {

/// A loop variable of the planner, by number. Axes of size 1 do not exist.
using Axis = int;
/// Axes from outermost to innermost; a tensor dimension is such a list (none for size 1).
using Axes = std::vector<Axis>;

/// Names loop variables independently of tensors, so that two values meet when they are indexed by
/// the same variables, whatever views lie between. Axes may be joined (two become one) and split
/// (one becomes outer and inner); lists made before stay valid and are read through `atoms`.
class AxisTable {
  public:
    /// `expression` is how a launch plan computes the size ("in0.shape[1]"); empty: a constant.
    Axis add(std::int64_t size, std::string expression = {});

    /// The list in terms of axes that are neither joined into others nor split.
    Axes atoms(const Axes &axes) const;
    std::int64_t size(Axis atom) const { return entries_[atom].size; }
    std::int64_t size(const Axes &axes) const;
    /// Plan expression of the size; a number where it is a constant.
    std::string expression(Axis atom) const;
    std::string expression(const Axes &axes) const;
    bool constant(Axis atom) const { return entries_[atom].expression.empty(); }

    /// Makes two lists of the same size the same variables, splitting where needed. `apart` says
    /// that two atoms must stay different (one value is indexed by both). False when the sizes do
    /// not nest or atoms must stay apart; axes joined until then stay joined, which is harmless.
    bool join(const Axes &left, const Axes &right, const std::function<bool(Axis, Axis)> &apart);

    /// Cuts a list into consecutive dimensions of `sizes`, splitting axes where needed.
    /// Nothing when a boundary falls inside an axis that does not divide.
    std::optional<std::vector<Axes>> regroup(const Axes &axes,
                                             const std::vector<std::int64_t> &sizes);

  private:
    struct Entry {
        std::int64_t size = 1;
        std::string expression;
        Axes parts; ///< the one it was joined into, or outer and inner; empty for an atom
    };
    void split(Axis atom, std::int64_t inner);
    std::vector<Entry> entries_;
};

} // namespace cuda_agent::policy
