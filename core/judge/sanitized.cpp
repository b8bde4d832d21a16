// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/judge/sanitized.h"

#include "core/judge/first_case.h"
#include "core/judge/state.h"
#include "core/sanitize/cpu_check.h"
#include "core/sanitize/cuda_check.h"

namespace cuda_agent::judge {

Result<void> canSanitize(const Candidate &candidate, const device::Info &device) {
    if (device.kind == device::Kind::cuda) {
        CUDA_AGENT_ASSIGN(tool, sanitize::findComputeSanitizer());
        (void)tool;
        return {};
    }
    if (std::holds_alternative<modules::Candidate>(candidate))
        return requestError("--sanitize on the cpu looks into the kernels of plan candidates; a "
                            "module candidate allocates and launches on its own, so check it on a "
                            "GPU (--device cuda), or write its kernels as a plan");
    return {};
}

Result<sanitize::Report> sanitizeCandidate(Judge &judge, const Candidate &candidate,
                                           std::stop_token stop) {
    CUDA_AGENT_TRY(canSanitize(candidate, judge.deviceInfo()));
    CUDA_AGENT_ASSIGN(lease, device::Lease::share(judge.deviceInfo(), stop));
    (void)lease;
    CUDA_AGENT_ASSIGN(set, buffersOfFirstCase(judge));
    const auto signature = signatureOf(judge.description());
    if (judge.deviceInfo().kind == device::Kind::cpu)
        return sanitize::checkOnCpu(std::get<plan::Candidate>(candidate), signature, judge.device(),
                                    set.buffers(), {}, stop);
    CUDA_AGENT_ASSIGN(outcome, judge.compile(candidate, stop));
    if (const auto *rejection = std::get_if<toolchain::Rejection>(&outcome))
        return failedError("the candidate does not compile: {}", rejection->summary);
    const auto &compiled = std::get<Compiled>(outcome);
    const sanitize::StartUnder start =
        [&](const sanitize::Launcher &launcher) -> Result<std::unique_ptr<plan::LinkedCandidate>> {
        if (const auto *module = std::get_if<modules::Compiled>(&compiled.work)) {
            modules::ProcessOptions options;
            options.numerics = judge.options().numerics;
            options.rules = judge.options().rules;
            options.callTimeout = launcher.callTimeout;
            options.loadTimeout = launcher.callTimeout;
            options.launcher = launcher.argv;
            options.mounts = launcher.mounts;
            CUDA_AGENT_ASSIGN(begun, modules::start(*module, judge.spec(), judge.description(),
                                                    signature, judge.device(), options, stop));
            if (const auto *rejection = std::get_if<toolchain::Rejection>(&begun))
                return failedError("the candidate does not compile: {}", rejection->summary);
            return std::move(std::get<modules::Started>(begun).process);
        }
        plan::RunnerOptions options;
        options.callTimeout = launcher.callTimeout;
        options.loadTimeout = launcher.callTimeout;
        options.launcher = launcher.argv;
        options.mounts = launcher.mounts;
        options.ownBuffers = true;
        options.useGraph = false;
        return plan::startLinkedRunner(std::get<plan::CompiledPlan>(compiled.work), signature,
                                       judge.device(), options, stop);
    };
    CUDA_AGENT_ASSIGN(report, sanitize::checkOnCuda(start, set.buffers(), stop));
    std::vector<std::string> files;
    for (const auto &[path, text] : filesOf(candidate))
        files.push_back(path);
    sanitize::completePaths(report, files);
    return std::move(report);
}

} // namespace cuda_agent::judge
