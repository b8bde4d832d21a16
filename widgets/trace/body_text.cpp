// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/trace/body_text.h"

#include "widgets/trace/card_parts.h"

#include <QFontMetricsF>
#include <QTextBoundaryFinder>

#include <algorithm>

namespace cuda_agent::widgets {

namespace {

QString fromBytes(std::string_view bytes) {
    return QString::fromUtf8(bytes.data(), qsizetype(bytes.size()));
}

/// Where the block that begins at `from` ends: at a line's end where there is one.
std::size_t blockEnd(std::string_view utf8, std::size_t from) {
    constexpr std::size_t enough = 1024, most = 2048;
    constexpr int lines = 32;
    const std::size_t limit = cutAt(utf8, from, most);
    std::size_t end = from;
    for (int line = 0; line < lines && end < from + enough; ++line) {
        const std::size_t found = utf8.substr(0, limit).find('\n', end);
        if (found == std::string_view::npos)
            return line == 0 || limit == utf8.size() ? limit : end;
        end = found + 1;
    }
    return end;
}

} // namespace

void BodyText::layOut(std::string_view utf8, const QFont &font, qreal width, const Limit *limit) {
    blocks_.clear();
    height_ = 0;
    lines_ = 0;
    cut_ = false;
    shownBytes_ = utf8.size();
    QTextOption option;
    option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    option.setTabStopDistance(4 * QFontMetricsF(font).horizontalAdvance(u' '));
    qreal shownHeight = 0;
    std::size_t shownEnd = 0;
    int position = 0;
    for (std::size_t at = 0; at < utf8.size() && !cut_;) {
        const std::size_t end = blockEnd(utf8, at);
        Block block;
        block.lineEnd = utf8[end - 1] == '\n';
        block.utf8 = std::string(utf8.substr(at, end - at - (block.lineEnd ? 1 : 0)));
        block.byte = at;
        block.position = position;
        block.top = height_;
        QString text = fromBytes(block.utf8);
        position += int(text.size()) + (block.lineEnd ? 1 : 0);
        text.replace(u'\n', QChar::LineSeparator);
        block.layout = std::make_unique<QTextLayout>(text, font);
        block.layout->setTextOption(option);
        block.layout->setCacheEnabled(true);
        block.layout->beginLayout();
        for (QTextLine line = block.layout->createLine(); line.isValid();
             line = block.layout->createLine()) {
            line.setLineWidth(width);
            line.setPosition(QPointF(0, block.height));
            if (limit && lines_ == limit->whole) {
                cut_ = true; // this line lies below what is shown
                break;
            }
            block.height += line.height();
            ++lines_;
            if (limit && lines_ == limit->shown) {
                shownHeight = block.top + block.height;
                const QString shown = text.left(line.textStart() + line.textLength());
                // A separator stands for one byte, not three.
                shownEnd = at + std::size_t(shown.toUtf8().size()) -
                           std::size_t(2 * shown.count(QChar::LineSeparator));
            }
        }
        block.layout->endLayout();
        height_ += block.height;
        blocks_.push_back(std::move(block));
        at = end;
    }
    if (cut_) {
        height_ = shownHeight;
        shownBytes_ = shownEnd;
    }
}

const BodyText::Block &BodyText::blockAt(int position) const {
    const auto after =
        std::upper_bound(blocks_.begin() + 1, blocks_.end(), position,
                         [](int at, const Block &block) { return at < block.position; });
    return *std::prev(after);
}

int BodyText::positionAt(const QPointF &at) const {
    if (blocks_.empty() || at.y() < 0)
        return 0;
    for (const Block &block : blocks_) {
        if (at.y() >= block.top + block.height)
            continue;
        for (int i = 0; i < block.layout->lineCount(); ++i) {
            const QTextLine line = block.layout->lineAt(i);
            if (at.y() < block.top + line.y() + line.height())
                return block.position + line.xToCursor(at.x());
        }
    }
    return positionOfByte(shownBytes_);
}

int BodyText::positionOfByte(std::size_t byte) const {
    if (blocks_.empty())
        return 0;
    const auto after =
        std::upper_bound(blocks_.begin() + 1, blocks_.end(), byte,
                         [](std::size_t at, const Block &block) { return at < block.byte; });
    const Block &block = *std::prev(after);
    const std::string_view before = std::string_view(block.utf8).substr(0, byte - block.byte);
    return block.position + int(fromBytes(before).size());
}

std::pair<qreal, qreal> BodyText::lineOf(int position) const {
    if (blocks_.empty())
        return {0, 0};
    const Block &block = blockAt(position);
    const QTextLine line = block.layout->lineForTextPosition(position - block.position);
    if (!line.isValid())
        return {block.top, block.top + block.height};
    return {block.top + line.y(), block.top + line.y() + line.height()};
}

QString BodyText::text(int from, int to) const {
    QString text;
    for (const Block &block : blocks_) {
        if (block.position >= to)
            break;
        QString part = fromBytes(block.utf8);
        if (block.lineEnd)
            part += u'\n';
        if (block.position + part.size() > from)
            text +=
                part.mid(std::max(from - block.position, 0), to - std::max(from, block.position));
    }
    return text;
}

std::pair<int, int> BodyText::wordAt(int position) const {
    if (blocks_.empty())
        return {0, 0};
    const Block &block = blockAt(position);
    const QString text = block.layout->text();
    QTextBoundaryFinder finder(QTextBoundaryFinder::Word, text);
    finder.setPosition(position - block.position);
    const auto from = finder.isAtBoundary() ? finder.position()
                                            : std::max<qsizetype>(finder.toPreviousBoundary(), 0);
    finder.setPosition(position - block.position);
    const qsizetype to = finder.toNextBoundary();
    return {block.position + int(from), block.position + int(to < 0 ? text.size() : to)};
}

void BodyText::draw(QPainter &painter, const QPointF &at,
                    const QList<QTextLayout::FormatRange> &ranges) const {
    const QRectF clip = painter.clipBoundingRect();
    for (const Block &block : blocks_) {
        if (at.y() + block.top + block.height < clip.top())
            continue;
        if (at.y() + block.top > clip.bottom())
            break;
        const int size = int(block.layout->text().size());
        QList<QTextLayout::FormatRange> here;
        for (QTextLayout::FormatRange range : ranges) {
            const int from = std::max(range.start - block.position, 0);
            const int to = std::min(range.start + range.length - block.position, size);
            if (from >= to)
                continue;
            range.start = from;
            range.length = to - from;
            here += range;
        }
        block.layout->draw(&painter, at + QPointF(0, block.top), here, clip);
    }
}

} // namespace cuda_agent::widgets
