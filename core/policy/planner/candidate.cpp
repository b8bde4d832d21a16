// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/candidate.h"

#include "core/base/reordered.h"
#include "core/policy/planner/crossing.h"
#include "core/policy/planner/group_text.h"
#include "core/policy/planner/products.h"
#include "core/policy/planner/recurrence.h"
#include "core/policy/planner/shared_loop.h"

#include <tuple>

namespace cuda_agent::policy {

namespace {

constexpr const char *sourcePath = "kernels/planner.cu";
/// Groups without reductions: rows at least this long are walked one after the other, so that what
/// belongs to a row is loaded once; shorter ones are flattened.
constexpr std::int64_t shortestRun = 1024;

Json bufferJson(const BufferInfo &buffer) {
    Json json{{"name", buffer.name}};
    switch (buffer.role) {
    case BufferRole::input:
        json["role"] = "input";
        json["index"] = buffer.index;
        if (!buffer.order.empty())
            json["order"] = buffer.order;
        return json;
    case BufferRole::parameter:
        json["role"] = "parameter";
        json["key"] = buffer.key;
        return json;
    case BufferRole::output:
        json["role"] = "output";
        json["index"] = buffer.index;
        if (!buffer.order.empty())
            json["order"] = buffer.order;
        break;
    case BufferRole::scratch:
        json["role"] = "scratch";
        break;
    }
    json["dtype"] = nameOf(buffer.dtype);
    json["shape"] = reordered(buffer.expressions, inverseOrder(buffer.order)); // the task's
    return json;
}

/// Buffers in the order of a plan: what is given, outputs, scratch memory as it is numbered.
std::vector<const BufferInfo *> listed(const std::vector<BufferInfo> &buffers) {
    std::vector<const BufferInfo *> result;
    for (const BufferInfo &buffer : buffers)
        result.push_back(&buffer);
    using Place = std::tuple<int, std::size_t, std::string>;
    std::ranges::stable_sort(result, {}, [](const BufferInfo *buffer) -> Place {
        const bool scratch = buffer->role == BufferRole::scratch;
        if (!scratch && buffer->role != BufferRole::output)
            return {}; // as they are
        return {scratch ? 2 : 1, buffer->name.size(), buffer->name};
    });
    return result;
}

/// Sizes of a product that kernels hold as numbers and that no loop of theirs says.
std::vector<std::string> productRequirements(const Program &program, const LibraryStep &step) {
    if (step.product->b.windows) {
        std::vector<std::string> result;
        const BufferInfo &image = program.buffers[step.product->b.buffer];
        for (std::size_t d = 1; d < image.shape.size(); ++d) {
            const std::string &size = image.expressions[d];
            if (size.find_first_not_of("0123456789") != std::string::npos)
                result.push_back(fmt::format("{} == {}", size, image.shape[d]));
        }
        return result;
    }
    const std::string k = step.step.at("k");
    if (k.find_first_not_of("0123456789") == std::string::npos)
        return {};
    return {fmt::format("{} == {}", k, step.product->k)};
}

} // namespace

std::vector<ScheduledGroup> groupsOf(const Fused &fused, bool transpose) {
    std::vector<ScheduledGroup> result;
    for (const Unit &unit : fused.units) {
        if (!unit.group)
            continue;
        ScheduledGroup group;
        group.group = &*unit.group;
        if (unit.group->product >= 0)
            group.nest = makeProductNest(fused.program, *unit.group);
        else
            group.nest = makeNest(fused.program, *unit.group, shortestRun, transpose);
        if (transpose && unit.group->product < 0)
            if (auto crossing = crossingNest(fused.program, *unit.group, group.nest, shortestRun))
                group.nest = *std::move(crossing);
        group.name = fmt::format("{}{}",
                                 unit.group->scores >= 0       ? "attention"
                                 : unit.group->product >= 0    ? "product"
                                 : !unit.group->scans.empty()  ? "scan"
                                 : !unit.group->orders.empty() ? "order"
                                 : unit.group->hasReductions() ? "reduce"
                                                               : "map",
                                 result.size());
        result.push_back(std::move(group));
    }
    return result;
}

std::int64_t groupBytes(const Program &program, const Group &group) {
    std::int64_t bytes = 0;
    std::set<int> seen;
    std::int64_t places = 1; // at most one element each, where positions are picked
    for (const std::set<Axis> *axes : {&group.rows, &group.reduced}) {
        for (const Axis atom : *axes)
            places *= program.axes.size(atom);
    }
    const int product = productValue(program, group, group.product);
    const int score = productValue(program, group, group.scores);
    for (const int buffer : operandsOf(program, group))
        bytes += seen.insert(buffer).second ? program.bytesOf(buffer) : 0;
    for (const int id : reachableFrom(program, group.roots())) {
        const Value &value = program.values[id];
        if (id == product || id == score || value.kind != Kind::load ||
            !seen.insert(value.buffer).second)
            continue;
        const auto each = static_cast<std::int64_t>(sizeOf(value.dtype));
        const std::int64_t whole = program.bytesOf(value.buffer);
        bytes += value.picks() > 0 ? std::min(whole, places * each) : whole;
    }
    for (const Store &store : group.stores)
        bytes += program.bytesOf(store.buffer);
    return bytes;
}

CandidateFiles makeCandidate(const Fused &fused, const std::vector<ScheduledGroup> &groups,
                             const std::vector<Schedule> &schedules, const std::string &name,
                             const std::vector<std::string> &reasons) {
    const Program &program = fused.program;
    Json plan{{"version", 1}, {"name", name}};
    std::vector<std::string> requirements = program.requirements;
    std::set<std::string> used;
    std::set<std::string> helpers;
    std::map<std::string, std::string> states;
    std::set<DType> types;
    std::vector<BufferInfo> extra;
    Json steps = Json::array();
    std::string kernels;
    std::string header = "// Written by the planner. Launched as plan.json says.\n//\n";

    const auto emit = [&](KernelSource source) {
        kernels += source.text;
        for (const auto &[state, text] : source.states)
            if (text.size() > states[state].size())
                states[state] = text;
        helpers.merge(source.helpers);
        for (const BufferInfo &buffer : source.scratch)
            extra.push_back(buffer);
        for (const std::string &buffer : source.zeroed)
            steps.push_back({{"kind", "fill"}, {"buffer", buffer}, {"value", 0}});
        for (const Launch &launch : source.launches) {
            Json step{{"kind", "kernel"}, {"source", sourcePath}, {"entry", launch.entry}};
            step["grid"] = {launch.grid[0], launch.grid[1], launch.grid[2]};
            step["block"] = {launch.block[0], launch.block[1], launch.block[2]};
            if (launch.shared > 0)
                step["shared"] = launch.shared;
            step["args"] = launch.arguments;
            for (const Json &argument : launch.arguments) {
                if (argument.contains("buffer"))
                    used.insert(argument["buffer"].get<std::string>());
            }
            steps.push_back(std::move(step));
        }
    };

    std::size_t next = 0, recurrences = 0;
    for (const Unit &unit : fused.units) {
        if (!unit.group) {
            const LibraryStep &step = program.library[unit.library];
            if (step.recurrence) {
                const std::string kernel = fmt::format("recurrent{}", recurrences++);
                header += fmt::format("// {}: {}.\n", kernel, describe(*step.recurrence));
                emit(writeRecurrence(program, step, kernel));
                continue;
            }
            steps.push_back(step.step);
            for (const int buffer : step.reads)
                used.insert(program.buffers[buffer].name);
            used.insert(program.buffers[step.writes].name);
            continue;
        }
        const ScheduledGroup &group = groups[next];
        const Schedule &schedule = schedules[next];
        KernelSource source = writeKernels(program, *group.group, group.nest, schedule, group.name);
        header += fmt::format("// {}: {}.\n//   Schedule {}: {}\n", group.name,
                              describeGroup(program, group), schedule.text(),
                              next < reasons.size() ? reasons[next] : "");
        ++next;
        emit(std::move(source));
        for (const std::string &requirement : group.nest.requirements) {
            if (std::find(requirements.begin(), requirements.end(), requirement) ==
                requirements.end())
                requirements.push_back(requirement);
        }
        for (const int number : {group.group->product, group.group->scores}) {
            if (number < 0)
                continue;
            const LibraryStep &step = program.library[number];
            for (const std::string &requirement : productRequirements(program, step)) {
                if (std::find(requirements.begin(), requirements.end(), requirement) ==
                    requirements.end())
                    requirements.push_back(requirement);
            }
        }
        // Vectors must not step over the end of an open length.
        if (schedule.form == Schedule::Form::row && schedule.vector > 1 &&
            group.nest.runtimeOuter && group.nest.dims[0].element &&
            (group.nest.elements() / group.nest.dims[0].size) % schedule.vector != 0)
            requirements.push_back(
                fmt::format("({}) % {} == 0", group.nest.dims[0].expression, schedule.vector));
        if (schedule.form == Schedule::Form::row && schedule.rowsEach > 1 &&
            group.nest.runtimeOuter && sharedLoopOf(program, *group.group, group.nest).dim == 0)
            requirements.push_back(
                fmt::format("({}) % {} == 0", group.nest.dims[0].expression, schedule.rowsEach));
        if (schedule.form == Schedule::Form::column && schedule.vector > 1 &&
            group.nest.runtimeOuter && !group.nest.dims[0].element &&
            group.nest.dims.back().axes == group.nest.dims[0].axes)
            requirements.push_back(
                fmt::format("({}) % {} == 0", group.nest.dims[0].expression, schedule.vector));
    }
    for (const std::string &line : std::vector<std::string>(
             reasons.begin() + static_cast<std::ptrdiff_t>(std::min(next, reasons.size())),
             reasons.end()))
        header += fmt::format("// {}\n", line);

    for (const std::string &note : program.notes)
        header += fmt::format("// The same in exact arithmetic: {}\n", note);

    // Sizes may be told by an input that no kernel reads.
    for (const BufferInfo &buffer : program.buffers) {
        if (std::any_of(requirements.begin(), requirements.end(), [&](const std::string &text) {
                return text.find(buffer.name + ".shape[") != std::string::npos;
            }))
            used.insert(buffer.name);
    }

    Json buffers = Json::array();
    for (const BufferInfo *buffer : listed(program.buffers)) {
        if (!used.contains(buffer->name))
            continue;
        types.insert(buffer->dtype);
        buffers.push_back(bufferJson(*buffer));
    }
    for (const BufferInfo &buffer : extra)
        buffers.push_back(bufferJson(buffer));
    if (!requirements.empty())
        plan["requires"] = requirements;
    plan["buffers"] = std::move(buffers);
    plan["steps"] = std::move(steps);

    CandidateFiles result;
    result.name = name;
    result.files["plan.json"] = plan.dump(2) + "\n";
    if (!kernels.empty()) {
        std::string &source = result.files[sourcePath];
        source = header + "\n" + preludeText(helpers, types);
        for (const auto &[state, text] : states)
            source += text;
        source += kernels;
    }
    return result;
}

} // namespace cuda_agent::policy
