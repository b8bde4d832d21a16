// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/host/rewriter.h"

#include "core/toolchain/host/launches.h"
#include "core/toolchain/host/outline.h"
#include "core/toolchain/host/regions.h"
#include "core/toolchain/host/unsupported.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

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

/// A file of a module candidate: the source or one of its headers.
struct ObjectFile {
    std::string path;
    std::string_view text;
    std::vector<Token> tokens;
    Outline outline;
};

/// The file's text, or null.
const std::string *textOf(const Source &source, const std::string &path) {
    if (path == source.path)
        return &source.text;
    auto found = source.headers.find(path);
    return found == source.headers.end() ? nullptr : &found->second;
}

/// The candidate's headers that an active `#include` in the file names.
std::vector<std::string> includesOf(const Source &source, const ObjectFile &file) {
    std::vector<std::string> paths;
    for (const auto &token : file.tokens) {
        if (!token.active || token.kind != Token::Kind::directive)
            continue;
        const auto parts = lexDirective(token);
        if (parts.size() < 2 || !parts[0].is("include") || parts[1].kind != Token::Kind::text ||
            parts[1].text.size() < 2)
            continue;
        auto path =
            findHeader(source, file.path, parts[1].text.substr(1, parts[1].text.size() - 2));
        if (!path.empty())
            paths.push_back(std::move(path));
    }
    return paths;
}

class Rewriter {
  public:
    explicit Rewriter(const Source &source) : source_(source), text_(source.text) {}
    /// One file of a module candidate.
    Rewriter(const Source &source, ObjectFile &file)
        : source_(source), text_(file.text), object_(&file) {}

    std::variant<Rewritten, std::vector<Diagnostic>> runObject() {
        outline_ = std::move(object_->outline);
        rewriteAll();
        for (std::size_t i = 0; i < outline_.tokens.size(); ++i)
            keepAttribute(outline_.tokens, i);
        for (const auto &chunk : outline_.chunks)
            if (!chunk.device)
                renameIndices(chunk);
        rewriteLaunches(outline_.tokens, outline_.partner);
        for (const auto &token : object_->tokens)
            if (token.active && token.kind == Token::Kind::directive)
                rewriteMacro(token);
        if (!problems_.empty())
            return std::move(problems_);
        apply();
        return std::move(result_);
    }

