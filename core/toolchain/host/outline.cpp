// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/host/outline.h"

#include <array>

namespace cuda_agent::toolchain::host {

namespace {

/// Words that stand before brackets without being the declared name.
bool isSpecifier(std::string_view word) {
    static constexpr std::array<std::string_view, 13> words = {
        "__launch_bounds__", "__attribute__", "__align__", "alignas", "decltype",
        "__declspec",        "__maxnreg__",   "noexcept",  "sizeof",  "__block_size__",
        "explicit",          "requires",      "alignof"};
    for (auto known : words)
        if (word == known)
            return true;
    return false;
}

class Reader {
  public:
    explicit Reader(Outline &outline) : out_(outline), t_(outline.tokens) {}

    void scope(std::size_t begin, std::size_t end, const std::string &space, bool externC) {
        std::size_t i = begin;
        while (i < end) {
            if (t_[i].is(";") || t_[i].is("}")) {
                ++i;
                continue;
            }
            std::size_t at = i + (t_[i].is("inline") ? 1 : 0);
            if (at < end && t_[at].is("namespace")) {
                std::string inner = space;
                std::size_t brace = at + 1;
                while (brace < end && !t_[brace].is("{") && !t_[brace].is(";") &&
                       !t_[brace].is("=")) {
                    if (t_[brace].isIdentifier())
                        inner += std::string(t_[brace].text) + "::";
                    ++brace;
                }
                if (brace < end && t_[brace].is("{")) {
                    const std::size_t close = closing(brace, end);
                    scope(brace + 1, close, inner, externC);
                    i = close + 1;
                    continue;
                }
            }
            if (i + 2 < end && t_[i].is("extern") && t_[i + 1].is("\"C\"") && t_[i + 2].is("{")) {
                const std::size_t close = closing(i + 2, end);
                scope(i + 3, close, space, true);
                i = close + 1;
                continue;
            }
            const std::size_t after = declaration(i, end);
            chunk(i, after, space, externC);
            i = after;
        }
    }

  private:
    std::size_t closing(std::size_t open, std::size_t end) const {
        return out_.partner[open] == Outline::npos ? end : std::min(end, out_.partner[open]);
    }

    /// Past a `<...>` that begins at `at`.
    std::size_t skipAngles(std::size_t at, std::size_t end) const {
        int depth = 0;
        while (at < end) {
            if (t_[at].is("<"))
                ++depth;
            else if (t_[at].is(">") && --depth == 0)
                return at + 1;
            else if (t_[at].is("(") || t_[at].is("{"))
                at = closing(at, end);
            else if (t_[at].is(";"))
                return at;
            ++at;
        }
        return end;
    }

    /// Index past the declaration that begins at `begin`.
    std::size_t declaration(std::size_t begin, std::size_t end) const {
        bool initialiser = false;
        bool function = false;
        for (std::size_t i = begin; i < end; ++i) {
            if (t_[i].is("template") && i + 1 < end && t_[i + 1].is("<")) {
                i = skipAngles(i + 1, end) - 1;
            } else if (t_[i].is("(")) {
                function = function || !(i > begin && isSpecifier(t_[i - 1].text));
                i = closing(i, end);
            } else if (t_[i].is("[")) {
                i = closing(i, end);
            } else if (t_[i].is("=") && !(i > begin && t_[i - 1].is("operator"))) {
                initialiser = true;
            } else if (t_[i].is(";")) {
                return i + 1;
            } else if (t_[i].is("{")) {
                i = closing(i, end);
                if (i >= end)
                    return end;
                const bool goesOn = i + 1 < end && (t_[i + 1].is(",") || t_[i + 1].is("{"));
                if (function && !initialiser && !goesOn)
                    return i + 1;
            }
        }
        return end;
    }

    void chunk(std::size_t begin, std::size_t end, const std::string &space, bool externC) {
        std::size_t global = Outline::npos;
        std::size_t body = Outline::npos;
        for (std::size_t i = begin; i < end; ++i) {
            if (t_[i].is("template") && i + 1 < end && t_[i + 1].is("<"))
                i = skipAngles(i + 1, end) - 1;
            else if (t_[i].is("__global__"))
                global = i;
            else if (t_[i].is("("))
                i = closing(i, end);
            else if (t_[i].is("{")) {
                body = i;
                break;
            }
        }
        ChunkOutline whole{begin, end, false};
        for (std::size_t i = begin; i < end; ++i)
            whole.device = whole.device || t_[i].is("__global__") || t_[i].is("__device__");
        out_.chunks.push_back(whole);
        if (body != Outline::npos) // a class body counts: its functions are functions
            for (std::size_t i = body + 1; i < closing(body, end); ++i)
                out_.inFunction[i] = true;
        if (global != Outline::npos)
            kernel(begin, end, global, space, externC);
        else
            mention(begin, end);
    }

    /// The identifier before a "(", which a specialisation's arguments may follow.
    std::size_t nameBefore(std::size_t begin, std::size_t open) const {
        std::size_t i = open;
        for (int depth = 0; i-- > begin;) {
            if (t_[i].is(">"))
                ++depth;
            else if (t_[i].is("<"))
                --depth;
            else if (depth == 0)
                return t_[i].isIdentifier() ? i : Outline::npos;
            else if (out_.partner[i] != Outline::npos && out_.partner[i] < i)
                i = out_.partner[i];
        }
        return Outline::npos;
    }

