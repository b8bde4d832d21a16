// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolchain/diagnostic.h"
#include "core/toolchain/host/lexer.h"

#include <string>
#include <vector>

namespace cuda_agent::toolchain::host {

/// What the host cannot run, with its place: tensor cores, inline PTX, asynchronous copies,
/// textures, clusters, grid-wide synchronisation, kernel launches from kernels, template libraries;
/// and includes that reach outside the candidate. Only active tokens count.
std::vector<Diagnostic> findUnsupported(std::string_view source, const std::string &path,
                                        const std::vector<Token> &tokens);

} // namespace cuda_agent::toolchain::host
