// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <optional>
#include <random>
#include <string>

namespace cuda_agent::learn {

/// A candidate as a policy writes it.
struct CandidateText {
    std::string kernels; ///< empty where the plan has library steps only
    Json plan;
};

/// A mistake that was made on purpose.
struct Mutation {
    std::string kind;   ///< "dropped barrier"
    std::string where;  ///< the kernel line, or the field of the plan, before
    std::string became; ///< and after; empty: it is gone
    bool operator==(const Mutation &) const = default;
};
Json toJson(const Mutation &mutation);

/// Makes one mistake of those that people and models make, drawn evenly over the kinds that this
/// candidate has room for, then over their places:
///
/// - dropped barrier: a __syncthreads() less
/// - bound off by one: < for <=, or the reverse, of a comparison that guards an access
/// - wrong stride: a number that multiplies or divides an index, off by one
/// - wrong operator: + for -, * for +, fmaxf for fminf, ... in a line of arithmetic
/// - missing requirement: one of the plan's `requires` less, which the shapes recorded do not need
/// - wrong grid: fewer blocks than there is work for, or one dimension of it forgotten
/// - wrong order of arguments: two neighbouring buffers of a launch exchanged
/// - syntax slip: a semicolon, parenthesis or letter of a name less
///
/// Not every one makes the candidate wrong, nor wrong for the recorded shapes. The same from the
/// same state of the generator. Nothing, and the candidate unchanged, where there is no room.
std::optional<Mutation> mutate(CandidateText &candidate, std::mt19937_64 &generator);

} // namespace cuda_agent::learn
