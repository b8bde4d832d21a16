// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/ncu/compare.h"

#include <cmath>
#include <limits>
#include <map>

namespace cuda_agent::ncu {

namespace {

/// "softmax" of "void softmax(const float *, int)"; template arguments stay.
std::string bareName(std::string_view kernel) {
    if (kernel.starts_with("void "))
        kernel.remove_prefix(5);
    int depth = 0;
    for (std::size_t i = 0; i < kernel.size(); ++i) {
        depth += kernel[i] == '<' ? 1 : kernel[i] == '>' ? -1 : 0;
        if (kernel[i] == '(' && depth == 0)
            return std::string(kernel.substr(0, i));
    }
    return std::string(kernel);
}

/// A number of a JSON object, or none.
std::optional<double> numberIn(const Json &object, const std::string &name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_number() ? std::optional(found->get<double>())
                                                       : std::nullopt;
}

/// Our figure for one of ncu's metrics, in its unit.
std::optional<double> oursOf(const Json &launch, const Metric &metric) {
    if (metric.name == "gpu__time_duration.sum")
        return numberIn(launch, "seconds");
    if (metric.name == "launch__registers_per_thread")
        return numberIn(launch, "registers");
    // The library beneath counts times in nanoseconds, where ncu names its unit.
    const auto counters = launch.find("counters");
    if (counters == launch.end() || !counters->is_object() || metric.unit == "second")
        return std::nullopt;
    return numberIn(*counters, metric.name);
}

} // namespace

double Difference::relative() const {
    if (ours == theirs)
        return 0;
    return theirs == 0 ? std::numeric_limits<double>::infinity()
                       : (ours - theirs) / std::fabs(theirs);
}

Result<Comparison> compare(const Report &theirs, const Json &ours) {
    const auto launches = ours.is_object() ? ours.find("launches") : ours.end();
    if (!ours.is_object() || launches == ours.end() || !launches->is_array())
        return requestError("no report of 'cuda-agent profile --json': it has no launches");
    std::map<std::string, std::vector<const Launch *>> byName;
    for (const auto &launch : theirs.launches)
        byName[bareName(launch.kernel)].push_back(&launch);
    Comparison comparison;
    std::map<std::string, std::size_t> seen;
    int place = -1;
    for (const auto &launch : *launches) {
        ++place;
        if (!launch.is_object() || !launch.contains("name") || !launch["name"].is_string() ||
            (launch.contains("kind") && launch["kind"] != "kernel"))
            continue;
        const auto name = launch["name"].get<std::string>();
        const auto bare = bareName(name);
        const auto found = byName.find(bare);
        const auto number = seen[bare]++;
        if (found == byName.end() || number >= found->second.size()) {
            comparison.notes.push_back(fmt::format("ncu has no launch {} of {}", number + 1, name));
            continue;
        }
        for (const auto &metric : found->second[number]->metrics)
            if (const auto value = oursOf(launch, metric); value && metric.value)
                comparison.figures.push_back(
                    {place, name, metric.name, metric.unit, *value, *metric.value});
    }
    for (const auto &[name, found] : byName)
        if (!seen.contains(name))
            comparison.notes.push_back(fmt::format("only ncu has {}", name));
    return comparison;
}

Json toJson(const Comparison &comparison) {
    Json figures = Json::array();
    for (const auto &each : comparison.figures) {
        const double relative = each.relative();
        figures.push_back({{"launch", each.launch},
                           {"kernel", each.kernel},
                           {"metric", each.metric},
                           {"unit", each.unit},
                           {"ours", each.ours},
                           {"ncu", each.theirs},
                           {"relative", std::isfinite(relative) ? Json(relative) : Json()}});
    }
    return {{"figures", std::move(figures)}, {"notes", comparison.notes}};
}

} // namespace cuda_agent::ncu
