// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/answers.h"

#include "core/plan/linked_candidate.h"

#include <algorithm>
#include <cmath>

namespace cuda_agent::profile {

namespace {

constexpr std::size_t mostLaunches = 10'000;
constexpr std::size_t mostSamples = 1'000;
constexpr std::size_t mostLines = 32;
constexpr double longestSpan = 3600; ///< seconds

// CUptiResult, where a sentence of ours says more than the library's.
constexpr int insufficientPrivileges = 35, virtualizedInsufficientPrivileges = 40;
constexpr int notCompatible = 14, hardwareBusy = 26, notSupported = 27, virtualized = 33,
              legacyOnly = 38, severalSubscribers = 39, confidentialComputing = 41, miningCard = 42,
              migDevice = 43, wsl = 45;

std::optional<double> numberAt(const Json &json, const char *key) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number())
        return std::nullopt;
    const double value = found->get<double>();
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::int64_t countAt(const Json &json, const char *key) {
    const auto value = numberAt(json, key);
    return value && *value >= 0 && *value < 9e15 ? static_cast<std::int64_t>(*value) : -1;
}

std::string textAt(const Json &json, const char *key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? plan::tamed(found->get<std::string>())
                                                     : std::string();
}

std::array<std::uint32_t, 3> sizeAt(const Json &json, const char *key) {
    std::array<std::uint32_t, 3> size{};
    const auto found = json.find(key);
    if (found == json.end() || !found->is_array() || found->size() != 3)
        return size;
    for (std::size_t i = 0; i < 3; ++i) {
        const Json &value = (*found)[i];
        if (value.is_number_integer() && value >= 0 && value <= 0xffff'ffffu)
            size[i] = value.get<std::uint32_t>();
    }
    return size;
}

/// Seconds that can be, in ascending order.
std::vector<double> spansAt(const Json &json, const char *key, double least) {
    std::vector<double> spans;
    const auto found = json.find(key);
    if (found == json.end() || !found->is_array() || found->size() > mostSamples)
        return spans;
    for (const auto &value : *found)
        if (value.is_number() && value.get<double>() >= least && value.get<double>() <= longestSpan)
            spans.push_back(value.get<double>());
    std::ranges::sort(spans);
    return spans;
}

double medianOf(const std::vector<double> &sorted) {
    const std::size_t half = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

std::optional<LaunchKind> kindFrom(const std::string &name) {
    for (const auto kind : {LaunchKind::kernel, LaunchKind::memset, LaunchKind::memcpy})
        if (nameOf(kind) == name)
            return kind;
    return std::nullopt;
}

} // namespace

bool Refused::lacksPrivileges() const {
    return status == insufficientPrivileges || status == virtualizedInsufficientPrivileges;
}

namespace {

std::optional<Refused> refusalAt(const Json &answer, const char *key) {
    const auto found = answer.find(key);
    if (found == answer.end() || !found->is_object())
        return std::nullopt;
    return Refused{textAt(*found, "call"), static_cast<int>(numberAt(*found, "status").value_or(0)),
                   textAt(*found, "name"), textAt(*found, "text")};
}

} // namespace

std::optional<Refused> refusalIn(const Json &answer) {
    return refusalAt(answer, "refused");
}

std::string sentenceOf(const Refused &refused, std::string_view what) {
    const auto because = [&](std::string_view reason) {
        return fmt::format("{}: not measured, {} ({} said {} {}{}{})", what, reason, refused.call,
                           refused.status, refused.name, refused.text.empty() ? "" : ": ",
                           refused.text);
    };
    if (refused.call == "dlopen")
        return fmt::format("{}: not measured, there is no usable libcupti.so.13 of CUDA 13 ({}); "
                           "install the CUDA 13 toolkit or the wheel nvidia-cuda-cupti",
                           what, refused.text);
    switch (refused.status) {
    case insufficientPrivileges:
        return because("the driver keeps them for administrators; run as root, or load the driver "
                       "with NVreg_RestrictProfilingToAdminUsers=0");
    case virtualizedInsufficientPrivileges:
    case virtualized:
        return because("the host of this virtual GPU keeps them; ask whoever runs it to turn "
                       "profiling on");
    case notCompatible:
    case notSupported:
    case legacyOnly:
        return because("this GPU or driver does not offer them to CUDA 13's profiler, which needs "
                       "Turing or later and driver 580 or later");
    case hardwareBusy:
    case severalSubscribers:
        return because("another profiler is attached to the GPU; end it and try again");
    case confidentialComputing:
        return because("the GPU is in confidential mode");
    case miningCard:
        return because("a mining card has none");
    case migDevice:
        return because("a part of a GPU (MIG) does not lend them");
    case wsl:
        return because("Windows keeps them from this Linux");
    default:
        return because("CUPTI refused");
    }
}

Result<Traced> tracedIn(const Json &answer) {
    const auto list = answer.find("launches");
    if (list == answer.end() || !list->is_array() || list->size() > mostLaunches)
        return machineError("the profiler's process did not answer with launches");
    Traced traced;
    traced.asTimed = answer.value("graph", Json()) == true;
    traced.dropped =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, countAt(answer, "dropped")));
    for (const auto &json : *list) {
        if (!json.is_object())
            return machineError("the profiler's process answered with a launch that is none");
        Launch launch;
        const auto kind = kindFrom(textAt(json, "kind"));
        if (!kind)
            return machineError("the profiler's process answered with an unknown kind of launch");
        launch.kind = *kind;
        launch.name = textAt(json, "name");
        launch.step = static_cast<int>(std::min<std::int64_t>(countAt(json, "step"), 1 << 20));
        launch.grid = sizeAt(json, "grid");
        launch.block = sizeAt(json, "block");
        launch.cluster = sizeAt(json, "cluster");
        launch.registers =
            static_cast<int>(std::min<std::int64_t>(countAt(json, "registers"), 1024));
        launch.localBytes =
            static_cast<int>(std::min<std::int64_t>(countAt(json, "local"), 1 << 30));
        launch.sharedStatic = countAt(json, "static_shared");
        launch.sharedDynamic = countAt(json, "dynamic_shared");
        if (const auto spans = spansAt(json, "seconds", 0); !spans.empty()) {
            launch.seconds = medianOf(spans);
            launch.low = spans.front();
            launch.high = spans.back();
        }
        // Two records may overlap by a tick of the clock.
        if (const auto gaps = spansAt(json, "gaps", -1); !gaps.empty())
            launch.gapBefore = std::max(0.0, medianOf(gaps));
        traced.launches.push_back(std::move(launch));
    }
    return traced;
}

