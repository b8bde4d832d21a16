// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/host/rewriter.h"

#include "core/toolchain/host/outline.h"
#include "core/toolchain/host/regions.h"
#include "core/toolchain/host/unsupported.h"

#include <fmt/format.h>

#include <algorithm>

namespace cuda_agent::toolchain::host {

namespace {

bool startsWithAny(std::string_view word, std::initializer_list<std::string_view> prefixes) {
    return std::ranges::any_of(prefixes, [&](auto prefix) { return word.starts_with(prefix); });
}

/// Words whose meaning needs that a block's threads run side by side.
bool isSynchronising(std::string_view word) {
    return startsWithAny(word, {"__syncthreads", "__syncwarp", "__shfl_", "__ballot_sync",
                                "__any_sync", "__all_sync", "__activemask", "__match_any_sync",
                                "__match_all_sync", "__reduce_", "__barrier_sync"});
}

bool isIndex(std::string_view word) {
    return word == "threadIdx" || word == "blockIdx" || word == "blockDim" || word == "gridDim";
}

class Rewriter {
  public:
    explicit Rewriter(const Source &source) : source_(source), text_(source.text) {}

    std::variant<Rewritten, std::vector<Diagnostic>> run() {
        auto tokens = lex(text_);
        markRegions(tokens, source_.defines);
        if (auto problems = findUnsupported(text_, source_.path, tokens); !problems.empty())
            return problems;
        outline_ = outlineOf(tokens);
        for (const auto &kernel : outline_.kernels)
            rewriteKernel(kernel);
        for (std::size_t i = 0; i < outline_.tokens.size(); ++i)
            if (outline_.tokens[i].is("__shared__"))
                rewriteShared(i);
            else if (outline_.tokens[i].is("]"))
                rewriteLambda(i);
        if (auto problems = checkEntries(); !problems.empty())
            return problems;
        apply();
        return std::move(result_);
    }

  private:
    struct Replacement {
        std::size_t offset;
        std::size_t length;
        std::string text;
    };

    const Token &token(std::size_t i) const { return outline_.tokens[i]; }

    void insert(std::size_t offset, std::string text) {
        replacements_.push_back({offset, 0, std::move(text)});
    }
    void replace(std::size_t i, std::string text) {
        replacements_.push_back({token(i).offset, token(i).text.size(), std::move(text)});
    }
    void blank(std::size_t i) { replace(i, std::string(token(i).text.size(), ' ')); }

    Engine engineOf(const KernelOutline &kernel) const {
        const Names reached = outline_.reachable(kernel.open, kernel.bodyEnd + 1);
        if (std::ranges::any_of(reached, [](const auto &name) { return isSynchronising(name); }))
            return Engine::fibers;
        // An index word in the body, or in a macro there, means the loop's own variables. In a
        // device function it has to be looked up.
        for (const auto &name : reached) {
            if (outline_.macros.contains(name))
                continue;
            auto found = outline_.mentions.find(name);
            if (found == outline_.mentions.end())
                continue;
            for (const auto &mentioned : found->second)
                if (isIndex(mentioned) || macroMeansIndex(mentioned))
                    return Engine::contextualLoops;
        }
        return Engine::loops;
    }

    bool macroMeansIndex(const std::string &name, int depth = 0) const {
        if (depth > 20 || !outline_.macros.contains(name))
            return false;
        const auto &mentions = outline_.mentions.find(name)->second;
        return std::ranges::any_of(mentions, [&](const auto &mentioned) {
            return isIndex(mentioned) || macroMeansIndex(mentioned, depth + 1);
        });
    }

    void rewriteKernel(const KernelOutline &kernel) {
        for (std::size_t i = kernel.begin; i + 1 < kernel.open; ++i)
            if (token(i).is("extern") && token(i + 1).is("\"C\"")) {
                blank(i);
                blank(i + 1);
            }
        if (kernel.isStatic)
            blank(kernel.global);
        else
            replace(kernel.global, "static    ");
        const bool none = kernel.close == kernel.open + 1;
        const bool isVoid = kernel.close == kernel.open + 2 && token(kernel.open + 1).is("void");
        const std::string parameter = "const CudaAgentHostChunk &__cah_chunk";
        if (isVoid)
            replace(kernel.open + 1, parameter);
        else
            insert(token(kernel.open).offset + 1, none ? parameter : parameter + ", ");
        if (kernel.bodyBegin == 0)
            return;
        const Engine engine = engineOf(kernel);
        insert(token(kernel.bodyBegin).offset + 1, engine == Engine::fibers ? " __CAH_FIBERS "
                                                   : engine == Engine::loops
                                                       ? " __CAH_LOOPS "
                                                       : " __CAH_CONTEXT_LOOPS ");
        insert(token(kernel.bodyEnd).offset, "__CAH_END ");
        if (kernel.externC && !kernel.isTemplate)
            result_.kernels.push_back({kernel.name, kernel.qualified, engine});
    }

