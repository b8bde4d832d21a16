// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/toolchain/listing.h"

#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent::toolchain {

/// Reads what `nvdisasm -c -gi` prints (CUDA Binary Utilities). `source` is the file name that the
/// compiler was given, "kernels/a.cu"; places in it carry that name, whatever folder stands before
/// it. Takes any text.
std::vector<ListedFunction> parseSass(std::string_view text, std::string_view source);

/// Disassembles a cubin that was compiled with -lineinfo, as those of makeCudaCompiler() are, in
/// the sandbox. Blocking (about 50 ms a small kernel); any thread may call.
/// Errors: machine (no nvdisasm, with how to get one; it fails or prints more than 64 MiB),
/// stopped.
Result<std::vector<ListedFunction>> disassemble(const std::filesystem::path &cubin,
                                                std::string_view source, std::stop_token stop = {});

/// nvdisasm of the toolkit, of the wheels beside PyTorch or of Triton, in this order.
/// Errors: machine.
Result<std::filesystem::path> findDisassembler();

} // namespace cuda_agent::toolchain
