// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/runner/cpu_library.h"

namespace cuda_agent::plan::runner {

Result<void> CpuLibrarySteps::load(const Program &program) {
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        const auto &work = program.steps[i].work;
        if (std::holds_alternative<ProgramGemm>(work) && !gemm_) {
            CUDA_AGENT_ASSIGN(gemm, CpuGemm::open());
            gemm_ = std::move(gemm);
        } else if (const auto *convolution = std::get_if<ProgramConvolution>(&work)) {
            CUDA_AGENT_ASSIGN(made, CpuConvolution::make(program, *convolution));
            convolutions_.emplace(i, std::move(made));
        }
    }
    return {};
}

Result<void> CpuLibrarySteps::run(const Program &program, std::size_t index,
                                  const HostPointers &pointers) const {
    if (const auto *gemm = std::get_if<ProgramGemm>(&program.steps[index].work)) {
        gemm_->run(program, *gemm, pointers);
        return {};
    }
    return convolutions_.at(index).run(pointers);
}

} // namespace cuda_agent::plan::runner
