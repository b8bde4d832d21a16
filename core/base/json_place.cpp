// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json_place.h"

#include <algorithm>
#include <charconv>

namespace cuda_agent {

namespace {

constexpr std::string_view blanks = " \t\r\n";

/// Takes what stands between two names of a path, or within its brackets, from its beginning.
std::string_view taken(std::string_view &path, std::string_view ends) {
    const auto word = path.substr(0, path.find_first_of(ends));
    path.remove_prefix(word.size());
    return word;
}

class Walk {
  public:
    explicit Walk(std::string_view text) : text_(text) {}

    std::optional<TextRange> to(std::string_view path) {
        skip();
        const std::size_t begin = at_;
        if (!value())
            return std::nullopt;
        TextRange found{begin, at_};
        while (!path.empty()) {
            at_ = found.begin;
            const bool inList = path[0] == '[';
            if (inList || path[0] == '.')
                path.remove_prefix(1);
            const auto word = taken(path, inList ? "]" : ".[");
            if (inList && !path.empty())
                path.remove_prefix(1);
            if (word.empty())
                return std::nullopt;
            const auto inner = inList ? element(word) : member(word);
            if (!inner)
                break;
            found = *inner;
        }
        return found;
    }

  private:
    bool done() const { return at_ >= text_.size(); }
    void skip() { at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size()); }
    bool take(char c) {
        skip();
        if (done() || text_[at_] != c)
            return false;
        ++at_;
        skip();
        return true;
    }

    /// Over a string, with its quotes.
    bool string() {
        for (++at_; !done(); ++at_) {
            if (text_[at_] == '\\')
                ++at_;
            else if (text_[at_] == '"') {
                ++at_;
                return true;
            }
        }
        return false;
    }

    /// Over a value and all that is in it.
    bool value() {
        for (int depth = 0; !done();) {
            const char c = text_[at_];
            if (c == '"') {
                if (!string())
                    return false;
            } else if (c == '{' || c == '[') {
                ++depth;
                ++at_;
            } else if (c == '}' || c == ']') {
                --depth;
                ++at_;
            } else if (depth > 0) {
                ++at_;
            } else {
                const auto begin = at_;
                at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
                return at_ > begin;
            }
            if (depth <= 0)
                return depth == 0;
        }
        return false;
    }

    std::optional<TextRange> here() {
        const auto begin = at_;
        return value() ? std::optional(TextRange{begin, at_}) : std::nullopt;
    }

    std::optional<TextRange> member(std::string_view key) {
        if (!take('{'))
            return std::nullopt;
        do {
            const auto name = here();
            if (!name || !take(':'))
                return std::nullopt;
            const bool wanted = name->end - name->begin == key.size() + 2 &&
                                text_.substr(name->begin + 1, key.size()) == key;
            const auto found = here();
            if (wanted || !found)
                return found;
        } while (take(','));
        return std::nullopt;
    }

    std::optional<TextRange> element(std::string_view number) {
        std::size_t wanted = 0;
        const auto end = number.data() + number.size();
        if (std::from_chars(number.data(), end, wanted).ptr != end || !take('['))
            return std::nullopt;
        for (std::size_t i = 0;; ++i) {
            const auto found = here();
            if (i == wanted || !found)
                return found;
            if (!take(','))
                return std::nullopt;
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

} // namespace

std::optional<TextRange> placeInJson(std::string_view text, std::string_view path) {
    return Walk(text).to(path);
}

std::size_t byteAt(std::string_view text, std::size_t line, std::size_t column) {
    std::size_t begin = 0;
    for (; line > 1 && begin < text.size(); --line)
        begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
    return std::min(begin + std::max<std::size_t>(column, 1) - 1, text.size());
}

} // namespace cuda_agent
