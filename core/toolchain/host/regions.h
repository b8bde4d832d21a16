// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolchain/host/lexer.h"

#include <map>
#include <string>

namespace cuda_agent::toolchain::host {

/// Marks tokens inactive that a host build surely skips: `#if`, `#ifdef`, `#elif`, `#else` over
/// `__CUDA_AGENT_HOST__` (defined), `__CUDA_ARCH__` (not defined), `defines` and object-like macros
/// that the text itself defines as numbers. A condition that this does not understand leaves all
/// its branches active.
void markRegions(std::vector<Token> &tokens, const std::map<std::string, std::string> &defines);

} // namespace cuda_agent::toolchain::host
