// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace cuda_agent::learn {

/// What a name is that CUDA C++ has without a declaration of the source's own.
enum class CudaWord : std::uint8_t {
    type,       ///< "float", "__half2", and what stands in front of one, as "const"
    expression, ///< behind it stands an expression, as behind "return"
    declares,   ///< behind it stands the name of a type, as behind "struct"
    templates,  ///< "template"
    space,      ///< "namespace"
    imports,    ///< "using"
    typedefs,   ///< "typedef"
    enumerates, ///< "enum"
    function,   ///< behind it stands what it is called with, as behind "expf"
    other       ///< macros, variables, namespaces
};

/// Keywords, the types, functions and macros of CUDA's and C's headers, and namespaces, as
/// CUDA 13 has them. Not those that begin with `_`, which are all the compiler's.
std::optional<CudaWord> cudaWord(std::string_view name);
/// All of them, sorted.
std::span<const std::string_view> cudaWords();
/// Whether a header that is included as `<name>` declares no more than these, or within namespaces.
bool isKnownHeader(std::string_view name);

} // namespace cuda_agent::learn
