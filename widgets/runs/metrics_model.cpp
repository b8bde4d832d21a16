// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/metrics_model.h"

#include "core/learn/run/metric_names.h"

#include <QLocale>

#include <algorithm>

namespace cuda_agent::widgets {

namespace {

/// What a researcher looks at first.
constexpr QLatin1String telling[] = {QLatin1String("actor/entropy"),
                                     QLatin1String("actor/ppo_kl"),
                                     QLatin1String("critic/score/mean"),
                                     QLatin1String("critic/vf_explained_var"),
                                     QLatin1String("num_turns/mean"),
                                     QLatin1String("reward/pass_rate"),
                                     QLatin1String("reward/faster_than_compile"),
                                     QLatin1String("train/loss")};

bool isTelling(const QString &metric) {
    return std::find(std::begin(telling), std::end(telling), metric) != std::end(telling) ||
           (metric.startsWith(QLatin1String("val-core/")) &&
            (metric.endsWith(QLatin1String("/pass_rate")) ||
             metric.endsWith(QLatin1String("/faster_or_at_limit"))));
}

} // namespace

QString groupName(const QString &metric) {
    const auto slash = metric.indexOf(u'/');
    return slash > 0 ? metric.left(slash) : QString();
}

MetricsModel::MetricsModel(QObject *parent) : QAbstractItemModel(parent) {}

void MetricsModel::setMetrics(std::vector<Metric> metrics) {
    std::sort(metrics.begin(), metrics.end(),
              [](const Metric &a, const Metric &b) { return a.name < b.name; });
    const QStringList before = checked();
    removeAllBut(metrics);
    for (Metric &metric : metrics) {
        const QModelIndex place = indexOf(metric.name);
        if (!place.isValid()) {
            metric.checked = remembered_.remove(metric.name);
            insert(std::move(metric));
            continue;
        }
        Metric &known = groupOf(place)->metrics[static_cast<std::size_t>(place.row())];
        if (known.points == metric.points && known.nonFinite == metric.nonFinite)
            continue;
        known.points = metric.points;
        known.nonFinite = metric.nonFinite;
        const QModelIndex values = place.siblingAtColumn(valuesColumn);
        emit dataChanged(values, values);
    }
    if (!touched_ && checked().isEmpty()) {
        int left = checkedAtFirst;
        for (std::size_t i = 0; i < groups_.size(); ++i) {
            for (Metric &metric : groups_[i]->metrics)
                if (isTelling(metric.name)) {
                    metric.checked = true;
                    left = 0;
                }
            checksMoved(static_cast<int>(i));
        }
        for (std::size_t i = 0; i < groups_.size() && left > 0; ++i) {
            for (Metric &metric : groups_[i]->metrics)
                if (left-- > 0)
                    metric.checked = true;
            checksMoved(static_cast<int>(i));
        }
    }
    if (checked() != before)
        emit checkedChanged();
}

void MetricsModel::insert(Metric metric) {
    const QString group = groupName(metric.name);
    auto place = std::lower_bound(groups_.begin(), groups_.end(), group,
                                  [](const std::unique_ptr<Group> &known, const QString &name) {
                                      return known->name < name;
                                  });
    const int row = static_cast<int>(place - groups_.begin());
    if (place == groups_.end() || (*place)->name != group) {
        auto made = std::make_unique<Group>();
        made->name = group;
        beginInsertRows({}, row, row);
        place = groups_.insert(place, std::move(made));
        endInsertRows();
    }
    auto &metrics = (*place)->metrics;
    const auto at = std::lower_bound(
        metrics.begin(), metrics.end(), metric.name,
        [](const Metric &known, const QString &name) { return known.name < name; });
    const int position = static_cast<int>(at - metrics.begin());
    beginInsertRows(index(row, 0), position, position);
    metrics.insert(at, std::move(metric));
    endInsertRows();
}

void MetricsModel::removeAllBut(const std::vector<Metric> &metrics) {
    for (int g = static_cast<int>(groups_.size()); g-- > 0;) {
        auto &known = groups_[static_cast<std::size_t>(g)]->metrics;
        for (int i = static_cast<int>(known.size()); i-- > 0;) {
            const QString &name = known[static_cast<std::size_t>(i)].name;
            const auto kept = std::lower_bound(
                metrics.begin(), metrics.end(), name,
                [](const Metric &metric, const QString &text) { return metric.name < text; });
            if (kept != metrics.end() && kept->name == name)
                continue;
            if (known[static_cast<std::size_t>(i)].checked)
                remembered_.insert(name);
            beginRemoveRows(index(g, 0), i, i);
            known.erase(known.begin() + i);
            endRemoveRows();
        }
        if (known.empty()) {
            beginRemoveRows({}, g, g);
            groups_.erase(groups_.begin() + g);
            endRemoveRows();
        }
    }
}

QStringList MetricsModel::checked() const {
    QStringList names;
    for (const auto &group : groups_)
        for (const Metric &metric : group->metrics)
            if (metric.checked)
                names << metric.name;
    return names;
}

void MetricsModel::setChecked(const QStringList &names) {
    touched_ = true;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
        for (Metric &metric : groups_[i]->metrics)
            metric.checked = names.contains(metric.name);
        checksMoved(static_cast<int>(i));
    }
    emit checkedChanged();
}

