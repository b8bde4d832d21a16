// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/listing/listing_model.h"

#include "widgets/base/theme.h"

#include <QLocale>
#include <QPainter>

#include <algorithm>

namespace cuda_agent::widgets {

namespace {

/// The lines of a text, the first at 1.
QStringList linesOf(const std::string &text) {
    return QStringList(QString()) + QString::fromStdString(text).split(QLatin1Char('\n'));
}

QString shareText(double share) {
    return QLocale().toString(100 * share, 'f', 1) + QStringLiteral(" %");
}

} // namespace

std::map<int, LineCost> lineCosts(const KernelProfile &profile, const QString &file) {
    std::map<int, LineCost> costs;
    for (const ProfiledLaunch &launch : profile.launches)
        for (const HotLine &line : launch.lines)
            if (line.file == file)
                if (LineCost &cost = costs[line.line]; line.share >= cost.share)
                    cost = {line.share, line.stall};
    return costs;
}

void ListingModel::setListing(const MadeListing &made, toolchain::Code code) {
    beginResetModel();
    made_ = made;
    code_ = code;
    lay();
    endResetModel();
}

void ListingModel::setCosts(std::map<int, LineCost> costs) {
    costs_ = std::move(costs);
    if (!rows_.empty())
        Q_EMIT dataChanged(index(0, Cost), index(rowCount() - 1, Cost));
}

void ListingModel::setSourceShown(bool shown) {
    beginResetModel();
    sourceShown_ = shown;
    lay();
    endResetModel();
}

QString ListingModel::functionText(const toolchain::ListedFunction &function) const {
    QStringList parts{
        tr("%n instruction(s)", nullptr, static_cast<int>(function.instructions.size()))};
    const auto &entries = made_.listing.entries;
    if (const auto entry = std::ranges::find(entries, function.name, &toolchain::EntryInfo::name);
        entry != entries.end()) {
        if (entry->registers >= 0)
            parts += tr("%n register(s)", nullptr, entry->registers);
        if (entry->sharedBytes > 0)
            parts += tr("%1 bytes of shared memory").arg(entry->sharedBytes);
        if (entry->spillBytes > 0)
            parts += tr("%1 bytes spilled").arg(entry->spillBytes);
    }
    return tr("%1: %2", "kernel: what it has")
        .arg(QString::fromStdString(function.name), parts.join(QStringLiteral(", ")));
}

void ListingModel::lay() {
    rows_.clear();
    instructions_ = 0;
    const QStringList lines = linesOf(made_.text);
    for (const auto &function : made_.listing.functions) {
        rows_.push_back({Kind::function, 0, {}, functionText(function)});
        int before = 0;
        for (const auto &instruction : function.instructions) {
            const int line = instruction.lineIn(made_.listing.source);
            if (sourceShown_ && line != before && line > 0 && line < lines.size())
                rows_.push_back({Kind::source, line, {}, lines[line].trimmed()});
            before = line;
            const int base = code_ == toolchain::Code::ptx ? 10 : 16;
            rows_.push_back({Kind::instruction, line, QString::number(instruction.address, base),
                             QString::fromStdString(instruction.text)});
            ++instructions_;
        }
    }
}

QList<int> ListingModel::rowsOf(int line) const {
    QList<int> rows;
    for (std::size_t row = 0; row < rows_.size(); ++row)
        if (line > 0 && rows_[row].line == line)
            rows += static_cast<int>(row);
    return rows;
}

QString ListingModel::text(const QList<int> &rows) const {
    QString text;
    for (int row = 0; row < rowCount(); ++row) {
        if (!rows.isEmpty() && !rows.contains(row))
            continue;
        QStringList cells;
        for (int column = costs_.empty() ? Line : Cost; column < Columns; ++column)
            cells += data(index(row, column)).toString();
        text += cells.join(QLatin1Char('\t')) + QLatin1Char('\n');
    }
    return text;
}

int ListingModel::rowCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int ListingModel::columnCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : Columns;
}

QVariant ListingModel::cost(const Row &row, int role) const {
    // It is the line's, so it stands once: where the line begins.
    const auto found = row.line > 0 ? costs_.find(row.line) : costs_.end();
    if (found == costs_.end() || (sourceShown_ && row.kind != Kind::source))
        return {};
    const LineCost &cost = found->second;
    switch (role) {
    case Qt::DisplayRole:
        return shareText(cost.share);
    case ShareRole:
        return cost.share;
    case Qt::ToolTipRole:
        return tr("%1 of the samples of its kernel were seen on line %2, most of them waiting: %3")
            .arg(shareText(cost.share))
            .arg(row.line)
            .arg(cost.stall.isEmpty() ? tr("not known", "what a warp waits for") : cost.stall);
    }
    return {};
}

QVariant ListingModel::data(const QModelIndex &index, int role) const {
    if (!index.isValid())
        return {};
    const Row &row = rows_[static_cast<std::size_t>(index.row())];
    if (role == KindRole)
        return static_cast<int>(row.kind);
    if (role == LineRole)
        return row.line;
    if (index.column() == Cost && role != Qt::TextAlignmentRole && role != Qt::FontRole)
        return cost(row, role);
    const Colors &colors = Theme::instance().colors();
    switch (role) {
    case Qt::DisplayRole:
    case Qt::ToolTipRole:
        switch (index.column()) {
        case Line:
            return row.line > 0 && row.kind != Kind::function ? QVariant(row.line) : QVariant();
        case Address:
            return row.address;
        case Instruction:
            return row.text;
        }
        return {};
    case Qt::FontRole: {
        QFont font = Theme::instance().codeFont();
        font.setBold(row.kind == Kind::function);
        font.setItalic(row.kind == Kind::source);
        return font;
    }
    case Qt::ForegroundRole:
        if (row.kind == Kind::source)
            return colors.accent;
        return index.column() == Instruction ? colors.text : colors.muted;
    case Qt::BackgroundRole:
        return row.kind == Kind::function ? QVariant(colors.panel) : QVariant();
    case Qt::TextAlignmentRole:
        return index.column() == Instruction ? QVariant()
                                             : QVariant(Qt::AlignRight | Qt::AlignVCenter);
    }
    return {};
}

QVariant ListingModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return section == Instruction ? int(Qt::AlignLeft | Qt::AlignVCenter)
                                      : int(Qt::AlignRight | Qt::AlignVCenter);
    if (role == Qt::ToolTipRole && section == Cost)
        return tr("Share of the kernel's samples: how often a warp was seen on the line");
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Cost:
        return tr("Cost");
    case Line:
        return tr("Line");
    case Address:
        return code_ == toolchain::Code::ptx ? tr("PTX Line") : tr("Address");
    case Instruction:
        return tr("Instruction");
    }
    return {};
}

void CostDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option,
                         const QModelIndex &index) const {
    if (const QVariant share = index.data(ListingModel::ShareRole); share.isValid()) {
        QColor color = Theme::instance().colors().warning;
        color.setAlphaF(0.45F);
        QRect bar = option.rect.adjusted(0, 1, 0, -1);
        bar.setLeft(bar.right() - qRound(share.toDouble() * bar.width()));
        painter->fillRect(bar, color);
    }
    QStyledItemDelegate::paint(painter, option, index);
}

} // namespace cuda_agent::widgets