Result<CountedRanges> rangesIn(const Json &answer) {
    const auto list = answer.find("ranges");
    if (list == answer.end() || !list->is_array() || list->size() > mostLaunches)
        return machineError("the profiler's process did not answer with counters");
    CountedRanges counted;
    counted.mode = textAt(answer, "mode");
    counted.bySteps = counted.mode.starts_with("steps");
    counted.passes = static_cast<int>(std::max<std::int64_t>(0, countAt(answer, "passes")));
    if (const auto left = answer.find("left_out"); left != answer.end() && left->is_array())
        for (const auto &name : *left)
            if (name.is_string() && counted.leftOut.size() < mostSamples)
                counted.leftOut.push_back(plan::tamed(name.get<std::string>()));
    counted.instructions = textAt(answer, "instructions");
    counted.instructionsRefused = refusalAt(answer, "instructions_refused");
    for (const auto &json : *list) {
        if (!json.is_object() || !json.contains("counters") || !json["counters"].is_object() ||
            json["counters"].size() > mostSamples)
            return machineError("the profiler's process answered with counters that are none");
        Range range{textAt(json, "name"), {}};
        for (const auto &[name, value] : json["counters"].items())
            if (value.is_number() && std::isfinite(value.get<double>()))
                range.counters.emplace(plan::tamed(name), value.get<double>());
        counted.ranges.push_back(std::move(range));
    }
    return counted;
}

