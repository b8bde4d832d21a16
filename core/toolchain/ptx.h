// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolchain/compiler.h"
#include "core/toolchain/listing.h"

#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cuda_agent::toolchain {

/// Reads PTX that was made with -lineinfo. `source` is the file name that the compiler was given;
/// places in it carry that name, whatever folder stands before it. Functions come in the order of
/// the text; labels, declarations and directives are left out. Takes any text.
std::vector<ListedFunction> parsePtx(std::string_view text, std::string_view source);

/// The PTX that NVRTC makes of a source for an architecture ("sm_90"), in the sandbox, with the
/// options of makeCudaCompiler(). Nothing is cached. Blocking (some 0.3 s); any thread may call.
/// Errors: request (no such architecture), machine, stopped. A source that does not compile is a
/// Rejection; one that only the assembler refuses is none, since that is not asked.
Result<std::variant<std::string, Rejection>>
translateToPtx(const Source &source, std::string architecture, std::stop_token stop = {});

} // namespace cuda_agent::toolchain
