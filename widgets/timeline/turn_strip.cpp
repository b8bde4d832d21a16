// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/timeline/turn_strip.h"

#include "widgets/base/text.h"
#include "widgets/base/theme.h"

#include <QElapsedTimer>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace cuda_agent::widgets {

using session::Event;
using session::EventType;

namespace {
constexpr qint64 sliceMs = 8;
} // namespace

TurnStrip::TurnStrip(SessionDocument *document, QWidget *parent)
    : QWidget(parent), document_(document) {
    setObjectName(QStringLiteral("timeline.strip"));
    setAccessibleName(tr("Turns of the session"));
    setMouseTracking(true);
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    later_.setSingleShot(true);
    later_.setInterval(0);
    connect(&later_, &QTimer::timeout, this, &TurnStrip::readMore);
    connect(document, &SessionDocument::reset, this, &TurnStrip::readAgain);
    connect(document, &SessionDocument::cursorMoved, this, [this] {
        log_ = document_->index().events().data(); // a log that grows moves
        readMore();
        tellScreenReader();
    });
    connect(document, &SessionDocument::shownTurnChanged, this, qOverload<>(&QWidget::update));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
    readAgain();
}

void TurnStrip::readAgain() {
    // The cursor going back changes nothing here; another log does.
    const auto &events = document_->index().events();
    if (events.data() != log_ || events.size() < read_) {
        segments_.clear();
        read_ = 0;
    }
    log_ = events.data();
    readMore();
    tellScreenReader();
}

/// Takes in the events that are new, for some milliseconds; the rest comes later. A turn that was
/// cut off and done again is one segment.
void TurnStrip::readMore() {
    const auto &events = document_->index().events();
    QElapsedTimer clock;
    clock.start();
    for (; read_ < events.size(); ++read_) {
        if (read_ % 256 == 255 && clock.elapsed() > sliceMs) {
            later_.start();
            break;
        }
        const Event &event = events[read_];
        if (segments_.empty())
            segments_.push_back({0, 0, 0, Outcome::before, false});
        if (event.type == EventType::turnStarted && event.turn > 0) {
            if (segments_.back().turn != event.turn)
                segments_.push_back({event.turn, read_, read_, Outcome::none, false});
            segments_.back().outcome = Outcome::none;
            segments_.back().engineer = textOf(event.data, "author") == QLatin1String("engineer");
        } else if (event.type == EventType::verdictGiven && segments_.back().turn == event.turn &&
                   event.turn > 0) {
            segments_.back().outcome = truthOf(partOf(event.data, "verdict"), "correct")
                                           ? Outcome::correct
                                           : Outcome::wrong;
        }
        segments_.back().end = read_ + 1;
    }
    update();
}

QRectF TurnStrip::bar() const {
    return QRectF(rect()).adjusted(4, 4, -4, -4);
}

std::size_t TurnStrip::eventAt(double x) const {
    if (segments_.empty())
        return 0;
    const QRectF area = bar();
    const double place = std::clamp((x - area.left()) / std::max(area.width(), 1.0), 0.0, 1.0) *
                         double(segments_.size());
    const auto at = std::min(std::size_t(place), segments_.size() - 1);
    const Segment &segment = segments_[at];
    return segment.begin +
           std::size_t(std::lround((place - double(at)) * double(segment.end - segment.begin)));
}

double TurnStrip::xOf(std::size_t events) const {
    const QRectF area = bar();
    if (segments_.empty())
        return area.left();
    // The segment that the last event before the cursor is in.
    const auto after =
        std::lower_bound(segments_.begin(), segments_.end(), events,
                         [](const Segment &segment, std::size_t at) { return segment.end < at; });
    if (after == segments_.end())
        return area.right();
    const double inside = double(events - std::min(events, after->begin)) /
                          double(std::max<std::size_t>(after->end - after->begin, 1));
    return area.left() +
           (double(after - segments_.begin()) + inside) * area.width() / double(segments_.size());
}

int TurnStrip::segmentAt(double x) const {
    if (segments_.empty())
        return -1;
    const QRectF area = bar();
    const double place = (x - area.left()) / std::max(area.width(), 1.0) * double(segments_.size());
    return std::clamp(int(place), 0, int(segments_.size()) - 1);
}

