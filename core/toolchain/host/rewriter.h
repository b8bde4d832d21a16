// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolchain/compiler.h"

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace cuda_agent::toolchain::host {

/// How the CUDA threads of a kernel run on the host.
enum class Engine {
    loops,           ///< nested loops around the inlined body
    contextualLoops, ///< the same, and device functions can ask for the thread's index
    fibers           ///< a fiber a thread: the kernel synchronises
};

struct HostKernel {
    std::string name;      ///< the entry's
    std::string qualified; ///< with namespaces, for C++
    Engine engine = Engine::loops;
};

/// One replaced piece of a line, to find back the columns of the source.
struct Edit {
    int line = 1;
    int column = 1;   ///< in the source
    int removed = 0;  ///< columns of the source
    int inserted = 0; ///< columns that stand there now
};

/// Kernel text as C++ for the host. Line numbers are those of the source.
struct Rewritten {
    std::string text;
    std::vector<HostKernel> kernels;
    std::vector<Edit> edits; ///< by line and column

    /// The source's column for one of `text`.
    int sourceColumn(int line, int column) const;
};

/// The same for a whole `.cu` file of a module candidate: host functions that launch kernels, and
/// the headers of the candidate that it includes. By path; `kernels` names every kernel with a body
/// of that file.
using RewrittenFiles = std::map<std::string, Rewritten>;

/// Turns CUDA C++ into C++ that the headers in host/include/ give a meaning, without compiling it:
/// kernels become loops or fibers over their body, shared memory becomes storage of the block.
/// The answer is diagnostics when the text uses what a host cannot run (tensor cores, PTX, ...), or
/// lacks one of the wanted entries.
std::variant<Rewritten, std::vector<Diagnostic>> rewrite(const Source &source);

/// As rewrite() for `source` and its headers; `k<T><<<grid, block>>>(a)` in host functions becomes
/// a call that binds the arguments and runs the kernel to its end. Launches in device code and
/// kernels in macros are refused. Entries are not looked at.
std::variant<RewrittenFiles, std::vector<Diagnostic>> rewriteObject(const Source &source);

/// The header of the candidate that `#include "name"` in the file `from` means, or empty.
std::string findHeader(const Source &source, const std::string &from, std::string_view name);

} // namespace cuda_agent::toolchain::host
