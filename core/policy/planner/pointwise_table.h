// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace cuda_agent::policy {

/// How a scalar operation is written in CUDA C++.
struct PointwiseInfo {
    int arity = 1;
    /// `{0}`, `{1}`, ... are operands; `@` becomes "f" in float code and nothing in double code.
    std::string text;
    double cost = 1; ///< in additions, for the choice between recomputing and keeping
    /// The same in floats to within a few units in the last place; empty: no faster way.
    std::string rough = {};
};

enum class Precision {
    rough, ///< floats that are rounded to 16 bits in the end
    floats,
    doubles
};

/// Nothing for an operation that is not known.
const PointwiseInfo *pointwiseInfo(const std::string &op);
/// The expression, with operands that are names, literals or parenthesised.
std::string pointwiseText(const std::string &op, const std::vector<std::string> &operands,
                          Precision precision);

/// Whether no variable of a kernel may have that name: a word of C++, one that kernels use for
/// something else, or a function that they call.
bool isReserved(const std::string &name, bool doublePrecision);

} // namespace cuda_agent::policy
