// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/fusion.h"
#include "core/policy/planner/schedule.h"

namespace cuda_agent::policy {

/// GEMM steps among the units that a kernel of the planner's own could compute, by their numbers,
/// in the order in which they run.
std::vector<int> productsOf(const Fused &fused);

/// The same program without groups that only give the result of a GEMM step another shape: the step
/// writes where they would have.
Fused withoutCopies(Fused fused);

/// The same program with those GEMM steps as groups (`Group::product`). A step whose result only
/// one group reads, element by element and over nothing else, becomes one with that group, so that
/// the result never reaches memory; any other gets a group that writes it.
Fused withOwnProducts(Fused fused, const std::set<int> &steps);

/// The value of a group that stands for an element of the product of a library step that it
/// computes: a load of what the step would have written. -1 when the group has none.
int productValue(const Program &program, const Group &group, int step);

/// Buffers that hold the operands of a group's products.
std::vector<int> operandsOf(const Program &program, const Group &group);

/// Whether only units of those numbers read or write a buffer, and nobody sees it afterwards.
bool staysWithin(const Fused &fused, int buffer, const std::set<std::size_t> &units);

/// Elements of an operand with so many rows that may be read at once.
int widestRead(const Product &product, const ProductOperand &operand, std::int64_t rows);

/// Dynamic shared memory of a tile on tensor cores, in bytes.
int sharedBytes(const Schedule &schedule, const Product &product);

} // namespace cuda_agent::policy
