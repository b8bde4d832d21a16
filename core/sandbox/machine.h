// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sandbox/cgroup.h"
#include "core/sandbox/launcher.h"
#include "core/sandbox/supervisor.h"
#include "core/sandbox/system_layout.h"

namespace cuda_agent::sandbox {

/// What was found out about this machine once; everything a start needs.
struct Machine {
    Support support;
    bool userNamespace = true;
    bool limitProcesses = false; ///< by RLIMIT_NPROC inside the name space, for want of a group
    CgroupPlaces cgroups;
    SystemLayout system;
    int landlock = 0; ///< the version in use; 0: none
};

/// Examines the machine, running /usr/bin/true in a sandbox; `bubblewrap` is the path to use, or
/// empty to look for it; `useCgroups` false pretends that none can be made.
Machine inspectMachine(const std::string &bubblewrap = {}, bool useCgroups = true);

/// This machine, examined on first use. CUDA_AGENT_NO_CGROUPS=1 in the environment leaves control
/// groups alone (for machines whose owner does not want them touched).
const Machine &thisMachine();

/// Starts one run. `input` becomes standard input, `channel` descriptor 3 unless absent.
Result<std::unique_ptr<Supervisor>> startOn(const Machine &machine, const Policy &policy,
                                            const std::vector<std::string> &argv, UniqueFd input,
                                            UniqueFd channel);

/// A read-only file in memory with these bytes, at its beginning. Errors: machine.
Result<UniqueFd> memoryFile(std::string_view bytes);

} // namespace cuda_agent::sandbox
