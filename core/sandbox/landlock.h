// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sandbox/sandbox.h"

#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent::sandbox {

/// The version of Landlock that this kernel has and that a sandbox uses; 0 where it has none, or
/// one that programs could not live with.
struct Landlock {
    int version = 0;
    std::string problem; ///< why not, or empty
};
/// Asks the kernel once. Any thread may call.
const Landlock &landlock();
/// What an answer of the kernel (a version, or a negative error number) comes to.
Landlock landlockFrom(long answer);

/// The program that puts itself under Landlock and becomes the one that was asked for
/// (entry/entry.c), as it is copied into a sandbox. Empty where the build machine could not make
/// it.
std::string_view entryProgram();

/// Its arguments before "--": all that a sandbox of this policy may write to.
std::vector<std::string> entryRules(const Policy &policy, int version);

/// What it reported before the program ran, as a sentence.
std::string entryProblem(std::string_view report);

} // namespace cuda_agent::sandbox
