// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/host/launches.h"

#include "core/toolchain/host/outline.h"

#include <optional>

namespace cuda_agent::toolchain::host {

namespace {

/// Words that stand before an expression without being part of it.
bool endsStatement(std::string_view word) {
    return word == "return" || word == "else" || word == "do" || word == "case" ||
           word == "co_return" || word == "throw";
}

class Finder {
  public:
    Finder(const std::vector<Token> &tokens, const std::vector<std::size_t> &partner)
        : t_(tokens), partner_(partner) {}

    std::optional<LaunchSite> site(std::size_t open) const {
        LaunchSite site;
        site.open = open;
        const auto kernel = expressionBefore(open);
        const auto close = closing(open);
        if (!kernel || !close)
            return {};
        site.kernel = *kernel;
        site.close = *close;
        site.arguments = *close + 3;
        return site;
    }

  private:
    /// First token of the postfix expression that ends before `end`: names with template
    /// arguments and scopes, calls, subscripts, an expression in brackets.
    std::optional<std::size_t> expressionBefore(std::size_t end) const {
        std::size_t at = end;
        for (;;) {
            if (at == 0)
                return {};
            std::size_t last = at - 1;
            if (t_[last].is(">")) {
                const auto angle = openingAngle(last);
                if (!angle || *angle == 0)
                    return {};
                last = *angle - 1;
                if (!t_[last].isIdentifier())
                    return {};
            }
            if (t_[last].is(")") || t_[last].is("]")) {
                if (partner_[last] == Outline::npos)
                    return {};
                at = partner_[last];
                const bool goesOn =
                    at > 0 && (t_[at - 1].is(")") || t_[at - 1].is("]") || t_[at - 1].is(">") ||
                               (t_[at - 1].isIdentifier() && !endsStatement(t_[at - 1].text) &&
                                !t_[at - 1].is("if") && !t_[at - 1].is("while") &&
                                !t_[at - 1].is("for") && !t_[at - 1].is("switch")));
                if (!goesOn || closesCondition(at - 1))
                    return at;
                continue;
            }
            if (!t_[last].isIdentifier() || endsStatement(t_[last].text))
                return {};
            at = last;
            if (at > 0 && t_[at - 1].is("template"))
                --at;
            if (at == 0)
                return at;
            if (t_[at - 1].is(".") || t_[at - 1].is("->")) {
                --at;
                continue;
            }
            if (!t_[at - 1].is("::"))
                return at;
            --at;
            const bool scoped = at > 0 && (t_[at - 1].is(">") || (t_[at - 1].isIdentifier() &&
                                                                  !endsStatement(t_[at - 1].text)));
            if (!scoped)
                return at; // the global scope's
        }
    }

    /// `if (x) (y)<<<...`: what stands before the expression is a condition of its own.
    bool closesCondition(std::size_t close) const {
        if (!t_[close].is(")") || partner_[close] == Outline::npos || partner_[close] == 0)
            return false;
        const auto &before = t_[partner_[close] - 1];
        return before.is("if") || before.is("while") || before.is("for") || before.is("switch") ||
               before.is("constexpr");
    }

    std::optional<std::size_t> openingAngle(std::size_t close) const {
        int depth = 0;
        for (std::size_t i = close + 1; i-- > 0;) {
            if (t_[i].is(">"))
                ++depth;
            else if (t_[i].is("<") && --depth == 0)
                return i;
            else if ((t_[i].is(")") || t_[i].is("]") || t_[i].is("}")) &&
                     partner_[i] != Outline::npos)
                i = partner_[i];
            else if (t_[i].is(";") || t_[i].is("{") || t_[i].is("(") || t_[i].is("<<<"))
                return {};
        }
        return {};
    }

    /// The first ">" of the ">>>" that is followed by the arguments.
    std::optional<std::size_t> closing(std::size_t open) const {
        for (std::size_t i = open + 1; i + 3 < t_.size(); ++i) {
            if (t_[i].is("(") || t_[i].is("[") || t_[i].is("{")) {
                if (partner_[i] == Outline::npos)
                    return {};
                i = partner_[i];
            } else if (t_[i].is(";") || t_[i].is("<<<") || t_[i].is(")") || t_[i].is("}")) {
                return {};
            } else if (t_[i].is(">") && t_[i + 1].is(">") && t_[i + 2].is(">") &&
                       t_[i + 1].offset == t_[i].offset + 1 &&
                       t_[i + 2].offset == t_[i].offset + 2 && t_[i + 3].is("(") && i > open + 1) {
                return i;
            }
        }
        return {};
    }

    const std::vector<Token> &t_;
    const std::vector<std::size_t> &partner_;
};

std::string ordinal(int n) {
    const int tens = n % 100 / 10;
    const char *ending = tens == 1     ? "th"
                         : n % 10 == 1 ? "st"
                         : n % 10 == 2 ? "nd"
                         : n % 10 == 3 ? "rd"
                                       : "th";
    return std::to_string(n) + ending;
}

bool isDigit(char c) {
    return c >= '0' && c <= '9';
}

} // namespace

std::string withoutFirstArgument(std::string_view note) {
    std::string result;
    bool quoted = false;
    for (std::size_t i = 0; i < note.size();) {
        quoted = quoted != (note[i] == '\'');
        if (quoted || !isDigit(note[i]) || (i > 0 && note[i - 1] != ' ')) {
            result += note[i++];
            continue;
        }
        int number = 0;
        while (i < note.size() && isDigit(note[i]) && number < 100'000)
            number = number * 10 + (note[i++] - '0');
        const auto rest = note.substr(i);
        if (rest.starts_with("st ") || rest.starts_with("nd ") || rest.starts_with("rd ") ||
            rest.starts_with("th ")) {
            result += ordinal(number - 1);
            i += 2;
        } else {
            result += std::to_string(number - 1);
        }
    }
    return result;
}

LaunchSites findLaunches(const std::vector<Token> &tokens,
                         const std::vector<std::size_t> &partner) {
    LaunchSites found;
    const Finder finder(tokens, partner);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (!tokens[i].is("<<<"))
            continue;
        if (const auto site = finder.site(i))
            found.sites.push_back(*site);
        else
            found.broken.push_back(i);
    }
    return found;
}

} // namespace cuda_agent::toolchain::host
