// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/judge/first_case.h"

#include "core/judge/state.h"
#include "core/verify/guarded_set.h"

namespace cuda_agent::judge {

Result<verify::GuardedSet> buffersOfFirstCase(Judge &judge, const Candidate &candidate) {
    const auto &pool = judge.pool();
    std::vector<plan::Slot> slots; // modules make tensors of their own, which are copied
    if (const auto *plan = std::get_if<plan::Candidate>(&candidate))
        slots = plan::slotsOf(plan->plan);
    const auto &inputs = pool.random.front().inputs.tensors;
    CUDA_AGENT_ASSIGN(
        set, verify::GuardedSet::create(judge.device(), inputs, pool.parameters,
                                        plan::outputTypes(signatureOf(pool.description), slots)));
    CUDA_AGENT_TRY(set.load(inputs));
    CUDA_AGENT_TRY(set.poison(outputPoison));
    return std::move(set);
}

} // namespace cuda_agent::judge
