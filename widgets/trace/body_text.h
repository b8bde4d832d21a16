// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>
#include <QList>
#include <QPainter>
#include <QTextLayout>

#include <memory>
#include <string_view>
#include <vector>

namespace cuda_agent::widgets {

/// Wrapped text of up to some thousand lines, laid out in blocks of a few kilobytes, because the
/// time that a QTextLayout takes grows with the square of its lines. Places are given as positions,
/// UTF-16 units with a line's end as one. Coordinates begin at the text's top left.
class BodyText {
  public:
    struct Limit {
        int shown = 0; ///< lines that are shown ...
        int whole = 0; ///< ... unless there are no more than these
    };
    /// `limit` null: all lines.
    void layOut(std::string_view utf8, const QFont &font, qreal width, const Limit *limit);

    bool empty() const { return blocks_.empty(); }
    /// Of the lines that are shown.
    qreal height() const { return height_; }
    int lines() const { return lines_; }
    /// The limit hides lines.
    bool cut() const { return cut_; }
    /// Bytes that are shown.
    std::size_t shownBytes() const { return shownBytes_; }

    int positionAt(const QPointF &at) const;
    int positionOfByte(std::size_t byte) const;
    /// Top and bottom of the line of a position.
    std::pair<qreal, qreal> lineOf(int position) const;
    QString text(int from, int to) const;
    std::pair<int, int> wordAt(int position) const;

    /// Ranges are of positions.
    void draw(QPainter &painter, const QPointF &at,
              const QList<QTextLayout::FormatRange> &ranges) const;

  private:
    struct Block {
        std::unique_ptr<QTextLayout> layout;
        std::string utf8; ///< without the end of its last line
        std::size_t byte = 0;
        int position = 0;
        bool lineEnd = false; ///< a line's end follows
        qreal top = 0, height = 0;
    };
    const Block &blockAt(int position) const;

    std::vector<Block> blocks_;
    qreal height_ = 0;
    int lines_ = 0;
    bool cut_ = false;
    std::size_t shownBytes_ = 0;
};

} // namespace cuda_agent::widgets
