// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/grammar/brackets.h"

namespace cuda_agent::learn {

/// What is open, and what a few more signs make of it, without a copy.
class Brackets::View {
  public:
    explicit View(std::string_view open) : open_(open) {}

    bool take(char sign, bool loop) {
        switch (sign) {
        case '(':
            more_ += loop && (last() == 0 || last() == '{') ? head : '(';
            return true;
        case '[':
        case '{':
            more_ += sign;
            return true;
        case ')':
            return closes(last() == '(' || last() == head);
        case ']':
            return closes(last() == '[');
        case '}':
            return closes(last() == '{');
        default: // a statement's end
            return last() == 0 || last() == '{' || last() == head;
        }
    }
    std::string all() const { return std::string(open_) + more_; }

  private:
    char last() const { return !more_.empty() ? more_.back() : open_.empty() ? 0 : open_.back(); }
    bool closes(bool fits) {
        if (fits && !more_.empty())
            more_.pop_back();
        else if (fits)
            open_.remove_suffix(1);
        return fits;
    }

    std::string_view open_; ///< of those before
    std::string more_;      ///< opened since
};

void Brackets::take(char sign, bool loop) {
    View view(open_);
    if (view.take(sign, loop))
        open_ = view.all();
}

bool Brackets::allow(std::string_view some, bool loop) const {
    View view(open_);
    for (const char sign : some)
        if (!view.take(sign, loop))
            return false;
    return true;
}

} // namespace cuda_agent::learn
