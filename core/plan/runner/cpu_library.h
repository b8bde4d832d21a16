// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/program.h"

#include <map>
#include <memory>
#include <optional>

// The library steps on the CPU device: products by OpenBLAS, convolutions by oneDNN. Both are
// looked for only when a plan has such a step.

namespace cuda_agent::plan::runner {

/// Pointers to the buffers of one set, by index in the program.
using HostPointers = std::vector<std::byte *>;

class CpuGemm {
  public:
    /// Errors: machine (OpenBLAS is missing).
    static Result<CpuGemm> open();
    void run(const Program &program, const ProgramGemm &gemm, const HostPointers &pointers) const;

  private:
    struct Functions;
    std::shared_ptr<const Functions> functions_;
};

class CpuConvolution {
  public:
    /// Errors: machine (oneDNN or its adapter is missing, shape refused).
    static Result<CpuConvolution> make(const Program &program,
                                       const ProgramConvolution &convolution);
    /// Errors: machine.
    Result<void> run(const HostPointers &pointers) const;

  private:
    struct State;
    std::shared_ptr<State> state_;
};

/// The library steps of one program.
class CpuLibrarySteps {
  public:
    /// Errors: machine, as above.
    Result<void> load(const Program &program);
    /// Runs step `index`, which must be a product or a convolution of the program that was loaded.
    /// Errors: machine.
    Result<void> run(const Program &program, std::size_t index, const HostPointers &pointers) const;

  private:
    std::optional<CpuGemm> gemm_;                        ///< for all products
    std::map<std::size_t, CpuConvolution> convolutions_; ///< by step
};

/// float16 and bfloat16 to float32 and back (round to nearest even), `count` values.
void toFloat(const std::byte *from, DType type, float *to, std::int64_t count);
void fromFloat(const float *from, std::byte *to, DType type, std::int64_t count);

} // namespace cuda_agent::plan::runner
