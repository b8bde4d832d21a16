// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/diff/diff_area.h"

#include "widgets/base/theme.h"

#include <QEvent>
#include <QFontMetricsF>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>

#include <algorithm>
#include <cmath>

namespace cuda_agent::widgets {

namespace {

constexpr qsizetype longestLine = 2000; ///< UTF-16 units that are painted of a line
constexpr int stripWidth = 8;           ///< of the overview at the right edge

std::u16string_view viewOf(const QString &text) {
    return {reinterpret_cast<const char16_t *>(text.constData()),
            static_cast<std::size_t>(text.size())};
}

/// Of the background towards the sign's colour: marks inside of changed lines.
QColor stronger(const QColor &background, const QColor &sign) {
    constexpr double share = 0.3;
    const auto mix = [](int from, int to) { return static_cast<int>(from + (to - from) * share); };
    return QColor(mix(background.red(), sign.red()), mix(background.green(), sign.green()),
                  mix(background.blue(), sign.blue()));
}

} // namespace

DiffArea::DiffArea(QWidget *parent) : QAbstractScrollArea(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setFrameShape(QFrame::NoFrame);
    setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    connect(&Theme::instance(), &Theme::changed, this, &DiffArea::retheme);
    retheme();
}

void DiffArea::retheme() {
    setFont(Theme::instance().codeFont());
    fitScrollBars();
    viewport()->update();
}

void DiffArea::changeEvent(QEvent *event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        fitScrollBars();
}

void DiffArea::setTexts(const QString &left, const QString &right, bool keepPlace) {
    const QString texts[] = {left, right};
    longest_ = 0;
    for (int side = 0; side < 2; ++side) {
        sides_[side].text = texts[side];
        sides_[side].lines = linesOf(viewOf(sides_[side].text));
        for (const auto line : sides_[side].lines) {
            int columns = 0;
            for (const char16_t c : line.substr(0, longestLine)) // wide ones take two
                columns += c == u'\t' ? 4 : c >= 0x1100 ? 2 : 1;
            longest_ = std::max(longest_, columns);
        }
    }
    blocks_ = diffLines(sides_[0].lines, sides_[1].lines);
    rows_ = alignRows(sides_[0].lines, sides_[1].lines, blocks_);
    firstRow_.assign(blocks_.size(), 0);
    added_ = removed_ = 0;
    for (std::size_t row = rows_.size(); row-- > 0;) {
        if (rows_[row].block >= 0)
            firstRow_[static_cast<std::size_t>(rows_[row].block)] = static_cast<int>(row);
    }
    for (const DiffBlock &block : blocks_) {
        removed_ += block.endA - block.beginA;
        added_ += block.endB - block.beginB;
    }
    current_ = -1;
    anchor_ = end_ = -1;
    fitScrollBars();
    if (!keepPlace) {
        horizontalScrollBar()->setValue(0);
        verticalScrollBar()->setValue(0);
        if (!blocks_.empty())
            goToChange(0);
    }
    viewport()->update();
    Q_EMIT currentChanged();
}

DiffArea::Metrics DiffArea::metrics() const {
    const QFontMetricsF font(this->font());
    Metrics m;
    m.row = std::max(1, static_cast<int>(std::ceil(font.height())) + 2);
    m.ascent = static_cast<int>(std::ceil(font.ascent())) + 1;
    m.digit = font.horizontalAdvance(QLatin1Char('0'));
    const std::size_t lines = std::max(sides_[0].lines.size(), sides_[1].lines.size());
    const int digits = std::max(2, static_cast<int>(QString::number(lines).size()));
    m.gutter = static_cast<int>(m.digit * (digits + 2.5));
    m.half = std::max(1, (viewport()->width() - stripWidth) / 2);
    return m;
}

void DiffArea::fitScrollBars() {
    const Metrics m = metrics();
    verticalScrollBar()->setRange(0, std::max(0, rowCount() - viewport()->height() / m.row));
    verticalScrollBar()->setPageStep(std::max(1, viewport()->height() / m.row));
    const int textWidth = static_cast<int>(std::ceil(m.digit * (longest_ + 1)));
    const int seen = m.half - m.gutter;
    horizontalScrollBar()->setRange(0, std::max(0, textWidth - seen));
    horizontalScrollBar()->setPageStep(std::max(1, seen));
    horizontalScrollBar()->setSingleStep(std::max(1, static_cast<int>(m.digit * 4)));
}

void DiffArea::resizeEvent(QResizeEvent *event) {
    QAbstractScrollArea::resizeEvent(event);
    fitScrollBars();
}

int DiffArea::firstRowOf(int change) const {
    return firstRow_[static_cast<std::size_t>(change)];
}

void DiffArea::goToChange(int change) {
    if (change < 0 || change >= changeCount())
        return;
    current_ = change;
    const int row = firstRowOf(change);
    const int top = verticalScrollBar()->value();
    const int page = verticalScrollBar()->pageStep();
    if (row < top + 1 || row > top + page - 3) // lines before it show where it is
        verticalScrollBar()->setValue(row - page / 3);
    viewport()->update();
    Q_EMIT currentChanged();
}

void DiffArea::step(int direction) {
    const int count = changeCount();
    if (count == 0)
        return;
    if (current_ >= 0) {
        goToChange(((current_ + direction) % count + count) % count);
        return;
    }
    const int top = verticalScrollBar()->value();
    const auto behind = std::lower_bound(firstRow_.begin(), firstRow_.end(), top);
    const int change = static_cast<int>(behind - firstRow_.begin());
    goToChange(((direction > 0 ? change : change - 1) % count + count) % count);
}

int DiffArea::rowAt(int y) const {
    const int row = verticalScrollBar()->value() + std::max(0, y) / metrics().row;
    return row < rowCount() ? row : rowCount() - 1;
}

QString DiffArea::shownText(std::u16string_view line) {
    const bool cut = line.size() > static_cast<std::size_t>(longestLine);
    QString text = QString::fromUtf16(
        line.data(), static_cast<qsizetype>(std::min(line.size(), std::size_t(longestLine))));
    text.replace(QLatin1Char('\t'), QLatin1String("    "));
    if (cut)
        text += QChar(0x2026);
    return text;
}

void DiffArea::paintEvent(QPaintEvent *) {
    QPainter painter(viewport());
    const Colors &colors = Theme::instance().colors();
    painter.fillRect(viewport()->rect(), colors.base);
    const Metrics m = metrics();
    const int first = verticalScrollBar()->value();
    const int last = std::min(rowCount(), first + viewport()->height() / m.row + 2);
    painter.setFont(font());
    for (const bool right : {false, true})
        paintSide(painter, m, right, first, last);
    painter.fillRect(m.half, 0, 1, viewport()->height(), colors.border);
    paintStrip(painter, m);
}

void DiffArea::paintSide(QPainter &painter, const Metrics &m, bool right, int first,
                         int last) const {
    const Colors &colors = Theme::instance().colors();
    const int left = right ? m.half + 1 : 0;
    const QRect whole(left, 0, m.half - 1, viewport()->height());
    painter.save();
    painter.setClipRect(whole);
    painter.fillRect(QRect(left, 0, m.gutter, whole.height()), colors.panel);
    const int selectedFrom = std::min(anchor_, end_);
    const int selectedTo = std::max(anchor_, end_);
    for (int at = first; at < last; ++at) {
        const DiffRow &row = rows_[static_cast<std::size_t>(at)];
        const int line = right ? row.b : row.a;
        const QRect area(left, (at - first) * m.row, whole.width(), m.row);
        const QRect body = area.adjusted(m.gutter, 0, 0, 0);
        if (line < 0) { // a gap
            painter.fillRect(area, colors.panel);
            painter.fillRect(body, QBrush(colors.border, Qt::BDiagPattern));
        } else if (row.block >= 0) {
            painter.fillRect(area, right ? colors.added : colors.removed);
        }
        if (row.block >= 0 && row.block == current_)
            painter.fillRect(QRect(left, area.top(), 3, m.row), colors.accent);
        if (line < 0)
            continue;
        if (anchor_ >= 0 && (selectedSide_ == 1) == right && at >= selectedFrom &&
            at <= selectedTo) {
            QColor selection = colors.accent;
            selection.setAlpha(70);
            painter.fillRect(body, selection);
        }
        painter.setPen(row.block >= 0 ? colors.text : colors.muted);
        const int baseline = area.top() + m.ascent;
        const QString number = QString::number(line + 1);
        const auto numberWidth = static_cast<int>(m.digit * double(number.size()));
        painter.drawText(left + m.gutter - static_cast<int>(m.digit * 1.75) - numberWidth, baseline,
                         number);
        if (row.block >= 0) { // a sign too: not everybody tells the two colours apart
            painter.setPen(right ? colors.good : colors.bad);
            painter.drawText(left + m.gutter - static_cast<int>(m.digit * 1.4), baseline,
                             right ? QStringLiteral("+") : QString(QChar(0x2212)));
        }
        paintText(painter, m, row, right, body);
    }
    painter.restore();
}

void DiffArea::paintText(QPainter &painter, const Metrics &m, const DiffRow &row, bool right,
                         const QRect &area) const {
    const Colors &colors = Theme::instance().colors();
    const Side &side = sides_[right ? 1 : 0];
    const int line = right ? row.b : row.a;
    const QString text = shownText(side.lines[static_cast<std::size_t>(line)]);
    const QFontMetricsF font(this->font());
    const qreal x = area.left() + m.digit / 2 - horizontalScrollBar()->value();
    painter.save();
    painter.setClipRect(area, Qt::IntersectClip);
    if (row.a >= 0 && row.b >= 0 && row.block >= 0) {
        const QString other =
            shownText(sides_[right ? 0 : 1].lines[static_cast<std::size_t>(right ? row.a : row.b)]);
        const QColor mark =
            right ? stronger(colors.added, colors.good) : stronger(colors.removed, colors.bad);
        for (const DiffBlock &part :
             diffInLine(viewOf(right ? other : text), viewOf(right ? text : other))) {
            const qreal from = font.horizontalAdvance(text.left(right ? part.beginB : part.beginA));
            const qreal to = font.horizontalAdvance(text.left(right ? part.endB : part.endA));
            if (to > from)
                painter.fillRect(QRectF(x + from, area.top() + 1, to - from, m.row - 2), mark);
        }
    }
    painter.setPen(colors.text);
    painter.drawText(QPointF(x, area.top() + m.ascent), text);
    painter.restore();
}

void DiffArea::paintStrip(QPainter &painter, const Metrics &m) const {
    const Colors &colors = Theme::instance().colors();
    const QRect strip(2 * m.half, 0, viewport()->width() - 2 * m.half, viewport()->height());
    painter.fillRect(strip, colors.panel);
    if (rows_.empty())
        return;
    const double scale =
        double(strip.height()) / double(std::max(rowCount(), strip.height() / m.row));
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        const DiffBlock &block = blocks_[i];
        const int rows = std::max(block.endA - block.beginA, block.endB - block.beginB);
        const bool current = static_cast<int>(i) == current_;
        const QColor color = current                      ? colors.accent
                             : block.endA == block.beginA ? colors.good
                             : block.endB == block.beginB ? colors.bad
                                                          : colors.warning;
        painter.fillRect(QRectF(strip.left() + 2, firstRow_[i] * scale, strip.width() - 3,
                                std::max(2.0, rows * scale)),
                         color);
    }
}

