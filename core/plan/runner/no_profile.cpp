// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/runner/backend.h"

namespace cuda_agent::plan::runner {

Result<Json> profileCalls(Backend & /*backend*/, const Json & /*request*/) {
    return machineError("this process profiles nothing; cuda-agent-profiler does");
}

} // namespace cuda_agent::plan::runner
