// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/modules/targets.h"

#include "core/base/parallel.h"
#include "core/modules/build.h"
#include "core/plan/targets.h"

#include <algorithm>

namespace cuda_agent::modules {

namespace {

Result<Target> examine(const Candidate &candidate, const device::Architecture &architecture,
                       const std::stop_token &stop) {
    device::Info info;
    info.kind = device::Kind::cuda;
    info.architecture = architecture.name;
    CUDA_AGENT_ASSIGN(builder, Builder::make(info, stop));
    CUDA_AGENT_ASSIGN(outcomes, builder->compileKernels(candidate, stop));
    Target target;
    target.architecture = &architecture;
    target.compiled = true;
    for (auto &[file, outcome] : outcomes) {
        if (auto *refused = std::get_if<toolchain::Rejection>(&outcome)) {
            if (target.compiled)
                target.problem = refused->summary;
            target.compiled = target.cached = false;
            std::move(refused->diagnostics.begin(), refused->diagnostics.end(),
                      std::back_inserter(target.diagnostics));
            continue;
        }
        const auto &binary = std::get<toolchain::Binary>(outcome);
        target.seconds += binary.seconds;
        target.cached = target.cached && binary.cached;
        target.diagnostics.insert(target.diagnostics.end(), binary.warnings.begin(),
                                  binary.warnings.end());
        for (const auto &entry : binary.entries)
            target.kernels.push_back({file, entry});
    }
    return target;
}

} // namespace

device::Occupancy occupancyOf(const Target &target, const TargetKernel &kernel, int threads) {
    device::BlockNeeds needs;
    needs.threads = threads;
    needs.registers = std::max(kernel.entry.registers, 0);
    needs.staticShared = std::max(kernel.entry.sharedBytes, 0);
    needs.barriers = std::max(kernel.entry.barriers, 0);
    return device::occupancyOf(*target.architecture, needs);
}

Result<std::vector<Target>>
examineTargets(const Candidate &candidate,
               std::span<const device::Architecture *const> architectures, std::stop_token stop) {
    if (candidate.form != Form::workspace)
        return requestError("{} compiles what it needs when it is loaded, so what it would compile "
                            "for other cards cannot be known; write it as a workspace "
                            "(model_new.py, kernels/X.cu and kernels/X_binding.cpp) or as a plan",
                            candidate.source.string());
    return parallelResults<Target>(architectures.size(), 0, [&](std::size_t i) {
        return examine(candidate, *architectures[i], stop);
    });
}

Json toJson(const Target &target) {
    Json kernels = Json::array();
    for (const auto &kernel : target.kernels) {
        Json by = Json::object();
        for (const int threads : exampleThreads)
            by[std::to_string(threads)] =
                toJson(occupancyOf(target, kernel, threads), *target.architecture);
        kernels.push_back({{"source", kernel.source},
                           {"entry", kernel.entry.name},
                           {"registers", kernel.entry.registers},
                           {"static_shared_bytes", kernel.entry.sharedBytes},
                           {"spill_bytes", kernel.entry.spillBytes},
                           {"stack_bytes", kernel.entry.stackBytes},
                           {"barriers", kernel.entry.barriers},
                           {"occupancy_by_threads", std::move(by)}});
    }
    return plan::targetJson(target, target.compiled, std::move(kernels));
}

} // namespace cuda_agent::modules
