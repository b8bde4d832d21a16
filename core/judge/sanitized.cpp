// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/judge/sanitized.h"

#include "core/judge/first_case.h"
#include "core/judge/state.h"
#include "core/sanitize/cpu_check.h"
#include "core/sanitize/cuda_check.h"

namespace cuda_agent::judge {

Result<void> canSanitize(const device::Info &device) {
    if (device.kind == device::Kind::cuda) {
        CUDA_AGENT_ASSIGN(tool, sanitize::findComputeSanitizer());
        (void)tool;
    }
    return {};
}

namespace {

Result<std::unique_ptr<plan::LinkedCandidate>> startModule(const modules::Compiled &compiled,
                                                           Judge &judge,
                                                           modules::ProcessOptions options,
                                                           const std::stop_token &stop) {
    options.numerics = judge.options().numerics;
    options.rules = judge.options().rules;
    options.loadTimeout = options.callTimeout;
    CUDA_AGENT_ASSIGN(begun, modules::start(compiled, judge.spec(), judge.description(),
                                            signatureOf(judge.description()), judge.device(),
                                            options, stop));
    if (const auto *rejection = std::get_if<toolchain::Rejection>(&begun))
        return failedError("the candidate does not compile: {}", rejection->summary);
    return std::move(std::get<modules::Started>(begun).process);
}

/// A workspace, built anew with checks.
Result<sanitize::Report> sanitizeOnCpu(Judge &judge, const modules::Candidate &candidate,
                                       const plan::CallBuffers &buffers,
                                       const std::stop_token &stop) {
    CUDA_AGENT_ASSIGN(builder, modules::Builder::make(judge.deviceInfo(), stop, true));
    CUDA_AGENT_ASSIGN(outcome, builder->compile(candidate, stop));
    if (const auto *rejection = std::get_if<toolchain::Rejection>(&outcome))
        return failedError("the kernels do not compile for checking: {}", rejection->summary);
    const sanitize::Options limits;
    modules::ProcessOptions options;
    options.callTimeout = limits.callTimeout;
    options.memoryBytes = limits.memoryBytes;
    options.checked = true;
    CUDA_AGENT_ASSIGN(process,
                      startModule(std::get<modules::Compiled>(outcome), judge, options, stop));
    std::vector<toolchain::Source> sources;
    for (const auto &file : candidate.kernels()) {
        auto &source = sources.emplace_back();
        source.path = file;
        source.text = candidate.files.at(file);
        source.headers = candidate.headers();
    }
    return sanitize::checkStarted(*process, sources, buffers);
}

} // namespace

Result<sanitize::Report> sanitizeCandidate(Judge &judge, const Candidate &candidate,
                                           std::stop_token stop) {
    CUDA_AGENT_TRY(canSanitize(judge.deviceInfo()));
    CUDA_AGENT_ASSIGN(lease, device::Lease::share(judge.deviceInfo(), stop));
    (void)lease;
    CUDA_AGENT_ASSIGN(set, buffersOfFirstCase(judge, candidate));
    const auto signature = signatureOf(judge.description());
    const auto *const module = std::get_if<modules::Candidate>(&candidate);
    if (judge.deviceInfo().kind == device::Kind::cpu && module)
        return sanitizeOnCpu(judge, *module, set.buffers(), stop);
    if (judge.deviceInfo().kind == device::Kind::cpu)
        return sanitize::checkOnCpu(std::get<plan::Candidate>(candidate), signature, judge.device(),
                                    set.buffers(), {}, stop);
    CUDA_AGENT_ASSIGN(outcome, judge.compile(candidate, stop));
    if (const auto *rejection = std::get_if<toolchain::Rejection>(&outcome))
        return failedError("the candidate does not compile: {}", rejection->summary);
    const auto &compiled = std::get<Compiled>(outcome);
    const sanitize::StartUnder start =
        [&](const sanitize::Launcher &launcher) -> Result<std::unique_ptr<plan::LinkedCandidate>> {
        if (const auto *work = std::get_if<modules::Compiled>(&compiled.work)) {
            modules::ProcessOptions options;
            options.callTimeout = launcher.callTimeout;
            options.launcher = launcher.argv;
            options.mounts = launcher.mounts;
            return startModule(*work, judge, options, stop);
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
