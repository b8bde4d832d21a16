// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/device/cuda_context.h"

namespace cuda_agent::device {

/// Seconds of the shortest of `runs` repetitions on the context's stream, after one that does not
/// count: it loads code and fills caches. Errors: what `work` returns, machine.
template <typename Work>
Result<double> bestOf(CudaTimer &timer, int runs, Work work) {
    double best = 0;
    for (int i = 0; i <= runs; ++i) {
        CUDA_AGENT_TRY(timer.start());
        CUDA_AGENT_TRY(work());
        CUDA_AGENT_ASSIGN(seconds, timer.stop());
        if (i == 1 || (i > 1 && seconds < best))
            best = seconds;
    }
    return best;
}

/// Read bandwidths of L1/shared memory and of L2, in some ten milliseconds on a card that is awake.
Result<std::vector<MemoryLevel>> measureCudaLevels(CudaContext &context, CudaTimer &timer);

} // namespace cuda_agent::device
