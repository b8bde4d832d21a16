// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/modules/process.h"
#include "core/plan/runner.h"

#include <variant>

namespace cuda_agent::judge {

/// The two kinds of candidate: a launch plan with device code, or a module with host code.
using Candidate = std::variant<plan::Candidate, modules::Candidate>;

/// Reads a folder with plan.json (a plan) or model_new.py (a module), or a Python file (a module).
/// Errors: request; a folder with both is refused, as nobody can know which is meant.
Result<Candidate> readCandidate(const std::filesystem::path &source);

/// "plan" or "module".
std::string_view kindOf(const Candidate &candidate);

/// Every file that makes the candidate, path -> text.
std::map<std::string, std::string> filesOf(const Candidate &candidate);

/// Whether its texts name an atomic addition, in CUDA C++ or in PTX.
bool addsAtomically(const Candidate &candidate);

/// Types and scalars of a task, which a plan is resolved for.
plan::Signature signatureOf(const task::Description &description);

/// A candidate that compiles, whatever its kind.
struct Compiled {
    const Candidate *candidate = nullptr; ///< borrowed, by what lies inside too
    std::variant<plan::CompiledPlan, modules::Compiled> work;
    std::vector<toolchain::EntryInfo> kernels;
    std::vector<toolchain::Diagnostic> warnings;
};
using CompileOutcome = std::variant<Compiled, toolchain::Rejection>;

} // namespace cuda_agent::judge
