// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/grammar/plan_names.h"
#include "core/learn/grammar/source_names.h"
#include "core/learn/grammar/turn_grammar.h"

#include <string>
#include <unordered_map>

namespace cuda_agent::learn {

/// A byte a token: 1 where it may come. Never changes.
using TokenMask = std::shared_ptr<const std::vector<std::uint8_t>>;

/// A turn as it is being written: where it stands in its grammar, and the names of its source and
/// its plan.
struct Writing {
    TurnState turn;
    SourceNames names;
    PlanNames plan;
    /// Of tokens with letters: which of them a known name begins with, and of how many of the
    /// declared ones that is.
    std::shared_ptr<const DeclaredName> told;
    TokenMask begins;
};

/// Which tokens of a vocabulary go on with names that a source has declared, or that CUDA has
/// (the method: type-constrained decoding, Muendler et al., PLDI 2025, of which this is the part
/// about scopes). Any thread may call any member.
class NameMasks {
  public:
    /// `bytes` of each token; empty ones are none of a source.
    explicit NameMasks(const std::vector<std::string> &bytes);

    /// Takes a token's bytes.
    void take(Writing &writing, std::string_view bytes) const;
    /// `mask` without the tokens that begin, go on with or end an unknown name where one must be
    /// known, those that end a name which the same braces have declared where it is declared, and
    /// those that close a bracket which is not open, or end a statement within one; in a plan,
    /// without those by which a buffer has another one's name, or none is meant. The same where
    /// nothing is refused, or nothing would be left.
    TokenMask narrowed(const TokenMask &mask, const Writing &writing) const;

  private:
    using Tokens = std::vector<std::int32_t>;
    struct Word {
        Tokens alone, led; ///< that are it, and that have it behind something else
    };

    TokenMask narrowedByPlan(const TokenMask &mask, const PlanNames &plan) const;
    void addBeginsOf(std::string_view name, std::vector<std::uint8_t> &begins) const;
    /// Marks the tokens by which `begun` may go on to be `name`.
    void addRest(std::string_view begun, std::string_view name,
                 std::vector<std::uint8_t> &goesOn) const;

    /// Tokens by something that they have before their letters, if any.
    struct Led {
        std::string lead;
        Tokens tokens;
    };

    std::vector<std::string> bytes_;                   ///< by token
    std::unordered_map<std::string_view, Word> words_; ///< by the token's letters
    std::vector<std::string> texts_;                   ///< of them
    std::vector<Led> led_;
    std::vector<Led> bracketed_;         ///< tokens with brackets by their signs
    std::vector<std::uint8_t> notAlone_; ///< by token: whether it is anything but letters alone
    std::vector<std::uint8_t> quoted_;   ///< likewise: whether it has `"`
    std::vector<std::uint8_t> opens_;    ///< likewise: whether "(" is its first sign
    /// Likewise: whether "_" goes on by it as a name of the compiler's own.
    std::vector<std::uint8_t> frees_;
    std::size_t longest_ = 0; ///< of the words
    TokenMask begins_;        ///< of CUDA's words
};

} // namespace cuda_agent::learn
