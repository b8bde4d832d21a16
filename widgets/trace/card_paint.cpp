// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/trace/card_layout.h"
#include "widgets/trace/card_parts.h"

#include "widgets/base/theme.h"

#include <QFontMetrics>

#include <algorithm>

namespace cuda_agent::widgets {

namespace {

QColor toneColor(Tone tone, const Colors &colors) {
    switch (tone) {
    case Tone::good:
        return colors.good;
    case Tone::bad:
        return colors.bad;
    case Tone::warning:
        return colors.warning;
    case Tone::accent:
        return colors.accent;
    case Tone::plain:
        break;
    }
    return colors.muted;
}

QColor kindColor(CardKind kind, const Colors &colors) {
    switch (kind) {
    case CardKind::thought:
        return colors.series[0];
    case CardKind::action:
        return colors.series[1];
    case CardKind::observation:
        return colors.series[2];
    case CardKind::note:
        return colors.warning;
    case CardKind::pending:
        return colors.accent;
    default:
        return colors.muted;
    }
}

QColor mixed(const QColor &over, const QColor &under, qreal part) {
    const auto mix = [&](float a, float b) { return a * part + b * (1 - part); };
    return QColor::fromRgbF(float(mix(over.redF(), under.redF())),
                            float(mix(over.greenF(), under.greenF())),
                            float(mix(over.blueF(), under.blueF())));
}

} // namespace

int CardLayout::partWith(std::string_view body, std::size_t byte) {
    const std::vector<std::size_t> parts = bodyParts(body);
    const auto after = std::upper_bound(parts.begin(), parts.end(), byte);
    return std::clamp(int(after - parts.begin()) - 1, 0, int(parts.size()) - 2);
}

void CardLayout::paint(QPainter &painter, const QPoint &at, const Painting &how) const {
    const Colors &colors = Theme::instance().colors();
    painter.save();
    painter.translate(at);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF frame = QRectF(frame_).adjusted(0.5, 0.5, -0.5, -0.5);
    const QColor back = kind_ == CardKind::turn
                            ? mixed(how.selectedTurn ? colors.accent : colors.muted, colors.panel,
                                    how.selectedTurn ? 0.22 : 0.12)
                            : colors.panel;
    painter.setPen(QPen(how.current ? colors.accent : colors.border, how.current ? 2 : 1,
                        how.current && !how.focus ? Qt::DotLine : Qt::SolidLine));
    painter.setBrush(back);
    painter.drawRoundedRect(frame, 4, 4);
    painter.setPen(Qt::NoPen);
    painter.setBrush(failed_                   ? colors.bad
                     : kind_ == CardKind::turn ? (how.selectedTurn ? colors.accent : colors.muted)
                                               : kindColor(kind_, colors));
    painter.drawRect(QRect(frame_.left() + 2, frame_.top() + 3, 3, frame_.height() - 6));
    if (how.selectedTurn) {
        // The turn that all panes show: a line along all its cards.
        painter.setBrush(colors.accent);
        painter.drawRect(QRect(0, 0, 2, height_));
    }
    if (how.titleMatches) {
        QColor mark = colors.warning;
        mark.setAlpha(110);
        painter.fillRect(titleRect_, mark);
    }
    paintHead(painter);
    paintBody(painter, how);
    painter.restore();
}

void CardLayout::paintHead(QPainter &painter) const {
    const Colors &colors = Theme::instance().colors();
    painter.setFont(style_.bold);
    painter.setPen(colors.text);
    painter.drawText(
        titleRect_, Qt::AlignVCenter | Qt::AlignLeft,
        QFontMetrics(style_.bold).elidedText(title_, Qt::ElideMiddle, titleRect_.width() + 1));
    painter.setFont(style_.small);
    const QFontMetrics small(style_.small);
    painter.setPen(colors.muted);
    const auto words = [&](const QRect &rect, const QString &text) {
        painter.drawText(rect, Qt::AlignVCenter | Qt::AlignLeft,
                         small.elidedText(text, Qt::ElideRight, rect.width() + 1));
    };
    if (!details_.isEmpty())
        words(detailsRect_, details_);
    if (!usage_.isEmpty())
        words(usageRect_, usage_);
    for (const PlacedChip &placed : chips_) {
        const QColor color = toneColor(placed.chip.tone, colors);
        painter.setPen(color);
        painter.setBrush(mixed(color, colors.panel, 0.14));
        const QRectF rect = QRectF(placed.rect).adjusted(0.5, 0.5, -0.5, -0.5);
        painter.drawRoundedRect(rect, rect.height() / 2, rect.height() / 2);
        painter.setPen(placed.chip.tone == Tone::plain ? colors.text : color);
        painter.drawText(
            placed.rect, Qt::AlignCenter,
            small.elidedText(placed.chip.text, Qt::ElideRight, placed.rect.width() - 4));
    }
}

void CardLayout::paintBody(QPainter &painter, const Painting &how) const {
    const Colors &colors = Theme::instance().colors();
    const auto link = [&](const QRect &rect, const QString &text) {
        if (text.isEmpty())
            return;
        painter.setFont(style_.small);
        painter.setPen(colors.accent);
        painter.drawText(
            rect, Qt::AlignVCenter | Qt::AlignLeft,
            QFontMetrics(style_.small).elidedText(text, Qt::ElideRight, rect.width() + 1));
    };
    link(previousRect_, previousText_);
    link(nextRect_, nextText_);
    link(foldRect_, foldText_);
    if (bodyRect_.height() <= 0 || body_.empty())
        return;
    QList<QTextLayout::FormatRange> ranges;
    for (int i = 0; i < int(how.matches.size()); ++i) {
        const BodyRange &match = how.matches[std::size_t(i)];
        if (match.begin < shownBegin_ || match.begin >= shownEnd_)
            continue;
        QTextLayout::FormatRange range;
        range.start = positionOf(match.begin);
        range.length = positionOf(match.end) - range.start;
        QColor mark = colors.warning;
        if (i == how.match)
            range.format.setForeground(colors.base);
        else
            mark.setAlpha(90);
        range.format.setBackground(mark);
        ranges += range;
    }
    if (how.selectionFrom < how.selectionTo) {
        QTextLayout::FormatRange range;
        range.start = how.selectionFrom;
        range.length = how.selectionTo - how.selectionFrom;
        QColor mark = colors.accent;
        mark.setAlpha(110);
        range.format.setBackground(mark);
        ranges += range;
    }
    painter.save();
    painter.setClipRect(bodyRect_, Qt::IntersectClip);
    painter.setPen(kind_ == CardKind::pending ? colors.muted : colors.text);
    body_.draw(painter, bodyRect_.topLeft(), ranges);
    painter.restore();
}

} // namespace cuda_agent::widgets