QString TurnStrip::tellAbout(int at) const {
    if (at < 0 || std::size_t(at) >= segments_.size())
        return {};
    const Segment &segment = segments_[std::size_t(at)];
    if (segment.outcome == Outcome::before)
        return tr("Before the first turn: task and baselines");
    const SessionIndex &index = document_->index();
    QStringList lines{segment.engineer ? tr("Turn %1 by the engineer").arg(segment.turn)
                                       : tr("Turn %1").arg(segment.turn)};
    const Event *verdict = index.lastIn(segment.turn, EventType::verdictGiven, index.size());
    if (verdict) {
        const Json &given = partOf(verdict->data, "verdict");
        const double seconds = numberOf(partOf(partOf(given, "times"), "candidate"), "seconds");
        const double factor = numberOf(partOf(given, "speedup"), "compile");
        lines += segment.outcome == Outcome::correct ? tr("Correct") : tr("Wrong");
        if (seconds > 0 && factor > 0)
            lines += tr("%1, %2 torch.compile").arg(timeText(seconds), timesText(factor));
        else if (seconds > 0)
            lines += timeText(seconds);
    } else {
        lines += tr("No verdict");
    }
    if (const Event *thought = index.lastIn(segment.turn, EventType::thought, index.size())) {
        QString text = textOf(thought->data, "text").left(200).simplified();
        if (text.size() > 120)
            text = tr("%1…").arg(text.left(119));
        lines += text;
    }
    return lines.join(u'\n');
}

void TurnStrip::tellScreenReader() {
    const int turn = document_->shownTurn();
    setAccessibleDescription(tr("Turn %1, event %2 of %3")
                                 .arg(turn)
                                 .arg(qulonglong(document_->cursor()))
                                 .arg(qulonglong(document_->index().size())));
}

QSize TurnStrip::sizeHint() const {
    return {300, std::max(26, fontMetrics().height() + 10)};
}
QSize TurnStrip::minimumSizeHint() const {
    return {60, sizeHint().height()};
}

void TurnStrip::paintEvent(QPaintEvent *) {
    const Colors &colors = Theme::instance().colors();
    QPainter painter(this);
    const QRectF area = bar();
    painter.fillRect(area, colors.panel);
    const auto count = segments_.size();
    const int shown = document_->shownTurn();
    const double wide = count > 0 ? area.width() / double(count) : 0;
    const double cursor = xOf(document_->cursor());
    const auto colorOf = [&](const Segment &segment) {
        switch (segment.outcome) {
        case Outcome::correct:
            return colors.good;
        case Outcome::wrong:
            return colors.bad;
        case Outcome::none:
            return colors.muted;
        case Outcome::before:
            break;
        }
        return colors.border;
    };
    // With more turns than pixels each pixel shows the best of its turns.
    const auto step = std::max<std::size_t>(1, std::size_t(wide > 0 ? 1 / wide : 1));
    for (std::size_t i = 0; i < count; i += step) {
        const auto last = segments_.begin() + std::ptrdiff_t(std::min(i + step, count));
        const Segment &segment = *std::max_element(
            segments_.begin() + std::ptrdiff_t(i), last,
            [](const Segment &a, const Segment &b) { return a.outcome < b.outcome; });
        QRectF box(area.left() + double(i) * wide, area.top(), wide * double(step), area.height());
        if (wide > 4)
            box.adjust(0.5, 0, -0.5, 0);
        QColor color = colorOf(segment);
        if (box.left() >= cursor) // has not happened yet
            color.setAlphaF(0.35f);
        painter.fillRect(box, color);
        // Not by colour alone: wrong ones are half as high, turns without a verdict a thin line.
        const double cut = segment.outcome == Outcome::wrong  ? 0.45
                           : segment.outcome == Outcome::none ? 0.75
                                                              : 0;
        if (cut > 0)
            painter.fillRect(QRectF(box.left(), box.top(), box.width(), box.height() * cut),
                             colors.panel);
        if (segment.engineer)
            painter.fillRect(QRectF(box.left(), box.top(), box.width(), 4), colors.accent);
        if (segment.turn > 0 && segment.turn == shown && wide > 6) {
            painter.setPen(QPen(colors.text, 1));
            painter.setBrush(Qt::NoBrush);
            painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5));
        }
        const QString number = QString::number(segment.turn);
        if (segment.turn > 0 && wide > fontMetrics().horizontalAdvance(number) + 6) {
            painter.setPen(segment.outcome == Outcome::correct && box.left() < cursor
                               ? colors.base
                               : colors.text);
            painter.drawText(box, Qt::AlignCenter, number);
        }
    }
    painter.setPen(Qt::NoPen);
    painter.setBrush(colors.accent);
    const double x = std::clamp(cursor, area.left(), area.right());
    painter.drawRect(QRectF(x - 1, 0, 2, height()));
    painter.setRenderHint(QPainter::Antialiasing);
    painter.drawPolygon(QPolygonF{{x - 4, 0}, {x + 4, 0}, {x, 5}});
}

void TurnStrip::mousePressEvent(QMouseEvent *event) {
    if (event->button() == Qt::LeftButton)
        emit seekRequested(eventAt(event->position().x()));
}

void TurnStrip::mouseMoveEvent(QMouseEvent *event) {
    if (event->buttons() & Qt::LeftButton)
        emit seekRequested(eventAt(event->position().x()));
}

bool TurnStrip::event(QEvent *event) {
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto *help = static_cast<QHelpEvent *>(event);
    const QString text = tellAbout(segmentAt(help->pos().x()));
    if (text.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(help->globalPos(), text, this);
    return true;
}

} // namespace cuda_agent::widgets
