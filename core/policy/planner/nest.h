// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/fusion.h"

#include <array>

namespace cuda_agent::policy {

/// One loop of a kernel: axes that every access walks through with a single stride.
struct NestDim {
    Axes axes;
    std::int64_t size = 1;
    std::string expression; ///< of the size, for the plan
    bool element = false;   ///< swept inside a row, not indexing rows
};

/// Where a load, a store or a position lies: base + sum of coordinate * stride, in elements.
struct Access {
    std::int64_t base = 0;
    std::vector<std::int64_t> strides; ///< one per NestDim
};

/// The loops of a group in memory order, as few as its accesses allow.
struct Nest {
    std::vector<NestDim> dims;      ///< outermost first
    std::map<int, Access> accesses; ///< of load, index, argmax and argmin values
    std::vector<Access> stores;     ///< as in Group::stores
    /// Conditions for the sizes that the kernel text holds as numbers.
    std::vector<std::string> requirements;
    bool runtimeOuter = false; ///< the outermost size is an argument, any value will do
    /// Neighbours of one access are far apart in another: rows are neighbours in the one, their
    /// elements, a short loop, in the other.
    bool transposing = false;
    /// The same where both loops are long, so that tiles of them go through shared memory: element
    /// loops along which reads have their neighbours, and those along which writes have theirs,
    /// outermost first. Empty otherwise.
    std::vector<int> across, along;
    bool tiled() const { return !across.empty(); }
    /// Vectors of a map go over the ends of its innermost loop: rows are even walks for what is
    /// written, and where else each element lies is worked out for it alone.
    bool crossing = false;
    /// Of a group that computes a product: loops of the batch, of rows and of columns.
    std::array<std::vector<int>, 3> sides;
    /// The same of the scores, where the group computes attention; loops of their own.
    std::array<std::vector<int>, 3> scoreSides;

    std::vector<int> rowDims() const;
    std::vector<int> elementDims() const;
    std::int64_t rows() const;     ///< product of row sizes
    std::int64_t elements() const; ///< product of element sizes
    /// Whether a row is as long as an argument says.
    bool openLength() const { return runtimeOuter && !dims.empty() && dims[0].element; }
    std::string rowsExpression() const;
    /// True when neighbouring positions in memory belong to different rows.
    bool column() const { return !dims.empty() && !dims.back().element && elements() > 1; }
    /// The stride of an access from one element of a row to the next when its row is one even
    /// walk in element order; nothing when it is not.
    std::optional<std::int64_t> elementStride(const Access &access) const;
    bool variesByElement(const Access &access) const;
    /// Atoms whose size is a number in the text.
    std::set<Axis> baked;
};

/// Which values are the same for all elements of a row, so that a kernel computes them once for it:
/// results of reductions, what is read at one place of a row, and what is computed of these alone.
/// Keeps references to what it is made with.
class RowValues {
  public:
    RowValues(const Program &program, const Nest &nest) : p_(program), n_(nest) {}
    bool contains(int value);

  private:
    const Program &p_;
    const Nest &n_;
    std::map<int, bool> known_;
};

/// What a tiled nest reads through shared memory, in ascending order: loads that have their
/// neighbours across and of which each place along has another.
std::vector<int> loadsAcross(const Program &program, const Nest &nest);

/// Atoms of a value that reads a whole product, element by element: of its batch, rows and columns,
/// each from outermost to innermost. Nothing when it reads it in another way.
std::optional<std::array<Axes, 3>> productSides(const Program &program, int load,
                                                const Product &product);

/// The nest of a group that computes a product (`Group::product`), all of its loops swept by the
/// tiles of the product. The group's product value must have `productSides`, and so must that of
/// its scores where it has some.
Nest makeProductNest(const Program &program, const Group &group);

/// `shortestRun`: for groups without reductions, how many elements at least make a row (the
/// innermost loops together); everything is one row when that takes all loops.
/// `transpose`: groups that change the order of dimensions may get `transposing` or tiled nests.
Nest makeNest(const Program &program, const Group &group, std::int64_t shortestRun,
              bool transpose = false);

} // namespace cuda_agent::policy
