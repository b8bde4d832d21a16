// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/roofline/roofline_data.h"

#include "widgets/base/text.h"

#include <QCoreApplication>

namespace cuda_agent::widgets {

namespace {

QString scaledText(double value) {
    const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    std::size_t prefix = 0;
    while (std::fabs(value) >= 1000 && prefix + 1 < std::size(prefixes)) {
        value /= 1000;
        ++prefix;
    }
    const int digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
    return QString::number(value, 'f', prefix == 0 ? 0 : digits) + QChar(0x202f) +
           QLatin1String(prefixes[prefix]);
}

RoofPoint pointOf(const RooflineData &data, double seconds) {
    RoofPoint point;
    point.seconds = seconds;
    point.rate = data.operations / seconds;
    point.bandwidth = data.bytes / seconds;
    return point;
}

/// The limit of a verdict is counted bytes over bandwidth, or operations over a rate, and a launch.
RoofCeilings derivedFrom(const Json &verdict, const RooflineData &data) {
    RoofCeilings ceilings;
    const double limit =
        numberOf(verdict, "limit_seconds") - numberOf(verdict, "limit_launch_seconds");
    if (!(limit > 0))
        return ceilings;
    ceilings.derived = true;
    const QString by = textOf(verdict, "limited_by");
    if (by == QLatin1String("memory"))
        ceilings.bandwidth = data.bytes / limit;
    else if (by == QLatin1String("compute"))
        ceilings.fp32 = data.operations / limit;
    return ceilings;
}

} // namespace

RooflineData rooflineOf(const SessionDocument &document) {
    RooflineData data;
    const Json &task = document.description();
    data.bytes = std::max(0.0, numberOf(task, "counted_bytes"));
    data.operations = std::max(0.0, numberOf(task, "matmul_flops")) +
                      std::max(0.0, numberOf(task, "convolution_flops"));
    const Json &baselines = document.baselines();
    for (const char *name :
         {"eager", "compile", "compile_max_autotune", "eager_tf32", "compile_tf32"})
        if (const double seconds = numberOf(partOf(baselines, name), "seconds"); seconds > 0) {
            data.baselines.push_back(pointOf(data, seconds));
            data.baselines.back().baseline = QLatin1String(name);
        }
    const Json &measured = partOf(baselines, "ceilings");
    data.ceilings.bandwidth = std::max(0.0, numberOf(measured, "copy_bytes_per_second"));
    data.ceilings.fp32 = std::max(0.0, numberOf(measured, "fp32_flops_per_second"));
    data.ceilings.tf32 = std::max(0.0, numberOf(measured, "tf32_flops_per_second"));
    data.ceilings.half = std::max(0.0, numberOf(measured, "half_flops_per_second"));
    if (const Json &levels = partOf(measured, "levels"); levels.is_array())
        for (const Json &level : levels)
            if (const double rate = numberOf(level, "bytes_per_second"); rate > 0)
                data.ceilings.levels.push_back({textOf(level, "name"), rate});
    for (const VerdictFigures *figures : document.index().verdicts(document.cursor())) {
        if (!(figures->seconds > 0))
            continue;
        data.turns.push_back(pointOf(data, figures->seconds));
        data.turns.back().turn = figures->turn;
        if (!(data.ceilings.bandwidth > 0) && !(data.ceilings.fp32 > 0))
            data.ceilings = derivedFrom(document.verdictOf(figures->turn), data);
    }
    return data;
}

QString bandwidthText(double bytesPerSecond) {
    return QCoreApplication::translate("Roofline", "%1/s").arg(bytesText(bytesPerSecond));
}

QString rateText(double operationsPerSecond) {
    return QCoreApplication::translate("Roofline", "%1FLOP/s").arg(scaledText(operationsPerSecond));
}

QString operationsText(double operations) {
    return QCoreApplication::translate("Roofline", "%1FLOP").arg(scaledText(operations));
}

} // namespace cuda_agent::widgets
