// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/corpus/mutation.h"
#include "core/policy/planner/search.h"
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
/// In a kernel, and where the plan launches it, strides, offsets, loops and ends of borders are
/// spelled as its thought tells them (policy::SizeTexts), wherever they stand: always the same way,
/// so that a model derives them once. Other numbers from 10 on are spelled where the prompt does
/// not show them: products of neighbouring dimensions of one of the task's tensors, products with
/// one dimension less one, small multiples of these and of the parts that the schedule cuts rows
/// into, and what a border adds to a size. Of what a kernel names, "constexpr int parts =
/// cdiv(154936, 2048)", the length is spelled and the rest is the schedule's. Powers of
/// two up to 16384 and the numbers of the schedule's name are the schedule's own choice and stay,
/// where they are no strides or divisors of loops, "k0 * 4096", "row % 4096u", or factors in the
/// plan. Lines of scratch memory that are filled up to whole vectors of a product are told as what
/// that comes of, "((787 + 7) / 8 * 8)", which nobody has to work out. A number that could be
/// several things is spelled as the first, in the order of the graph's nodes. Pure; any thread.
class SizeSpelling {
  public:
    using Parts = std::vector<policy::SearchSpace::Part>;
    /// `prompt`: what the model sees of the task. `schedule`: the planner's name of the candidate,
    /// `parts` what it consists of, and `plan` its plan, for the task's own sizes.
    SizeSpelling(const task::Description &task, std::string_view prompt, std::string_view schedule,
                 Parts parts = {}, const Json &plan = {});

    CandidateText spelled(CandidateText candidate) const;
    /// A text in which all numbers are sizes of tensors.
    std::string sizes(const std::string &text) const;
    /// A text of loops, which tells products: only what lines are filled up to is spelled.
    std::string loops(const std::string &text) const;

  private:
    /// "856 * 181"; with `lessOne` the first factor is written as "(514 - 1)".
    struct Product {
        std::vector<std::int64_t> factors;
        bool lessOne = false;
    };

    /// A size filled up to a multiple of `whole`.
    struct Filled {
        std::int64_t size = 0, whole = 0;
    };

    void addShape(const std::vector<std::int64_t> &shape);
    void addFilledLines(const Json &plan);
    std::string filled(std::int64_t number, std::string_view suffix) const;
    /// `size`: it is one of a tensor, never one of the schedule's.
    bool stays(std::int64_t number, bool size) const;
    /// Empty: as it is. `suffix` of each factor: "", "u", "LL".
    std::string spelling(std::int64_t number, std::string_view suffix, bool size) const;
    /// As a multiple of the parts that the schedule cuts rows into: of what each of them has, or
    /// walks at once. Empty where it is none.
    std::string timesBlocks(std::int64_t number, std::string_view suffix, bool size) const;
    /// The part that a kernel of that name, or what is in front of it, belongs to, or nothing.
    const policy::SizeTexts *partOf(std::string_view kernel) const;
    /// As the thought tells it, where the number at `at` of `text` is a stride, an offset or a
    /// loop.
    std::string told(std::string_view text, std::size_t at, std::int64_t number,
                     const policy::SizeTexts &sizes) const;
    std::string kernels(const std::string &text, const policy::SizeTexts *sizes) const;
    std::string expression(const std::string &text, const policy::SizeTexts *sizes) const;
    void expressions(Json &plan, const policy::SizeTexts *sizes) const;

    std::map<std::string, policy::SizeTexts, std::less<>> parts_;
    std::set<std::int64_t> prompt_;                ///< numbers that it shows
    std::set<std::int64_t> shown_;                 ///< there, or of the schedule
    std::set<std::int64_t> blocks_;                ///< parts that the schedule cuts rows into
    std::map<std::int64_t, Filled> filled_;        ///< by what they are filled up to
    std::map<std::int64_t, Product> products_;     ///< of two factors at least
    std::set<std::int64_t, std::greater<>> sizes_; ///< products and single dimensions
};

} // namespace cuda_agent::learn