void MetricsModel::checksMoved(int group) {
    const QModelIndex parent = index(group, 0);
    emit dataChanged(parent, parent, {Qt::CheckStateRole});
    if (const int count = rowCount(parent); count > 0)
        emit dataChanged(index(0, 0, parent), index(count - 1, 0, parent), {Qt::CheckStateRole});
}

const MetricsModel::Metric *MetricsModel::find(const QString &name) const {
    const QModelIndex place = indexOf(name);
    return place.isValid() ? &groupOf(place)->metrics[static_cast<std::size_t>(place.row())]
                           : nullptr;
}

QModelIndex MetricsModel::indexOf(const QString &name) const {
    const QString group = groupName(name);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        if (groups_[g]->name != group)
            continue;
        const auto &metrics = groups_[g]->metrics;
        for (std::size_t i = 0; i < metrics.size(); ++i)
            if (metrics[i].name == name)
                return index(static_cast<int>(i), 0, index(static_cast<int>(g), 0));
    }
    return {};
}

/// The group whose metric the index shows; null for a group's own index.
MetricsModel::Group *MetricsModel::groupOf(const QModelIndex &index) const {
    return static_cast<Group *>(index.internalPointer());
}

QModelIndex MetricsModel::index(int row, int column, const QModelIndex &parent) const {
    if (!hasIndex(row, column, parent))
        return {};
    return createIndex(row, column,
                       parent.isValid() ? groups_[static_cast<std::size_t>(parent.row())].get()
                                        : nullptr);
}

QModelIndex MetricsModel::parent(const QModelIndex &index) const {
    const Group *group = index.isValid() ? groupOf(index) : nullptr;
    if (!group)
        return {};
    const auto place = std::find_if(groups_.begin(), groups_.end(),
                                    [&](const auto &known) { return known.get() == group; });
    return createIndex(static_cast<int>(place - groups_.begin()), 0, nullptr);
}

int MetricsModel::rowCount(const QModelIndex &parent) const {
    if (!parent.isValid())
        return static_cast<int>(groups_.size());
    if (groupOf(parent) || parent.column() != 0)
        return 0;
    return static_cast<int>(groups_[static_cast<std::size_t>(parent.row())]->metrics.size());
}

int MetricsModel::columnCount(const QModelIndex &) const {
    return columns;
}

QVariant MetricsModel::data(const QModelIndex &index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Group *group = groupOf(index);
    if (role == Qt::TextAlignmentRole && index.column() == valuesColumn)
        return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    if (!group) {
        const Group &own = *groups_[static_cast<std::size_t>(index.row())];
        if (index.column() != nameColumn)
            return {};
        if (role == Qt::DisplayRole)
            return own.name.isEmpty() ? tr("General") : own.name;
        if (role == Qt::CheckStateRole) {
            const auto count = std::count_if(own.metrics.begin(), own.metrics.end(),
                                             [](const Metric &metric) { return metric.checked; });
            return count == 0                                              ? Qt::Unchecked
                   : static_cast<std::size_t>(count) == own.metrics.size() ? Qt::Checked
                                                                           : Qt::PartiallyChecked;
        }
        return {};
    }
    const Metric &metric = group->metrics[static_cast<std::size_t>(index.row())];
    const QString values = metric.nonFinite > 0 ? tr("%1 (%2 not finite)")
                                                      .arg(QLocale().toString(metric.points),
                                                           QLocale().toString(metric.nonFinite))
                                                : QLocale().toString(metric.points);
    if (role == nameRole)
        return metric.name;
    if (role == Qt::ToolTipRole) {
        const auto *known = learn::findMetricName(metric.name.toStdString());
        const QString said = tr("%1: %2 values").arg(metric.name, values);
        return known ? said + u'\n' +
                           QString::fromUtf8(known->text.data(),
                                             static_cast<qsizetype>(known->text.size()))
                     : said;
    }
    if (index.column() == valuesColumn)
        return role == Qt::DisplayRole ? QVariant(values) : QVariant();
    if (role == Qt::DisplayRole)
        return group->name.isEmpty() ? metric.name : metric.name.mid(group->name.size() + 1);
    if (role == Qt::AccessibleTextRole)
        return metric.name;
    if (role == Qt::CheckStateRole)
        return metric.checked ? Qt::Checked : Qt::Unchecked;
    return {};
}

bool MetricsModel::setData(const QModelIndex &index, const QVariant &value, int role) {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid) || index.column() != nameColumn ||
        role != Qt::CheckStateRole)
        return false;
    touched_ = true;
    const bool checked = value.toInt() != Qt::Unchecked;
    if (Group *group = groupOf(index)) {
        group->metrics[static_cast<std::size_t>(index.row())].checked = checked;
        emit dataChanged(index, index, {Qt::CheckStateRole});
        const QModelIndex above = index.parent();
        emit dataChanged(above, above, {Qt::CheckStateRole});
    } else {
        for (Metric &metric : groups_[static_cast<std::size_t>(index.row())]->metrics)
            metric.checked = checked;
        checksMoved(index.row());
    }
    emit checkedChanged();
    return true;
}

QVariant MetricsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    return section == nameColumn ? tr("Metric") : tr("Values");
}

Qt::ItemFlags MetricsModel::flags(const QModelIndex &index) const {
    Qt::ItemFlags flags = QAbstractItemModel::flags(index);
    if (index.isValid() && index.column() == nameColumn)
        flags |= Qt::ItemIsUserCheckable;
    return flags;
}

} // namespace cuda_agent::widgets
