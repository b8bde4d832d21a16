// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent::toolchain::host {

/// A C++ preprocessing token. Comments and white space are left out.
struct Token {
    enum class Kind { identifier, number, text, character, punctuator, directive } kind;
    std::size_t offset = 0;
    std::string_view text; ///< points into the lexed source
    bool active = true;    ///< false inside a preprocessor branch that a host build skips

    bool is(std::string_view what) const { return text == what; }
    bool isIdentifier() const { return kind == Kind::identifier; }
};

/// Splits C++ source into tokens. A whole preprocessor line, continuation lines included, is one
/// token of kind `directive`. Never fails: what is no token becomes a one-character punctuator.
/// The tokens point into `source`.
std::vector<Token> lex(std::string_view source);

/// Tokens of one directive after the `#` ("define", "X", "1"), with offsets in the source.
std::vector<Token> lexDirective(const Token &directive);

/// 1-based line and column (in bytes) of an offset.
struct Place {
    int line = 1;
    int column = 1;
};
Place placeOf(std::string_view source, std::size_t offset);

} // namespace cuda_agent::toolchain::host
