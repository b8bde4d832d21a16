// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/trace/card_layout.h"

#include "widgets/base/text.h"
#include "widgets/base/theme.h"
#include "widgets/trace/card_parts.h"

#include <QCoreApplication>
#include <QFontMetrics>

#include <algorithm>

namespace cuda_agent::widgets {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(cuda_agent::widgets::CardLayout)
};

QString detailsOf(const Card &card) {
    QString text = card.details;
    if (card.seconds >= 0) {
        const QString time = timeText(card.seconds);
        text = text.isEmpty() ? time : Words::tr("%1 · %2").arg(text, time);
    }
    return text;
}

} // namespace

CardStyle::CardStyle(const QFont &font)
    : text(font), bold(font), small(font), code(Theme::instance().codeFont()) {
    bold.setBold(true);
    if (font.pointSizeF() > 0)
        small.setPointSizeF(std::max(font.pointSizeF() * 0.88, 7.0));
    const int height = QFontMetrics(text).height();
    gap = std::max(3, height / 4);
    edge = std::max(4, height / 3);
}

CardLayout::CardLayout(const Card &card, const CardStyle &style, const Options &options)
    : style_(style), kind_(card.kind), failed_(card.failed), title_(card.title),
      details_(detailsOf(card)), usage_(card.usage) {
    const int outside = style.gap;
    frame_ = QRect(outside, outside / 2, std::max(options.width - 2 * outside, 40), 0);
    layOutHead(card);
    layOutBody(card, options);
    frame_.setHeight(height_ + (kind_ == CardKind::turn ? style.gap : style.edge) - frame_.top());
    height_ = frame_.bottom() + 1 + outside / 2;
}

void CardLayout::layOutHead(const Card &card) {
    const QFontMetrics bold(style_.bold), small(style_.small);
    const int left = frame_.left() + style_.edge + 5;
    const int right = frame_.right() - style_.edge;
    const int width = std::max(right - left, 20);
    int y = frame_.top() + (kind_ == CardKind::turn ? style_.gap : style_.gap + 1);
    const int line = bold.height();

    // The details stand at the right of the title, or below it where there is no room.
    const int titleWidth = bold.horizontalAdvance(title_);
    const int detailsWidth = small.horizontalAdvance(details_);
    titleRect_ = QRect(left, y, std::min(titleWidth + 1, width), line);
    int x = titleRect_.right() + 2 * style_.gap;
    if (!details_.isEmpty()) {
        if (x + detailsWidth <= right) {
            detailsRect_ = QRect(right - detailsWidth, y, detailsWidth + 1, line);
        } else {
            y += line;
            detailsRect_ = QRect(left, y, width, small.height());
            x = left + std::min(detailsWidth, width) + 2 * style_.gap;
        }
    }
    int chipLimit = details_.isEmpty() || detailsRect_.top() != titleRect_.top()
                        ? right
                        : detailsRect_.left() - style_.gap;
    const int chipHeight = small.height() + 2;
    for (const Chip &chip : card.chips) {
        const int wide = std::min(small.horizontalAdvance(chip.text) + 2 * style_.edge, width);
        if (x > left && x + wide > chipLimit) {
            x = left;
            y += line + 2;
            chipLimit = right;
        }
        chips_.push_back({chip, QRect(x, y + (line - chipHeight) / 2, wide, chipHeight)});
        x += wide + style_.gap;
    }
    y += line;
    if (!usage_.isEmpty()) {
        usageRect_ = QRect(left, y, width, small.height());
        y += small.height();
    }
    headRect_ = QRect(frame_.left(), frame_.top(), frame_.width(), y - frame_.top());
    height_ = y;
}

