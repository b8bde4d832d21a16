// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolchain/compiler.h"
#include "core/toolchain/listing.h"

#include <stop_token>
#include <string>
#include <variant>
#include <vector>

namespace cuda_agent::toolchain {

enum class Code { sass, ptx };

/// What the compiler made of one source for one architecture.
struct Listing {
    std::string source; ///< "kernels/x.cu"
    std::vector<ListedFunction> functions;
    std::vector<EntryInfo> entries; ///< of SASS
    std::vector<Diagnostic> warnings;
};

/// Compiles a source for an architecture ("sm_90"), whose card need not be there, and lists it.
/// Blocking (some 0.3 s, less from the compiler's cache); any thread may call.
/// Errors: request (no such architecture), machine (no nvdisasm, ...), stopped.
Result<std::variant<Listing, Rejection>> listingOf(const Source &source,
                                                   const std::string &architecture, Code code,
                                                   std::stop_token stop = {});

} // namespace cuda_agent::toolchain
