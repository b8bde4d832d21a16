// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/occupancy.h"
#include "core/plan/runner.h"

#include <array>
#include <functional>
#include <span>

namespace cuda_agent::plan {

/// A kernel launched with one size of block and of shared memory. Launches that differ in nothing
/// but the grid are one.
struct TargetLaunch {
    std::vector<int> steps; ///< places in Plan::steps, from 0
    std::string source;     ///< "kernels/fused.cu"
    toolchain::EntryInfo entry;
    std::vector<std::array<std::uint32_t, 3>> grids; ///< one a step
    std::array<std::uint32_t, 3> block{1, 1, 1};
    std::array<int, 3> cluster{1, 1, 1};
    std::int64_t dynamicShared = 0; ///< bytes
    /// Says as well why the launch is not possible on that architecture.
    device::Occupancy occupancy;
};

/// A plan candidate on one architecture.
struct Target {
    const device::Architecture *architecture = nullptr;
    bool compiled = false; ///< every source
    /// Errors of the sources that do not compile, warnings of the others.
    std::vector<toolchain::Diagnostic> diagnostics;
    std::string problem;                ///< one line, of the first source that does not compile
    std::string log;                    ///< what the compiler said of those sources
    std::vector<TargetLaunch> launches; ///< of the sources that compile, in order of the plan
    double seconds = 0; ///< spent compiling; what was cached counts with its time then
    bool cached = true; ///< nothing was compiled now

    /// Every source compiles and every launch is possible.
    bool holds() const;
};

/// Makes the compiler for an architecture, "sm_80".
using CompilerMaker =
    std::function<Result<std::unique_ptr<toolchain::Compiler>>(const std::string &architecture)>;

/// What the kernels of a candidate need on each of the architectures, in their order. Nothing runs
/// and no such card is needed. The plan is resolved once: its launches do not depend on the card.
/// Limits of a launch that differ between cards are said by Target, not here.
///
/// Blocking: compiles for up to `threads` architectures at a time (0: as many as this machine has
/// threads). `make`, by default the one of NVRTC, is called from several threads.
/// Errors: request (the plan does not resolve for the signature), machine, stopped.
Result<std::vector<Target>>
examineTargets(const Candidate &candidate, const Signature &signature,
               std::span<const device::Architecture *const> architectures,
               std::stop_token stop = {}, const CompilerMaker &make = {}, unsigned threads = 0);

/// {"name", "generation", "example", "compiled", "holds", "problem" (where not compiled),
/// "diagnostics", "seconds", "cached", "kernels": [{"source", "entry", "steps", "grids", "block",
/// "cluster", "registers", "static_shared_bytes", "dynamic_shared_bytes", "spill_bytes",
/// "stack_bytes", "barriers", "occupancy"}]}; "occupancy" as device::toJson has it.
Json toJson(const Target &target);

/// The same for whatever has such fields, with these kernels.
template <typename AnyTarget>
Json targetJson(const AnyTarget &target, bool holds, Json kernels) {
    Json diagnostics = Json::array();
    for (const auto &diagnostic : target.diagnostics)
        diagnostics.push_back(toJson(diagnostic));
    Json json{{"name", target.architecture->name},
              {"generation", target.architecture->generation},
              {"example", target.architecture->example},
              {"compiled", target.compiled},
              {"holds", holds},
              {"diagnostics", std::move(diagnostics)},
              {"seconds", target.seconds},
              {"cached", target.cached},
              {"kernels", std::move(kernels)}};
    if (!target.compiled)
        json["problem"] = target.problem;
    return json;
}

} // namespace cuda_agent::plan
