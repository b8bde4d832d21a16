// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/runner/backend.h"

#include <cmath>

namespace cuda_agent::plan::runner {

bool usableInPlace(const ProgramBuffer &buffer, const LentView &view, std::uintptr_t address) {
    return view.type.elements() == 0 || (view.type.contiguous() && address % buffer.alignment == 0);
}

int callsPerSample(double wanted, double secondsOfOneCall) {
    if (wanted <= 0)
        return 1;
    // A call that is too short to be seen by the clock must not lead to endless repetition.
    const double calls = std::ceil(wanted / std::max(secondsOfOneCall, 1e-7));
    return static_cast<int>(std::clamp(calls, 1.0, 100000.0));
}

} // namespace cuda_agent::plan::runner
