// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent::toolchain {

/// One message of a compiler, pointing into the candidate's own files.
struct Diagnostic {
    std::string severity; ///< "error", "warning", "note"
    std::string file;     ///< relative to the candidate folder, or empty
    int line = 0;         ///< 1-based; 0 when unknown
    int column = 0;       ///< 1-based; 0 when the compiler gives none
    std::string message;
};
Json toJson(const Diagnostic &diagnostic);

/// Reads what NVRTC/nvcc ("f.cu(3): error: ..."), clang and g++ ("f.cu:3:7: error: ...") print.
std::vector<Diagnostic> parseDiagnostics(std::string_view output);

} // namespace cuda_agent::toolchain
