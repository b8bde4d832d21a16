// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace cuda_agent::learn {

/// Brackets of a source that are open: "(", "[" and "{", of which each must be closed by its own.
/// No statement ends within the first two but in the head of a loop, and a block ends behind a
/// statement: behind ";", another bracket or a label. A value.
class Brackets {
  public:
    static bool isOne(char byte);

    /// Takes a byte that is of no word and no blank. `loop`: the statement has the word "for", so
    /// that its first "(" is that of a head. A bracket that may not come opens or closes nothing.
    void take(char byte, bool loop);
    void takeWord(std::string_view word);
    /// The last byte, which was no bracket, began a comment.
    void takeBack() { last_ = before_; }
    /// Whether such bytes may come one behind the other. `inWord`: a word ends where they begin.
    bool allow(std::string_view bytes, bool loop, bool inWord) const;

  private:
    /// What else than brackets as they are stands in `open_`.
    static constexpr char head = 'f', block = 'b';
    class View;

    std::string open_; ///< the innermost last
    /// What came last but blanks, and before that: of words that a block stands behind ")", of
    /// others 'a'.
    char last_ = ';', before_ = ';';
};

} // namespace cuda_agent::learn