void DiffArea::mousePressEvent(QMouseEvent *event) {
    if (event->button() != Qt::LeftButton || rows_.empty())
        return;
    const Metrics m = metrics();
    const QPoint at = event->position().toPoint();
    if (at.x() >= 2 * m.half) { // the overview
        const double share = double(at.y()) / std::max(1, viewport()->height());
        const int rows = std::max(rowCount(), viewport()->height() / m.row);
        verticalScrollBar()->setValue(static_cast<int>(share * rows) -
                                      verticalScrollBar()->pageStep() / 2);
        return;
    }
    const int row = rowAt(at.y());
    if (!(event->modifiers() & Qt::ShiftModifier) || anchor_ < 0) {
        selectedSide_ = at.x() > m.half ? 1 : 0;
        anchor_ = row;
    }
    end_ = row;
    const int block = rows_[static_cast<std::size_t>(row)].block;
    if (block >= 0 && block != current_) {
        current_ = block;
        Q_EMIT currentChanged();
    }
    viewport()->update();
}

void DiffArea::mouseMoveEvent(QMouseEvent *event) {
    if (!(event->buttons() & Qt::LeftButton) || anchor_ < 0)
        return;
    const int y = event->position().toPoint().y();
    if (y < 0)
        verticalScrollBar()->triggerAction(QAbstractSlider::SliderSingleStepSub);
    else if (y > viewport()->height())
        verticalScrollBar()->triggerAction(QAbstractSlider::SliderSingleStepAdd);
    end_ = rowAt(std::min(y, viewport()->height() - 1));
    viewport()->update();
}

