// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/grammar/call_shapes.h"

#include <string_view>

namespace cuda_agent::learn {

/// What a turn is made of: a byte, or, from `firstSpecial` on, one of chat::specialTokens.
using Symbol = std::uint16_t;
inline constexpr Symbol firstSpecial = 256;

/// Where a turn stands, all of it: what may follow depends on this value alone. Equal states are
/// equal bytes. In a text it does not grow with the text.
struct TurnState {
    enum class Place : std::uint8_t {
        begin,      ///< nothing but blanks
        thought,    ///< between <think> and </think>
        sayBegin,   ///< behind </think>, nothing but blanks
        say,        ///< text outside <think>
        function,   ///< behind <tool_call>: blanks and <function=NAME>
        call,       ///< blanks and <parameter=NAME>, or </function>
        callEnd,    ///< behind </function>: blanks and </tool_call>
        behindCall, ///< blanks, another call or the turn's end
        plainText,
        plainWords,
        // JSON:
        value,     ///< blanks and the beginning of a value
        text,      ///< in a string
        escape,    ///< behind its backslash
        unicode,   ///< in four hexadecimal digits
        surrogate, ///< behind a first surrogate's digits: "\u" and those of a second one
        words,
        whole,
        firstItem, ///< behind "["
        firstKey,  ///< behind "{"
        key,       ///< in an object behind ","
        colon,
        behindValue,
        end ///< nothing may follow
    } place = Place::begin;
    std::uint8_t character = 0; ///< what is missing of a character of UTF-8
    std::uint8_t line = 0;      ///< of a text or behind a value; see turn_grammar.cpp
    std::uint8_t depth = 0;     ///< of the open call, lists and objects
    std::uint16_t at = 0;       ///< node of a tree of words, or a number's digits
    std::uint16_t shape = 0;    ///< of the value that is being written
    struct Open {
        std::uint16_t shape = 0, used = 0; ///< `used`: the keys that stand already
        bool operator==(const Open &) const = default;
    };
    std::array<Open, CallShapes::deepest> open{};

    bool operator==(const TurnState &) const = default;
};

struct TurnStateHash {
    std::size_t operator()(const TurnState &state) const;
};

/// The turns of the chat template (core/policy/chat) as an automaton: what it takes, chat::stepOf()
/// reads, with calls that their tool's schema takes. The README says what stepOf() reads besides.
/// A special token is a symbol of its own; its text, spelled in bytes, is refused wherever stepOf()
/// would take it for one.
///
/// Never changes: any thread may call any member.
class TurnGrammar {
  public:
    /// Of `tools` as tools::toolSchemas() has them. Errors: see CallShapes::of().
    static Result<TurnGrammar> make(const Json &tools);

    /// The state behind one more symbol; nothing where it may not come.
    std::optional<TurnState> next(const TurnState &state, Symbol symbol) const;
    /// What leads from a state to the turn's end, the shortest way or nearly so: following it ends
    /// the turn in a few hundred symbols at most. Not of a state that has ended.
    Symbol closing(const TurnState &state) const;
    /// Whether a text is a turn, chat::imEnd included.
    bool accepts(std::string_view turn) const;

    /// The symbol of one of chat::specialTokens.
    static Symbol special(std::string_view token);
    /// Those of a text, whose special tokens are found as a tokenizer finds them.
    static std::vector<Symbol> symbolsOf(std::string_view text);

  private:
    using Next = std::optional<TurnState>;
    explicit TurnGrammar(CallShapes calls);

    const Shape &shapeOf(const TurnState &state) const { return calls_.shapes[state.shape]; }
    const TurnState::Open &top(const TurnState &state) const {
        return state.open[state.depth - 1u];
    }
    const Shape &topShape(const TurnState &state) const { return calls_.shapes[top(state).shape]; }
    WordTree::Set keys(const TurnState &state) const;

    Next nextSpecial(const TurnState &state, Symbol symbol) const;
    Next nextText(const TurnState &state, unsigned char byte) const;
    Next nextSay(const TurnState &state, unsigned char byte) const;
    Next nextPlain(const TurnState &state, unsigned char byte) const;
    Next nextCall(const TurnState &state, unsigned char byte) const;
    Next nextJson(const TurnState &state, unsigned char byte) const;
    Next nextString(const TurnState &state, unsigned char byte) const;
    Next nextWhole(const TurnState &state, unsigned char byte) const;
    Next nextKey(const TurnState &state, unsigned char byte) const;
    Next nextBehind(const TurnState &state, unsigned char byte) const;
    Next beginValue(const TurnState &state, unsigned char byte) const;
    TurnState valueOf(const TurnState &state, std::size_t key) const;

    Symbol closingText(const TurnState &state) const;
    Symbol closingKey(const TurnState &state) const;
    Symbol closingJson(const TurnState &state) const;
    Symbol closingValue(const TurnState &state) const;
    Symbol closingDigit(const TurnState &state) const;

    CallShapes calls_;
    WordTree reserved_; ///< what a text must not hold: special tokens, and what stands behind them
};

} // namespace cuda_agent::learn