    /// `extern __shared__ T x[]`: a pointer to the launch's dynamic shared memory. The others are
    /// storage of the block by what the headers define `__shared__` to be.
    void rewriteShared(std::size_t at) {
        std::size_t begin = at;
        while (begin > 0 && !token(begin - 1).is(";") && !token(begin - 1).is("{") &&
               !token(begin - 1).is("}"))
            --begin;
        std::size_t end = at;
        while (end < outline_.tokens.size() && !token(end).is(";"))
            ++end;
        std::size_t external = Outline::npos;
        for (std::size_t i = begin; i < at + 4 && i < end; ++i) {
            if (token(i).is("extern"))
                external = i;
            if (token(i).is("static"))
                blank(i);
        }
        if (external == Outline::npos)
            return;
        blank(external);
        blank(at);
        std::size_t first = Outline::npos; // of the type
        std::size_t open = Outline::npos;
        for (std::size_t i = std::min(external, at); i < end; ++i) {
            if (token(i).is("[")) {
                open = i;
                break;
            }
            if (token(i).is("__align__") || token(i).is("alignas") ||
                token(i).is("__attribute__")) {
                const std::size_t close =
                    i + 1 < end && token(i + 1).is("(") ? outline_.partner[i + 1] : i;
                for (; i <= close && i < end; ++i)
                    blank(i);
                --i;
            } else if (i != external && i != at && first == Outline::npos) {
                first = i;
            }
        }
        if (open == Outline::npos || open == 0 || first == Outline::npos || first + 1 > open - 1)
            return; // no array of unknown size: the compiler says what is wrong
        const std::size_t name = open - 1;
        const std::size_t close = outline_.partner[open];
        if (close == Outline::npos || close >= end)
            return;
        if (!outline_.inFunction[at]) {
            insert(token(first).offset, "static const __cah_shared_view<");
            insert(token(name).offset, "> ");
            replace(open, "{");
            replace(close, "}");
            return;
        }
        const bool rows = close + 1 < end && token(close + 1).is("[");
        insert(token(name).offset, rows ? "(*const " : "*const ");
        replace(open, rows ? ")" : " ");
        replace(close, " ");
        insert(token(end).offset, " = __cah_t.cah_dynamicShared()");
    }

    /// `[...] __device__ (...)`: only nvcc takes the word there.
    void rewriteLambda(std::size_t bracket) {
        for (std::size_t i = bracket + 1; i < outline_.tokens.size(); ++i) {
            if (!token(i).is("__device__") && !token(i).is("__host__"))
                return;
            blank(i);
        }
    }

    std::vector<Diagnostic> checkEntries() {
        std::vector<Diagnostic> problems;
        if (source_.entries.empty() && result_.kernels.empty())
            problems.push_back(
                {"error", source_.path, 0, 0,
                 "there is no kernel: write extern \"C\" __global__ void name(...)"});
        for (const auto &wanted : source_.entries) {
            if (std::ranges::any_of(result_.kernels, [&](auto &k) { return k.name == wanted; }))
                continue;
            Diagnostic problem{"error", source_.path, 0, 0, {}};
            problem.message =
                fmt::format("there is no kernel `extern \"C\" __global__ void {}(...)`", wanted);
            for (const auto &kernel : outline_.kernels) {
                if (kernel.name != wanted)
                    continue;
                const Place place = placeOf(text_, token(kernel.nameAt).offset);
                problem.line = place.line;
                problem.column = place.column;
                problem.message =
                    kernel.isTemplate
                        ? fmt::format("kernel '{}' is a template; an entry must be an "
                                      "extern \"C\" function",
                                      wanted)
                        : fmt::format("kernel '{}' needs extern \"C\" and a body", wanted);
                break;
            }
            problems.push_back(std::move(problem));
        }
        return problems;
    }

    void apply() {
        std::ranges::stable_sort(replacements_, {}, &Replacement::offset);
        std::size_t done = 0;
        Place place;
        const auto advance = [&](std::size_t to) {
            for (; done < to; ++done) {
                result_.text += text_[done];
                place = text_[done] == '\n' ? Place{place.line + 1, 1}
                                            : Place{place.line, place.column + 1};
            }
        };
        for (const auto &replacement : replacements_) {
            if (replacement.offset < done)
                continue; // blanked twice
            advance(replacement.offset);
            result_.text += replacement.text;
            result_.edits.push_back({place.line, place.column, static_cast<int>(replacement.length),
                                     static_cast<int>(replacement.text.size())});
            done += replacement.length;
            place.column += static_cast<int>(replacement.length);
        }
        advance(text_.size());
        if (!result_.text.ends_with('\n'))
            result_.text += '\n';
        // From here on nothing is the candidate's.
        result_.text += "#line 1 \"kernel entries\"\n";
        for (const auto &kernel : result_.kernels)
            result_.text += fmt::format("__CAH_ENTRY({}, {})\n", kernel.name, kernel.qualified);
        result_.text += "__CAH_LIBRARY_BEGIN\n";
        for (const auto &kernel : result_.kernels)
            result_.text += fmt::format("__CAH_LIBRARY_ENTRY({}, {}, {})\n", kernel.name,
                                        kernel.qualified, kernel.engine == Engine::fibers ? 1 : 0);
        result_.text += fmt::format("__CAH_LIBRARY_END({})\n", result_.kernels.size());
    }

    const Source &source_;
    std::string_view text_;
    Outline outline_;
    std::vector<Replacement> replacements_;
    Rewritten result_;
};

} // namespace

int Rewritten::sourceColumn(int line, int column) const {
    int shift = 0; // source minus text
    for (const auto &edit : edits) {
        if (edit.line < line)
            continue;
        if (edit.line > line)
            break;
        const int begin = edit.column - shift;
        if (column < begin)
            break;
        if (column < begin + edit.inserted)
            return edit.inserted == edit.removed ? column + shift : edit.column;
        shift += edit.removed - edit.inserted;
    }
    return std::max(1, column + shift);
}

std::variant<Rewritten, std::vector<Diagnostic>> rewrite(const Source &source) {
    return Rewriter(source).run();
}

} // namespace cuda_agent::toolchain::host
