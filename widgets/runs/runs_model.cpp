// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/runs_model.h"

#include "widgets/base/theme.h"
#include "widgets/runs/run_progress.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QLocale>
#include <QPainter>
#include <QPixmap>

#include <algorithm>
#include <cmath>

namespace cuda_agent::widgets {
namespace {

constexpr double stillWritten = 60; ///< seconds since the last write of a run that counts as live

double ageOf(const RunSummary &summary) {
    return static_cast<double>(QDateTime::currentMSecsSinceEpoch()) * 1e-3 - summary.lastWrite;
}

bool byFolder(const RunsModel::Run &run, const QString &folder) {
    return run.summary.folder < folder;
}

} // namespace

QString ageText(double seconds) {
    const double s = std::max(0.0, seconds);
    if (s < 60)
        return RunsModel::tr("%1 s").arg(std::floor(s));
    if (s < 3600)
        return RunsModel::tr("%1 min").arg(std::floor(s / 60));
    if (s < 86400)
        return RunsModel::tr("%1 h").arg(std::floor(s / 3600));
    return RunsModel::tr("%1 d").arg(std::floor(s / 86400));
}

RunsModel::RunsModel(QObject *parent) : QAbstractTableModel(parent) {}

void RunsModel::update(const RunSummary &summary) {
    const auto place = std::lower_bound(runs_.begin(), runs_.end(), summary.folder, byFolder);
    const int row = static_cast<int>(place - runs_.begin());
    if (place != runs_.end() && place->summary.folder == summary.folder) {
        place->summary = summary;
        emit dataChanged(index(row, 0), index(row, columns - 1));
        return;
    }
    Run run;
    run.summary = summary;
    // The colour that the fewest runs have, so that a removed run's is used again.
    std::array<int, std::tuple_size_v<decltype(Colors::series)>> used{};
    int drawn = 0;
    for (const Run &other : runs_) {
        ++used[static_cast<std::size_t>(other.color)];
        drawn += other.checked ? 1 : 0;
    }
    run.color = static_cast<int>(std::min_element(used.begin(), used.end()) - used.begin());
    run.checked = drawn < checkedAtFirst;
    beginInsertRows({}, row, row);
    runs_.insert(place, std::move(run));
    endInsertRows();
    rename();
    emit drawnChanged();
}

void RunsModel::remove(const QString &folder) {
    const auto place = std::lower_bound(runs_.begin(), runs_.end(), folder, byFolder);
    if (place == runs_.end() || place->summary.folder != folder)
        return;
    const int row = static_cast<int>(place - runs_.begin());
    beginRemoveRows({}, row, row);
    runs_.erase(place);
    endRemoveRows();
    rename();
    emit drawnChanged();
}

const RunsModel::Run *RunsModel::find(const QString &folder) const {
    const auto place = std::lower_bound(runs_.begin(), runs_.end(), folder, byFolder);
    return place != runs_.end() && place->summary.folder == folder ? &*place : nullptr;
}

QStringList RunsModel::checked() const {
    QStringList folders;
    for (const Run &run : runs_)
        if (run.checked)
            folders << run.summary.folder;
    return folders;
}

void RunsModel::setAllChecked(bool checked) {
    if (runs_.empty())
        return;
    for (Run &run : runs_)
        run.checked = checked;
    emit dataChanged(index(0, 0), index(rowCount() - 1, 0), {Qt::CheckStateRole});
    emit drawnChanged();
}

void RunsModel::refreshAges() {
    if (!runs_.empty())
        emit dataChanged(index(0, ageColumn), index(rowCount() - 1, stateColumn));
}

/// A run is called as its path below the folder that was added, or by its own folder's name; names
/// that are there twice are told apart by as many folders above as that takes.
void RunsModel::rename() {
    QStringList names;
    for (const Run &run : runs_) {
        const QString below = QDir(run.summary.root).relativeFilePath(run.summary.folder);
        const bool own = below == QLatin1String(".") || below.startsWith(QLatin1String(".."));
        names << (own ? QFileInfo(run.summary.folder).fileName() : below);
    }
    for (bool longer = true; longer;) {
        longer = false;
        QHash<QString, int> count;
        for (const QString &name : names)
            ++count[name];
        for (std::size_t i = 0; i < runs_.size(); ++i) {
            QString &name = names[static_cast<qsizetype>(i)];
            const QString &folder = runs_[i].summary.folder;
            if (count[name] < 2 || name == folder)
                continue;
            const auto parts = name.count(QLatin1Char('/')) + 2;
            name = folder.count(QLatin1Char('/')) < parts
                       ? folder
                       : folder.section(QLatin1Char('/'), -parts);
            longer = true;
        }
    }
    for (std::size_t i = 0; i < runs_.size(); ++i)
        runs_[i].name = names[static_cast<qsizetype>(i)];
    if (!runs_.empty())
        emit dataChanged(index(0, nameColumn), index(rowCount() - 1, nameColumn));
}

int RunsModel::rowCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : static_cast<int>(runs_.size());
}

