// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/corpus/mutation.h"
#include "core/task/task.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent::learn {

/// Writes a candidate's sizes as what they are made of. The planner's kernels name the product of
/// some dimensions, "154936" of float32[1024, 856, 181]; a small model cannot multiply, but it can
/// copy "(856 * 181)", and a reader sees where the number comes from. Compilers and the plan's
/// expressions compute the same of both.
///
/// Spelled are numbers from 10 on that the prompt does not show: products of neighbouring
/// dimensions of one of the task's tensors, products with one dimension less one, small multiples
/// of these, and what the plan rounds up, "cdiv(154936, 2048)". Powers of two up to 16384 and the
/// numbers of the schedule's name are the schedule's own choice and stay, where they are no strides
/// or divisors of loops, "k0 * 4096", "row % 4096u", or factors in the plan. A number that could be
/// several things is spelled as the first, in the order of the graph's nodes. Pure; any thread.
class SizeSpelling {
  public:
    /// `prompt`: what the model sees of the task. `schedule`: the planner's name of the candidate.
    SizeSpelling(const task::Description &task, std::string_view prompt, std::string_view schedule);

    CandidateText spelled(CandidateText candidate) const;
    /// A text in which all numbers are sizes and strides of tensors.
    std::string sizes(const std::string &text) const;

  private:
    /// "856 * 181"; with `lessOne` the first factor is written as "(514 - 1)".
    struct Product {
        std::vector<std::int64_t> factors;
        bool lessOne = false;
    };
    struct Rounded {
        std::int64_t of = 0, by = 1;
    };
    using Roundings = std::map<std::int64_t, Rounded>; ///< by their value

    void addShape(const std::vector<std::int64_t> &shape);
    std::string roundedUp(const Rounded &quotient) const; ///< "((2795 - 1) / 1024 + 1)"
    /// `size`: it is one of a tensor, never one of the schedule's.
    bool stays(std::int64_t number, bool size) const;
    /// Empty: as it is. `suffix` of each factor: "", "u", "LL".
    std::string spelling(std::int64_t number, std::string_view suffix, const Roundings &roundings,
                         bool size) const;
    std::string kernels(const std::string &text, const Roundings &roundings) const;
    std::string expression(const std::string &text) const;
    void expressions(Json &plan) const;

    std::set<std::int64_t> prompt_;                ///< numbers that it shows
    std::set<std::int64_t> shown_;                 ///< there, or of the schedule
    std::map<std::int64_t, Product> products_;     ///< of two factors at least
    std::set<std::int64_t, std::greater<>> sizes_; ///< products and single dimensions
};

} // namespace cuda_agent::learn
