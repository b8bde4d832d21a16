// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/profile/kernel_profile.h"

#include "widgets/base/text.h"

#include <algorithm>
#include <cmath>

namespace cuda_agent::widgets {

namespace {

constexpr double most = 1e24; ///< no rate, amount or time is beyond

Figure figureOf(const Json &object, const char *name) {
    const double value = numberOf(object, name, -1);
    return value >= 0 && value < most ? Figure(value) : std::nullopt;
}

Figure positiveOf(const Json &object, const char *name) {
    const Figure value = figureOf(object, name);
    return value && *value > 0 ? value : std::nullopt;
}

int wholeOf(const Json &object, const char *name, int otherwise) {
    const double value = numberOf(object, name, otherwise);
    return value >= -1 && value <= 1e9 ? static_cast<int>(value) : otherwise;
}

QStringList textsOf(const Json &list) {
    QStringList texts;
    if (list.is_array())
        for (const Json &text : list)
            if (text.is_string())
                texts += QString::fromStdString(text.get<std::string>());
    return texts;
}

std::optional<SpeedOfLight> roofOf(const Json &json) {
    SpeedOfLight roof;
    roof.name = textOf(json, "name");
    const Figure amount = figureOf(json, "amount");
    const Figure rate = figureOf(json, "rate");
    if (roof.name.isEmpty() || !amount || !rate)
        return std::nullopt;
    roof.memory = textOf(json, "unit") == QLatin1String("B");
    roof.amount = *amount;
    roof.rate = *rate;
    roof.measured = positiveOf(json, "measured");
    roof.datasheet = positiveOf(json, "datasheet");
    roof.ofMeasured = figureOf(json, "of_measured");
    roof.ofDatasheet = figureOf(json, "of_datasheet");
    if (roof.memory)
        roof.intensity = figureOf(json, "intensity");
    return roof;
}

std::vector<SpeedOfLight> roofsOf(const Json &list) {
    std::vector<SpeedOfLight> roofs;
    if (list.is_array())
        for (const Json &json : list)
            if (auto roof = roofOf(json))
                roofs.push_back(std::move(*roof));
    return roofs;
}

QString shapeOf(const Json &list) {
    QStringList sizes;
    if (list.is_array())
        for (const Json &size : list)
            if (size.is_number_unsigned())
                sizes += QString::number(size.get<std::uint64_t>());
    return sizes.size() == 3 ? sizes.join(QStringLiteral(" × ")) : QString();
}

std::vector<HotLine> linesOf(const Json &list) {
    std::vector<HotLine> lines;
    if (list.is_array())
        for (const Json &json : list) {
            HotLine line;
            line.file = textOf(json, "file");
            line.line = wholeOf(json, "line", 0);
            line.share = std::clamp(figureOf(json, "share").value_or(0), 0.0, 1.0);
            line.stall = textOf(json, "stall");
            line.stallShare = std::clamp(figureOf(json, "stall_share").value_or(0), 0.0, 1.0);
            if (!line.file.isEmpty() && line.line > 0)
                lines.push_back(std::move(line));
        }
    return lines;
}

ProfiledLaunch launchOf(const Json &json) {
    ProfiledLaunch launch;
    launch.kind = textOf(json, "kind");
    launch.name = textOf(json, "name");
    launch.label = textOf(json, "label");
    if (launch.name.isEmpty())
        launch.name = launch.label.isEmpty() ? launch.kind : launch.label;
    launch.file = textOf(json, "file");
    launch.line = std::max(0, wholeOf(json, "line", 0));
    launch.seconds = figureOf(json, "seconds").value_or(0);
    launch.low = figureOf(json, "low").value_or(launch.seconds);
    launch.high = figureOf(json, "high").value_or(launch.seconds);
    launch.share = figureOf(json, "share");
    launch.grid = shapeOf(partOf(json, "grid"));
    launch.block = shapeOf(partOf(json, "block"));
    launch.roofs = roofsOf(partOf(json, "roofs"));
    launch.achievedOccupancy = figureOf(json, "achieved_occupancy");
    const Json &theoretical = partOf(json, "theoretical_occupancy");
    launch.theoreticalOccupancy = figureOf(theoretical, "occupancy");
    launch.limiters = textsOf(partOf(theoretical, "limiters"));
    launch.registers = wholeOf(json, "registers", -1);
    launch.spillBytes = wholeOf(json, "spill_bytes", -1);
    launch.lines = linesOf(partOf(json, "lines"));
    return launch;
}

ProfileFinding findingOf(const Json &json, int launches) {
    ProfileFinding finding;
    finding.rule = textOf(json, "rule");
    finding.launch = wholeOf(json, "launch", -1);
    if (finding.launch >= launches)
        finding.launch = -1;
    finding.message = textOf(json, "message");
    if (const Json &evidence = partOf(json, "evidence"); evidence.is_object())
        finding.evidence = evidence;
    finding.gain = std::max(1.0, figureOf(json, "gain").value_or(1));
    finding.stop = truthOf(json, "stop");
    finding.file = textOf(json, "file");
    finding.line = std::max(0, wholeOf(json, "line", 0));
    return finding;
}

/// Main memory, the caches from the outermost inwards, arithmetic. The names are those of roofs.
std::vector<Ceiling> ceilingsOf(const KernelProfile &profile, const Json &json) {
    std::vector<Ceiling> ceilings;
    const Json &measured = partOf(json, "ceilings");
    const Json &sheet = partOf(json, "datasheet");
    const auto add = [&](const QString &name, bool memory, Figure own, Figure stated) {
        if (own || stated)
            ceilings.push_back({name, memory, own, stated});
    };
    add(profile.cpu ? QStringLiteral("counted bytes") : QStringLiteral("DRAM"), true,
        positiveOf(measured, "copy_bytes_per_second"), positiveOf(sheet, "bytes_per_second"));
    if (const Json &levels = partOf(measured, "levels"); levels.is_array())
        for (auto level = levels.rbegin(); level != levels.rend(); ++level)
            if (const QString name = textOf(*level, "name"); !name.isEmpty())
                add(name, true, positiveOf(*level, "bytes_per_second"), std::nullopt);
    add(profile.cpu ? QStringLiteral("counted operations") : QStringLiteral("FP32"), false,
        positiveOf(measured, "fp32_flops_per_second"), positiveOf(sheet, "fp32_flops_per_second"));
    add(QStringLiteral("TF32 tensor"), false, positiveOf(measured, "tf32_flops_per_second"),
        positiveOf(sheet, "tf32_flops_per_second"));
    add(QStringLiteral("FP16/BF16 tensor"), false, positiveOf(measured, "half_flops_per_second"),
        positiveOf(sheet, "half_flops_per_second"));
    return ceilings;
}

} // namespace

const SpeedOfLight *ProfiledLaunch::roof(const QString &wanted) const {
    const auto found = std::ranges::find(roofs, wanted, &SpeedOfLight::name);
    return found == roofs.end() ? nullptr : &*found;
}

const SpeedOfLight *ProfiledLaunch::nearest(bool memory) const {
    const SpeedOfLight *best = nullptr;
    for (const SpeedOfLight &roof : roofs)
        if (roof.memory == memory && roof.ofMeasured &&
            (!best || *roof.ofMeasured > *best->ofMeasured))
            best = &roof;
    return best;
}

Figure ProfiledLaunch::performance() const {
    for (const SpeedOfLight &roof : roofs)
        if (roof.memory && roof.intensity && roof.rate > 0)
            return *roof.intensity * roof.rate;
    return std::nullopt;
}

const ProfiledLaunch &KernelProfile::launch(int index) const {
    return index >= 0 && static_cast<std::size_t>(index) < launches.size()
               ? launches[static_cast<std::size_t>(index)]
               : whole;
}

int KernelProfile::longest() const {
    const auto found = std::ranges::max_element(launches, {}, &ProfiledLaunch::seconds);
    return found == launches.end() ? -1 : static_cast<int>(found - launches.begin());
}

std::optional<KernelProfile> kernelProfileOf(const Json &json) {
    if (!partOf(json, "launches").is_array() || !partOf(json, "device").is_object())
        return std::nullopt;
    KernelProfile profile;
    profile.device = textOf(partOf(json, "device"), "name");
    profile.cpu = textOf(partOf(json, "device"), "kind") == QLatin1String("cpu");
    profile.source = textOf(json, "source");
    profile.label = textOf(json, "label");
    profile.ceilings = ceilingsOf(profile, json);
    for (const Json &launch : partOf(json, "launches"))
        profile.launches.push_back(launchOf(launch));
    profile.whole.kind = QStringLiteral("call");
    const Figure span = positiveOf(json, "span_seconds");
    profile.whole.seconds = span ? *span : figureOf(json, "busy_seconds").value_or(0);
    profile.whole.low = profile.whole.high = profile.whole.seconds;
    profile.whole.roofs = roofsOf(partOf(json, "roofs"));
    profile.gapShare = figureOf(json, "gap_share");
    if (const Json &findings = partOf(json, "findings"); findings.is_array())
        for (const Json &finding : findings)
            if (finding.is_object())
                profile.findings.push_back(
                    findingOf(finding, static_cast<int>(profile.launches.size())));
    std::ranges::stable_sort(profile.findings, std::greater<>(), &ProfileFinding::gain);
    profile.notes = textsOf(partOf(json, "notes"));
    return profile;
}

} // namespace cuda_agent::widgets
