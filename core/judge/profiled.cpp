// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/judge/profiled.h"

#include "core/device/lease.h"
#include "core/judge/first_case.h"
#include "core/profile/findings.h"

namespace cuda_agent::judge {

Result<profile::Report> profileCandidate(Judge &judge, const Candidate &candidate,
                                         std::stop_token stop) {
    if (!std::holds_alternative<plan::Candidate>(candidate))
        return requestError("a module candidate launches on its own in PyTorch's process; kernels "
                            "are profiled as a plan");
    CUDA_AGENT_ASSIGN(outcome, judge.compile(candidate, stop));
    if (const auto *rejection = std::get_if<toolchain::Rejection>(&outcome))
        return failedError("the candidate does not compile: {}", rejection->summary);
    const auto &description = judge.description();
    profile::Subject subject;
    subject.compiled = &std::get<plan::CompiledPlan>(std::get<Compiled>(outcome).work);
    subject.signature = signatureOf(description);
    subject.countedBytes = description.countedBytes;
    subject.countedOperations = description.matmulFlops + description.convolutionFlops;
    CUDA_AGENT_ASSIGN(lease, device::Lease::take(judge.deviceInfo(), stop));
    (void)lease;
    CUDA_AGENT_ASSIGN(set, buffersOfFirstCase(judge, candidate));
    profile::Options options;
    options.lines = true; // a pass of its own; where it cannot be, a note says so
    CUDA_AGENT_ASSIGN(report, profile::profileCandidate(subject, judge.device(), set.buffers(),
                                                        options, std::move(stop)));
    report.findings = profile::findingsIn(report);
    return std::move(report);
}

} // namespace cuda_agent::judge
