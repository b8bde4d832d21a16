// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/roofline/profile_model.h"

#include "widgets/base/text.h"
#include "widgets/base/theme.h"

#include <QLocale>

#include <algorithm>
#include <cmath>

namespace cuda_agent::widgets {

namespace {

const RoofPoint *bestOf(const std::vector<RoofPoint> &points) {
    const auto best =
        std::min_element(points.begin(), points.end(), [](const RoofPoint &a, const RoofPoint &b) {
            return a.seconds < b.seconds;
        });
    return best == points.end() ? nullptr : &*best;
}

QString percent(double part) {
    return ProfileModel::tr("%1 %").arg(QLocale().toString(part * 100, 'f', 1));
}

QString signedPercent(double part) {
    const QString number = QLocale().toString(std::fabs(part) * 100, 'f', 1);
    return part < 0 ? ProfileModel::tr("−%1 %").arg(number) : ProfileModel::tr("+%1 %").arg(number);
}

} // namespace

void ProfileModel::setData(const RooflineData &data, int turn, const Json &verdict,
                           const Json &compiled) {
    beginResetModel();
    rows_.clear();
    turn_ = turn;
    stock_.clear();
    const RoofPoint *candidate = nullptr;
    for (const RoofPoint &point : data.turns)
        if (point.turn == turn)
            candidate = &point;
    const RoofPoint *stock = bestOf(data.baselines);
    RoofPoint again; // a full verdict measures the baselines again: then those count
    const Json &best = partOf(verdict, "best_stock");
    if (const double seconds = numberOf(best, "seconds"); seconds > 0) {
        again.seconds = seconds;
        again.baseline = textOf(best, "name");
        again.bandwidth = data.bytes / seconds;
        again.rate = data.operations / seconds;
        stock = &again;
    }
    if (stock)
        stock_ = stock->baseline;
    const auto add = [&](const QString &fact, double of, double than, bool smaller,
                         const std::function<QString(double)> &text) {
        Row row{fact, of > 0 ? text(of) : QString(), than > 0 ? text(than) : QString(), {}, 0};
        if (of > 0 && than > 0) {
            row.difference = signedPercent(of / than - 1);
            row.tone = std::fabs(of / than - 1) < 0.005 ? 0 : (of < than) == smaller ? 1 : -1;
        }
        if (!row.candidate.isEmpty() || !row.stock.isEmpty())
            rows_.push_back(std::move(row));
    };
    add(tr("time"), candidate ? candidate->seconds : 0, stock ? stock->seconds : 0, true, timeText);
    if (data.bytes > 0)
        rows_.push_back({tr("counted bytes"), bytesText(data.bytes), bytesText(data.bytes), {}, 0});
    if (data.operations > 0)
        rows_.push_back({tr("counted operations"),
                         operationsText(data.operations),
                         operationsText(data.operations),
                         {},
                         0});
    if (data.bytes > 0)
        add(tr("achieved bandwidth"), candidate ? candidate->bandwidth : 0,
            stock ? stock->bandwidth : 0, false, bandwidthText);
    if (data.operations > 0)
        add(tr("achieved rate"), candidate ? candidate->rate : 0, stock ? stock->rate : 0, false,
            rateText);
    const double fraction = numberOf(verdict, "fraction_of_limit");
    const double limit = numberOf(verdict, "limit_seconds");
    if (fraction > 0)
        add(textOf(verdict, "limited_by") == QLatin1String("compute")
                ? tr("part of the limit (arithmetic)")
                : tr("part of the limit (memory)"),
            fraction, stock && limit > 0 ? limit / stock->seconds : 0, false, percent);
    const Json &kernels = partOf(compiled, "kernels");
    addKernels(kernels.is_array() && !kernels.empty() ? kernels : partOf(verdict, "kernels"));
    endResetModel();
}

void ProfileModel::addKernels(const Json &kernels) {
    if (!kernels.is_array())
        return;
    for (const Json &kernel : kernels) {
        const QString name = textOf(kernel, "name");
        const auto add = [&](const char *key, const QString &fact,
                             const std::function<QString(double)> &text) {
            const double value = numberOf(kernel, key, -1);
            if (value >= 0)
                rows_.push_back(
                    {tr("%1: %2", "kernel: fact").arg(name, fact), text(value), {}, {}, 0});
        };
        const auto whole = [](double value) { return QString::number(value, 'f', 0); };
        add("registers", tr("registers a thread"), whole);
        add("spill_bytes", tr("spilled bytes"), whole);
        add("shared_bytes", tr("shared memory"), bytesText);
        add("stack_bytes", tr("stack"), bytesText);
        add("occupancy", tr("occupancy"), percent);
        if (const QString limiter = textOf(kernel, "occupancy_limiter"); !limiter.isEmpty())
            rows_.push_back({tr("%1: %2", "kernel: fact").arg(name, tr("occupancy limited by")),
                             limiter,
                             {},
                             {},
                             0});
    }
}

QString ProfileModel::text() const {
    QStringList lines;
    QStringList head;
    for (int column = 0; column < columns; ++column)
        head += headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    lines += head.join(QLatin1Char('\t'));
    for (const Row &row : rows_)
        lines +=
            QStringList{row.fact, row.candidate, row.stock, row.difference}.join(QLatin1Char('\t'));
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

int ProfileModel::rowCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int ProfileModel::columnCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : columns;
}

QVariant ProfileModel::data(const QModelIndex &index, int role) const {
    if (!index.isValid())
        return {};
    const Row &row = rows_[static_cast<std::size_t>(index.row())];
    const Colors &colors = Theme::instance().colors();
    switch (role) {
    case Qt::DisplayRole:
    case Qt::ToolTipRole:
        switch (index.column()) {
        case Fact:
            return row.fact;
        case Candidate:
            return row.candidate;
        case Stock:
            return row.stock;
        case Difference:
            return row.difference;
        }
        return {};
    case Qt::TextAlignmentRole:
        return int((index.column() == Fact ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    case Qt::ForegroundRole:
        if (index.column() == Difference && row.tone != 0)
            return row.tone > 0 ? colors.good : colors.bad;
        return index.column() == Stock ? QVariant(colors.muted) : QVariant();
    }
    return {};
}

QVariant ProfileModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return int((section == Fact ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Fact:
        return tr("Fact");
    case Candidate:
        return turn_ > 0 ? tr("Turn %1").arg(turn_) : tr("Candidate");
    case Stock:
        return stock_.isEmpty() ? tr("Best stock") : tr("Best stock (%1)").arg(stock_);
    case Difference:
        return tr("Difference");
    }
    return {};
}

} // namespace cuda_agent::widgets
