// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/program.h"
#include "core/plan/runner/cuda_core.h"
#include "core/plan/runner/strided_copy.h"

#include <map>
#include <optional>

namespace cuda_agent::plan::runner {

using CudaPointers = std::vector<CUdeviceptr>; ///< by buffer of the program

/// The candidate's kernels, loaded and checked against the program's arguments.
class CudaKernels {
  public:
    /// Errors: failed (an entry is missing, arguments do not fit, too much shared memory); machine.
    static Result<CudaKernels> load(const CudaCore &core, const Program &program);
    /// The modules go; nothing can be launched afterwards. Errors: machine, failed.
    Result<void> unload();
    /// Puts one launch on the stream. Errors: failed, machine.
    Result<void> launch(const ProgramKernel &kernel, const std::string &label,
                        const CudaPointers &pointers) const;

  private:
    explicit CudaKernels(const CudaCore &core) : core_(&core) {}
    Result<CUfunction> find(const ProgramKernel &kernel, const std::string &label);
    Result<void> checkArguments(const ProgramKernel &kernel, const std::string &label,
                                CUfunction function) const;

    const CudaCore *core_;
    std::vector<CUmodule> modules_;
    std::map<std::pair<int, std::string>, CUfunction> functions_;
    std::map<CUfunction, int> sharedBytes_; ///< largest dynamic size a step asks for
};

/// Copies between layouts on the stream; the kernels are loaded when first needed.
class CudaCopier {
  public:
    explicit CudaCopier(const CudaCore &core) : core_(&core) {}
    /// Loads what a copy of that kind needs, so that run() can be captured into a graph.
    /// Errors: machine (the program was built without nvcc and the copy is strided).
    Result<void> prepare(const CopyShape &copy, std::size_t elementBytes);
    Result<void> run(CUdeviceptr to, CUdeviceptr from, const CopyShape &copy,
                     std::size_t elementBytes) const;

  private:
    const CudaCore *core_;
    CUmodule module_ = nullptr;
    std::map<std::size_t, CUfunction> functions_; ///< by element bytes
};

/// Puts a fill on the stream.
Result<void> fillOnStream(const CudaCore &core, CUdeviceptr to, const ProgramScalar &element,
                          std::int64_t count, const std::string &label);

} // namespace cuda_agent::plan::runner