int RunsModel::columnCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : static_cast<int>(columns);
}

QString RunsModel::stateText(const RunSummary &summary) const {
    if (summary.loading)
        return tr("reading");
    if (summary.gone)
        return tr("gone");
    if (const QString said = RunProgress::of(summary.trainer).state; !said.isEmpty())
        return said;
    if (summary.metrics.isEmpty())
        return tr("no values yet");
    if (ageOf(summary) < stillWritten)
        return tr("live");
    return tr("quiet");
}

QString RunsModel::toolTip(const Run &run) const {
    QStringList lines{run.summary.folder};
    if (run.summary.bad > 0)
        lines << tr("Lines and records that could not be read: %1").arg(run.summary.bad);
    lines << run.summary.problems;
    return lines.join(u'\n');
}

QVariant RunsModel::data(const QModelIndex &index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Run &run = runs_[static_cast<std::size_t>(index.row())];
    const RunSummary &summary = run.summary;
    if (role == Qt::ToolTipRole)
        return toolTip(run);
    if (role == Qt::TextAlignmentRole &&
        (index.column() == stepColumn || index.column() == ageColumn))
        return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    if (role == Qt::ForegroundRole && index.column() == stateColumn &&
        (summary.gone || summary.bad > 0))
        return Theme::instance().colors().bad;
    if (index.column() == nameColumn) {
        if (role == Qt::CheckStateRole)
            return run.checked ? Qt::Checked : Qt::Unchecked;
        if (role == Qt::DecorationRole)
            return Theme::instance().colors().series[static_cast<std::size_t>(run.color)];
        if (role == Qt::AccessibleTextRole)
            return tr("run %1, %2").arg(run.name, stateText(summary));
    }
    if (role != Qt::DisplayRole)
        return {};
    switch (index.column()) {
    case nameColumn:
        return run.name;
    case stepColumn:
        return std::isfinite(summary.lastStep) ? QLocale().toString(summary.lastStep, 'f', 0)
                                               : QString();
    case ageColumn:
        return std::isfinite(summary.lastWrite) ? ageText(ageOf(summary)) : QString();
    case stateColumn:
        return summary.bad > 0 ? tr("%1, %2 unreadable").arg(stateText(summary)).arg(summary.bad)
                               : stateText(summary);
    default:
        return {};
    }
}

bool RunsModel::setData(const QModelIndex &index, const QVariant &value, int role) {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid) || index.column() != nameColumn ||
        role != Qt::CheckStateRole)
        return false;
    runs_[static_cast<std::size_t>(index.row())].checked = value.toInt() == Qt::Checked;
    emit dataChanged(index, index, {Qt::CheckStateRole});
    emit drawnChanged();
    return true;
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation == Qt::Horizontal && role == Qt::ToolTipRole && section == ageColumn)
        return tr("Time since the last write");
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case nameColumn:
        return tr("Run");
    case stepColumn:
        return tr("Step");
    case ageColumn:
        return tr("Age");
    case stateColumn:
        return tr("State");
    default:
        return {};
    }
}

Qt::ItemFlags RunsModel::flags(const QModelIndex &index) const {
    const Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    if (!index.isValid())
        return flags;
    return flags | Qt::ItemNeverHasChildren |
           (index.column() == nameColumn ? Qt::ItemIsUserCheckable : Qt::NoItemFlags);
}

} // namespace cuda_agent::widgets
