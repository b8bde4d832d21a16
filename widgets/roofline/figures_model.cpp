// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/roofline/figures_model.h"

#include "widgets/base/text.h"

namespace cuda_agent::widgets {

namespace {

QString change(double candidate, double stock) {
    if (candidate <= 0 || stock <= 0)
        return {};
    const double percent = 100 * (candidate / stock - 1);
    return QStringLiteral("%1%2\u202f%")
        .arg(percent > 0 ? QStringLiteral("+") : QString())
        .arg(percent, 0, 'f', 1);
}

QString rate(double value, const QString &unit) {
    return value > 0 ? bytesText(value).replace(QStringLiteral("B"), unit) : QString();
}

} // namespace

FiguresModel::FiguresModel(QObject *parent) : QAbstractTableModel(parent) {}

void FiguresModel::setFigures(const RooflineData &data, const Json &verdict, const Json &compiled) {
    beginResetModel();
    rows_.clear();
    const double candidate = numberOf(partOf(partOf(verdict, "times"), "candidate"), "seconds");
    const double stock = numberOf(partOf(verdict, "best_stock"), "seconds");
    const double limit = numberOf(verdict, "limit_seconds");
    const auto per = [](double amount, double seconds) {
        return seconds > 0 ? amount / seconds : 0;
    };
    if (candidate > 0) {
        rows_.push_back({tr("Time of a call"), timeText(candidate),
                         stock > 0 ? timeText(stock) : QString(), change(candidate, stock)});
        if (data.bytes > 0)
            rows_.push_back({tr("Bandwidth, counted bytes"),
                             rate(per(data.bytes, candidate), QStringLiteral("B/s")),
                             rate(per(data.bytes, stock), QStringLiteral("B/s")),
                             change(per(data.bytes, candidate), per(data.bytes, stock))});
        if (data.operations > 0)
            rows_.push_back({tr("Rate, counted operations"),
                             rate(per(data.operations, candidate), QStringLiteral("FLOP/s")),
                             rate(per(data.operations, stock), QStringLiteral("FLOP/s")),
                             change(per(data.operations, candidate), per(data.operations, stock))});
        const auto share = [&](double seconds) {
            return seconds > 0 && limit > 0
                       ? QStringLiteral("%1\u202f%").arg(100 * limit / seconds, 0, 'f', 1)
                       : QString();
        };
        rows_.push_back({tr("Share of the machine's limit"), share(candidate), share(stock), {}});
    }
    if (data.bytes > 0)
        rows_.push_back({tr("Bytes that must move"), bytesText(data.bytes), {}, {}});
    if (data.operations > 0)
        rows_.push_back(
            {tr("Operations counted"), rate(data.operations, QStringLiteral("FLOP")), {}, {}});
    const Json &kernels = partOf(verdict, "kernels").empty() ? partOf(compiled, "kernels")
                                                             : partOf(verdict, "kernels");
    for (const Json &kernel : kernels) {
        const auto add = [&](const QString &what, const char *field, bool bytes) {
            const double value = numberOf(kernel, field, -1);
            if (value >= 0)
                rows_.push_back({tr("%1: %2").arg(textOf(kernel, "name"), what),
                                 bytes ? bytesText(value) : QString::number(value, 'f', 0),
                                 {},
                                 {}});
        };
        add(tr("registers a thread"), "registers", false);
        add(tr("static shared memory"), "shared_bytes", true);
        add(tr("spilled"), "spill_bytes", true);
    }
    endResetModel();
}

int FiguresModel::rowCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int FiguresModel::columnCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant FiguresModel::data(const QModelIndex &index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Row &row = rows_[static_cast<std::size_t>(index.row())];
    if (role == Qt::TextAlignmentRole && index.column() != NameColumn)
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole)
        return {};
    switch (index.column()) {
    case NameColumn:
        return row.name;
    case CandidateColumn:
        return row.candidate;
    case StockColumn:
        return row.stock;
    default:
        return row.delta;
    }
}

QVariant FiguresModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case NameColumn:
        return tr("Figure");
    case CandidateColumn:
        return tr("Candidate");
    case StockColumn:
        return tr("Best stock");
    default:
        return tr("Change");
    }
}

} // namespace cuda_agent::widgets
