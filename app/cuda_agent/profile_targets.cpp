// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/profile_targets.h"

#include "app/cuda_agent/printer.h"
#include "app/cuda_agent/profile_listing.h"

#include "core/device/lease.h"
#include "core/modules/targets.h"
#include "core/plan/targets.h"
#include "core/reference/worker.h"

#include <algorithm>

namespace cuda_agent::app {

const char *const targetsHelp =
    "With --arch, --json prints {\"task\", \"candidate\", \"holds\", \"library_steps\", "
    "\"architectures\"}. An architecture has name, generation, example (cards), compiled, holds "
    "(compiles, and every launch is possible), problem (where it does not compile), diagnostics "
    "(severity, file, line, column, message), seconds, cached, and kernels: source, entry, steps "
    "of "
    "the plan, grids, block, cluster, registers of a thread, static_shared_bytes and "
    "dynamic_shared_bytes of a block, spill_bytes and stack_bytes of a thread, barriers, and "
    "occupancy: fits, problem, blocks_per_sm, warps_per_sm, max_warps_per_sm, occupancy (their "
    "ratio), limiters, blocks_by (blocks that each resource alone allows), warps_per_block, "
    "registers_per_block, shared_bytes_per_block. Of a workspace, whose host code decides on "
    "blocks "
    "when it runs, kernels have occupancy_by_threads in the place of occupancy: for blocks of 128, "
    "256, 512 and 1024 threads without dynamic shared memory. With --listing an architecture has "
    "listing: source, function, instructions (address, text, line, places, those of functions that "
    "were inlined from within). Exit 0: all of it holds on all of "
    "them; 1: not "
    "all.";

namespace {

/// The types that the plan is resolved for.
Result<plan::Signature> signatureOf(const TaskRequest &request, const TaskOptions &options,
                                    std::stop_token stop) {
    CUDA_AGENT_ASSIGN(device, device::openNamed(options.device));
    CUDA_AGENT_ASSIGN(lease, device::Lease::share(device->info(), stop));
    (void)lease;
    reference::Options wanted;
    wanted.numerics = request.judge.numerics;
    CUDA_AGENT_ASSIGN(worker, reference::Worker::start(request.spec, *device, wanted, stop));
    CUDA_AGENT_ASSIGN(description, worker->describe(stop));
    return judge::signatureOf(description);
}

/// How many steps are left to libraries, which choose their own kernels.
int librarySteps(const plan::Plan &plan) {
    return static_cast<int>(
        std::count_if(plan.steps.begin(), plan.steps.end(), [](const auto &step) {
            return std::holds_alternative<plan::GemmStep>(step) ||
                   std::holds_alternative<plan::ConvolutionStep>(step);
        }));
}

template <typename T>
std::string timesText(const std::array<T, 3> &sizes) {
    return fmt::format("{} x {} x {}", sizes[0], sizes[1], sizes[2]);
}

std::string limitersText(const device::Occupancy &occupancy) {
    std::string text;
    for (const auto limiter : occupancy.limiters)
        text.append(text.empty() ? "" : ", ").append(device::nameOf(limiter));
    return text;
}

/// What one launch needs on one architecture, as a row.
std::string rowOf(const plan::Target &target, const plan::TargetLaunch *launch) {
    if (launch == nullptr)
        return fmt::format("  {:<7} does not compile", target.architecture->name);
    const auto &entry = launch->entry;
    const auto &occupancy = launch->occupancy;
    const auto numbers = fmt::format("  {:<7} {:>9}  {:>6} + {:<7} {:>6} {:>6}  ",
                                     target.architecture->name, entry.registers, entry.sharedBytes,
                                     launch->dynamicShared, entry.spillBytes, entry.stackBytes);
    if (!occupancy.fits())
        return numbers + "does not fit: " + occupancy.problem;
    return numbers + fmt::format("{:>9} {:>8.1f} %  {}", occupancy.blocks, 100 * occupancy.fraction,
                                 limitersText(occupancy));
}

/// The launch of `target` that belongs to the plan's step, or null where its source does not
/// compile.
const plan::TargetLaunch *launchOf(const plan::Target &target, int step) {
    for (const auto &launch : target.launches)
        if (launch.steps.front() == step)
            return &launch;
    return nullptr;
}

/// Launches of all architectures, by their first step, each as some architecture has it.
std::map<int, const plan::TargetLaunch *> launchesOf(const std::vector<plan::Target> &targets) {
    std::map<int, const plan::TargetLaunch *> launches;
    for (const auto &target : targets)
        for (const auto &launch : target.launches)
            launches.emplace(launch.steps.front(), &launch);
    return launches;
}

std::string stepsText(const plan::TargetLaunch &launch) {
    std::string text = launch.steps.size() == 1 ? "step" : "steps";
    for (std::size_t i = 0; i < launch.steps.size() && i < 8; ++i)
        text += fmt::format("{} {}", i == 0 ? "" : ",", launch.steps[i]);
    return launch.steps.size() > 8 ? text + fmt::format(" and {} more", launch.steps.size() - 8)
                                   : text;
}

bool holds(const plan::Target &target) {
    return target.holds();
}
bool holds(const modules::Target &target) {
    return target.compiled;
}

/// What the compiler said where something does not hold, and where that is.
template <typename Target>
void printConclusion(const std::vector<Target> &targets, const char *good, Printer &printer) {
    std::string lacking;
    for (const auto &target : targets) {
        if (holds(target))
            continue;
        lacking.append(lacking.empty() ? "" : ", ").append(target.architecture->name);
        int shown = 0;
        for (const auto &diagnostic : target.diagnostics)
            if (diagnostic.severity == "error" && shown++ < 5)
                printer.line(fmt::format("{}: {}{}", target.architecture->name,
                                         diagnostic.line > 0
                                             ? fmt::format("{}:{}:{}: ", diagnostic.file,
                                                           diagnostic.line, diagnostic.column)
                                             : std::string(),
                                         diagnostic.message));
        if (shown > 5)
            printer.line(fmt::format("{}: and {} more", target.architecture->name, shown - 5));
    }
    if (lacking.empty())
        printer.line(fmt::format("{} on all {}", good, targets.size()));
    else
        printer.line("does not hold on " + lacking);
}

void print(const std::vector<plan::Target> &targets, int libraries, Printer &printer) {
    for (const auto &[step, example] : launchesOf(targets)) {
        auto head = fmt::format("{}: {}, block {}, grid {}", example->source, example->entry.name,
                                timesText(example->block), timesText(example->grids.front()));
        if (example->cluster != std::array{1, 1, 1})
            head += ", cluster " + timesText(example->cluster);
        printer.line(head + ", " + stepsText(*example));
        printer.line("  arch    registers  shared memory    spills  stack  blocks/SM  occupancy  "
                     "limited by");
        for (const auto &target : targets)
            printer.line(rowOf(target, launchOf(target, step)));
    }
    if (libraries > 0)
        printer.line(
            fmt::format("note: {} steps are left to libraries, which have kernels for each "
                        "card",
                        libraries));
    printConclusion(targets, "compiles and fits", printer);
}

/// Occupancy for each of the example blocks, "100/ 75/ 50/  0".
std::string examplesText(const modules::Target &target, const modules::TargetKernel &kernel) {
    std::string text;
    for (const int threads : modules::exampleThreads)
        text += fmt::format("{}{:>5.1f}", text.empty() ? "" : " ",
                            100 * modules::occupancyOf(target, kernel, threads).fraction);
    return text;
}

void print(const std::vector<modules::Target> &targets, Printer &printer) {
    std::vector<std::pair<std::string, std::string>> kernels; // as some architecture has them
    for (const auto &target : targets)
        for (const auto &kernel : target.kernels)
            if (const std::pair each{kernel.source, kernel.entry.name};
                std::find(kernels.begin(), kernels.end(), each) == kernels.end())
                kernels.push_back(each);
    for (const auto &[source, name] : kernels) {
        printer.line(fmt::format("{}: {}", source, name));
        printer.line("  arch    registers  static shared  spills  stack  occupancy in % at "
                     "128/256/512/1024 threads");
        for (const auto &target : targets) {
            const auto kernel =
                std::find_if(target.kernels.begin(), target.kernels.end(), [&](const auto &each) {
                    return each.source == source && each.entry.name == name;
                });
            if (kernel == target.kernels.end())
                printer.line(fmt::format("  {:<7} does not compile", target.architecture->name));
            else
                printer.line(fmt::format("  {:<7} {:>9}  {:>13}  {:>6} {:>6}  {}",
                                         target.architecture->name, kernel->entry.registers,
                                         kernel->entry.sharedBytes, kernel->entry.spillBytes,
                                         kernel->entry.stackBytes, examplesText(target, *kernel)));
        }
    }
    printer.line("note: host code decides on blocks and dynamic shared memory when it runs, so "
                 "whether launches fit is not known");
    printConclusion(targets, "compiles", printer);
}

template <typename Target>
int answer(const std::vector<Target> &targets, const std::vector<Json> &listings,
           const TaskOptions &options, const std::string &candidate, Json more) {
    const bool all = std::all_of(targets.begin(), targets.end(),
                                 [](const auto &target) { return holds(target); });
    if (options.json) {
        more["candidate"] = candidate;
        more["holds"] = all;
        more["architectures"] = Json::array();
        for (std::size_t i = 0; i < targets.size(); ++i) {
            auto each = toJson(targets[i]);
            if (i < listings.size() && !listings[i].is_null())
                each["listing"] = listings[i];
            more["architectures"].push_back(std::move(each));
        }
        fmt::print("{}\n", more.dump(2, ' ', false, Json::error_handler_t::replace));
    }
    return all ? 0 : 1;
}

} // namespace

Result<int> profileTargets(const TaskOptions &options, const std::string &candidate,
                           const std::string &list, const std::string &listing,
                           std::stop_token stop) {
    CUDA_AGENT_ASSIGN(architectures, device::parseArchitectures(list));
    CUDA_AGENT_ASSIGN(read, judge::readCandidate(candidate));
    CUDA_AGENT_ASSIGN(request, openTask(options));
    Printer printer(options.json);
    const auto compiling = fmt::format("compiling for {} architecture{}", architectures.size(),
                                       architectures.size() == 1 ? "" : "s");
    Json more{{"task", request.spec.name()}};
    if (const auto *module = std::get_if<modules::Candidate>(&read)) {
        if (!listing.empty())
            return requestError("--listing takes a candidate with plan.json, not {}", candidate);
        printer.progress(compiling);
        CUDA_AGENT_ASSIGN(targets, modules::examineTargets(*module, architectures, stop));
        if (!options.json)
            print(targets, printer);
        return answer(targets, {}, options, candidate, std::move(more));
    }
    const auto &planned = std::get<plan::Candidate>(read);
    printer.progress("loading the task");
    CUDA_AGENT_ASSIGN(signature, signatureOf(request, options, stop));
    printer.progress(compiling);
    CUDA_AGENT_ASSIGN(targets, plan::examineTargets(planned, signature, architectures, stop));
    const int libraries = librarySteps(planned.plan);
    more["library_steps"] = libraries;
    std::vector<Json> listings(targets.size());
    for (std::size_t i = 0; i < targets.size() && !listing.empty(); ++i) {
        const auto &architecture = *targets[i].architecture;
        const auto code = listing == "ptx" ? toolchain::Code::ptx : toolchain::Code::sass;
        CUDA_AGENT_ASSIGN(listed, listingsOf(planned, architecture, code, stop));
        if (!options.json)
            print(listed, planned, architecture, code, printer);
        listings[i] = toJson(listed);
    }
    if (!options.json)
        print(targets, libraries, printer);
    return answer(targets, listings, options, candidate, std::move(more));
}

} // namespace cuda_agent::app