    std::variant<Rewritten, std::vector<Diagnostic>> run() {
        auto tokens = lex(text_);
        markRegions(tokens, source_.defines);
        if (auto problems = findUnsupported(text_, source_.path, tokens); !problems.empty())
            return problems;
        outline_ = outlineOf(tokens);
        rewriteAll();
        if (auto problems = checkEntries(); !problems.empty())
            return problems;
        apply();
        appendEntries();
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

    void rewriteAll() {
        for (const auto &kernel : outline_.kernels)
            rewriteKernel(kernel);
        for (std::size_t i = 0; i < outline_.tokens.size(); ++i)
            if (outline_.tokens[i].is("__shared__"))
                rewriteShared(i);
            else if (outline_.tokens[i].is("]"))
                rewriteLambda(i);
    }

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
        if (kernel.isStatic || kernel.isSpecialised)
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
        if (object_ || (kernel.externC && !kernel.isTemplate))
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

    void problemAt(const Token &token, std::string message) {
        const Place place = placeOf(text_, token.offset);
        problems_.push_back({"error", object_->path, place.line, place.column, std::move(message)});
    }

    bool inDeviceCode(std::size_t at) const {
        return std::ranges::any_of(outline_.chunks, [&](const ChunkOutline &chunk) {
            return chunk.device && at >= chunk.begin && at < chunk.end;
        });
    }

    /// `k<T><<<grid, block>>>(a)` becomes `__CAH_LAUNCH(k<T>) ...(a)`: see cuda_agent_launch.h.
    /// Tokens stay in their order, so that a launch may span lines or stand in a macro.
    void rewriteLaunches(const std::vector<Token> &tokens,
                         const std::vector<std::size_t> &partner) {
        const bool macro = &tokens != &outline_.tokens;
        const auto found = findLaunches(tokens, partner);
        for (const std::size_t open : found.broken)
            problemAt(tokens[open], "this kernel launch cannot be read; write "
                                    "kernel<<<grid, block, shared, stream>>>(arguments)");
        for (const auto &site : found.sites) {
            if (!macro && inDeviceCode(site.open)) {
                problemAt(tokens[site.open],
                          "the CPU device cannot run kernel launches from device code ('<<<'); "
                          "keep it in an #ifndef __CUDA_AGENT_HOST__ branch beside plain C++");
                continue;
            }
            insert(tokens[site.kernel].offset, "__cah_launch(__FILE__, __LINE__, __CAH_KERNEL ");
            replacements_.push_back(
                {tokens[site.open].offset, 3, "(__cah_c, __cah_p...); }, __cah_shape("});
            replacements_.push_back({tokens[site.close].offset, 3, "))"});
            const std::size_t end = partner[site.arguments];
            for (std::size_t i = site.arguments + 1; i < end && end != Outline::npos; ++i)
                if (tokens[i].is("NULL")) // an integer as soon as it is bound
                    replacements_.push_back({tokens[i].offset, 4, "nullptr"});
        }
    }

    void rewriteMacro(const Token &directive) {
        auto parts = lexDirective(directive);
        if (parts.empty() || !parts[0].is("define"))
            return;
        for (std::size_t i = 0; i < parts.size(); ++i)
            keepAttribute(parts, i);
        rewriteLaunches(parts, partnersOf(parts));
    }

    /// The C++ library says `__attribute__((__noinline__))`, so that word cannot be a macro.
    void keepAttribute(const std::vector<Token> &tokens, std::size_t i) {
        if (tokens[i].is("__noinline__") && !(i > 0 && tokens[i - 1].is("(")))
            replacements_.push_back({tokens[i].offset, tokens[i].text.size(), "__CAH_NOINLINE"});
    }

    /// Host functions like to call their variables blockDim and gridDim.
    void renameIndices(const ChunkOutline &chunk) {
        for (std::size_t i = chunk.begin; i < chunk.end; ++i)
            if (isIndex(token(i).text))
                insert(token(i).offset, "__cah_host_");
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
    }

    /// From here on nothing is the candidate's.
    void appendEntries() {
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
    ObjectFile *object_ = nullptr;
    Outline outline_;
    std::vector<Replacement> replacements_;
    std::vector<Diagnostic> problems_;
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

std::string findHeader(const Source &source, const std::string &from, std::string_view name) {
    if (name.empty() || name.front() == '/')
        return {};
    for (const auto &folder :
         {std::filesystem::path(from).parent_path(), std::filesystem::path()}) {
        const auto path = (folder / name).lexically_normal().generic_string();
        if (source.headers.contains(path))
            return path;
    }
    return {};
}

std::variant<RewrittenFiles, std::vector<Diagnostic>> rewriteObject(const Source &source) {
    std::map<std::string, ObjectFile> files;
    std::vector<std::string> open = {source.path};
    std::vector<Diagnostic> problems;
    while (!open.empty()) {
        const std::string path = std::move(open.back());
        open.pop_back();
        if (files.contains(path))
            continue;
        auto &file = files[path];
        file.path = path;
        file.text = *textOf(source, path);
        file.tokens = lex(file.text);
        markRegions(file.tokens, source.defines);
        const Allowed allowed{
            true, [&](std::string_view name) { return !findHeader(source, path, name).empty(); }};
        std::ranges::move(findUnsupported(file.text, path, file.tokens, allowed),
                          std::back_inserter(problems));
        file.outline = outlineOf(file.tokens);
        std::ranges::move(includesOf(source, file), std::back_inserter(open));
    }
    // Who mentions whom is known over all files: a device function that waits may be in a header.
    std::map<std::string, Names, std::less<>> mentions;
    Names macros;
    for (const auto &[path, file] : files) {
        for (const auto &[name, mentioned] : file.outline.mentions)
            mentions[name].insert(mentioned.begin(), mentioned.end());
        macros.insert(file.outline.macros.begin(), file.outline.macros.end());
    }
    RewrittenFiles result;
    for (auto &[path, file] : files) {
        file.outline.mentions = mentions;
        file.outline.macros = macros;
        auto rewritten = Rewriter(source, file).runObject();
        if (auto *found = std::get_if<std::vector<Diagnostic>>(&rewritten))
            std::ranges::move(*found, std::back_inserter(problems));
        else
            result[path] = std::move(std::get<Rewritten>(rewritten));
    }
    if (!problems.empty())
        return problems;
    return result;
}

} // namespace cuda_agent::toolchain::host
