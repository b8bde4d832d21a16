// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/ir.h"

namespace cuda_agent::policy {

/// What one kernel computes: values over one iteration space. `rows` is what results of its
/// reductions are indexed by, `reduced` what they sum over; a group without reductions has all of
/// its axes in `rows`. Reductions, scans and orders, of which a group has one kind, walk along
/// `reduced`; what is in order is indexed by `rows` and `places`.
struct Group {
    std::set<Axis> rows;
    std::set<Axis> reduced;
    std::set<Axis> places;    ///< of what is in order
    std::vector<int> reduces; ///< in the order of their dependence
    std::vector<int> scans;   ///< side by side, all in one direction
    std::vector<int> orders;  ///< of the same elements, direction and places
    std::vector<Store> stores;
    /// Library step whose product the kernel computes itself: values then read that step's result
    /// from registers. -1: none. See products.h.
    int product = -1;
    /// The left operand of that product are softmax weights that the kernel computes as well: of
    /// `logits`, a value of each row and step of k, which is computed from the product of library
    /// step `scores`. -1: a buffer holds it. See attention.h.
    int scores = -1, logits = -1;
    bool safeSoftmax = false; ///< rows of which all logits are -inf have weights of 0, not NaN
    /// Rows are walked along, by reductions, scans or orders.
    bool hasReductions() const { return !reduces.empty() || !scans.empty() || !orders.empty(); }
    /// All axes of what is stored element by element.
    std::set<Axis> elements() const;
    /// What the kernel computes: reductions, scans, orders, logits and what is stored.
    std::vector<int> roots() const;
};

/// Whether errors of a few units in a float's last place go unnoticed: all that the group writes is
/// rounded to 16 bits, and nothing on the way there steps or compares, which would make much of
/// them.
bool forgivesRoundoff(const Program &program, const Group &group);

/// True when `second` sums the squared distances from the mean that `first` sums for.
bool areMoments(const Program &program, int first, int second);
/// True when `first` is the maximum and `second` the sum of exponentials relative to it.
bool areMaxAndSumOfExp(const Program &program, int first, int second);

/// The atoms that a load, or a store, goes through, outermost first.
Axes walkedAxes(const Program &program, const Value &load);
Axes walkedAxes(const Program &program, const Store &store);
/// Whether what a load reads may go through tiles in shared memory: it picks no positions, and has
/// no border or one number there.
bool goesThroughTiles(const Program &program, const Value &load);
/// The axes of the given set in the memory order of the largest thing that is read or written.
Axes memoryOrder(const Program &program, const std::set<Axis> &axes, const std::vector<int> &values,
                 const std::vector<Store> &stores);
/// All values that the roots are computed from, arguments first, those `known` and what only they
/// are computed from left out.
std::vector<int> reachableFrom(const Program &program, const std::vector<int> &roots,
                               const std::set<int> &known = {});
/// The same, of those that can come next always the one with the least rank: as the operators of
/// the task's graph stand, which kernels and what is told of them follow.
std::vector<int> inOrderFrom(const Program &program, const std::vector<int> &roots);
/// `values` so, each behind those of its arguments that are among them.
std::vector<int> inOrder(const Program &program, const std::vector<int> &values);

} // namespace cuda_agent::policy
