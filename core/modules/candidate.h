// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace cuda_agent::modules {

/// How a module candidate is written.
enum class Form {
    /// The published workspace: `model_new.py`, `kernels/X.cu` with a torch-free launcher, and
    /// `kernels/X_binding.cpp`; compiled by the engine into the Python module `cuda_extension`.
    workspace,
    /// One Python file in KernelBench form (`ModelNew`), which compiles what it needs itself when
    /// it is loaded (`load_inline`, Triton).
    singleFile
};

/// The name of the Python file, inside and in messages, whatever it was called outside.
inline constexpr const char *modelFile = "model_new.py";

/// A candidate with host code.
struct Candidate {
    std::filesystem::path source; ///< the folder, or the Python file
    Form form = Form::workspace;
    std::map<std::string, std::string> files; ///< path -> text: modelFile, "kernels/x.cu", ...

    std::vector<std::string> kernels() const;  ///< "kernels/*.cu", sorted
    std::vector<std::string> bindings() const; ///< "kernels/*_binding.cpp", sorted
    /// Headers below kernels/: ".h", ".cuh", ".hpp", path -> text.
    std::map<std::string, std::string> headers() const;
};

/// Reads a folder with `model_new.py`, or a Python file. A folder without .cu files below kernels/
/// counts as a single file. Nothing is run.
/// Errors: request (not there, files that are links or larger than 1 MiB, more than 200 files, a
/// kernel without its binding or the other way round).
Result<Candidate> readCandidate(const std::filesystem::path &source);

} // namespace cuda_agent::modules
