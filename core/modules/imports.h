// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace cuda_agent::modules {

/// Names that a shared library wants from others (the undefined entries of its dynamic symbol
/// table), mangled. Read by the engine, so no candidate can talk its way round it.
/// Errors: machine (not a 64-bit little-endian ELF library, or a damaged one).
Result<std::vector<std::string>> importedNames(const std::filesystem::path &library);

/// "at::_ops::add_Tensor::call(...)" -> "add_Tensor"; empty for other names.
std::string operatorOf(const std::string &mangled);

/// What those names say that a binding has no use for: other ways to PyTorch's operators and to
/// library routines of the host, Python's own machinery, processes, threads, the linker. Sentences
/// "it uses dlsym". Operators are left to the rules.
std::vector<std::string> machineryIn(const std::vector<std::string> &names);

} // namespace cuda_agent::modules
