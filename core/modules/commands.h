// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/device.h"
#include "core/sandbox/sandbox.h"

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace cuda_agent::modules {

// Private to this room: the command lines of the compilers, and what their sandboxes show. Inside,
// the candidate lies below /candidate, results go to /out.

using Command = std::vector<std::string>;

inline constexpr const char *precompiledFolder = "/precompiled"; ///< inside

/// What compiling against PyTorch needs to know of this machine.
struct Tools {
    device::Info device;
    std::filesystem::path python;                      ///< the program
    std::filesystem::path torch;                       ///< folder of the package
    std::filesystem::path pythonHeaders;               ///< with Python.h
    std::vector<std::filesystem::path> libraryHeaders; ///< cuDNN, cuBLAS beside PyTorch
    std::filesystem::path toolkit;                     ///< of CUDA; empty on cpu
    std::string identity;                              ///< of compilers and headers, for cache keys
    std::string description;                           ///< the same for people
    bool checked = false;                              ///< the kernels are

    /// Errors: machine, naming what is missing and how to get it; stopped.
    static Result<Tools> find(const device::Info &device, std::stop_token stop);

    /// nvcc: "kernels/x.cu" to /out/object.o, or its PTX to /out/object.ptx. cuda only.
    Command kernel(const std::string &file, bool ptx = false) const;
    /// g++: a binding, or the engine's own binding.cpp; `precompiled`: behind what precompile()
    /// made, which lies beside its headers.h in `precompiledFolder`.
    Command binding(const std::string &file, bool precompiled = false) const;
    /// g++: headers.h to /out/headers.h.gch.
    Command precompile() const;
    /// g++: objects to /out/cuda_extension.so.
    Command link(const std::vector<std::string> &objects) const;
    /// Python: worker/source_rules.py on the text on standard input; needs /module-worker.
    Command syntax() const;
    /// The sandbox of any of them but for /candidate and /out. Errors: machine.
    Result<sandbox::Policy> policy() const;

  private:
    Command bindingCompiler() const; ///< and the options that precompiled headers are bound to
};

} // namespace cuda_agent::modules
