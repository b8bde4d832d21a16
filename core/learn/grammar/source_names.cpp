// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/grammar/source_names.h"

#include "core/learn/grammar/cuda_words.h"

#include <utility>

namespace cuda_agent::learn {

namespace {

bool isDigit(char byte) {
    return byte >= '0' && byte <= '9';
}

bool isBlank(char byte) {
    return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && isBlank(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && isBlank(text.back()))
        text.remove_suffix(1);
    return text;
}

/// The word that a text begins with, which is taken off it.
std::string_view takeWord(std::string_view &text) {
    text = trimmed(text);
    std::size_t end = 0;
    while (end < text.size() && SourceNames::isOfWord(text[end]))
        ++end;
    const auto word = text.substr(0, end);
    text.remove_prefix(end);
    return word;
}

} // namespace

bool SourceNames::isOfWord(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_';
}

bool SourceNames::isSource(std::string_view path) {
    return path.ends_with(".cu") || path.ends_with(".cuh");
}

bool SourceNames::isFree(std::string_view word) {
    if (!word.empty() && isDigit(word.front()))
        return true;
    return word.size() > 1 && word[0] == '_' &&
           (word[1] == '_' || (word[1] >= 'A' && word[1] <= 'Z'));
}

void SourceNames::Place::see(Seen what) {
    seen = {what, seen[0], seen[1]};
}

/// A name behind `*` or `&` is declared where a type stands before it, also that of a reference to
/// an array, as in `float (&to)[4]`.
void SourceNames::Place::seeSign(char byte) {
    const char last = sign;
    sign = byte;
    switch (byte) {
    case '(':
    case '[':
        ++parens;
        see(byte == '(' ? Seen::open : Seen::operation);
        break;
    case ')':
    case ']':
        parens = parens > 0 ? parens - 1 : 0;
        see(Seen::close);
        break;
    case ',':
        see(Seen::comma);
        break;
    case '.':
        see(Seen::member);
        break;
    case ':':
        if (last == ':')
            seen[0] = Seen::member;
        else
            see(Seen::operation);
        break;
    case '>':
        if (last == '-')
            seen[0] = Seen::member;
        else
            see(Seen::declarator);
        break;
    case '*':
    case '&': {
        const bool ofType = seen[0] == Seen::type || seen[0] == Seen::declarator ||
                            (seen[0] == Seen::open && seen[1] == Seen::type) ||
                            (seen[0] == Seen::comma && !mustBeKnown());
        see(ofType ? Seen::declarator : Seen::operation);
        break;
    }
    default:
        see(Seen::operation);
    }
}

bool SourceNames::Place::mustBeKnown() const {
    if (inType)
        return false;
    switch (seen[0]) {
    case Seen::nothing:
    case Seen::expression:
    case Seen::open:
    case Seen::operation:
        return !enumerates;
    case Seen::close: // of what stands before a function's name, as __launch_bounds__(256)
        return inBody;
    case Seen::comma:
        return parens > (loop ? 1 : 0);
    default:
        return false;
    }
}

/// Behind `>`, `*` and commas it need not be one.
bool SourceNames::Place::declares() const {
    return inBody && !inType && !enumerates && parens == 0 && seen[0] == Seen::type;
}

const DeclaredName *SourceNames::find(std::string_view name, const DeclaredName *until) const {
    for (const auto *one = names_.get(); one != until && one != nullptr; one = one->before.get())
        if (one->text == name)
            return one;
    return nullptr;
}

bool SourceNames::isKnown(std::string_view name) const {
    return isFree(name) || cudaWord(name) || find(name) != nullptr;
}

bool SourceNames::isToBeCalled(std::string_view name) const {
    return cudaWord(name) == CudaWord::function && find(name) == nullptr;
}

std::string_view SourceNames::begun() const {
    const bool asked = inCode() && mustBeKnown_ && !isFree(word_);
    return asked ? std::string_view(word_) : std::string_view();
}

bool SourceNames::declaresAgain() const {
    return inCode() && declares_ && !word_.empty() && !scopes_.empty() &&
           find(word_, scopes_.back().outer.get()) != nullptr;
}

SourceNames::Seen SourceNames::seenOf(std::string_view word) const {
    if (isDigit(word.front()))
        return Seen::number;
    if (const auto *own = find(word))
        return own->type ? Seen::type : Seen::name;
    if (word.starts_with("__half") || word.starts_with("__nv_") || word == "__restrict__" ||
        word == "__restrict")
        return Seen::type;
    const auto known = cudaWord(word);
    if (!known)
        return Seen::name;
    switch (*known) {
    case CudaWord::type:
    case CudaWord::typedefs:
        return Seen::type;
    case CudaWord::expression:
        return Seen::expression;
    case CudaWord::declares:
    case CudaWord::enumerates:
    case CudaWord::templates:
    case CudaWord::space:
    case CudaWord::imports:
        return Seen::declares;
    case CudaWord::function:
    case CudaWord::other:
        return Seen::name;
    }
    return Seen::name;
}

SourceNames::Place SourceNames::place() const {
    Place place = place_;
    if (!word_.empty())
        place.see(seenOf(word_));
    place.lineBegins = lines_.line().empty();
    return place;
}

bool SourceNames::Place::mustBeKnown(std::string_view lead) const {
    if (lineBegins && lead.starts_with('<'))
        return false; // as no line of code begins, but the content's end
    Place behind = *this;
    for (const char byte : lead) {
        if (byte == '"' || byte == '\'' || byte == '#')
            return false;
        if (byte == '/' && behind.sign == '/')
            return false;
        if (isBlank(byte))
            behind.sign = 0;
        else
            behind.seeSign(byte);
    }
    return behind.mustBeKnown();
}

void SourceNames::take(std::string_view bytes) {
    for (const char byte : bytes)
        switch (lines_.take(byte, isSource)) {
        case ContentLines::At::outside:
            break;
        case ContentLines::At::begins:
            mode_ = Mode::code;
            break;
        case ContentLines::At::inside:
            takeCode(byte);
            break;
        case ContentLines::At::ends:
            *this = SourceNames();
            break;
        }
}

void SourceNames::takeCode(char byte) {
    switch (mode_) {
    case Mode::lineComment:
        if (byte == '\n')
            mode_ = Mode::code;
        return;
    case Mode::blockComment:
        if (byte == '/' && place_.sign == '*')
            mode_ = Mode::code;
        place_.sign = byte == '/' ? 0 : byte;
        return;
    case Mode::string:
    case Mode::character:
        if (!escaped_ && byte == (mode_ == Mode::string ? '"' : '\'')) {
            mode_ = Mode::code;
            place_.see(Seen::text);
        }
        escaped_ = !escaped_ && byte == '\\';
        return;
    case Mode::directive:
        if (byte == '\n' && !directive_.ends_with('\\'))
            endDirective();
        else
            directive_ += byte;
        return;
    default:
        break;
    }
    const bool number = !word_.empty() && isDigit(word_.front());
    if (isOfWord(byte) || (number && (byte == '.' || byte == '\''))) {
        if (word_.empty()) {
            mustBeKnown_ = place_.mustBeKnown();
            declares_ = place_.declares();
        }
        word_ += byte;
        return;
    }
    endWord();
    takeSign(byte);
}

void SourceNames::takeSign(char byte) {
    if (isBlank(byte)) {
        place_.sign = 0;
        return;
    }
    if ((byte == '/' || byte == '*') && place_.sign == '/')
        brackets_.takeBack();
    if (byte == '/' && place_.sign == '/') {
        place_.seen = {place_.seen[1], place_.seen[2], Seen::nothing};
        mode_ = Mode::lineComment;
        return;
    }
    if (byte == '*' && place_.sign == '/') {
        place_.seen = {place_.seen[1], place_.seen[2], Seen::nothing};
        place_.sign = 0;
        mode_ = Mode::blockComment;
        return;
    }
    if (byte != '#')
        brackets_.take(byte, place_.loop);
    switch (byte) {
    case '"':
        mode_ = Mode::string;
        return;
    case '\'':
        mode_ = Mode::character;
        return;
    case '#':
        mode_ = Mode::directive;
        directive_.clear();
        return;
    case '{':
        openBrace();
        return;
    case '}':
        closeBrace();
        return;
    default:
        break;
    }
    if (byte == '(' && place_.parens == 0 && !head_)
        head_ = names_;
    place_.seeSign(byte);
    if (header_ && byte == '<')
        ++angles_;
    if (header_ && byte == '>' && --angles_ == 0)
        header_ = false;
    if (byte == ';' && place_.parens == 0) {
        if (head_)
            names_ = *std::exchange(head_, std::nullopt);
        statement_ = Statement::plain;
        place_.loop = false;
    }
}

/// What a statement's head has declared in parentheses, or a template's, is there up to the brace
/// that closes.
void SourceNames::openBrace() {
    auto statement = statement_;
    if (place_.seen[0] == Seen::text) // extern "C" {
        statement = Statement::space;
    scopes_.push_back({place_.parens == 0 && head_ ? *head_ : names_, names_,
                       place_.parens > 0 ? head_ : std::nullopt, place_.parens, statement});
    head_.reset();
    statement_ = Statement::plain;
    const bool inType = place_.inType;
    place_ = {};
    place_.inBody = statement != Statement::space;
    place_.enumerates = statement == Statement::enumerates;
    place_.inType = inType || statement == Statement::type;
    place_.see(Seen::operation);
}

void SourceNames::closeBrace() {
    if (scopes_.empty())
        return;
    const auto scope = std::move(scopes_.back());
    scopes_.pop_back();
    if (scope.statement != Statement::space && scope.statement != Statement::enumerates)
        names_ = scope.names;
    head_ = scope.head;
    place_ = {};
    place_.parens = scope.parens;
    for (const auto &outer : scopes_) {
        place_.inBody = place_.inBody || outer.statement != Statement::space;
        place_.inType = place_.inType || outer.statement == Statement::type;
    }
    place_.enumerates = !scopes_.empty() && scopes_.back().statement == Statement::enumerates;
    const bool ofType = scope.statement == Statement::type ||
                        scope.statement == Statement::typedefs ||
                        scope.statement == Statement::enumerates;
    // Behind a type's brace stand the names of what is declared by it.
    statement_ = scope.statement == Statement::typedefs ? scope.statement : Statement::plain;
    place_.see(ofType ? Seen::declarator : Seen::operation);
}

/// Names of a statement's own are there behind it, too.
void SourceNames::declare(const std::string &name, bool type) {
    const auto with = [&](Names before) {
        return std::make_shared<const DeclaredName>(name, type, std::move(before));
    };
    if (head_ && place_.parens == 0 && !header_)
        head_ = with(std::move(*head_));
    names_ = with(std::move(names_));
}

/// What a word says of the statement that it stands in.
void SourceNames::noteWord(std::string_view word) {
    const auto known = header_ || place_.parens > 0 ? std::nullopt : cudaWord(word);
    if (known == CudaWord::templates) {
        header_ = true;
        angles_ = 0;
        if (!head_)
            head_ = names_;
    }
    if (known == CudaWord::space && statement_ == Statement::imports)
        open_ = true;
    if (statement_ != Statement::plain || !known)
        return;
    switch (*known) {
    case CudaWord::declares:
        statement_ = Statement::type;
        break;
    case CudaWord::enumerates:
        statement_ = Statement::enumerates;
        break;
    case CudaWord::space:
        statement_ = Statement::space;
        break;
    case CudaWord::imports:
        statement_ = Statement::imports;
        break;
    case CudaWord::typedefs:
        statement_ = Statement::typedefs;
        break;
    default:
        break;
    }
}

void SourceNames::endWord() {
    if (word_.empty())
        return;
    const auto word = std::exchange(word_, {});
    brackets_.takeWord(word);
    place_.sign = 0;
    const Seen before = place_.seen[0];
    if (before == Seen::member) {
        if (statement_ == Statement::imports)
            declare(word, true);
        place_.see(Seen::name);
        return;
    }
    auto what = seenOf(word);
    // A variable may have the name of a function, as in `const float exp = expf(x)`.
    if (what == Seen::name && (!isKnown(word) || isToBeCalled(word)) && !place_.mustBeKnown()) {
        const bool type = before == Seen::declares || statement_ == Statement::typedefs;
        declare(word, type);
        what = type ? Seen::type : Seen::name;
    }
    noteWord(word);
    place_.loop = place_.loop || word == "for";
    place_.see(what);
}

/// `#define` declares its name; `#include` may declare anything.
void SourceNames::endDirective() {
    mode_ = Mode::code;
    std::string_view rest = directive_;
    const auto what = takeWord(rest);
    if (what == "define")
        declare(std::string(takeWord(rest)), false);
    rest = trimmed(rest);
    if (what == "include")
        open_ = open_ || rest.size() < 2 || rest.front() != '<' || rest.back() != '>' ||
                !isKnownHeader(rest.substr(1, rest.size() - 2));
}

} // namespace cuda_agent::learn
