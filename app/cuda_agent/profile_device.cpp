// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/profile_device.h"

#include "app/cuda_agent/printer.h"

#include "core/base/hash.h"
#include "core/device/lease.h"
#include "core/profile/findings.h"
#include "core/profile/profiler.h"
#include "core/profile/text.h"
#include "core/reference/worker.h"
#include "core/verify/guarded_set.h"

namespace cuda_agent::app {

namespace {

/// What every candidate of a task is profiled with.
struct Prepared {
    std::unique_ptr<device::Device> device;
    std::unique_ptr<toolchain::Compiler> compiler;
    task::Description description;
    reference::Inputs inputs;
    reference::Parameters parameters;
};

Result<Prepared> prepare(const TaskOptions &options, Printer &printer, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(request, openTask(options));
    Prepared prepared;
    CUDA_AGENT_ASSIGN(device, device::openNamed(options.device));
    prepared.device = std::move(device);
    CUDA_AGENT_ASSIGN(compiler, toolchain::makeCompiler(prepared.device->info()));
    prepared.compiler = std::move(compiler);
    printer.progress("loading the task");
    CUDA_AGENT_ASSIGN(lease, device::Lease::share(prepared.device->info(), stop));
    (void)lease;
    reference::Options workerOptions;
    workerOptions.numerics = request.judge.numerics;
    CUDA_AGENT_ASSIGN(
        worker, reference::Worker::start(request.spec, *prepared.device, workerOptions, stop));
    CUDA_AGENT_ASSIGN(description, worker->describe(stop));
    prepared.description = std::move(description);
    CUDA_AGENT_ASSIGN(parameters, worker->parameters(stop));
    prepared.parameters = std::move(parameters);
    CUDA_AGENT_ASSIGN(inputs, worker->drawInputs(randomSeed() >> 1, stop));
    prepared.inputs = std::move(inputs);
    worker->finish();
    return prepared;
}

Result<profile::Report> profileOne(const std::string &path, Prepared &prepared,
                                   const DeviceProfileOptions &options, Printer &printer,
                                   std::stop_token stop) {
    CUDA_AGENT_ASSIGN(candidate, judge::readCandidate(path));
    const auto *plan = std::get_if<plan::Candidate>(&candidate);
    if (plan == nullptr)
        return requestError("{} is a module candidate, which launches on its own in PyTorch's "
                            "process; profile looks into plan candidates (write its kernels as a "
                            "plan), and check tells what a module ran",
                            path);
    printer.progress("compiling " + path);
    CUDA_AGENT_ASSIGN(outcome, plan::compile(*plan, *prepared.compiler, stop));
    if (const auto *rejection = std::get_if<toolchain::Rejection>(&outcome))
        return failedError("the candidate does not compile: {}", rejection->summary);
    profile::Subject subject;
    subject.compiled = &std::get<plan::CompiledPlan>(outcome);
    subject.signature = judge::signatureOf(prepared.description);
    subject.countedBytes = prepared.description.countedBytes;
    subject.countedOperations =
        prepared.description.matmulFlops + prepared.description.convolutionFlops;
    std::vector<TensorType> outputs;
    for (const auto &port : prepared.description.outputs)
        outputs.push_back(contiguousType(port.type.dtype, port.type.shape));
    printer.progress("profiling " + path);
    CUDA_AGENT_ASSIGN(lease, device::Lease::take(prepared.device->info(), stop));
    (void)lease;
    const auto &tensors = prepared.inputs.tensors;
    CUDA_AGENT_ASSIGN(
        set, verify::GuardedSet::create(*prepared.device, tensors, prepared.parameters, outputs));
    CUDA_AGENT_TRY(set.load(tensors));
    profile::Options how;
    how.calls = options.calls;
    how.flush = !options.keepCache;
    how.counters = !options.noCounters;
    how.lines = options.lines;
    CUDA_AGENT_ASSIGN(
        report, profile::profileCandidate(subject, *prepared.device, set.buffers(), how, stop));
    report.findings = profile::findingsIn(report);
    return std::move(report);
}

} // namespace

void DeviceProfileOptions::add(CLI::App &app) {
    app.add_option("--calls", calls, "Calls whose launches are traced")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_flag("--keep-cache", keepCache,
                 "Leave the caches as the call before left them, in place of writing over the last "
                 "level before each call as timing does");
    app.add_flag("--no-counters", noCounters, "Times alone, no hardware counters");
    app.add_flag("--lines", lines,
                 "On a GPU, also sample where warps wait, by line of the kernels");
    app.add_option("--csv", csv, "Also write the figures as CSV, a line a launch; one candidate");
}

Result<int> profileOnDevice(const TaskOptions &task, const std::vector<std::string> &candidates,
                            const DeviceProfileOptions &options, std::stop_token stop) {
    if (candidates.size() > 1 && !options.csv.empty())
        return requestError("--csv takes one candidate, not {}", candidates.size());
    Printer printer(task.json);
    CUDA_AGENT_ASSIGN(prepared, prepare(task, printer, stop));
    int worst = 0;
    for (const auto &path : candidates) {
        auto report = profileOne(path, prepared, options, printer, stop);
        if (!report && (candidates.size() == 1 || report.error().kind == ErrorKind::stopped))
            return tl::unexpected(report.error());
        if (!report) {
            const int code = exitCode(report.error().kind);
            worst = std::max(worst, code);
            const auto &message = report.error().message;
            if (task.json)
                fmt::print("{}\n", Json{{"candidate", path},
                                        {"error", {{"message", message}, {"exit_code", code}}}}
                                       .dump());
            else
                printer.line(path + ": error: " + message);
            continue;
        }
        if (!options.csv.empty())
            CUDA_AGENT_TRY(writeFileAtomically(options.csv, profile::toCsv(*report)));
        if (task.json) {
            Json json = profile::toJson(*report);
            json["candidate"] = path;
            fmt::print("{}\n", candidates.size() > 1 ? json.dump() : json.dump(2));
            std::fflush(stdout);
        } else {
            printer.line(path);
            for (const auto &line : profile::linesOf(*report))
                printer.line(line);
        }
    }
    return worst;
}

} // namespace cuda_agent::app
