// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/grammar/turn_grammar.h"

#include "core/learn/grammar/turn_places.h"
#include "core/learn/grammar/utf8_steps.h"
#include "core/learn/grammar/whole_numbers.h"

#include <algorithm>

namespace cuda_agent::learn {

using Place = TurnState::Place;

namespace {

constexpr std::string_view blanks = " \t\r\n"; ///< those of the template and those of JSON
constexpr std::string_view functionOpen = "<function=";

bool isBlank(unsigned char byte) {
    return blanks.find(static_cast<char>(byte)) != blanks.npos;
}

/// Behind the end of the innermost that is open.
TurnState closed(TurnState state, Place place = Place::behindValue) {
    state.open[--state.depth] = {};
    return behindValue(state, place);
}

std::optional<unsigned> hexDigit(unsigned char byte) {
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    const unsigned char lower = byte | 0x20;
    return lower >= 'a' && lower <= 'f' ? std::optional(lower - 'a' + 10u) : std::nullopt;
}

/// Four digits: how many stand, and eight times 1 where the first one is "d", 2 where the two make
/// a first surrogate. A second surrogate alone is none of JSON's.
std::optional<TurnState> nextUnicode(const TurnState &state, unsigned char byte) {
    const auto digit = hexDigit(byte);
    if (!digit)
        return std::nullopt;
    const unsigned stand = state.at % 8u;
    unsigned pair = state.at / 8u;
    if (stand == 0)
        pair = *digit == 0xd ? 1 : 0;
    else if (stand == 1 && pair == 1) {
        if (*digit >= 0xc)
            return std::nullopt;
        pair = *digit >= 8 ? 2 : 0;
    }
    if (stand == 3)
        return moved(state, pair == 2 ? Place::surrogate : Place::text);
    auto next = state;
    next.at = static_cast<std::uint16_t>(stand + 1 + 8 * pair);
    return next;
}

std::optional<TurnState> nextSurrogate(const TurnState &state, unsigned char byte) {
    const auto digit = hexDigit(byte);
    const bool fits = state.at == 0   ? byte == '\\'
                      : state.at == 1 ? byte == 'u'
                      : state.at == 2 ? digit && *digit == 0xd
                      : state.at == 3 ? digit && *digit >= 0xc
                                      : digit.has_value();
    if (!fits)
        return std::nullopt;
    if (state.at == 5)
        return moved(state, Place::text);
    auto next = state;
    ++next.at;
    return next;
}

} // namespace

std::size_t TurnStateHash::operator()(const TurnState &state) const {
    static_assert(std::has_unique_object_representations_v<TurnState>);
    return std::hash<std::string_view>()(
        {reinterpret_cast<const char *>(&state), sizeof(TurnState)});
}

Symbol TurnGrammar::special(std::string_view token) {
    const auto *const found = std::ranges::find(chat::specialTokens, token);
    return static_cast<Symbol>(firstSpecial + (found - chat::specialTokens.begin()));
}

Result<TurnGrammar> TurnGrammar::make(const Json &tools) {
    CUDA_AGENT_ASSIGN(calls, CallShapes::of(tools));
    return TurnGrammar(std::move(calls));
}

TurnGrammar::TurnGrammar(CallShapes calls) : calls_(std::move(calls)) {
    std::vector<std::string> words(chat::specialTokens.begin(), chat::specialTokens.end());
    words.emplace_back(parameterEnd);
    words.emplace_back(functionOpen);
    reserved_ = WordTree(std::move(words));
}

std::vector<Symbol> TurnGrammar::symbolsOf(std::string_view text) {
    std::vector<Symbol> symbols;
    while (!text.empty()) {
        const auto *const found = std::ranges::find_if(
            chat::specialTokens, [&](std::string_view token) { return text.starts_with(token); });
        const bool isSpecial = found != chat::specialTokens.end();
        symbols.push_back(isSpecial ? special(*found) : static_cast<unsigned char>(text.front()));
        text.remove_prefix(isSpecial ? found->size() : 1);
    }
    return symbols;
}

bool TurnGrammar::accepts(std::string_view turn) const {
    TurnState state;
    for (const auto symbol : symbolsOf(turn)) {
        const auto next = this->next(state, symbol);
        if (!next)
            return false;
        state = *next;
    }
    return state.place == Place::end;
}

TurnGrammar::Next TurnGrammar::next(const TurnState &state, Symbol symbol) const {
    if (symbol >= firstSpecial)
        return nextSpecial(state, symbol);
    const auto byte = static_cast<unsigned char>(symbol);
    switch (state.place) {
    case Place::begin:
    case Place::sayBegin:
    case Place::say:
        return nextSay(state, byte);
    case Place::thought:
        return nextText(state, byte);
    case Place::function:
    case Place::call:
        return nextCall(state, byte);
    case Place::callEnd:
    case Place::behindCall:
        return isBlank(byte) ? Next(state) : std::nullopt;
    case Place::plainText:
    case Place::plainWords:
        return nextPlain(state, byte);
    case Place::end:
        return std::nullopt;
    default:
        return nextJson(state, byte);
    }
}

TurnGrammar::Next TurnGrammar::nextSpecial(const TurnState &state, Symbol symbol) const {
    static const Symbol thinkSymbol = special(chat::think),
                        thinkEndSymbol = special(chat::thinkEnd),
                        callSymbol = special(chat::toolCall),
                        callEndSymbol = special(chat::toolCallEnd),
                        endSymbol = special(chat::imEnd);
    if (state.character != 0)
        return std::nullopt;
    switch (state.place) {
    case Place::begin:
        if (symbol == thinkSymbol)
            return moved(state, Place::thought);
        [[fallthrough]];
    case Place::sayBegin:
    case Place::say:
    case Place::behindCall:
        if (symbol == callSymbol)
            return moved(state, Place::function);
        return symbol == endSymbol ? Next(moved(state, Place::end)) : std::nullopt;
    case Place::thought:
        return symbol == thinkEndSymbol ? Next(moved(state, Place::sayBegin)) : std::nullopt;
    case Place::callEnd:
        return symbol == callEndSymbol ? Next(moved(state, Place::behindCall)) : std::nullopt;
    default:
        return std::nullopt;
    }
}

/// Any character, as long as the bytes spell no special token. `at` follows reserved words, which
/// have a "<" as their first byte alone; at the end of one that is none here it stands there.
TurnGrammar::Next TurnGrammar::nextText(const TurnState &state, unsigned char byte) const {
    const auto character = nextInCharacter(state.character, byte);
    if (!character)
        return std::nullopt;
    auto next = state;
    next.character = *character;
    next.at = reserved_.next(byte == '<' ? 0 : state.at, byte).value_or(0);
    if (const auto word = reserved_.ended(next.at); word && *word < chat::specialTokens.size())
        return std::nullopt;
    return next;
}

/// `line` is 1 as long as the text is the beginning of "<function=".
TurnGrammar::Next TurnGrammar::nextSay(const TurnState &state, unsigned char byte) const {
    const bool begins = state.place != Place::say;
    if (begins && isBlank(byte))
        return state;
    auto next = nextText(begins ? moved(state, Place::say) : state, byte);
    if (!next)
        return next;
    next->line = next->at != 0 && (byte == '<' ? begins : state.line == 1) ? 1 : 0;
    if (reserved_.ended(next->at)) {
        if (next->line == 1 && reserved_.ended(next->at) == functionOpenWord)
            return std::nullopt; // a call that stands outside <tool_call>
        next->at = next->line = 0;
    }
    return next;
}

TurnGrammar::Next TurnGrammar::nextPlain(const TurnState &state, unsigned char byte) const {
    if (state.place == Place::plainWords) {
        const auto &words = shapeOf(state).words;
        const auto at = words.next(state.at, byte);
        if (!at)
            return std::nullopt;
        if (words.ended(*at))
            return behindValue(state, Place::call);
        auto next = state;
        next.at = *at;
        return next;
    }
    auto next = nextText(state, byte);
    if (!next)
        return next;
    if (reserved_.ended(next->at) == parameterEndWord)
        return state.line == textLineBegin ? Next(behindValue(state, Place::call)) : std::nullopt;
    if (reserved_.ended(next->at))
        next->at = 0;
    if (byte == '\n')
        next->line = state.line == textNothing && state.at == 0 ? textLineEnd : textLineBegin;
    else if (next->at == 0 || (byte == '<' && state.at != 0))
        next->line = textInLine; // else it is as it was before the "<"
    return next;
}

/// The keys that may stand next; of a call its end besides.
WordTree::Set TurnGrammar::keys(const TurnState &state) const {
    const auto &shape = topShape(state);
    const auto used = top(state).used;
    const bool whole = (shape.required & ~used) == 0;
    const auto keys = (WordTree::Set{1} << shape.parts.size()) - 1;
    return (keys & ~WordTree::Set{used}) | (whole ? keys + 1 : 0);
}

/// The state in which the value of an open object's key is begun.
TurnState TurnGrammar::valueOf(const TurnState &state, std::size_t key) const {
    const auto &object = topShape(state);
    auto next = moved(state, Place::value);
    next.open[next.depth - 1u].used |= static_cast<std::uint16_t>(1u << key);
    next.shape = object.parts[key];
    const auto &shape = calls_.shapes[next.shape];
    if (shape.kind == Shape::Kind::plainText) {
        next.place = Place::plainText;
        next.line = shape.filled ? textNothing : textLineBegin;
    } else if (shape.kind == Shape::Kind::plainWords) {
        next.place = Place::plainWords;
    }
    return next;
}

TurnGrammar::Next TurnGrammar::nextCall(const TurnState &state, unsigned char byte) const {
    if (state.at == 0 && isBlank(byte))
        return state;
    const bool named = state.place == Place::call;
    const auto &words = named ? topShape(state).words : calls_.functions;
    const auto at = words.next(state.at, byte, named ? keys(state) : WordTree::all);
    if (!at)
        return std::nullopt;
    const auto word = words.ended(*at);
    if (!word) {
        auto next = state;
        next.at = *at;
        return next;
    }
    if (named)
        return *word < topShape(state).parts.size() ? valueOf(state, *word)
                                                    : closed(state, Place::callEnd);
    auto next = moved(state, Place::call);
    next.open[0].shape = static_cast<std::uint16_t>(*word);
    next.depth = 1;
    return next;
}

TurnGrammar::Next TurnGrammar::nextJson(const TurnState &state, unsigned char byte) const {
    switch (state.place) {
    case Place::text:
        return nextString(state, byte);
    case Place::escape:
        if (byte == 'u')
            return moved(state, Place::unicode);
        return std::string_view("\"\\/bfnrt").find(static_cast<char>(byte)) !=
                       std::string_view::npos
                   ? Next(moved(state, Place::text))
                   : std::nullopt;
    case Place::unicode:
        return nextUnicode(state, byte);
    case Place::surrogate:
        return nextSurrogate(state, byte);
    case Place::words: {
        const auto &words = shapeOf(state).words;
        const auto at = words.next(state.at, byte);
        if (!at)
            return std::nullopt;
        auto next = state;
        next.at = *at;
        return words.ended(*at) ? behindValue(next) : next;
    }
    case Place::whole:
        return nextWhole(state, byte);
    case Place::key:
        return nextKey(state, byte);
    case Place::behindValue:
        return nextBehind(state, byte);
    default:
        break;
    }
    if (isBlank(byte))
        return state;
    switch (state.place) {
    case Place::firstItem:
        if (byte == ']')
            return topShape(state).filled ? std::nullopt : Next(closed(state));
        return beginValue(state, byte);
    case Place::firstKey:
        if (byte == '}')
            return topShape(state).required != 0 ? std::nullopt : Next(closed(state));
        return nextKey(moved(state, Place::key), byte);
    case Place::colon:
        return byte == ':' ? Next(moved(state, Place::value)) : std::nullopt;
    default:
        return beginValue(state, byte);
    }
}

TurnGrammar::Next TurnGrammar::beginValue(const TurnState &state, unsigned char byte) const {
    const auto &shape = shapeOf(state);
    switch (shape.kind) {
    case Shape::Kind::text: {
        auto next = moved(state, Place::text);
        next.line = shape.filled ? 1 : 0;
        return byte == '"' ? Next(next) : std::nullopt;
    }
    case Shape::Kind::words:
        return nextJson(moved(state, Place::words), byte);
    case Shape::Kind::whole:
        return nextWhole(moved(state, Place::whole), byte);
    default:
        break;
    }
    const bool list = shape.kind == Shape::Kind::list;
    if (byte != (list ? '[' : '{'))
        return std::nullopt;
    auto next = behindValue(state, list ? Place::firstItem : Place::firstKey);
    next.open[next.depth++] = {state.shape, 0};
    if (list)
        next.shape = shape.parts[0];
    return next;
}

/// `line` is 1 where the string must not end yet, being empty.
TurnGrammar::Next TurnGrammar::nextString(const TurnState &state, unsigned char byte) const {
    if (state.character == 0 && byte == '"')
        return state.line == 1 ? std::nullopt : Next(behindValue(state));
    if (state.character == 0 && byte == '\\')
        return moved(state, Place::escape);
    auto next = byte < 0x20 ? std::nullopt : nextText(state, byte);
    if (!next)
        return next;
    next->line = 0;
    if (const auto word = reserved_.ended(next->at)) {
        if (*word == parameterEndWord)
            return std::nullopt; // it would end the parameter
        next->at = 0;
    }
    return next;
}

TurnGrammar::Next TurnGrammar::nextWhole(const TurnState &state, unsigned char byte) const {
    const auto &shape = shapeOf(state);
    if (byte >= '0' && byte <= '9') {
        const auto at = nextDigit(state.at, byte, shape.least, shape.most);
        auto next = state;
        next.at = at.value_or(0);
        return at ? Next(next) : std::nullopt;
    }
    return isWholeNumber(state.at, shape.least, shape.most) ? nextBehind(behindValue(state), byte)
                                                            : std::nullopt;
}

TurnGrammar::Next TurnGrammar::nextKey(const TurnState &state, unsigned char byte) const {
    if (state.at == 0 && isBlank(byte))
        return state;
    const auto &words = topShape(state).words;
    const auto at = words.next(state.at, byte, keys(state));
    if (!at)
        return std::nullopt;
    if (const auto key = words.ended(*at)) {
        auto next = valueOf(state, *key);
        next.place = Place::colon;
        return next;
    }
    auto next = state;
    next.at = *at;
    return next;
}

/// Behind a parameter's value `line` is 1 behind a line end, and `at` counts bytes of parameterEnd.
TurnGrammar::Next TurnGrammar::nextBehind(const TurnState &state, unsigned char byte) const {
    auto next = state;
    const auto &shape = topShape(state);
    if (state.depth == 1) {
        if (state.at == 0 && isBlank(byte)) {
            next.line = byte == '\n' ? 1 : 0;
            return next;
        }
        if (state.line == 0 || byte != static_cast<unsigned char>(parameterEnd[state.at]))
            return std::nullopt;
        ++next.at;
        return next.at == parameterEnd.size() ? behindValue(next, Place::call) : next;
    }
    if (isBlank(byte))
        return next;
    if (shape.kind == Shape::Kind::list) {
        if (byte == ']')
            return closed(state);
        next = moved(state, Place::value);
        next.shape = shape.parts[0];
        return byte == ',' ? Next(next) : std::nullopt;
    }
    if (byte == '}')
        return (shape.required & ~top(state).used) == 0 ? Next(closed(state)) : std::nullopt;
    const auto all = (1u << shape.parts.size()) - 1u;
    return byte == ',' && top(state).used != all ? Next(moved(state, Place::key)) : std::nullopt;
}

} // namespace cuda_agent::learn
