// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/profile/kernels_model.h"

#include "widgets/base/text.h"
#include "widgets/base/theme.h"
#include "widgets/profile/profile_words.h"

#include <QLocale>

namespace cuda_agent::widgets {

void KernelsModel::setProfile(const KernelProfile &profile) {
    beginResetModel();
    profile_ = profile;
    endResetModel();
}

Figure KernelsModel::numberAt(int row, int column) const {
    const ProfiledLaunch &launch = profile_.launch(row);
    const auto reached = [&](bool memory) {
        const SpeedOfLight *roof = launch.nearest(memory);
        return roof && roof->amount > 0 ? roof->ofMeasured : std::nullopt;
    };
    const auto count = [](int value) { return value >= 0 ? Figure(value) : std::nullopt; };
    switch (column) {
    case Time:
        return launch.seconds;
    case Share:
        return launch.share;
    case Memory:
        return reached(true);
    case Compute:
        return reached(false);
    case Achieved:
        return launch.achievedOccupancy;
    case Theoretical:
        return launch.theoreticalOccupancy;
    case Registers:
        return count(launch.registers);
    case Spills:
        return count(launch.spillBytes);
    default:
        return std::nullopt;
    }
}

QString KernelsModel::textAt(int row, int column) const {
    const ProfiledLaunch &launch = profile_.launch(row);
    if (column == Name)
        return launchName(profile_, row);
    if (column == LimitedBy)
        return limitersText(launch.limiters);
    const Figure value = numberAt(row, column);
    if (!value)
        return {};
    switch (column) {
    case Time:
        return timeText(*value);
    case Registers:
        return QLocale().toString(*value, 'f', 0);
    case Spills:
        return *value > 0 ? tr("%1 B").arg(QLocale().toString(*value, 'f', 0))
                          : QStringLiteral("0");
    default:
        return percentText(value);
    }
}

QString KernelsModel::tipOf(int row, int column) const {
    const ProfiledLaunch &launch = profile_.launch(row);
    QStringList lines;
    if (column == Memory || column == Compute) {
        for (const SpeedOfLight &roof : launch.roofs)
            if (roof.memory == (column == Memory))
                lines += roofText(roof);
    } else if (column == Time) {
        lines += tr("median of the traced calls, %1 to %2")
                     .arg(timeText(launch.low), timeText(launch.high));
    } else if (column == Name) {
        lines += launch.label.isEmpty() ? launch.name : launch.label;
        if (!launch.grid.isEmpty())
            lines += tr("grid %1, block %2").arg(launch.grid, launch.block);
    } else {
        lines += textAt(row, column);
    }
    return lines.join(QLatin1Char('\n'));
}

QString KernelsModel::text() const {
    QStringList lines;
    QStringList head;
    for (int column = 0; column < columns; ++column)
        head += headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    lines += head.join(QLatin1Char('\t'));
    for (int row = 0; row < rowCount(); ++row) {
        QStringList fields;
        for (int column = 0; column < columns; ++column)
            fields += textAt(row, column);
        lines += fields.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

int KernelsModel::rowCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : static_cast<int>(profile_.launches.size());
}

int KernelsModel::columnCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : columns;
}

QVariant KernelsModel::data(const QModelIndex &index, int role) const {
    if (!index.isValid())
        return {};
    const int row = index.row();
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole:
        return textAt(row, column);
    case Qt::ToolTipRole:
        return tipOf(row, column);
    case sortRole: {
        if (column == Name || column == LimitedBy)
            return textAt(row, column);
        const Figure value = numberAt(row, column);
        return value ? *value : -1.0; // what is not known comes last from above
    }
    case Qt::TextAlignmentRole:
        return int((column == Name || column == LimitedBy ? Qt::AlignLeft : Qt::AlignRight) |
                   Qt::AlignVCenter);
    case Qt::ForegroundRole:
        if (column == Spills && numberAt(row, column).value_or(0) > 0)
            return Theme::instance().colors().bad;
        return {};
    }
    return {};
}

QVariant KernelsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return int((section == Name || section == LimitedBy ? Qt::AlignLeft : Qt::AlignRight) |
                   Qt::AlignVCenter);
    const bool whole = role == Qt::ToolTipRole || role == Qt::AccessibleDescriptionRole;
    if (role != Qt::DisplayRole && !whole)
        return {};
    switch (section) {
    case Name:
        return whole ? tr("Kernel, copy or step, in the order of the call") : tr("Kernel");
    case Time:
        return whole ? tr("Time of one launch, the median") : tr("Time");
    case Share:
        return whole ? tr("Share of the sum of all launches") : tr("Share");
    case Memory:
        return whole ? tr("Speed of light of memory: the nearest of its measured ceilings")
                     : tr("Memory");
    case Compute:
        return whole ? tr("Speed of light of arithmetic: the nearest of its measured ceilings")
                     : tr("Compute");
    case Achieved:
        return whole ? tr("Achieved occupancy: resident warps over the most that fit")
                     : tr("Occupancy");
    case Theoretical:
        return whole ? tr("Theoretical occupancy: what its resources allow") : tr("Possible");
    case LimitedBy:
        return whole ? tr("What limits the theoretical occupancy") : tr("Limited by");
    case Registers:
        return whole ? tr("Registers a thread") : tr("Registers");
    case Spills:
        return whole ? tr("Bytes that a thread spills from registers") : tr("Spills");
    }
    return {};
}

} // namespace cuda_agent::widgets
