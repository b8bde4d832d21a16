// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The short way to a turn's end from wherever it stands.
#include "core/learn/grammar/turn_grammar.h"
#include "core/learn/grammar/turn_places.h"
#include "core/learn/grammar/utf8_steps.h"
#include "core/learn/grammar/whole_numbers.h"

#include <limits>

namespace cuda_agent::learn {

using Place = TurnState::Place;

namespace {

constexpr Symbol filler = '0'; ///< a text that is not empty; no reserved word has it

Symbol byteOf(std::string_view text, std::size_t at) {
    return static_cast<unsigned char>(text[at]);
}

/// The next byte of the shortest of the words `among` that go on at `at`, counting what stands
/// behind each.
Symbol nextOfShortest(const WordTree &words, WordTree::Node at, WordTree::Set among,
                      const std::vector<Shape> *behind = nullptr) {
    const auto open = words.below(at) & among;
    std::size_t best = 0, least = std::numeric_limits<std::size_t>::max();
    for (std::size_t i = 0; i < words.words().size(); ++i) {
        const auto size = words.words()[i].size() + (behind ? (*behind)[i].shortest : 0);
        if ((open >> i & 1) != 0 && size < least) {
            best = i;
            least = size;
        }
    }
    return byteOf(words.words()[best], words.depth(at));
}

} // namespace

Symbol TurnGrammar::closing(const TurnState &state) const {
    if (state.character != 0)
        return anyMissingByte(state.character);
    switch (state.place) {
    case Place::thought:
        return special(chat::thinkEnd);
    case Place::function:
        return nextOfShortest(calls_.functions, state.at, WordTree::all, &calls_.shapes);
    case Place::call:
        return closingKey(state);
    case Place::callEnd:
        return special(chat::toolCallEnd);
    case Place::plainText:
        return closingText(state);
    case Place::plainWords:
        return nextOfShortest(shapeOf(state).words, state.at, WordTree::all);
    case Place::begin:
    case Place::sayBegin:
    case Place::say:
    case Place::behindCall:
    case Place::end:
        return special(chat::imEnd);
    default:
        return closingJson(state);
    }
}

Symbol TurnGrammar::closingText(const TurnState &state) const {
    if (state.line < textLineBegin) // it must not be empty, and is
        return filler;
    const auto stands = reserved_.depth(state.at);
    const bool ending = (reserved_.below(state.at) >> parameterEndWord & 1) != 0;
    return state.line == textLineBegin && ending ? byteOf(parameterEnd, stands) : '\n';
}

/// A key that must stand, or what ends the call, or, where a key has been begun or must follow,
/// any.
Symbol TurnGrammar::closingKey(const TurnState &state) const {
    const auto &shape = topShape(state);
    const auto keys = this->keys(state);
    const auto missing = keys & shape.required;
    const auto wanted = missing != 0 ? missing : WordTree::Set{1} << shape.parts.size();
    const auto below = shape.words.below(state.at) & keys;
    return nextOfShortest(shape.words, state.at, (below & wanted) != 0 ? below & wanted : below);
}

Symbol TurnGrammar::closingJson(const TurnState &state) const {
    const auto &shape = calls_.shapes[state.shape];
    switch (state.place) {
    case Place::text:
        return state.line == 1 ? filler : '"';
    case Place::escape:
        return 'n';
    case Place::unicode:
        return '0';
    case Place::surrogate:
        return byteOf("\\udc00", state.at);
    case Place::words:
        return nextOfShortest(shape.words, state.at, WordTree::all);
    case Place::whole:
        return isWholeNumber(state.at, shape.least, shape.most) ? closing(behindValue(state))
                                                                : closingDigit(state);
    case Place::firstItem:
        return topShape(state).filled ? closingValue(state) : ']';
    case Place::firstKey:
        return topShape(state).required != 0 ? closingKey(state) : '}';
    case Place::key:
        return closingKey(state);
    case Place::colon:
        return ':';
    case Place::behindValue:
        break;
    default:
        return closingValue(state);
    }
    if (state.depth == 1)
        return state.line == 1 ? byteOf(parameterEnd, state.at) : '\n';
    const auto &open = topShape(state);
    if (open.kind == Shape::Kind::list)
        return ']';
    return (open.required & ~top(state).used) == 0 ? '}' : ',';
}

/// How the shortest value begins.
Symbol TurnGrammar::closingValue(const TurnState &state) const {
    const auto &shape = shapeOf(state);
    switch (shape.kind) {
    case Shape::Kind::text:
        return '"';
    case Shape::Kind::words:
        return nextOfShortest(shape.words, 0, WordTree::all);
    case Shape::Kind::whole:
        return closingDigit(moved(state, Place::whole));
    case Shape::Kind::list:
        return '[';
    default:
        return '{';
    }
}

Symbol TurnGrammar::closingDigit(const TurnState &state) const {
    const auto &shape = shapeOf(state);
    Symbol digit = '0';
    while (digit < '9' &&
           !nextDigit(state.at, static_cast<unsigned char>(digit), shape.least, shape.most))
        ++digit;
    return digit;
}

} // namespace cuda_agent::learn
