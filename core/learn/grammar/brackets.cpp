// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/grammar/brackets.h"

#include <utility>

namespace cuda_agent::learn {

/// What is open, and what a few more bytes make of it, without a copy.
class Brackets::View {
  public:
    View(std::string_view open, char before) : open_(open), before_(before) {}

    /// Whether it may come.
    bool take(char byte, bool loop) {
        const char before = before_;
        before_ = byte;
        switch (byte) {
        case '(':
            more_ += loop && inStatement() ? head : '(';
            return true;
        case '[':
            more_ += '[';
            return true;
        case '{': // else a list of values, or a type's members
            more_ += before == ')' || (follows(before) && last() == block) ? block : '{';
            return true;
        case ')':
            return closes(last() == '(' || last() == head);
        case ']':
            return closes(last() == '[');
        case '}':
            return closes(last() == '{' || (last() == block && follows(before)));
        case ';':
            return inStatement() || last() == head;
        default:
            return true;
        }
    }
    std::string all() const { return std::string(open_) + more_; }

  private:
    /// Whether a statement has ended, or none has begun.
    static bool follows(char before) {
        return before == ';' || before == '{' || before == '}' || before == ':';
    }
    char last() const { return !more_.empty() ? more_.back() : open_.empty() ? 0 : open_.back(); }
    bool inStatement() const { return last() == 0 || last() == '{' || last() == block; }
    bool closes(bool fits) {
        if (fits && !more_.empty())
            more_.pop_back();
        else if (fits)
            open_.remove_suffix(1);
        return fits;
    }

    std::string_view open_; ///< of those before
    std::string more_;      ///< opened since
    char before_;
};

bool Brackets::isOne(char byte) {
    return std::string_view("()[]{};").find(byte) != std::string_view::npos;
}

void Brackets::take(char byte, bool loop) {
    if (isOne(byte))
        if (View view(open_, last_); view.take(byte, loop))
            open_ = view.all();
    before_ = std::exchange(last_, byte);
}

void Brackets::takeWord(std::string_view word) {
    last_ = word == "else" || word == "do" ? ')' : 'a';
}

bool Brackets::allow(std::string_view bytes, bool loop, bool inWord) const {
    View view(open_, inWord ? 'a' : last_);
    for (const char byte : bytes)
        if (!view.take(byte, loop))
            return false;
    return true;
}

} // namespace cuda_agent::learn
