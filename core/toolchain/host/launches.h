// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolchain/host/lexer.h"

#include <string>
#include <vector>

namespace cuda_agent::toolchain::host {

/// `kernel<T><<<grid, block>>>(arguments)`; positions are indices of tokens.
struct LaunchSite {
    std::size_t kernel = 0;    ///< first token of the expression before "<<<"
    std::size_t open = 0;      ///< "<<<"
    std::size_t close = 0;     ///< first ">" of ">>>"
    std::size_t arguments = 0; ///< "("
};

struct LaunchSites {
    std::vector<LaunchSite> sites;
    std::vector<std::size_t> broken; ///< "<<<" that is no launch
};

/// A compiler's note on why a kernel does not fit a launch ("requires 3 arguments, but 2 were
/// provided", "... for 2nd argument"), without the argument that the rewriter has put first.
std::string withoutFirstArgument(std::string_view note);

/// The launches among `tokens` (no directives; `partner` as of partnersOf), by position.
LaunchSites findLaunches(const std::vector<Token> &tokens, const std::vector<std::size_t> &partner);

} // namespace cuda_agent::toolchain::host
