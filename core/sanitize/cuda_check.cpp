// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sanitize/cuda_check.h"

#include "core/base/elapsed.h"
#include "core/base/paths.h"
#include "core/plan/library_folders.h"

#include <chrono>
#include <cstdlib>

namespace cuda_agent::sanitize {

namespace fs = std::filesystem;

namespace {

/// What a tool has left to do when the candidate's process has ended.
constexpr std::chrono::milliseconds endTimeout{120'000};

bool isThere(const fs::path &path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

/// Folders with the real program and its libraries; bin/compute-sanitizer is a script beside them.
std::vector<fs::path> places() {
    std::vector<fs::path> folders;
    for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const char *root = std::getenv(variable); root != nullptr && *root != '\0')
            folders.push_back(fs::path(root) / "compute-sanitizer");
    if (const auto toolkit = cudaToolkitDir(); !toolkit.empty())
        folders.push_back(toolkit / "compute-sanitizer");
    folders.push_back("/usr/local/cuda/compute-sanitizer");
    folders.push_back("/opt/cuda/extras/compute-sanitizer");
    folders.push_back("/usr/lib/nvidia-cuda-toolkit/compute-sanitizer");
    return folders;
}

std::vector<std::string> argumentsFor(const ComputeSanitizer &found, const std::string &tool) {
    std::vector<std::string> argv = {found.program,
                                     "--tool",
                                     tool,
                                     "--show-backtrace",
                                     "no",
                                     "--print-limit",
                                     "200",
                                     "--target-processes",
                                     "application-only",
                                     "--error-exitcode",
                                     "0"};
    // Padding, so that the end of one buffer is not the start of the next. Failed calls of the API
    // are no findings: the runner asks for parameters until there are no more, and a launch that
    // fails is told as a fault.
    if (tool == "memcheck")
        argv.insert(argv.end(), {"--padding", "4096", "--report-api-errors", "no"});
    return argv;
}

} // namespace

Result<ComputeSanitizer> findComputeSanitizer() {
    for (const auto &folder : places()) {
        const fs::path program = folder / "compute-sanitizer";
        if (!isThere(program))
            continue;
        std::error_code ignored;
        const fs::path real = fs::canonical(program, ignored);
        ComputeSanitizer found{real, {}};
        if (!plan::isSystemFolder(real.parent_path()))
            found.mounts.push_back({real.parent_path(), real.parent_path()});
        return found;
    }
    return machineError(
        "compute-sanitizer is not there: it comes with the CUDA toolkit (Debian and "
        "Ubuntu: cuda-sanitizer-13-0 from NVIDIA's repository); --device cpu checks "
        "without it");
}

Result<Report> checkOnCuda(const StartUnder &start, const plan::CallBuffers &buffers,
                           std::stop_token stop) {
    CUDA_AGENT_ASSIGN(found, findComputeSanitizer());
    Report report;
    const auto begin = std::chrono::steady_clock::now();
    for (const std::string tool : {"memcheck", "racecheck", "initcheck", "synccheck"}) {
        if (stop.stop_requested())
            return stoppedError();
        const auto couldNot = [&](const std::string &why) {
            report.notes.push_back(tool + " could not look: " + why);
        };
        Launcher launcher;
        launcher.argv = argumentsFor(found, tool);
        launcher.mounts = found.mounts;
        auto process = start(launcher);
        if (!process) {
            if (process.error().kind == ErrorKind::stopped)
                return tl::unexpected(process.error());
            couldNot(process.error().message);
            continue;
        }
        auto done = (*process)->bind(0, buffers);
        if (done)
            done = (*process)->call(0);
        if (!done && done.error().kind == ErrorKind::stopped)
            return tl::unexpected(done.error());
        const auto record = (*process)->finish(endTimeout);
        auto output = parseComputeSanitizer(tool, record.standardOutput + record.standardError);
        if (!output.problem.empty() || (!output.finished && output.findings.empty())) {
            couldNot(!output.problem.empty() ? output.problem
                     : !done                 ? done.error().message
                                             : record.summary());
            continue;
        }
        report.tools.push_back("compute-sanitizer " + tool);
        report.findings.insert(report.findings.end(), output.findings.begin(),
                               output.findings.end());
        if (!done && output.findings.empty()) {
            Finding finding;
            finding.tool = report.tools.back();
            finding.kind = "fault";
            finding.message = done.error().message;
            report.findings.push_back(std::move(finding));
        }
    }
    report.seconds = secondsSince(begin);
    if (report.tools.empty())
        return machineError("{}", report.notes.empty() ? "compute-sanitizer did not run"
                                                       : report.notes.front());
    return report;
}

} // namespace cuda_agent::sanitize
