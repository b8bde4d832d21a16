// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolchain/diagnostic.h"
#include "core/toolchain/host/lexer.h"

#include <functional>
#include <string>
#include <vector>

namespace cuda_agent::toolchain::host {

/// What else a module candidate's file may have.
struct Allowed {
    bool launches = false; ///< the rewriter looks at them
    /// Whether an `#include` of this name means a file of the candidate's own.
    std::function<bool(std::string_view)> header;
};

/// What the host cannot run, with its place: tensor cores, inline PTX, asynchronous copies,
/// textures, clusters, grid-wide synchronisation, kernel launches from kernels, template libraries;
/// and includes that reach outside the candidate. Only active tokens count.
std::vector<Diagnostic> findUnsupported(std::string_view source, const std::string &path,
                                        const std::vector<Token> &tokens,
                                        const Allowed &allowed = {});

} // namespace cuda_agent::toolchain::host