namespace {

/// The lines of one function. `answer` is untrusted.
std::vector<HotLine> linesOf(const Json &function) {
    std::vector<HotLine> lines;
    const double all = static_cast<double>(std::max<std::int64_t>(1, countAt(function, "samples")));
    const auto list = function.find("lines");
    if (list == function.end() || !list->is_array() || list->size() > mostLaunches)
        return lines;
    for (const auto &json : *list) {
        if (!json.is_object())
            continue;
        HotLine line;
        line.file = textAt(json, "file");
        line.line = static_cast<int>(std::clamp<std::int64_t>(countAt(json, "line"), 0, 1 << 24));
        line.samples =
            static_cast<std::uint64_t>(std::max<std::int64_t>(0, countAt(json, "samples")));
        line.share = std::min(1.0, static_cast<double>(line.samples) / all);
        std::int64_t most = 0;
        if (const auto stalls = json.find("stalls"); stalls != json.end() && stalls->is_object())
            for (const auto &[reason, value] : stalls->items()) {
                if (!value.is_number_integer() || value <= most)
                    continue;
                most = value.get<std::int64_t>();
                line.stall = plan::tamed(reason);
            }
        if (line.samples > 0)
            line.stallShare =
                std::min(1.0, static_cast<double>(most) / static_cast<double>(line.samples));
        if (line.samples > 0 && line.line > 0)
            lines.push_back(std::move(line));
    }
    std::ranges::stable_sort(lines, std::greater<>(), &HotLine::samples);
    if (lines.size() > mostLines)
        lines.resize(mostLines);
    return lines;
}

} // namespace

Result<Sampled> samplesIn(const Json &answer) {
    const auto list = answer.find("functions");
    if (list == answer.end() || !list->is_array() || list->size() > mostLaunches)
        return machineError("the profiler's process did not answer with samples");
    Sampled sampled;
    sampled.samples =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, countAt(answer, "samples")));
    sampled.dropped =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, countAt(answer, "dropped")));
    for (const auto &function : *list)
        if (function.is_object())
            sampled.lines[textAt(function, "name")] = linesOf(function);
    return sampled;
}

std::vector<std::string> assignCounters(std::vector<Launch> &launches,
                                        const CountedRanges &counted) {
    std::vector<std::string> notes;
    std::vector<Launch *> kernels;
    for (auto &launch : launches)
        if (launch.kind == LaunchKind::kernel)
            kernels.push_back(&launch);
    if (!counted.bySteps) {
        if (kernels.size() != counted.ranges.size()) {
            notes.push_back(fmt::format("hardware counters: left out, {} kernels were counted and "
                                        "{} were traced",
                                        counted.ranges.size(), kernels.size()));
            return notes;
        }
        // Ranges are numbered as the kernels ran, whatever their order in the answer.
        for (std::size_t i = 0; i < counted.ranges.size(); ++i) {
            const auto &name = counted.ranges[i].name;
            const bool isNumber =
                !name.empty() && name.size() < 9 &&
                std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
            const std::size_t index = isNumber ? std::stoul(name) : i;
            if (index < kernels.size())
                kernels[index]->counters = counted.ranges[i].counters;
        }
        return notes;
    }
    for (const auto &range : counted.ranges) {
        Launch *longest = nullptr;
        int sharing = 0;
        for (auto *kernel : kernels) {
            if (std::to_string(kernel->step) != range.name)
                continue;
            ++sharing;
            if (longest == nullptr || kernel->seconds > longest->seconds)
                longest = kernel;
        }
        if (longest == nullptr)
            continue;
        longest->counters = range.counters;
        if (sharing > 1)
            notes.push_back(fmt::format("step {}: its counters are those of all its {} kernels "
                                        "together, shown with the longest",
                                        range.name, sharing));
    }
    return notes;
}

} // namespace cuda_agent::profile
