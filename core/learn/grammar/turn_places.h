// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/grammar/turn_grammar.h"
#include "core/policy/chat/chat.h"

namespace cuda_agent::learn {

// What turn_grammar.cpp and closing.cpp say to each other.

// Words of TurnGrammar's reserved ones, behind the special tokens.
inline constexpr std::size_t parameterEndWord = chat::specialTokens.size(),
                             functionOpenWord = parameterEndWord + 1;

// TurnState::line of a plain text. What stands before a "<" that `at` has seen counts.
inline constexpr std::uint8_t textNothing = 0, ///< and the text must not be empty
    textLineEnd = 1,                           ///< likewise: one line end is </parameter>'s
    textLineBegin = 2, textInLine = 3;

/// The same in another place: nothing of a word, a line or a number stands there.
inline TurnState moved(TurnState state, TurnState::Place place) {
    state.place = place;
    state.at = 0;
    state.line = 0;
    return state;
}

/// Behind a value, which belongs to the innermost that is open.
inline TurnState behindValue(TurnState state,
                             TurnState::Place place = TurnState::Place::behindValue) {
    state.shape = 0;
    return moved(state, place);
}

} // namespace cuda_agent::learn
