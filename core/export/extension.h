// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/device.h"
#include "core/plan/plan.h"
#include "core/task/task.h"

#include <filesystem>
#include <map>
#include <string>

namespace cuda_agent::exporter {

/// All that an extension is made from.
struct Source {
    std::string task; ///< its name
    std::string text; ///< the task file
    std::map<std::string, std::string> overrides;
    task::Description description;
    task::Numerics numerics = task::Numerics::standard;
    device::Kind device = device::Kind::cpu; ///< what the candidate was made for
    std::string deviceName;                  ///< "NVIDIA H200"
    std::string architecture;                ///< "sm_90", or the processor's
    plan::Plan plan;
    std::map<std::string, std::string> kernels; ///< path -> text
    Json verdict;                               ///< null: the candidate was not judged
};

/// A PyTorch extension project that needs nothing of this program.
struct Extension {
    std::string package;                      ///< Python package and operator namespace
    std::map<std::string, std::string> files; ///< path in the project -> text
    bool differentiable = false;              ///< has a backward (PyTorch's own)
    std::string hostProblem; ///< why it cannot be built for a CPU, or empty when it can
};

/// Turns a candidate's launch plan into host code around its unchanged kernels. Reads templates and
/// the host headers from shareDir(); runs nothing.
/// Errors: request (a plan that does not fit its task, two kernels of one name in different files),
/// failed (a candidate for the cpu device that the host cannot run), machine (files of this program
/// are missing).
Result<Extension> makeExtension(const Source &source);

/// Writes all files. A folder that is there and not empty is refused, or with `force` emptied of
/// what an earlier export put there (it is known by its `.exported` list; other files stay).
/// Errors: request (not empty, not a folder), machine (cannot be written).
Result<void> writeExtension(const Extension &extension, const std::filesystem::path &folder,
                            bool force);

} // namespace cuda_agent::exporter
