// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/grammar/brackets.h"
#include "core/learn/grammar/content_lines.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent::learn {

/// A name that a source has declared, and behind it those before it. Never changes.
struct DeclaredName {
    std::string text;
    bool type = false; ///< of a type
    std::shared_ptr<const DeclaredName> before;
};

/// Reads a turn as it is written, byte after byte, and knows which names are declared where the
/// text stands in a CUDA source: what a `Write` to a path that ends in `.cu` or `.cuh` has as its
/// content. It is no compiler: it reads words, brackets and statements, and where these do not tell
/// whether a name is used or declared, as behind `>`, it takes the name as declared. Once a source
/// includes what it does not know, or opens a namespace by `using`, any name may come.
///
/// A value: a copy shares the names. One thread at a time.
class SourceNames {
  public:
    /// What stands before a place.
    enum class Seen : std::uint8_t {
        nothing,
        type,
        name,
        number,
        text,
        expression, ///< a word behind which one stands
        declares,   ///< "struct"
        open,       ///< "("
        close,      ///< ")"
        comma,
        declarator, ///< what may stand between a type and the name that it declares, as "*", ">"
        member,     ///< ".", "->" or "::"
        operation   ///< any other sign
    };
    /// Where a text stands: what tells whether a name is used or declared there.
    struct Place {
        std::array<Seen, 3> seen{}; ///< the last first
        char sign = 0;              ///< the last byte, where it is one
        int parens = 0;             ///< "(" and "[" that are open in the statement
        bool loop = false;          ///< whose head may declare several, as "for (int a = 0, b = 1;"
        bool inBody = false;        ///< within braces
        bool enumerates = false;    ///< those of an enum
        bool inType = false;        ///< whose members may stand behind what uses them
        bool lineBegins = false;

        void see(Seen what);
        void seeSign(char byte);
        /// Whether a name that begins here must be a known one.
        bool mustBeKnown() const;
        /// Likewise behind `lead`, which has no letters, digits or `_`.
        bool mustBeKnown(std::string_view lead) const;
        /// Whether one that begins here is a variable of a body, behind its type.
        bool declares() const;
    };

    void take(std::string_view bytes);

    /// Whether the text stands in a source's code, rather than in a comment, a string, a line of
    /// the preprocessor or outside; false where any name may come.
    bool inCode() const {
        return mode_ == Mode::code && !open_ &&
               !lines_.line().starts_with('<'); // the content's end
    }
    /// The name, or its beginning, at whose end the text stands and which must be a known one;
    /// empty where there is none, or where it may be any.
    std::string_view begun() const;
    /// Whether the text stands in a name or a number, any.
    bool inWord() const { return !word_.empty(); }
    /// Where the text stands, a word that it ends with taken as a whole one.
    Place place() const;
    bool isKnown(std::string_view name) const;
    /// Whether it is known as a function of CUDA's alone, so that "(" must stand behind it.
    bool isToBeCalled(std::string_view name) const;
    /// Whether the text stands at the end of a name that is declared here as a variable of a body,
    /// and was declared in the same braces before: it must be longer.
    bool declaresAgain() const;
    /// Whether bytes that are of no word and no blanks may come here one behind the other, as far
    /// as brackets and ends of statements are concerned.
    bool allows(std::string_view bytes) const {
        return brackets_.allow(bytes, place_.loop || word_ == "for", !word_.empty());
    }
    /// Those of the source that may be used here, the last first; null: none.
    const std::shared_ptr<const DeclaredName> &declared() const { return names_; }

    /// Whether a file of that path is one that is read.
    static bool isSource(std::string_view path);
    static bool isOfWord(char byte);
    /// Whether a word is never asked about: a name of the compiler's own, which begins with two `_`
    /// or with one and a capital, or a number.
    static bool isFree(std::string_view word);

  private:
    using Names = std::shared_ptr<const DeclaredName>;
    enum class Mode : std::uint8_t {
        outside,
        code,
        lineComment,
        blockComment,
        string,
        character,
        directive
    };
    enum class Statement : std::uint8_t { plain, typedefs, type, enumerates, space, imports };
    /// What stands around the text, one brace further out.
    struct Scope {
        Names names; ///< that are there again behind it
        Names outer; ///< that were there before it
        std::optional<Names> head;
        int parens = 0;
        Statement statement = Statement::plain;
    };
    void takeCode(char byte);
    void takeSign(char byte);
    void openBrace();
    void closeBrace();
    void noteWord(std::string_view word);
    void endWord();
    void endDirective();
    Seen seenOf(std::string_view word) const;
    void declare(const std::string &name, bool type);
    /// Of those that were declared behind `until`, or of all.
    const DeclaredName *find(std::string_view name, const DeclaredName *until = nullptr) const;

    ContentLines lines_;
    Mode mode_ = Mode::outside;
    bool open_ = false; ///< any name may come
    bool escaped_ = false;
    bool mustBeKnown_ = false; ///< the name that `word_` is
    bool declares_ = false;    ///< likewise: it is a variable of a body, behind its type
    std::string word_;         ///< name or number that has not ended
    std::string directive_;    ///< what stands of one, behind "#"
    Place place_;              ///< before `word_`
    Brackets brackets_;
    bool header_ = false; ///< of a template, between its "<" and ">"
    int angles_ = 0;      ///< that are open there
    Statement statement_ = Statement::plain;
    std::optional<Names> head_; ///< names without those of the statement's header
    std::vector<Scope> scopes_;
    Names names_;
};

} // namespace cuda_agent::learn
