// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <string>

namespace cuda_agent::sandbox {

/// The system call filter of every sandboxed process, as the BPF program that
/// `bwrap --seccomp` reads. Built once; any thread may call.
///
/// A deny list: calls that reach the kernel's wide attack surface or other processes answer EPERM,
/// sockets other than AF_UNIX answer EAFNOSUPPORT, clone3 answers ENOSYS (its flags lie in memory
/// that a filter cannot read; the C library then falls back to clone). Foreign call tables (i386,
/// x32) end the process. Errors: machine.
Result<std::string> seccompProgram();

} // namespace cuda_agent::sandbox
