// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/program.h"
#include "core/plan/runner/cuda_code.h"

#include <memory>

// The library steps on a GPU: products by cuBLASLt, convolutions by cuDNN. Both are looked for only
// when a plan has such a step; algorithms are chosen once, when the plan is loaded, and run() only
// puts work on the stream, so that it can be captured into a graph.

namespace cuda_agent::plan::runner {

class CudaGemm {
  public:
    virtual ~CudaGemm() = default;
    virtual Result<void> run(const CudaPointers &pointers) = 0;
};
/// Errors: machine (library missing, no algorithm for the shape).
Result<std::unique_ptr<CudaGemm>> makeCudaGemm(const CudaCore &core, const Program &program,
                                               const ProgramGemm &gemm, const std::string &label);

class CudaConvolution {
  public:
    virtual ~CudaConvolution() = default;
    virtual Result<void> run(const CudaPointers &pointers) = 0;
};
/// Errors: machine (library missing, no algorithm for the shape).
Result<std::unique_ptr<CudaConvolution>> makeCudaConvolution(const CudaCore &core,
                                                             const Program &program,
                                                             const ProgramConvolution &convolution,
                                                             const std::string &label);

/// Opens a library by its plain name, first in the given folders. NULL when it is nowhere.
void *openLibrary(const std::vector<std::string> &folders, const char *name);

} // namespace cuda_agent::plan::runner
