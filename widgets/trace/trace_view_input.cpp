// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/trace/trace_view.h"

#include <QAccessible>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>

#include <algorithm>

namespace cuda_agent::widgets {

int TraceView::rowAtPoint(const QPoint &at, QPoint *inside) const {
    int y = -topOffset_;
    for (int row = top_; row < count() && y <= at.y(); ++row) {
        const int height = measured(row);
        if (at.y() < y + height) {
            if (inside)
                *inside = at - QPoint(0, y);
            return row;
        }
        y += height;
    }
    return -1;
}

void TraceView::setCurrentRow(int row) {
    row = std::clamp(row, -1, count() - 1);
    if (row == current_)
        return;
    current_ = row;
    tellScreenReader();
    viewport()->update();
    emit currentRowChanged(row);
}

/// The trace is one control to a screen reader; its name and description are those of the card that
/// the keyboard is on.
void TraceView::tellScreenReader() {
    if (current_ < 0) {
        setAccessibleName(tr("Agent trace"));
        setAccessibleDescription(empty_);
        return;
    }
    constexpr std::size_t spoken = 2000;
    const Card card = model_->card(current_);
    QString name = card.title;
    for (const Chip &chip : card.chips)
        name = tr("%1, %2").arg(name, chip.text);
    if (card.turn > 0 && card.kind != CardKind::turn)
        name = tr("Turn %1: %2").arg(card.turn).arg(name);
    setAccessibleName(tr("Agent trace, %1").arg(name));
    const std::string_view body = card.body().substr(0, spoken);
    setAccessibleDescription(QString::fromUtf8(body.data(), qsizetype(body.size())));
}

void TraceView::toggleFold(int row) {
    if (row < 0 || row >= count() || !layoutOf(row).foldable())
        return;
    follow_ = false; // the card stays where it is
    parts_.erase(row);
    const bool wasAbove = row < top_ || (row == top_ && topOffset_ > 0);
    model_->setFolded(row, !model_->folded(row));
    if (wasAbove && model_->folded(row))
        goTo(row, 0);
    readerScrolled();
}

/// What a click on one of the words below a body does.
void TraceView::follow(CardLayout::Spot spot, int row) {
    if (spot == CardLayout::Spot::fold)
        return toggleFold(row);
    parts_[row] = layoutOf(row).part() + (spot == CardLayout::Spot::next ? 1 : -1);
    layouts_.erase(row);
    selection_ = {};
    goTo(row, 0);
}

void TraceView::moveCurrent(int step) {
    if (count() == 0)
        return;
    if (current_ < 0) {
        setCurrentRow(step > 0 ? top_ : count() - 1);
        return ensureVisible(current_);
    }
    // A card taller than the page is scrolled through before the next one is gone to.
    const QRect rect = cardRect(current_);
    const int line = 3 * QFontMetrics(style_.text).height();
    if (!rect.isEmpty() && step > 0 && rect.bottom() >= pageHeight() && rect.top() <= 0)
        return scrollBy(std::min(line, rect.bottom() + 1 - pageHeight()));
    if (!rect.isEmpty() && step < 0 && rect.top() < 0)
        return scrollBy(std::max(-line, rect.top()));
    setCurrentRow(std::clamp(current_ + step, 0, count() - 1));
    ensureVisible(current_);
}

void TraceView::keyPressEvent(QKeyEvent *event) {
    const bool plain = (event->modifiers() & ~(Qt::KeypadModifier | Qt::ControlModifier)) == 0;
    if (!plain)
        return QAbstractScrollArea::keyPressEvent(event);
    const auto nearTop = [this] {
        const int row =
            topOffset_ > 0 && top_ + 1 < count() && !cardRect(top_ + 1).isEmpty() ? top_ + 1 : top_;
        setCurrentRow(row);
    };
    switch (event->key()) {
    case Qt::Key_Up:
        return moveCurrent(-1);
    case Qt::Key_Down:
        return moveCurrent(1);
    case Qt::Key_PageUp:
        scrollBy(-std::max(pageHeight() - style_.edge * 4, 20));
        return nearTop();
    case Qt::Key_PageDown:
        scrollBy(std::max(pageHeight() - style_.edge * 4, 20));
        return follow_ ? setCurrentRow(count() - 1) : nearTop();
    case Qt::Key_Home:
        goTo(0, 0);
        return setCurrentRow(0);
    case Qt::Key_End:
        toEnd();
        return setCurrentRow(count() - 1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
        toggleFold(current_);
        return ensureVisible(current_);
    case Qt::Key_Left:
    case Qt::Key_Right:
        if (current_ >= 0 && model_->folded(current_) == (event->key() == Qt::Key_Right))
            toggleFold(current_);
        return;
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

void TraceView::mousePressEvent(QMouseEvent *event) {
    if (event->button() == Qt::RightButton) { // the menu is about the card below the mouse
        if (const int row = rowAtPoint(event->position().toPoint()); row >= 0)
            setCurrentRow(row);
        return;
    }
    if (event->button() != Qt::LeftButton)
        return;
    selection_ = {};
    press_ = {};
    QPoint inside;
    const int row = rowAtPoint(event->position().toPoint(), &inside);
    if (row >= 0) {
        const CardLayout &layout = layoutOf(row);
        press_.row = row;
        press_.spot = layout.spotAt(inside);
        press_.position = layout.positionAt(inside);
        setCurrentRow(row);
    }
    viewport()->update();
}

void TraceView::mouseMoveEvent(QMouseEvent *event) {
    const QPoint at = event->position().toPoint();
    if (!(event->buttons() & Qt::LeftButton) || press_.row < 0) {
        QPoint inside;
        const int row = rowAtPoint(at, &inside);
        using Spot = CardLayout::Spot;
        const Spot spot = row < 0 ? Spot::none : layoutOf(row).spotAt(inside);
        viewport()->setCursor(spot == Spot::body                          ? Qt::IBeamCursor
                              : spot == Spot::none || spot == Spot::title ? Qt::ArrowCursor
                                                                          : Qt::PointingHandCursor);
        return;
    }
    if (press_.spot != CardLayout::Spot::body)
        return;
    if (at.y() < 0)
        scrollBy(at.y());
    else if (at.y() > pageHeight())
        scrollBy(at.y() - pageHeight());
    int y = -topOffset_;
    for (int row = top_; row < press_.row; ++row)
        y += measured(row);
    for (int row = press_.row; row < top_; ++row)
        y -= measured(row);
    const int place = layoutOf(press_.row).positionAt(at - QPoint(0, y));
    press_.dragged = press_.dragged || place != press_.position;
    selection_ = {press_.row, press_.position, place};
    viewport()->update();
}

void TraceView::mouseReleaseEvent(QMouseEvent *event) {
    if (event->button() != Qt::LeftButton)
        return;
    const Press press = std::exchange(press_, {});
    if (press.row < 0 || press.row >= count() || press.dragged)
        return;
    QPoint inside;
    if (rowAtPoint(event->position().toPoint(), &inside) != press.row)
        return;
    using Spot = CardLayout::Spot;
    if (press.spot == Spot::fold || press.spot == Spot::previous || press.spot == Spot::next) {
        if (layoutOf(press.row).spotAt(inside) == press.spot)
            follow(press.spot, press.row);
        return;
    }
    if (const int turn = model_->turnOf(press.row); turn > 0)
        emit turnChosen(turn);
}

void TraceView::mouseDoubleClickEvent(QMouseEvent *event) {
    QPoint inside;
    const int row = rowAtPoint(event->position().toPoint(), &inside);
    if (row < 0 || event->button() != Qt::LeftButton)
        return;
    const CardLayout &layout = layoutOf(row);
    const CardLayout::Spot spot = layout.spotAt(inside);
    if (spot == CardLayout::Spot::title) {
        toggleFold(row);
    } else if (spot == CardLayout::Spot::body) {
        const auto [from, to] = layout.wordAt(layout.positionAt(inside));
        selection_ = {row, from, to};
        viewport()->update();
    } else if (spot != CardLayout::Spot::none) {
        mousePressEvent(event); // quick clicks on "later lines" are single ones
    }
}

QString TraceView::selectedText() const {
    if (selection_.row < 0 || selection_.from() == selection_.to())
        return {};
    return layoutOf(selection_.row).text(selection_.from(), selection_.to());
}

void TraceView::focusInEvent(QFocusEvent *event) {
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

void TraceView::focusOutEvent(QFocusEvent *event) {
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

} // namespace cuda_agent::widgets
