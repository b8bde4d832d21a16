// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/profile/findings_model.h"

#include "widgets/base/theme.h"
#include "widgets/profile/profile_words.h"

#include <QListView>
#include <QPainter>
#include <QTextLayout>

#include <algorithm>
#include <array>
#include <cmath>

namespace cuda_agent::widgets {

namespace {

constexpr int margin = 6;
constexpr int between = 2;

struct Part {
    QString text;
    bool bold = false;
    QColor color; ///< not valid: that of the item
};

std::array<Part, 4> partsOf(const QModelIndex &index) {
    const Colors &colors = Theme::instance().colors();
    const bool stop = index.data(FindingsModel::StopRole).toBool();
    return {Part{index.data(FindingsModel::TitleRole).toString(), true,
                 stop ? colors.good : colors.warning},
            Part{index.data(Qt::DisplayRole).toString(), false, {}},
            Part{index.data(FindingsModel::EvidenceRole).toString(), false, colors.muted},
            Part{index.data(FindingsModel::PlaceRole).toString(), false, colors.accent}};
}

QFont fontOf(const Part &part, QFont font) {
    font.setBold(part.bold);
    return font;
}

/// Breaks the text at words, and names of templates, which have none, anywhere; its height.
/// Painted at `at` where there is a painter.
int layOut(const Part &part, const QFont &font, int width, QPainter *painter = nullptr,
           QPoint at = {}) {
    if (part.text.isEmpty())
        return 0;
    QTextLayout layout(part.text, fontOf(part, font));
    QTextOption option;
    option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    layout.setTextOption(option);
    double height = 0;
    layout.beginLayout();
    for (QTextLine line = layout.createLine(); line.isValid(); line = layout.createLine()) {
        line.setLineWidth(width);
        line.setPosition({0, height});
        height += line.height();
    }
    layout.endLayout();
    if (painter)
        layout.draw(painter, at);
    return static_cast<int>(std::ceil(height));
}

} // namespace

void FindingsModel::setProfile(const KernelProfile &profile) {
    beginResetModel();
    profile_ = profile;
    endResetModel();
}

QString FindingsModel::text() const {
    QString lines;
    for (int row = 0; row < rowCount(); ++row)
        lines += data(index(row), Qt::AccessibleTextRole).toString() + QStringLiteral("\n\n");
    return lines;
}

int FindingsModel::rowCount(const QModelIndex &parent) const {
    return parent.isValid() ? 0 : static_cast<int>(profile_.findings.size());
}

QVariant FindingsModel::data(const QModelIndex &index, int role) const {
    if (!index.isValid())
        return {};
    const ProfileFinding &finding = profile_.findings[static_cast<std::size_t>(index.row())];
    const bool place = !finding.file.isEmpty() && finding.line > 0;
    switch (role) {
    case Qt::DisplayRole:
        return finding.message;
    case TitleRole:
        return tr("%1: %2", "expected gain: rule").arg(gainText(finding), ruleTitle(finding.rule));
    case PlaceRole: {
        QStringList parts;
        if (place)
            parts += QStringLiteral("%1:%2").arg(finding.file).arg(finding.line);
        if (finding.launch >= 0)
            parts += launchName(profile_, finding.launch);
        return parts.join(QStringLiteral(", "));
    }
    case EvidenceRole:
        return evidenceText(finding);
    case FileRole:
        return place ? finding.file : QString();
    case LineRole:
        return finding.line;
    case LaunchRole:
        return finding.launch;
    case StopRole:
        return finding.stop;
    case Qt::AccessibleTextRole: {
        QStringList lines{data(index, TitleRole).toString(), finding.message,
                          data(index, EvidenceRole).toString(), data(index, PlaceRole).toString()};
        lines.removeAll(QString());
        return lines.join(QLatin1Char('\n'));
    }
    case Qt::ToolTipRole:
        return place ? tr("Click or press Enter to go to %1, line %2")
                           .arg(finding.file)
                           .arg(finding.line)
                     : QString();
    }
    return {};
}

FindingDelegate::FindingDelegate(QListView *view) : QStyledItemDelegate(view), view_(view) {}

QSize FindingDelegate::sizeHint(const QStyleOptionViewItem &option,
                                const QModelIndex &index) const {
    const int width = std::max(80, view_->viewport()->width());
    int height = 2 * margin - between;
    for (const Part &part : partsOf(index))
        if (const int own = layOut(part, option.font, width - 2 * margin); own > 0)
            height += own + between;
    return {width, height};
}

void FindingDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option,
                            const QModelIndex &index) const {
    const Colors &colors = Theme::instance().colors();
    painter->save();
    painter->setClipRect(option.rect);
    const bool selected = option.state.testFlag(QStyle::State_Selected);
    painter->fillRect(option.rect,
                      selected ? option.palette.color(QPalette::Highlight) : colors.base);
    QRect room = option.rect.adjusted(margin, margin, -margin, -margin);
    for (const Part &part : partsOf(index)) {
        painter->setPen(selected               ? option.palette.color(QPalette::HighlightedText)
                        : part.color.isValid() ? part.color
                                               : colors.text);
        if (const int height = layOut(part, option.font, room.width(), painter, room.topLeft());
            height > 0)
            room.setTop(room.top() + height + between);
    }
    painter->setPen(colors.border);
    painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
    if (option.state.testFlag(QStyle::State_HasFocus)) {
        painter->setPen(QPen(selected ? colors.text : colors.accent, 1, Qt::DotLine));
        painter->drawRect(option.rect.adjusted(1, 1, -2, -2));
    }
    painter->restore();
}

} // namespace cuda_agent::widgets
