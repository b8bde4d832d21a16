// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sanitize/cpu_check.h"

#include "core/base/elapsed.h"
#include "core/toolchain/host/rewriter.h"

namespace cuda_agent::sanitize {

namespace {

constexpr const char *toolName = "cpu checks";
constexpr std::chrono::milliseconds findingsTimeout{60'000};

/// The columns of a place as the kernels' author counts them: the host build writes some words into
/// the lines.
void mend(const toolchain::host::RewrittenFiles &files, std::optional<Place> &place) {
    if (!place)
        return;
    const auto file = files.find(place->file);
    if (file != files.end() && place->column > 0)
        place->column = file->second.sourceColumn(place->line, place->column);
}

/// One call and what it found.
Result<Report> checkedCall(plan::LinkedCandidate &process,
                           const toolchain::host::RewrittenFiles &files,
                           const plan::CallBuffers &buffers) {
    CUDA_AGENT_TRY(process.bind(0, buffers));
    const auto begin = std::chrono::steady_clock::now();
    const auto called = process.call(0);
    const double seconds = secondsSince(begin);
    Report report;
    if (called) {
        CUDA_AGENT_ASSIGN(answer,
                          process.ask({{"op", "findings"}}, findingsTimeout, "the findings"));
        report = fromChecker(answer);
        for (auto &finding : report.findings) {
            mend(files, finding.place);
            mend(files, finding.other);
        }
    } else if (called.error().kind == ErrorKind::failed) {
        Finding finding;
        finding.kind = "fault";
        finding.message = called.error().message;
        report.findings.push_back(std::move(finding));
    } else {
        return tl::unexpected(called.error());
    }
    for (auto &finding : report.findings)
        finding.tool = toolName;
    report.tools = {toolName};
    report.seconds = seconds;
    process.finish();
    return report;
}

} // namespace

Result<Report> checkOnCpu(const plan::Candidate &candidate, const plan::Signature &signature,
                          device::Device &device, const plan::CallBuffers &buffers,
                          const Options &options, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(compiler, toolchain::makeCheckedHostCompiler());
    CUDA_AGENT_ASSIGN(outcome, plan::compile(candidate, *compiler, stop));
    if (const auto *rejection = std::get_if<toolchain::Rejection>(&outcome))
        return failedError("the kernels do not compile for checking: {}", rejection->summary);

    plan::RunnerOptions runner;
    runner.program = "cuda-agent-checker";
    runner.callTimeout = options.callTimeout;
    runner.memoryBytes = options.memoryBytes;
    CUDA_AGENT_ASSIGN(process, plan::startLinkedRunner(std::get<plan::CompiledPlan>(outcome),
                                                       signature, device, runner, stop));
    toolchain::host::RewrittenFiles files;
    for (const auto &[path, text] : candidate.files) {
        toolchain::Source source;
        source.path = path;
        source.text = text;
        source.defines = candidate.plan.defines;
        auto rewritten = toolchain::host::rewrite(source);
        if (auto *file = std::get_if<toolchain::host::Rewritten>(&rewritten))
            files.emplace(path, std::move(*file));
    }
    return checkedCall(*process, files, buffers);
}

Result<Report> checkStarted(plan::LinkedCandidate &process,
                            const std::vector<toolchain::Source> &sources,
                            const plan::CallBuffers &buffers) {
    toolchain::host::RewrittenFiles files;
    for (const auto &source : sources) {
        auto rewritten = toolchain::host::rewriteObject(source);
        if (auto *some = std::get_if<toolchain::host::RewrittenFiles>(&rewritten))
            files.merge(*some);
    }
    return checkedCall(process, files, buffers);
}

} // namespace cuda_agent::sanitize
