// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/host/lexer.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace cuda_agent::toolchain::host {

namespace {

bool startsName(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' ||
           static_cast<unsigned char>(c) >= 0x80;
}
bool continuesName(char c) {
    return startsName(c) || std::isdigit(static_cast<unsigned char>(c));
}

class Lexer {
  public:
    Lexer(std::string_view source, std::size_t base) : source_(source), base_(base) {}

    std::vector<Token> run(bool directives) {
        bool lineStart = directives;
        while (at_ < source_.size()) {
            const char c = source_[at_];
            if (c == '\n') {
                lineStart = directives;
                ++at_;
            } else if (std::isspace(static_cast<unsigned char>(c)) || splice()) {
                ++at_;
            } else if (c == '/' && peek(1) == '/') {
                skipLineComment();
            } else if (c == '/' && peek(1) == '*') {
                skipBlockComment();
            } else if (c == '#' && lineStart) {
                const std::size_t start = at_;
                skipDirective();
                add(Token::Kind::directive, start);
            } else {
                lineStart = false;
                token();
            }
        }
        return std::move(tokens_);
    }

  private:
    char peek(std::size_t ahead) const {
        return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
    }
    bool splice() const { return source_[at_] == '\\' && (peek(1) == '\n' || peek(1) == '\r'); }

    void add(Token::Kind kind, std::size_t start) {
        tokens_.push_back({kind, base_ + start, source_.substr(start, at_ - start)});
    }

    void skipLineComment() {
        while (at_ < source_.size() && source_[at_] != '\n')
            at_ += splice() ? 2 : 1;
        at_ = std::min(at_, source_.size());
    }

    void skipBlockComment() {
        const auto end = source_.find("*/", at_ + 2);
        at_ = end == source_.npos ? source_.size() : end + 2;
    }

    /// To the end of the logical line; a block comment may carry it over line ends.
    void skipDirective() {
        while (at_ < source_.size() && source_[at_] != '\n') {
            if (source_[at_] == '/' && peek(1) == '*')
                skipBlockComment();
            else if (source_[at_] == '/' && peek(1) == '/')
                return skipLineComment();
            else if (splice())
                at_ += peek(1) == '\r' && peek(2) == '\n' ? 3 : 2;
            else if (source_[at_] == '"')
                quoted('"');
            else
                ++at_;
        }
    }

    void quoted(char quote) {
        ++at_;
        while (at_ < source_.size() && source_[at_] != quote && source_[at_] != '\n')
            at_ += source_[at_] == '\\' && at_ + 1 < source_.size() ? 2 : 1;
        if (at_ < source_.size() && source_[at_] == quote)
            ++at_;
    }

    void rawText() {
        ++at_; // the quote
        const std::size_t open = source_.find('(', at_);
        if (open == source_.npos) {
            at_ = source_.size();
            return;
        }
        const std::string end =
            ")" + std::string(source_.substr(at_, open - at_)) + std::string("\"");
        const std::size_t close = source_.find(end, open);
        at_ = close == source_.npos ? source_.size() : close + end.size();
    }

    void token() {
        const std::size_t start = at_;
        const char c = source_[at_];
        if (startsName(c)) {
            while (at_ < source_.size() && continuesName(source_[at_]))
                ++at_;
            const auto name = source_.substr(start, at_ - start);
            const bool prefix = name == "L" || name == "u" || name == "U" || name == "u8";
            const bool raw =
                name == "R" || name == "LR" || name == "uR" || name == "UR" || name == "u8R";
            if (raw && peek(0) == '"') {
                rawText();
                return add(Token::Kind::text, start);
            }
            if (prefix && (peek(0) == '"' || peek(0) == '\'')) {
                const bool text = peek(0) == '"';
                quoted(peek(0));
                return add(text ? Token::Kind::text : Token::Kind::character, start);
            }
            return add(Token::Kind::identifier, start);
        }
        if (std::isdigit(static_cast<unsigned char>(c)) ||
            (c == '.' && std::isdigit(static_cast<unsigned char>(peek(1))))) {
            while (at_ < source_.size()) {
                const char d = source_[at_];
                const bool sign =
                    (d == '+' || d == '-') && at_ > start &&
                    std::string_view("eEpP").find(source_[at_ - 1]) != std::string_view::npos;
                const bool separator = d == '\'' && continuesName(peek(1));
                if (!continuesName(d) && d != '.' && !sign && !separator)
                    break;
                ++at_;
            }
            return add(Token::Kind::number, start);
        }
        if (c == '"' || c == '\'') {
            quoted(c);
            return add(c == '"' ? Token::Kind::text : Token::Kind::character, start);
        }
        static constexpr std::array<std::string_view, 27> punctuators = {
            "<<<", ">>>", "<<=", ">>=", "...", "->*", "::", "->", "++",
            "--",  "<<",  "<=",  ">=",  "==",  "!=",  "&&", "||", "+=",
            "-=",  "*=",  "/=",  "%=",  "&=",  "|=",  "^=", "##", ".*"};
        for (auto punctuator : punctuators) {
            // ">>>" may close templates, so only "<<<" is one token.
            if (punctuator != ">>>" && source_.substr(at_).starts_with(punctuator)) {
                at_ += punctuator.size();
                return add(Token::Kind::punctuator, start);
            }
        }
        ++at_;
        add(Token::Kind::punctuator, start);
    }

    std::string_view source_;
    std::size_t base_;
    std::size_t at_ = 0;
    std::vector<Token> tokens_;
};

} // namespace

std::vector<Token> lex(std::string_view source) {
    return Lexer(source, 0).run(true);
}

std::vector<Token> lexDirective(const Token &directive) {
    return Lexer(directive.text.substr(1), directive.offset + 1).run(false);
}

Place placeOf(std::string_view source, std::size_t offset) {
    const auto before = source.substr(0, std::min(offset, source.size()));
    const auto lastNewline = before.rfind('\n');
    return {1 + static_cast<int>(std::ranges::count(before, '\n')),
            static_cast<int>(before.size() - (lastNewline == before.npos ? 0 : lastNewline + 1)) +
                1};
}

} // namespace cuda_agent::toolchain::host
