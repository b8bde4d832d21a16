// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/task/task.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cuda_agent::chat {

struct Operand;

/// Which elements of its operands the elements of a view are, of the nodes of a graph: what a
/// reader of "aten.permute(in0, [0, 2, 1])" has to work out before it can say where to read.
class IndexMaps {
  public:
    /// Both have to outlive this. `names` are what a prompt calls nodes by, where it is not their
    /// own name.
    IndexMaps(const task::Graph &graph, const std::map<std::string, std::string> &names);

    /// "permute[a, b, c] = in0[a, c, b]": a letter for each dimension of the node's value,
    /// outermost first, 0 where there is one element. Reshapes, permutations, slices, pads,
    /// concatenations and their parts, repetitions, lookups by an index, nearest neighbours and the
    /// windows of poolings have one; empty for all else, for what is taken as it is, and for forms
    /// with more than 12 operands or 26 dimensions.
    ///
    /// What is a view of views is told as one step and as all of them, down to the last operand
    /// that is none, and to where in memory an input of another order has it: "slice[a, b] =
    /// permute[a, b + 1] = in0[b + 1, a] at [a, b + 1]".
    ///
    /// As in the thoughts of documents, conditions stand behind what they are for, "in0[a, b - 1]
    /// where b >= 1 and b < (16 + 1), else 0", and divisions round down.
    std::string textOf(const task::Node &node) const;
    /// "out1 at [a, b, c] = permute[a, c, b] = in0[a, b, 16 - 1 - c]": what stands where in the
    /// memory of an output whose dimensions lie in `order`, which is the value of `node`. Empty for
    /// an empty order, and of operators with several results.
    std::string memoryTextOf(const std::string &output, const std::string &node,
                             const std::vector<int> &order) const;

  private:
    std::optional<Operand> operandOf(const Json &argument) const;
    /// What stands behind "name[a, b] = ".
    std::string mapOf(const task::Node &node) const;

    std::map<std::string, const task::Node *> nodes_;
    const std::map<std::string, std::string> &names_;
};

/// "in0[a, b, c] at [a, c, b] of [8, 4, 16]": where the elements of a tensor lie whose dimensions
/// lie in another `order` than they stand, innermost last. Empty for an empty order.
std::string memoryMap(const std::string &name, const std::vector<std::int64_t> &shape,
                      const std::vector<int> &order);

} // namespace cuda_agent::chat