void CardLayout::layOutBody(const Card &card, const Options &options) {
    const std::string_view body = card.body();
    if (body.empty())
        return;
    const QFontMetrics small(style_.small);
    const int left = frame_.left() + style_.edge + 5;
    const int width = std::max(frame_.right() - style_.edge - left, 20);
    const std::vector<std::size_t> parts = bodyParts(body);
    part_ = options.folded ? 0 : std::clamp(options.part, 0, int(parts.size()) - 2);
    std::size_t begin = parts[std::size_t(part_)], end = parts[std::size_t(part_) + 1];
    const int most = card.content ? 0 : std::max(options.foldLines, 1);
    // One hidden line costs as much room as the words that say so.
    const int keep = card.content ? 0 : most + 1;
    if (options.folded) // no more than could be seen in any case
        end = std::min(end, cutAt(body, begin, std::size_t(keep + 1) * 1000));

    const int top = height_ + style_.gap;
    const BodyText::Limit limit{most, keep};
    body_.layOut(body.substr(begin, end - begin), card.code ? style_.code : style_.text, width,
                 options.folded ? &limit : nullptr);
    const bool more = body_.cut() || end < body.size();
    foldable_ = options.folded ? more : card.content || parts.size() > 2 || body_.lines() > keep;
    shownBegin_ = begin;
    shownEnd_ = begin + body_.shownBytes();
    const auto row = [&](const QString &words, QRect &rect) {
        rect = QRect(left, height_, std::min(small.horizontalAdvance(words) + 1, width),
                     small.height() + style_.gap);
        height_ = rect.bottom() + 1;
    };
    if (part_ > 0) {
        previousText_ = Words::tr("▲ Earlier lines");
        row(previousText_, previousRect_);
    }
    bodyRect_ =
        QRect(left, part_ > 0 ? height_ + style_.gap : top, width, int(body_.height() + 0.999));
    height_ = bodyRect_.height() > 0 ? bodyRect_.bottom() + 1 : height_;
    if (!options.folded && std::size_t(part_) + 2 < parts.size()) {
        nextText_ = Words::tr("▼ Later lines (part %1 of %2)")
                        .arg(part_ + 1)
                        .arg(qlonglong(parts.size()) - 1);
        row(nextText_, nextRect_);
    }
    if (foldable_) {
        const auto all =
            qlonglong(std::count(body.begin(), body.end(), '\n')) + (body.back() == '\n' ? 0 : 1);
        foldText_ = !options.folded ? Words::tr("▴ Fold")
                    : all > 1       ? Words::tr("▾ Show all %1 lines").arg(all)
                                    : Words::tr("▾ Show all");
        row(foldText_, foldRect_);
    }
}

CardLayout::Spot CardLayout::spotAt(const QPoint &at) const {
    const auto wide = [](const QRect &rect) { return rect.adjusted(-3, 0, 3, 0); };
    if (foldable_ && wide(foldRect_).contains(at))
        return Spot::fold;
    if (!previousText_.isEmpty() && wide(previousRect_).contains(at))
        return Spot::previous;
    if (!nextText_.isEmpty() && wide(nextRect_).contains(at))
        return Spot::next;
    if (headRect_.contains(at))
        return Spot::title;
    return bodyRect_.height() > 0 && bodyRect_.contains(at) ? Spot::body : Spot::none;
}

int CardLayout::positionAt(const QPoint &at) const {
    return body_.positionAt(at - bodyRect_.topLeft());
}

QString CardLayout::text(int from, int to) const {
    return body_.text(from, to);
}

std::pair<int, int> CardLayout::wordAt(int position) const {
    return body_.wordAt(position);
}

int CardLayout::positionOf(std::size_t byte) const {
    return body_.positionOfByte(std::max(byte, shownBegin_) - shownBegin_);
}

std::pair<int, int> CardLayout::lineOf(std::size_t byte) const {
    if (body_.empty())
        return {frame_.top(), headRect_.bottom()};
    const auto [top, bottom] = body_.lineOf(positionOf(byte));
    return {bodyRect_.top() + int(top), bodyRect_.top() + int(bottom)};
}

} // namespace cuda_agent::widgets