    void kernel(std::size_t begin, std::size_t end, std::size_t global, const std::string &space,
                bool externC) {
        KernelOutline kernel;
        kernel.begin = begin;
        kernel.global = global;
        kernel.externC = externC;
        for (std::size_t i = begin; i < end; ++i) {
            if (t_[i].is("template") && i + 1 < end && t_[i + 1].is("<")) {
                kernel.isTemplate = true;
                kernel.isSpecialised = i + 2 < end && t_[i + 2].is(">");
                i = skipAngles(i + 1, end) - 1;
            } else if (t_[i].is("template")) {
                kernel.isTemplate = kernel.isSpecialised = true;
            } else if (t_[i].is("extern") && i + 1 < end && t_[i + 1].is("\"C\"")) {
                kernel.externC = true;
            } else if (t_[i].is("static")) {
                kernel.isStatic = true;
            } else if (t_[i].is("(")) {
                const std::size_t name = nameBefore(begin, i);
                if (name != Outline::npos && !isSpecifier(t_[name].text)) {
                    kernel.nameAt = name;
                    kernel.name = t_[name].text;
                    kernel.open = i;
                    kernel.close = closing(i, end);
                    break;
                }
                i = closing(i, end);
            } else if (t_[i].is("{")) {
                break;
            }
        }
        if (kernel.name.empty() || kernel.close >= end)
            return;
        kernel.qualified = space + kernel.name;
        for (std::size_t i = kernel.close + 1; i < end; ++i)
            if (t_[i].is("{") && out_.partner[i] != Outline::npos) {
                kernel.bodyBegin = i;
                kernel.bodyEnd = out_.partner[i];
                break;
            }
        out_.kernels.push_back(kernel);
    }

    /// Every name that the declaration may introduce mentions every name in it.
    void mention(std::size_t begin, std::size_t end) {
        Names all;
        Names declared;
        for (std::size_t i = begin; i < end; ++i) {
            if (!t_[i].isIdentifier())
                continue;
            all.emplace(t_[i].text);
            const bool beforeBrackets =
                i + 1 < end &&
                (t_[i + 1].is("(") || t_[i + 1].is("=") || t_[i + 1].is("{") || t_[i + 1].is("[") ||
                 t_[i + 1].is(";") || t_[i + 1].is(":") || t_[i + 1].is("<"));
            // Calls inside a function's body introduce nothing; inside a class functions do.
            if (beforeBrackets && (!out_.inFunction[i] || isClass(begin, end)))
                declared.emplace(t_[i].text);
        }
        for (const auto &name : declared)
            out_.mentions[name].insert(all.begin(), all.end());
    }

    bool isClass(std::size_t begin, std::size_t end) const {
        for (std::size_t i = begin; i < end && !t_[i].is("{"); ++i) {
            if (t_[i].is("template") && i + 1 < end && t_[i + 1].is("<"))
                i = skipAngles(i + 1, end) - 1;
            else if (t_[i].is("("))
                i = closing(i, end);
            else if (t_[i].is("struct") || t_[i].is("class") || t_[i].is("union"))
                return true;
        }
        return false;
    }

    Outline &out_;
    const std::vector<Token> &t_;
};

} // namespace

std::vector<std::size_t> partnersOf(const std::vector<Token> &tokens) {
    std::vector<std::size_t> partner(tokens.size(), Outline::npos);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const auto text = tokens[i].text;
        if (text == "(" || text == "[" || text == "{") {
            open.push_back(i);
        } else if (text == ")" || text == "]" || text == "}") {
            const std::string_view wanted = text == ")" ? "(" : text == "]" ? "[" : "{";
            // A bracket that was never closed does not spoil those around it.
            while (!open.empty() && !tokens[open.back()].is(wanted))
                open.pop_back();
            if (!open.empty()) {
                partner[open.back()] = i;
                partner[i] = open.back();
                open.pop_back();
            }
        }
    }
    return partner;
}

Outline outlineOf(const std::vector<Token> &tokens) {
    Outline outline;
    for (const auto &token : tokens) {
        if (!token.active)
            continue;
        if (token.kind != Token::Kind::directive) {
            outline.tokens.push_back(token);
            continue;
        }
        const auto parts = lexDirective(token);
        if (parts.size() < 2 || !parts[0].is("define"))
            continue;
        const std::string name(parts[1].text);
        outline.macros.insert(name);
        auto &mentions = outline.mentions[name];
        for (std::size_t i = 2; i < parts.size(); ++i)
            if (parts[i].isIdentifier())
                mentions.emplace(parts[i].text);
    }
    outline.partner = partnersOf(outline.tokens);
    outline.inFunction.assign(outline.tokens.size(), false);
    Reader(outline).scope(0, outline.tokens.size(), "", false);
    return outline;
}

Names Outline::reachable(std::size_t begin, std::size_t end) const {
    Names seen;
    std::vector<std::string> open;
    const auto visit = [&](std::string_view name) {
        if (seen.emplace(name).second)
            open.emplace_back(name);
    };
    for (std::size_t i = begin; i < end; ++i)
        if (tokens[i].isIdentifier())
            visit(tokens[i].text);
    while (!open.empty()) {
        const std::string name = std::move(open.back());
        open.pop_back();
        if (auto found = mentions.find(name); found != mentions.end())
            for (const auto &next : found->second)
                visit(next);
    }
    return seen;
}

} // namespace cuda_agent::toolchain::host
