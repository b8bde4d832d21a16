// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/profile/profile_words.h"

#include "widgets/base/text.h"
#include "widgets/roofline/roofline_data.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>
#include <array>
#include <cmath>

namespace cuda_agent::widgets {

namespace {

constexpr const char *context = "Profile";

QString words(const char *text) {
    return QCoreApplication::translate(context, text);
}

struct Named {
    const char *key;
    const char *text;
};

template <std::size_t size>
QString nameIn(const std::array<Named, size> &names, const QString &key) {
    for (const Named &named : names)
        if (key == QLatin1String(named.key))
            return words(named.text);
    return key;
}

constexpr std::array roofs{
    Named{"counted bytes", QT_TRANSLATE_NOOP("Profile", "counted bytes")},
    Named{"counted operations", QT_TRANSLATE_NOOP("Profile", "counted operations")}};

/// What they are held against.
constexpr std::array ceilings{Named{"counted bytes", QT_TRANSLATE_NOOP("Profile", "memory copy")},
                              Named{"counted operations", QT_TRANSLATE_NOOP("Profile", "FP32")}};

constexpr std::array limiterNames{
    Named{"warps", QT_TRANSLATE_NOOP("Profile", "warps")},
    Named{"blocks", QT_TRANSLATE_NOOP("Profile", "blocks")},
    Named{"registers", QT_TRANSLATE_NOOP("Profile", "registers")},
    Named{"shared memory", QT_TRANSLATE_NOOP("Profile", "shared memory")},
    Named{"barriers", QT_TRANSLATE_NOOP("Profile", "barriers")}};

constexpr std::array rules{
    Named{"dram-bound", QT_TRANSLATE_NOOP("Profile", "Bound by DRAM")},
    Named{"l2-bound", QT_TRANSLATE_NOOP("Profile", "Bound by L2")},
    Named{"l1-bound", QT_TRANSLATE_NOOP("Profile", "Bound by L1 and shared memory")},
    Named{"fp32-bound", QT_TRANSLATE_NOOP("Profile", "Bound by FP32 arithmetic")},
    Named{"tensor-bound", QT_TRANSLATE_NOOP("Profile", "Bound by tensor cores")},
    Named{"excess-dram-traffic", QT_TRANSLATE_NOOP("Profile", "Too much DRAM traffic")},
    Named{"uncoalesced-loads", QT_TRANSLATE_NOOP("Profile", "Uncoalesced loads")},
    Named{"uncoalesced-stores", QT_TRANSLATE_NOOP("Profile", "Uncoalesced stores")},
    Named{"bank-conflicts-loads", QT_TRANSLATE_NOOP("Profile", "Bank conflicts of loads")},
    Named{"bank-conflicts-stores", QT_TRANSLATE_NOOP("Profile", "Bank conflicts of stores")},
    Named{"spills", QT_TRANSLATE_NOOP("Profile", "Registers are spilled")},
    Named{"divergence", QT_TRANSLATE_NOOP("Profile", "Divergent warps")},
    Named{"atomics", QT_TRANSLATE_NOOP("Profile", "Many atomics")},
    Named{"small-grid", QT_TRANSLATE_NOOP("Profile", "Grid too small")},
    Named{"tail", QT_TRANSLATE_NOOP("Profile", "Last wave partly empty")},
    Named{"low-occupancy", QT_TRANSLATE_NOOP("Profile", "Low occupancy")},
    Named{"issue-bound", QT_TRANSLATE_NOOP("Profile", "Bound by instructions")},
    Named{"stall", QT_TRANSLATE_NOOP("Profile", "Warps wait")},
    Named{"library-below-limit", QT_TRANSLATE_NOOP("Profile", "Library below its limit")},
    Named{"launch-gaps", QT_TRANSLATE_NOOP("Profile", "Gaps between launches")}};

enum class Unit { count, share, bytes, seconds, rate };
struct EvidenceName {
    const char *key;
    Unit unit;
    const char *text;
};
constexpr std::array evidenceNames{
    EvidenceName{"rate", Unit::rate, QT_TRANSLATE_NOOP("Profile", "reached")},
    EvidenceName{"measured", Unit::rate, QT_TRANSLATE_NOOP("Profile", "measured ceiling")},
    EvidenceName{"of_measured", Unit::share,
                 QT_TRANSLATE_NOOP("Profile", "of the measured ceiling")},
    EvidenceName{"dram_bytes", Unit::bytes, QT_TRANSLATE_NOOP("Profile", "DRAM bytes")},
    EvidenceName{"counted_bytes", Unit::bytes, QT_TRANSLATE_NOOP("Profile", "counted bytes")},
    EvidenceName{"local_bytes", Unit::bytes, QT_TRANSLATE_NOOP("Profile", "local bytes")},
    EvidenceName{"spill_bytes", Unit::count,
                 QT_TRANSLATE_NOOP("Profile", "spilled bytes a thread")},
    EvidenceName{"registers", Unit::count, QT_TRANSLATE_NOOP("Profile", "registers a thread")},
    EvidenceName{"share_of_l1", Unit::share, QT_TRANSLATE_NOOP("Profile", "share of L1 traffic")},
    EvidenceName{"sectors_per_request", Unit::count,
                 QT_TRANSLATE_NOOP("Profile", "sectors per request")},
    EvidenceName{"least_sectors_per_request", Unit::count,
                 QT_TRANSLATE_NOOP("Profile", "fewest that would do")},
    EvidenceName{"bytes_per_sector", Unit::count,
                 QT_TRANSLATE_NOOP("Profile", "used bytes of a sector's 32")},
    EvidenceName{"bank_conflicts", Unit::count, QT_TRANSLATE_NOOP("Profile", "bank conflicts")},
    EvidenceName{"wavefronts", Unit::count, QT_TRANSLATE_NOOP("Profile", "passes")},
    EvidenceName{"conflict_share", Unit::share, QT_TRANSLATE_NOOP("Profile", "repeated passes")},
    EvidenceName{"busy", Unit::share, QT_TRANSLATE_NOOP("Profile", "shared memory busy")},
    EvidenceName{"active_lanes", Unit::count, QT_TRANSLATE_NOOP("Profile", "lanes at work of 32")},
    EvidenceName{"atomics", Unit::count, QT_TRANSLATE_NOOP("Profile", "atomic requests")},
    EvidenceName{"requests", Unit::count, QT_TRANSLATE_NOOP("Profile", "all requests")},
    EvidenceName{"waves", Unit::count, QT_TRANSLATE_NOOP("Profile", "waves")},
    EvidenceName{"tail", Unit::share, QT_TRANSLATE_NOOP("Profile", "empty places")},
    EvidenceName{"blocks_per_sm", Unit::count,
                 QT_TRANSLATE_NOOP("Profile", "blocks a multiprocessor")},
    EvidenceName{"achieved_occupancy", Unit::share,
                 QT_TRANSLATE_NOOP("Profile", "achieved occupancy")},
    EvidenceName{"theoretical_occupancy", Unit::share,
                 QT_TRANSLATE_NOOP("Profile", "theoretical occupancy")},
    EvidenceName{"issue_active", Unit::share,
                 QT_TRANSLATE_NOOP("Profile", "cycles with an instruction")},
    EvidenceName{"share", Unit::share, QT_TRANSLATE_NOOP("Profile", "share of waiting warps")},
    EvidenceName{"stall", Unit::count, QT_TRANSLATE_NOOP("Profile", "reason")},
    EvidenceName{"roof", Unit::count, QT_TRANSLATE_NOOP("Profile", "ceiling")},
    EvidenceName{"limiters", Unit::count, QT_TRANSLATE_NOOP("Profile", "limited by")},
    EvidenceName{"span_seconds", Unit::seconds, QT_TRANSLATE_NOOP("Profile", "whole call")},
    EvidenceName{"busy_seconds", Unit::seconds, QT_TRANSLATE_NOOP("Profile", "sum of launches")},
    EvidenceName{"launches", Unit::count, QT_TRANSLATE_NOOP("Profile", "launches")}};

QString countText(double value) {
    const bool whole = value == std::floor(value) && std::fabs(value) < 1e15;
    return whole ? QLocale().toString(value, 'f', 0) : QLocale().toString(value, 'g', 3);
}

QString figureText(Unit unit, double value, bool memory) {
    switch (unit) {
    case Unit::share:
        return percentText(value);
    case Unit::bytes:
        return bytesText(value);
    case Unit::seconds:
        return timeText(value);
    case Unit::rate:
        return memory ? bandwidthText(value) : rateText(value);
    case Unit::count:
        break;
    }
    return countText(value);
}

bool isMemory(const QString &roof) {
    return roof == QLatin1String("DRAM") || roof.startsWith(QLatin1String("L1")) ||
           roof.startsWith(QLatin1String("L2"));
}

} // namespace

QString percentText(const Figure &share) {
    return share ? words(QT_TRANSLATE_NOOP("Profile", "%1 %"))
                       .arg(QLocale().toString(*share * 100, 'f', 1))
                 : QString();
}

QString levelName(const QString &name) {
    return nameIn(roofs, name);
}

QString launchName(const KernelProfile &profile, int launch) {
    if (launch < 0 || static_cast<std::size_t>(launch) >= profile.launches.size())
        return words(QT_TRANSLATE_NOOP("Profile", "Whole call"));
    const QString &name = profile.launch(launch).name;
    const bool again = std::ranges::count(profile.launches, name, &ProfiledLaunch::name) > 1;
    return again ? QStringLiteral("%1 [%2]").arg(name).arg(launch) : name;
}

QString curveText(const QString &name, bool memory, bool measured, double rate) {
    const QString figure = memory ? bandwidthText(rate) : rateText(rate);
    return (measured ? words(QT_TRANSLATE_NOOP("Profile", "%1 %2"))
                     : words(QT_TRANSLATE_NOOP("Profile", "%1 data sheet %2")))
        .arg(nameIn(ceilings, name), figure);
}

QString roofText(const SpeedOfLight &roof) {
    const auto rate = [&](double value) {
        return roof.memory ? bandwidthText(value) : rateText(value);
    };
    QStringList parts{roof.memory ? bytesText(roof.amount) : operationsText(roof.amount),
                      rate(roof.rate)};
    if (roof.ofMeasured && roof.measured)
        parts += words(QT_TRANSLATE_NOOP("Profile", "%1 of the measured %2"))
                     .arg(percentText(roof.ofMeasured), rate(*roof.measured));
    if (roof.ofDatasheet && roof.datasheet)
        parts += words(QT_TRANSLATE_NOOP("Profile", "%1 of the data sheet's %2"))
                     .arg(percentText(roof.ofDatasheet), rate(*roof.datasheet));
    return words(QT_TRANSLATE_NOOP("Profile", "%1: %2"))
        .arg(levelName(roof.name), parts.join(QStringLiteral(", ")));
}

QString markTextOf(const KernelProfile &profile, const RoofMark &mark) {
    const ProfiledLaunch &launch = profile.launch(mark.launch);
    QStringList lines{
        words(QT_TRANSLATE_NOOP("Profile", "%1, %2"))
            .arg(launchName(profile, mark.launch), timeText(launch.seconds)),
        words(QT_TRANSLATE_NOOP("Profile", "%1 at %2 FLOP/byte"))
            .arg(rateText(mark.performance), QLocale().toString(mark.intensity, 'g', 3))};
    if (const SpeedOfLight *roof = launch.roof(mark.level))
        lines += roofText(*roof);
    return lines.join(QLatin1Char('\n'));
}

QString limitersText(const QStringList &limiters) {
    QStringList names;
    for (const QString &limiter : limiters)
        names += nameIn(limiterNames, limiter);
    return names.join(QStringLiteral(", "));
}

QString ruleTitle(const QString &rule) {
    return nameIn(rules, rule);
}

QString gainText(const ProfileFinding &finding) {
    if (finding.stop)
        return words(QT_TRANSLATE_NOOP("Profile", "at the limit"));
    return words(QT_TRANSLATE_NOOP("Profile", "up to %1 faster")).arg(timesText(finding.gain));
}

QString evidenceText(const ProfileFinding &finding) {
    const bool memory = isMemory(textOf(finding.evidence, "roof"));
    QStringList parts;
    for (const auto &[key, value] : finding.evidence.items()) {
        const auto named = std::ranges::find_if(
            evidenceNames, [&key = key](const EvidenceName &name) { return key == name.key; });
        const bool known = named != evidenceNames.end();
        QString text;
        if (value.is_number())
            text = figureText(known ? named->unit : Unit::count, value.get<double>(), memory);
        else if (value.is_string() && key == "limiters")
            text = limitersText(
                QString::fromStdString(value.get<std::string>()).split(QStringLiteral(" and ")));
        else if (value.is_string())
            text = levelName(QString::fromStdString(value.get<std::string>()));
        if (!text.isEmpty())
            parts += words(QT_TRANSLATE_NOOP("Profile", "%1: %2"))
                         .arg(known ? words(named->text) : QString::fromStdString(key), text)
                         .replace(QStringLiteral(": "), QStringLiteral(":\u00a0"));
    }
    return parts.join(QStringLiteral(" · "));
}

} // namespace cuda_agent::widgets
