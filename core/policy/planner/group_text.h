// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/candidate.h"

namespace cuda_agent::policy {

/// Numbers below are told as they are.
inline constexpr std::int64_t leastSpelled = 10;

/// All values of a group, in the order in which describeGroup() first tells of them.
std::vector<int> valuesAsTold(const Program &program, const ScheduledGroup &group);
/// The number of each value that has a name, or is read, among those of its name or buffer, from 1,
/// in the order of `told`, which are all values of a group as valuesAsTold() has them. None for
/// what a kernel has as its argument.
std::map<int, int> numbersOf(const Program &program, const std::vector<int> &told);
/// "mul", "mul_x2", "in0_x", "in0_x2": a name and the number among those of it.
std::string numberedName(const std::string &base, int number);
/// What kernels call the values of a group that have names: operators of the task by theirs, "mul",
/// another one of the same name "mul_x2"; what is read by its buffer's, "in0", or where it is read
/// in several places "in0_x", "in0_x2". Numbers are those of numbersOf(). What a kernel has as its
/// argument, as a cast to the same type, keeps the task's name.
std::map<int, std::string> namesIn(const Program &program, const ScheduledGroup &group);

/// What kernels call a row of what a load reads, without the "_row" behind it: its buffer, or where
/// that is read in several places with what is read there, "in0_x2", "in0_mul", of loads that begin
/// together the first one's. What begins with the buffer in every row is the buffer itself. Of all
/// loads that the nest has.
std::map<int, std::string> rowNamesIn(const Program &program, const ScheduledGroup &group);

/// What a group's kernel computes, from what it writes back to what it reads, each way along its
/// rows for itself, the last one first: "writes out0 [64, 4096] = div; div(in0, sum); reads in0
/// [64, 4096]; sum of mul over the row, mul(in0, exp_1), exp_1(in1); reads in0, in1 [64, 1]", of a
/// product behind what it is of: "writes tmp0 [64, 32]; reads in0 [64, 128], in1 [32, 128]; product
/// of in0 and in1 [64, 32] over 128 of k". Whoever tells it so has named what is asked for before
/// he tells what that is made of. Operators are named with what they are computed from, behind all
/// that is computed from them, on the first way that computes them, the parts of those that have
/// many left out, and buffers wherever they are needed, with their shape the first time; of several
/// values that are written each is told before what it is computed by, "out0 = div", those of rows
/// last. Kernels have it all in the opposite order.
std::string describeGroup(const Program &program, const ScheduledGroup &group);
/// "in1, exp_1": what RowValues has, what is read first, in the order of the kernel; empty where
/// rows are of one element, and of products.
std::string describeRowValues(const Program &program, const ScheduledGroup &group);
/// "rows 963 * 16, each of 8 * 32": the loops of its nest from outermost to innermost, one that
/// walks several of a tensor's dimensions in parentheses. Of a product "columns (13 * 13) * 13",
/// what its sides are where they are several.
std::string describeLoops(const Program &program, const ScheduledGroup &group);
/// "in0: (32 * 8 * 32), (8 * 32), 32, 1; in1 + 32: 0, 0, 0, 1": of each access of those loops,
/// where it begins, "in0_x2_row = in0 + 4" where the kernel calls that so, and how far it goes with
/// each of them, in elements, in the loops' order, each
/// number from `leastSpelled` on, and each product, as the sizes of the tensor that it is the
/// product of. Empty for tiles of a product.
std::string describeAccesses(const Program &program, const ScheduledGroup &group);

/// Schedule::heldText() of schedules that keep rows in registers, "held = cdiv(5 * 90, 32 * 4)".
/// "y < 547 by 128, x < 128 by 32": what goes along and across tiles, and in which steps. Empty of
/// others, which walk on.
std::string describeCounts(const Program &program, const ScheduledGroup &group,
                           const Schedule &schedule);

/// "in0_x, in0_x2 one by one": loads that could be read in runs, but not in runs of this schedule's
/// width, because they begin, or their borders lie, within one. Empty where there are none.
std::string describeApart(const Program &program, const ScheduledGroup &group,
                          const Schedule &schedule);

/// What the numbers in a group's kernels are made of: "(32 * 8)" by 256. Only products, and other
/// numbers from `leastSpelled` on, none of which is one size alone; strides that are products have
/// small ones, too.
struct SizeTexts {
    using Texts = std::map<std::int64_t, std::string>;
    Texts loops;                          ///< sizes of single loops
    Texts totals;                         ///< of a row, of all rows, and of all elements
    std::map<std::string, Texts> strides; ///< strides and offsets, by the buffer's name
    Texts borders;                        ///< where they end, as borderTexts() has them
};
/// Of all that describeLoops(), describeAccesses() and describePositions() tell, in the same words.
/// Empty as above.
SizeTexts sizeTextsOf(const Program &program, const ScheduledGroup &group);

} // namespace cuda_agent::policy
