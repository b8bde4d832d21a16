// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/paths.h"
#include "core/device/lease.h"
#include "core/plan/library_folders.h"
#include "core/plan/linked_candidate.h"
#include "core/plan/make_program.h"
#include "core/plan/runner.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <thread>

namespace cuda_agent::plan {

namespace fs = std::filesystem;

namespace {

const fs::path insideFolder = "/candidate";
constexpr auto unloadTimeout = std::chrono::seconds(10);

bool usesLibraries(const Program &program) {
    return std::any_of(program.steps.begin(), program.steps.end(), [](const auto &step) {
        return std::holds_alternative<ProgramGemm>(step.work) ||
               std::holds_alternative<ProgramConvolution>(step.work);
    });
}

/// The libraries' folders, where a program needs them.
void addLibraries(Program &program) {
    if (program.device == "cuda" && usesLibraries(program))
        for (const auto &folder : cudaLibraryFolders())
            program.libraryFolders.push_back(folder);
}

Result<Program> programOf(const Plan &plan, const Resolved &resolved, const device::Info &info,
                          const RunnerOptions &options) {
    Program program = makeProgram(plan, resolved, info);
    program.useGraph = options.useGraph;
    program.ownBuffers = options.ownBuffers;
    addLibraries(program);
    return program;
}

/// Shows the binaries to the runner; fills in the paths inside.
Result<void> addBinaries(sandbox::Policy &policy, const CompiledPlan &compiled, Program &program) {
    const auto sources = compiled.candidate->plan.sources();
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const auto binary = compiled.binaries.find(sources[i]);
        if (binary == compiled.binaries.end())
            return machineError("'{}' is not compiled", sources[i]);
        const fs::path inside = insideFolder / fmt::format("kernels/{}.bin", i);
        policy.mounts.push_back({binary->second.file, inside});
        program.binaries.push_back(inside);
    }
    return {};
}

/// The read-only view of the runner and its libraries, and its limits.
Result<sandbox::Policy> makePolicy(const device::Info &info, const RunnerOptions &options) {
    sandbox::Policy policy;
    policy.name = "candidate";
    const fs::path runner = workerDir() / options.program;
    if (!fs::exists(runner))
        return machineError("'{}' is missing; build the target {}", runner.string(),
                            options.program);
    policy.mounts = options.mounts;
    policy.mounts.push_back({runner, insideFolder / "bin" / options.program});
    if (const fs::path adapter = workerDir() / "libcuda-agent-onednn.so"; fs::exists(adapter))
        policy.mounts.push_back({adapter, insideFolder / "bin" / adapter.filename()});
    // Calls have limits of their own; this one only bounds a verdict that nobody ends.
    policy.limits.wall = std::chrono::hours(1);
    policy.limits.memoryBytes = options.memoryBytes;
    policy.limits.processes =
        256 + 4 * static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));

    std::vector<fs::path> folders = ownLibraryFolders();
    folders.insert(folders.end(), options.libraryFolders.begin(), options.libraryFolders.end());
    policy.performanceCounters = options.performanceCounters;
    if (info.kind == device::Kind::cuda) {
        policy.gpu = info.index;
        // A plan runs in one stream. Opening takes the driver twice as long for the usual eight.
        policy.environment.emplace_back("CUDA_DEVICE_MAX_CONNECTIONS", "1");
        // Also where this plan needs none: the next one may.
        for (const auto &folder : cudaLibraryFolders())
            folders.push_back(folder);
    }
    std::string search;
    for (const auto &folder : folders) {
        if (!isSystemFolder(folder))
            policy.mounts.push_back({folder, folder});
        search += (search.empty() ? "" : ":") + folder.string();
    }
    if (!search.empty()) {
        if (const char *outer = std::getenv("LD_LIBRARY_PATH"); outer != nullptr && *outer != '\0')
            search += std::string(":") + outer;
        policy.environment.emplace_back("LD_LIBRARY_PATH", search);
    }
    return policy;
}

