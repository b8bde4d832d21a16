// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/device.h"
#include "core/modules/candidate.h"
#include "core/toolchain/compiler.h"

#include <memory>
#include <stop_token>
#include <variant>

namespace cuda_agent::modules {

/// The engine's own files of the published workspace: "binding_registry.h", which bindings include,
/// and "binding.cpp", which makes the Python module. Errors: machine.
Result<std::map<std::string, std::string>> fixedFiles();

/// A candidate that is ready to be loaded.
struct Compiled {
    const Candidate *candidate = nullptr;      ///< borrowed
    std::filesystem::path extension;           ///< `cuda_extension.so` in the cache, or empty
    std::vector<toolchain::EntryInfo> kernels; ///< none on cpu
    std::vector<toolchain::Diagnostic> warnings;
    /// What its texts and its library reach for that a candidate has no use for; nothing of it was
    /// run. `published`: only under those rules.
    struct Suspicion {
        std::string what; ///< "model_new.py:7: it imports ctypes"
        bool published = false;
    };
    std::vector<Suspicion> suspicions;
    double seconds = 0; ///< spent by compilers now; cached objects cost nothing
};
using CompileOutcome = std::variant<Compiled, toolchain::Rejection>;

/// Compiles module candidates for one device, all files at once, each in a sandbox of its own, with
/// the cache of the plan compilers: a changed kernel costs its own compile (nvcc 1 s) and the link;
/// a changed binding 10 s, as PyTorch's headers are large, and 4 s where they are precompiled. One
/// thread.
class Builder {
  public:
    /// `checked`: kernels tell of every access (ProcessOptions::checked); on the cpu alone.
    /// Errors: machine (no Python with PyTorch, no g++, no nvcc on cuda), stopped.
    static Result<std::unique_ptr<Builder>> make(const device::Info &device, std::stop_token stop,
                                                 bool checked = false);
    ~Builder();

    /// "g++ 12.2.0, torch 2.11.0+cu130, nvcc of /usr/local/cuda", for people.
    const std::string &description() const;

    /// Checks the syntax of `model_new.py`; compiles and links a workspace. What a single file
    /// compiles by itself shows only when it is loaded.
    /// Errors: machine, stopped. Sources that do not compile are a Rejection with all files'
    /// diagnostics.
    Result<CompileOutcome> compile(const Candidate &candidate, std::stop_token stop);

    /// The kernel files of a workspace alone, and what came of each; the card need not be there.
    /// cuda only. Errors: as compile().
    Result<std::map<std::string, toolchain::Outcome>> compileKernels(const Candidate &candidate,
                                                                     std::stop_token stop);

  private:
    struct State;
    explicit Builder(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace cuda_agent::modules