void DiffArea::keyPressEvent(QKeyEvent *event) {
    if (event->key() == Qt::Key_Home) {
        verticalScrollBar()->setValue(0);
    } else if (event->key() == Qt::Key_End) {
        verticalScrollBar()->setValue(verticalScrollBar()->maximum());
    } else if (event->matches(QKeySequence::SelectAll) && !rows_.empty()) {
        anchor_ = 0;
        end_ = rowCount() - 1;
        viewport()->update();
    } else if (event->matches(QKeySequence::Deselect) || event->key() == Qt::Key_Escape) {
        if (anchor_ < 0)
            return QAbstractScrollArea::keyPressEvent(event);
        anchor_ = end_ = -1;
        viewport()->update();
    } else {
        QAbstractScrollArea::keyPressEvent(event);
    }
}

QString DiffArea::selectedText() const {
    int from = std::min(anchor_, end_);
    int to = std::max(anchor_, end_);
    bool right = selectedSide_ == 1;
    if (anchor_ < 0) {
        if (current_ < 0)
            return {};
        from = to = firstRowOf(current_);
        while (to + 1 < rowCount() && rows_[static_cast<std::size_t>(to + 1)].block == current_)
            ++to;
        right = true;
    }
    QString result;
    for (int at = from; at <= to; ++at) {
        const DiffRow &row = rows_[static_cast<std::size_t>(at)];
        const int line = right ? row.b : row.a;
        if (line < 0)
            continue;
        const auto text = sides_[right ? 1 : 0].lines[static_cast<std::size_t>(line)];
        result += QString::fromUtf16(text.data(), static_cast<qsizetype>(text.size()));
        result += QLatin1Char('\n');
    }
    return result;
}

} // namespace cuda_agent::widgets
