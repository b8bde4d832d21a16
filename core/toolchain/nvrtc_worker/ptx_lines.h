// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <string>
#include <string_view>

namespace cuda_agent::toolchain {

/// What the assembler says about lines of PTX, said about lines of the source that they were made
/// from: "ptxas application ptx input, line 41; error   : Feature 'cp.async' requires ..." becomes
/// "kernels/a.cu:5:25: error: Feature 'cp.async' requires ...". So does an unresolved function,
/// at its first call.
///
/// `ptx` is text compiled with -lineinfo; its `.file`, `.loc` and `inlined_at` (PTX ISA, Debugging
/// Directives) are followed. `source` is the file name that NVRTC was given: a line of another
/// file, a header, becomes the line of `source` that it was inlined at, the header being named
/// behind the message. Lines of the log without a place in the source stay as they are.
///
/// Takes any text; runs where the compiler runs, beside hostile sources.
std::string withSourceLines(std::string_view log, std::string_view ptx, std::string_view source);

} // namespace cuda_agent::toolchain
