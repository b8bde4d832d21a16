// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/judge/judge.h"

namespace cuda_agent::judge {

namespace {

Json toJson(const timing::Estimate &estimate) {
    return {{"seconds", estimate.median},
            {"low", estimate.low},
            {"high", estimate.high},
            {"samples", estimate.samples}};
}

Json toJson(const toolchain::EntryInfo &entry) {
    Json json{{"name", entry.name}};
    const auto add = [&](const char *key, int value) {
        if (value >= 0) // -1: the compiler does not tell
            json[key] = value;
    };
    add("registers", entry.registers);
    add("spill_bytes", entry.spillBytes);
    add("shared_bytes", entry.sharedBytes);
    add("stack_bytes", entry.stackBytes);
    return json;
}

std::optional<double> median(const timing::Baselines &baselines, reference::Baseline which) {
    const auto found = baselines.estimates.find(which);
    return found == baselines.estimates.end() ? std::nullopt : std::optional(found->second.median);
}

void addTimes(Json &json, const Verdict &verdict) {
    Json times = Json::object();
    for (const auto &[which, estimate] : verdict.baselines.estimates)
        times[std::string(reference::nameOf(which))] = toJson(estimate);
    if (verdict.times) {
        const double candidate = verdict.times->estimate.median;
        times["candidate"] = toJson(verdict.times->estimate);
        times["candidate"]["host_seconds"] = verdict.times->hostSecondsPerCall;
        const auto pair = declaredBaselines(verdict.numerics);
        Json speedup = Json::object();
        if (const auto eager = median(verdict.baselines, pair.eager))
            speedup["eager"] = *eager / candidate;
        if (const auto compile = median(verdict.baselines, pair.compile))
            speedup["compile"] = *compile / candidate;
        json["speedup"] = speedup;
    }
    json["times"] = times;
    if (verdict.baselinesTime > 0)
        json["baselines_time"] = verdict.baselinesTime;
    if (!verdict.baselines.problems.empty()) {
        Json problems = Json::object();
        for (const auto &[which, problem] : verdict.baselines.problems)
            problems[std::string(reference::nameOf(which))] = problem;
        json["baseline_problems"] = problems;
    }
    const timing::Estimate *best = nullptr;
    for (const auto &[which, estimate] : verdict.baselines.estimates) {
        if (best && estimate.median >= best->median)
            continue;
        best = &estimate;
        json["best_stock"] = {{"name", reference::nameOf(which)}, {"seconds", estimate.median}};
    }
}

/// Whether all products and convolutions of the graph are of 16-bit types.
bool multipliesHalves(const task::Graph &graph) {
    bool any = false;
    for (const auto &node : graph.nodes) {
        const bool product = std::ranges::any_of(
            std::initializer_list<const char *>{"mm.", "linear.", "convolution.",
                                                "scaled_dot_product"},
            [&](const char *part) { return node.op.find(part) != std::string::npos; });
        if (!product || node.outputs.empty())
            continue;
        any = true;
        const auto dtype = node.outputs[0].dtype;
        if (dtype != DType::float16 && dtype != DType::bfloat16)
            return false;
    }
    return any;
}

} // namespace

BaselinePair declaredBaselines(task::Numerics numerics) {
    if (numerics == task::Numerics::tf32)
        return {reference::Baseline::eagerTf32, reference::Baseline::compileTf32};
    return {reference::Baseline::eager, reference::Baseline::compile};
}

Limit limitOf(const task::Description &task, const device::Ceilings &ceilings,
              task::Numerics numerics) {
    Limit limit{static_cast<double>(task.countedBytes) / ceilings.copyBytesPerSecond, "memory"};
    const double tf32 =
        ceilings.tf32FlopsPerSecond > 0 ? ceilings.tf32FlopsPerSecond : ceilings.fp32FlopsPerSecond;
    // PyTorch's default runs fp32 products in fp32 and fp32 convolutions in TF32.
    const double matmulRate =
        numerics == task::Numerics::standard ? ceilings.fp32FlopsPerSecond : tf32;
    if (matmulRate > 0 && tf32 > 0) {
        const double halfRate = ceilings.halfFlopsPerSecond > 0 ? ceilings.halfFlopsPerSecond
                                                                : 2 * ceilings.tf32FlopsPerSecond;
        const bool halves = halfRate > 0 && multipliesHalves(task.graph);
        const double compute = halves
                                   ? (task.matmulFlops + task.convolutionFlops) / halfRate
                                   : task.matmulFlops / matmulRate + task.convolutionFlops / tf32;
        if (compute > limit.seconds)
            limit = {compute, "compute"};
    }
    limit.launchSeconds = ceilings.launchSeconds;
    limit.seconds += limit.launchSeconds;
    return limit;
}

Json toJson(const Verdict &verdict) {
    Json json{{"kind", verdict.kind},
              {"compiled", verdict.compiled},
              {"correct", verdict.correct},
              {"reward", verdict.reward},
              {"device", device::nameOf(verdict.device)},
              {"numerics", task::nameOf(verdict.numerics)},
              {"strength", verify::nameOf(verdict.strength)},
              {"reference", verdict.reference},
              {"flags", verdict.flags},
              {"unenforced", verdict.unenforced},
              {"compile_seconds", verdict.compileSeconds},
              {"seconds", verdict.seconds}};
    for (const auto &[phase, seconds] : verdict.phases)
        json["phases"][phase] = seconds;
    if (verdict.kind == "module") {
        json["rules"] = verdict.rules;
        // In-process events, held against the engine's clock.
        json["clock"] = "tamper-evident";
        if (verdict.audit)
            json["audit"] = modules::toJson(*verdict.audit);
    }
    if (!verdict.problem.empty())
        json["problem"] = verdict.problem;
    if (verdict.sanitizer)
        json["sanitizer"] = sanitize::toJson(*verdict.sanitizer);
    if (verdict.fault)
        json["fault"] = plan::toJson(*verdict.fault);
    if (!verdict.diagnostics.empty()) {
        json["diagnostics"] = Json::array();
        for (const auto &diagnostic : verdict.diagnostics)
            json["diagnostics"].push_back(toolchain::toJson(diagnostic));
    }
    if (!verdict.kernels.empty()) {
        json["kernels"] = Json::array();
        for (const auto &entry : verdict.kernels)
            json["kernels"].push_back(toJson(entry));
    }
    json["checks"] = Json::array();
    for (const auto &check : verdict.verification.checks)
        json["checks"].push_back(verify::toJson(check));
    if (const auto *failed = verdict.verification.failed())
        json["failed_check"] = verify::toJson(*failed);
    addTimes(json, verdict);
    if (verdict.times) {
        json["fraction_of_limit"] = verdict.fractionOfLimit;
        json["limited_by"] = verdict.limit.by;
        json["limit_seconds"] = verdict.limit.seconds;
        json["limit_launch_seconds"] = verdict.limit.launchSeconds;
    }
    return json;
}

Json toJson(const Comparison &comparison) {
    Json json{{"a", toJson(comparison.a)}, {"b", toJson(comparison.b)}};
    if (const auto &times = comparison.times) {
        json["a"]["times"]["candidate"] = toJson(times->a.estimate);
        json["b"]["times"]["candidate"] = toJson(times->b.estimate);
        json["difference"] = {{"relative", times->difference.relative},
                              {"low", times->difference.low},
                              {"high", times->difference.high},
                              {"significant", times->difference.significant()},
                              {"rounds", times->rounds}};
    }
    return json;
}

} // namespace cuda_agent::judge