/// A runner that has opened its GPU, where it has one.
Result<std::unique_ptr<LinkedCandidate>>
launch(const device::Info &device, const sandbox::Policy &policy, const RunnerOptions &options,
       std::vector<Slot> slots, const Signature &signature, std::stop_token stop) {
    std::optional<device::OpeningTurn> turn;
    if (device.kind == device::Kind::cuda) {
        CUDA_AGENT_ASSIGN(taken, device::OpeningTurn::take(stop));
        turn.emplace(std::move(taken));
    }
    auto argv = options.launcher;
    argv.push_back(insideFolder / "bin" / options.program);
    CUDA_AGENT_ASSIGN(process, sandbox::start(policy, argv));
    LinkOptions link{"plan runner", options.callTimeout};
    if (!options.launcher.empty())
        link.linger = launcherLinger;
    auto runner = std::make_unique<LinkedCandidate>(std::move(process), std::move(slots), signature,
                                                    std::move(link), std::move(stop));
    if (turn)
        CUDA_AGENT_TRY(runner->ask({{"op", "open"}, {"device", device::nameOf(device.kind)}},
                                   options.loadTimeout, "open"));
    return runner;
}

} // namespace

Result<std::unique_ptr<CandidateProcess>>
startRunner(const CompiledPlan &compiled, const Signature &signature, device::Device &device,
            const RunnerOptions &options, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(runner,
                      startLinkedRunner(compiled, signature, device, options, std::move(stop)));
    return std::unique_ptr<CandidateProcess>(std::move(runner));
}

Result<std::unique_ptr<LinkedCandidate>>
startLinkedRunner(const CompiledPlan &compiled, const Signature &signature, device::Device &device,
                  const RunnerOptions &options, std::stop_token stop) {
    const Plan &plan = compiled.candidate->plan;
    const device::Info &info = device.info();
    CUDA_AGENT_ASSIGN(resolved, resolve(plan, signature, limitsOf(info)));
    CUDA_AGENT_ASSIGN(program, programOf(plan, resolved, info, options));
    CUDA_AGENT_ASSIGN(policy, makePolicy(info, options));
    CUDA_AGENT_TRY(addBinaries(policy, compiled, program));
    if (info.kind == device::Kind::cpu) {
        // Scratch, staging and whatever the engine did not touch first is charged to the runner.
        for (const auto &buffer : resolved.buffers)
            policy.limits.memoryBytes += 2 * buffer.type.elements() * sizeOf(buffer.type.dtype);
        policy.limits.memoryBytes += 2 * program.cacheBytes;
    }
    CUDA_AGENT_ASSIGN(runner,
                      launch(info, policy, options, slotsOf(plan), signature, std::move(stop)));
    CUDA_AGENT_TRY(
        runner->ask({{"op", "load"}, {"program", toJson(program)}}, options.loadTimeout, "load"));
    return std::move(runner);
}

Result<std::unique_ptr<LinkedCandidate>>
openRunner(const device::Info &device, const RunnerOptions &options, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(policy, makePolicy(device, options));
    return launch(device, policy, options, {}, {}, std::move(stop));
}

Result<void> unload(LinkedCandidate &runner) {
    CUDA_AGENT_TRY(runner.ask({{"op", "unload"}}, unloadTimeout, "unload"));
    return {};
}

Result<void> reload(LinkedCandidate &runner, const CompiledPlan &compiled,
                    const Signature &signature, device::Device &device,
                    const RunnerOptions &options, std::stop_token stop) {
    const Plan &plan = compiled.candidate->plan;
    const device::Info &info = device.info();
    CUDA_AGENT_ASSIGN(resolved, resolve(plan, signature, limitsOf(info)));
    CUDA_AGENT_ASSIGN(program, programOf(plan, resolved, info, options));
    std::vector<UniqueFd> files;
    std::vector<int> fds;
    for (const auto &source : plan.sources()) {
        const auto &file = compiled.binaries.at(source).file;
        files.emplace_back(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
        if (!files.back())
            return machineError("cannot read {}: {}", file.string(), std::strerror(errno));
        fds.push_back(files.back().get());
    }
    runner.become(slotsOf(plan), signature, std::move(stop));
    CUDA_AGENT_TRY(runner.ask({{"op", "load"}, {"program", toJson(program)}}, options.loadTimeout,
                              "load", fds));
    return {};
}

} // namespace cuda_agent::plan
