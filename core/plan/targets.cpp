// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/targets.h"

#include "core/base/parallel.h"
#include "core/plan/sources.h"

#include <algorithm>
#include <limits>

namespace cuda_agent::plan {

namespace {

/// One card's limits are another's: what depends on the card is looked at per architecture.
LaunchLimits noLimits() {
    LaunchLimits limits;
    limits.maxThreadsPerBlock = std::numeric_limits<std::uint32_t>::max();
    limits.maxSharedBytes = std::numeric_limits<std::int32_t>::max();
    limits.maxScratchBytes = std::numeric_limits<std::int64_t>::max();
    limits.maxClusterBlocks = std::numeric_limits<int>::max();
    return limits;
}

/// The plan's launches, without what a compiler adds.
std::vector<TargetLaunch> launchesOf(const Plan &plan, const Resolved &resolved) {
    std::vector<TargetLaunch> launches;
    std::size_t next = 0;
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        const auto *step = std::get_if<KernelStep>(&plan.steps[i]);
        if (step == nullptr)
            continue;
        const ResolvedKernel &sizes = resolved.kernels[next++];
        TargetLaunch launch;
        launch.source = step->source;
        launch.entry.name = step->entry;
        std::copy_n(sizes.block, 3, launch.block.begin());
        std::copy_n(step->cluster, 3, launch.cluster.begin());
        launch.dynamicShared = sizes.sharedBytes;
        auto same = std::find_if(launches.begin(), launches.end(), [&](const auto &each) {
            return each.source == launch.source && each.entry.name == launch.entry.name &&
                   each.block == launch.block && each.cluster == launch.cluster &&
                   each.dynamicShared == launch.dynamicShared;
        });
        if (same == launches.end())
            same = launches.insert(launches.end(), std::move(launch));
        same->steps.push_back(static_cast<int>(i));
        same->grids.push_back({sizes.grid[0], sizes.grid[1], sizes.grid[2]});
    }
    return launches;
}

template <typename T>
std::int64_t product(const std::array<T, 3> &sizes) {
    return static_cast<std::int64_t>(sizes[0]) * sizes[1] * sizes[2];
}

/// At most what an int holds: more is no possible block anyway.
int narrow(std::int64_t value) {
    return static_cast<int>(std::min<std::int64_t>(value, std::numeric_limits<int>::max()));
}

device::Occupancy occupancyOf(const device::Architecture &architecture,
                              const TargetLaunch &launch) {
    const auto &entry = launch.entry;
    device::BlockNeeds needs;
    needs.threads = narrow(product(launch.block));
    needs.registers = std::max(entry.registers, 0);
    needs.staticShared = std::max(entry.sharedBytes, 0);
    needs.dynamicShared = launch.dynamicShared;
    needs.barriers = std::max(entry.barriers, 0);
    needs.clusterBlocks = narrow(product(launch.cluster));
    return device::occupancyOf(architecture, needs);
}

/// Compiles what the launches need for one architecture. Errors: machine, stopped.
Result<Target> examine(const device::Architecture &architecture,
                       const std::vector<toolchain::Source> &sources,
                       const std::vector<TargetLaunch> &launches, const CompilerMaker &make,
                       const std::stop_token &stop) {
    Target target;
    target.architecture = &architecture;
    target.compiled = true;
    std::map<std::string, toolchain::Binary> binaries;
    std::unique_ptr<toolchain::Compiler> compiler;
    for (const auto &source : sources) {
        if (!compiler) {
            CUDA_AGENT_ASSIGN(made, make(std::string(architecture.name)));
            compiler = std::move(made);
        }
        CUDA_AGENT_ASSIGN(outcome, compiler->compile(source, stop));
        if (auto *refused = std::get_if<toolchain::Rejection>(&outcome)) {
            if (target.compiled)
                target.problem = refused->summary;
            target.compiled = false;
            target.cached = false;
            target.log += refused->log;
            std::move(refused->diagnostics.begin(), refused->diagnostics.end(),
                      std::back_inserter(target.diagnostics));
            continue;
        }
        auto &binary = std::get<toolchain::Binary>(outcome);
        target.seconds += binary.seconds;
        target.cached = target.cached && binary.cached;
        target.diagnostics.insert(target.diagnostics.end(), binary.warnings.begin(),
                                  binary.warnings.end());
        binaries.emplace(source.path, std::move(binary));
    }
    for (const auto &each : launches) {
        const auto binary = binaries.find(each.source);
        if (binary == binaries.end())
            continue;
        const auto &entries = binary->second.entries;
        const auto entry = std::find_if(entries.begin(), entries.end(), [&](const auto &found) {
            return found.name == each.entry.name;
        });
        if (entry == entries.end())
            return machineError("{} was compiled without its kernel '{}'", each.source,
                                each.entry.name);
        auto &launch = target.launches.emplace_back(each);
        launch.entry = *entry;
        launch.occupancy = occupancyOf(architecture, launch);
    }
    return target;
}

} // namespace

bool Target::holds() const {
    return compiled && std::all_of(launches.begin(), launches.end(),
                                   [](const auto &launch) { return launch.occupancy.fits(); });
}

Result<std::vector<Target>>
examineTargets(const Candidate &candidate, const Signature &signature,
               std::span<const device::Architecture *const> architectures, std::stop_token stop,
               const CompilerMaker &make, unsigned threads) {
    auto resolved = resolve(candidate.plan, signature, noLimits());
    if (!resolved)
        return tl::unexpected(
            Error{resolved.error().kind, "plan.json: " + resolved.error().message});
    const auto launches = launchesOf(candidate.plan, *resolved);
    const auto sources = sourcesOf(candidate);
    const CompilerMaker maker =
        make ? make : [](const std::string &name) { return toolchain::makeCudaCompiler(name); };

    return parallelResults<Target>(architectures.size(), threads, [&](std::size_t i) {
        return examine(*architectures[i], sources, launches, maker, stop);
    });
}

Json toJson(const Target &target) {
    Json kernels = Json::array();
    for (const auto &launch : target.launches)
        kernels.push_back({{"source", launch.source},
                           {"entry", launch.entry.name},
                           {"steps", launch.steps},
                           {"grids", launch.grids},
                           {"block", launch.block},
                           {"cluster", launch.cluster},
                           {"registers", launch.entry.registers},
                           {"static_shared_bytes", launch.entry.sharedBytes},
                           {"dynamic_shared_bytes", launch.dynamicShared},
                           {"spill_bytes", launch.entry.spillBytes},
                           {"stack_bytes", launch.entry.stackBytes},
                           {"barriers", launch.entry.barriers},
                           {"occupancy", toJson(launch.occupancy, *target.architecture)}});
    return targetJson(target, target.holds(), std::move(kernels));
}

} // namespace cuda_agent::plan
