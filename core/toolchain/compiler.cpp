// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/compiler.h"

namespace cuda_agent::toolchain {

Result<std::unique_ptr<Compiler>> makeCompiler(const device::Info &info) {
    return info.kind == device::Kind::cuda ? makeCudaCompiler(info.architecture)
                                           : makeHostCompiler();
}

} // namespace cuda_agent::toolchain
