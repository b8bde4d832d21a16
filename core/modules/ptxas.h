// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolchain/compiler.h"

#include <string_view>
#include <vector>

namespace cuda_agent::modules {

/// A kernel's mangled or demangled name as a person reads it: without return type, parameter list
/// and anonymous namespaces, which demanglers write differently; template arguments stay.
std::string readableKernel(std::string name);

/// The kernels that `ptxas -v` reports (CUDA Binary Utilities, "ptxas info"), by readable name,
/// with registers, spills, stack and static shared memory. Lines of any other kind are passed over.
std::vector<toolchain::EntryInfo> entriesFromPtxas(std::string_view output);

} // namespace cuda_agent::modules
