// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sandbox/sandbox.h"
#include "core/sandbox/system_layout.h"

namespace cuda_agent::sandbox {

/// What `bubblewrapArguments` needs to know about the machine.
struct Setting {
    std::string bubblewrap;
    bool userNamespace = true;
    SystemLayout system;
    std::optional<GpuLayout> gpu; ///< when the policy asks for one
    int landlock = 0;             ///< version of Landlock to go under; 0: none
};

/// Numbers that the helper files have in bubblewrap's process.
struct Descriptors {
    int status = -1;
    int seccomp = -1;
    int block = -1; ///< -1: not used
    int passwd = -1;
    int group = -1;
    int nameService = -1;
    int entry = -1;      ///< the entry program's bytes; -1: without Landlock
    bool channel = true; ///< the program inherits descriptor 3
};

/// Contents of the few files that are made up instead of shown.
std::string_view syntheticPasswd();
std::string_view syntheticGroup();
std::string_view syntheticNameService();

/// Where a mount lies inside: without dots, doubled and trailing slashes.
std::string insidePath(const Mount &mount);

/// Checks what a caller may get wrong: missing or relative mounts, a mount over the fixed parts.
/// Errors: request.
Result<void> checkPolicy(const Policy &policy, const std::vector<std::string> &argv);

/// The whole command line of bubblewrap for one run; reads nothing from the machine.
std::vector<std::string> bubblewrapArguments(const Policy &policy,
                                             const std::vector<std::string> &argv,
                                             const Setting &setting,
                                             const Descriptors &descriptors);

} // namespace cuda_agent::sandbox
