// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolchain/host/lexer.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace cuda_agent::toolchain::host {

using Names = std::set<std::string, std::less<>>;

/// One `__global__` function. Positions are indices into Outline::tokens.
struct KernelOutline {
    std::string name;
    std::string qualified;
    bool externC = false;
    bool isTemplate = false;
    bool isSpecialised = false; ///< an explicit specialisation or instantiation
    bool isStatic = false;
    std::size_t begin = 0; ///< of the declaration
    std::size_t global = 0;
    std::size_t nameAt = 0;
    std::size_t open = 0;      ///< "(" of the parameters
    std::size_t close = 0;     ///< ")"
    std::size_t bodyBegin = 0; ///< "{", or 0 for a declaration
    std::size_t bodyEnd = 0;   ///< "}"
};

/// One declaration at namespace scope.
struct ChunkOutline {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool device = false; ///< says __global__ or __device__ somewhere
};

/// What a kernel file contains, read from tokens alone. Names stand for everything of that name;
/// what mentions a name is taken to use it, so the graph errs towards more edges.
struct Outline {
    std::vector<Token> tokens;        ///< active ones without directives
    std::vector<std::size_t> partner; ///< of each bracket; npos where there is none
    std::vector<KernelOutline> kernels;
    std::vector<ChunkOutline> chunks;                   ///< by position
    std::map<std::string, Names, std::less<>> mentions; ///< functions, classes, variables, macros
    Names macros;
    std::vector<bool> inFunction; ///< by token: inside a function's or a kernel's body

    static constexpr std::size_t npos = static_cast<std::size_t>(-1);
    /// Names that the tokens [begin, end) mention, and all that those mention in turn.
    Names reachable(std::size_t begin, std::size_t end) const;
};

Outline outlineOf(const std::vector<Token> &tokens);

/// For each bracket the index of the other; Outline::npos where there is none, and for all else.
std::vector<std::size_t> partnersOf(const std::vector<Token> &tokens);

} // namespace cuda_agent::toolchain::host
