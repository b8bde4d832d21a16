// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tools/workspace_sandbox.h"

namespace cuda_agent::tools {

namespace fs = std::filesystem;

sandbox::Policy workspacePolicy(const Workspace &workspace, bool writable,
                                std::chrono::milliseconds wall) {
    const fs::path inside = "/workspace";
    const fs::path folder = fs::absolute(workspace.folder().path());
    sandbox::Policy policy;
    policy.name = "shell";
    policy.mounts.push_back({folder, inside, writable});
    for (const auto &[path, text] : workspace.protectedFiles())
        policy.mounts.push_back({folder / path, inside / path, false});
    for (const auto &skill : workspace.skills().skills())
        if (skill.usable())
            policy.mounts.push_back(
                {fs::absolute(skill.folder), fs::path("/skills") / skill.name, false});
    policy.workingDirectory = inside;
    policy.limits.wall = wall;
    policy.limits.memoryBytes = 4ull << 30;
    policy.limits.processes = 128;
    policy.limits.fileBytes = 256ull << 20;
    policy.limits.scratchBytes = 512ull << 20;
    policy.limits.mountBytes = 256ull << 20;
    policy.limits.outputBytes = 1ull << 20;
    return policy;
}

} // namespace cuda_agent::tools
