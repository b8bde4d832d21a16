// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plot/bar_chart.h"

#include "widgets/base/theme.h"
#include "widgets/plot/marks.h"

#include <QKeyEvent>
#include <QLocale>

#include <algorithm>
#include <cmath>

namespace cuda_agent::widgets {

namespace {

constexpr double nameShare = 0.5; ///< of the width, for names at most

QString countText(double count) {
    return QLocale().toString(static_cast<qlonglong>(count));
}

} // namespace

BarChart::BarChart(const QString &accessibleName, Kind kind, QWidget *parent)
    : Plot(accessibleName, parent), kind_(kind) {
    setZoomable(false);
    setLegendAllowed(false);
    setReadout([this](int series, int) {
        const Bar &bar = bars_[series];
        return tr("%1: %2", "name of a bar, its count").arg(bar.name, countText(bar.count));
    });
    QCustomPlot &plot = canvas();
    if (kind == Kind::names) {
        plot.setMinimumSize(40, 10); // of one row
        plot.axisRect()->setMinimumMargins(QMargins(2, 2, 2, 2));
        for (QCPAxis *axis : {plot.xAxis, plot.xAxis2, plot.yAxis2})
            axis->setVisible(false);
    } else {
        plot.axisRect()->setMinimumMargins(QMargins(4, 6, 8, 2));
        for (QCPAxis *axis : {plot.xAxis2, plot.yAxis2})
            axis->setVisible(false);
        setLogarithmic(true, false);
    }
    connect(&plot, &QCustomPlot::mousePress, this,
            [this](QMouseEvent *event) { pressed_ = event->position(); });
    connect(&plot, &QCustomPlot::mouseRelease, this, [this](QMouseEvent *event) {
        if (event->button() == Qt::LeftButton &&
            (event->position() - pressed_).manhattanLength() < QApplication::startDragDistance())
            // Later: the canvas is not to lose what it draws while it answers the mouse.
            QMetaObject::invokeMethod(
                this, [this, at = event->position()] { clicked(at); }, Qt::QueuedConnection);
    });
}

void BarChart::setAxis(const QString &title, QString (*text)(double)) {
    text_ = text;
    setTitles(title, {});
    auto ticker = QSharedPointer<LogTicker>::create(text);
    canvas().xAxis->setTicker(ticker);
}

void BarChart::setBars(const QVector<Bar> &bars) {
    if (bars == bars_)
        return;
    bars_ = bars;
    if (current_ >= bars_.size())
        current_ = -1;
    std::vector<Series> series;
    QStringList words;
    for (qsizetype i = 0; i < bars_.size(); ++i) {
        const Bar &bar = bars_[i];
        Series each;
        each.name = bar.name;
        each.line = false;
        each.inLegend = false;
        each.x = {kind_ == Kind::names ? bar.count : std::sqrt(bar.from * bar.to)};
        each.y = {kind_ == Kind::names ? static_cast<double>(i + 1) : bar.count};
        series.push_back(std::move(each));
        words += tr("%1: %2", "name of a bar, its count").arg(bar.name, countText(bar.count));
    }
    setSeries(std::move(series)); // first: the decoration stands on its axes
    redraw();
    if (kind_ == Kind::names)
        setFixedHeight(static_cast<int>(bars_.size()) * (fontMetrics().height() + 5) + 6);
    setAccessibleDescription(words.join(QLatin1String("; ")));
}

void BarChart::redraw() {
    if (bars_.isEmpty())
        setDecoration({});
    else
        setDecoration([this](QCustomPlot &plot) { draw(plot); });
}

void BarChart::draw(QCustomPlot &plot) const {
    if (kind_ == Kind::names)
        drawNames(plot);
    else
        drawIntervals(plot);
}

namespace {

/// A bar that is not chosen while another one is, is pale.
void paint(QCPAbstractPlottable &shape, bool faint, bool current) {
    const Colors &colors = Theme::instance().colors();
    QColor color = colors.series[0];
    color.setAlpha(faint ? 60 : 170);
    shape.setBrush(color);
    shape.setPen(current ? QPen(colors.text, 2) : QPen(Qt::NoPen));
    shape.setSelectable(QCP::stNone);
    shape.removeFromLegend();
}

} // namespace

void BarChart::drawNames(QCustomPlot &plot) const {
    const Colors &colors = Theme::instance().colors();
    const QFontMetrics metrics(plot.font());
    const bool choosing =
        std::any_of(bars_.begin(), bars_.end(), [](const Bar &bar) { return bar.chosen; });
    QSharedPointer<QCPAxisTickerText> names(new QCPAxisTickerText);
    double greatest = 1;
    int widest = 0;
    for (const Bar &bar : bars_) {
        greatest = std::max(greatest, bar.count);
        widest = std::max(widest, metrics.horizontalAdvance(countText(bar.count)) + 8);
    }
    const int nameWidth = static_cast<int>(plot.width() * nameShare);
    int longest = 0;
    for (qsizetype i = 0; i < bars_.size(); ++i) {
        const Bar &bar = bars_[i];
        const double row = static_cast<double>(i + 1);
        const QString name = metrics.elidedText(bar.name, Qt::ElideMiddle, nameWidth);
        longest = std::max(longest, metrics.horizontalAdvance(name));
        names->addTick(row, name);
        auto *shape = new QCPBars(plot.yAxis, plot.xAxis);
        paint(*shape, choosing && !bar.chosen, hasFocus() && i == current_);
        shape->setWidth(0.72);
        shape->setData({row}, {bar.count});
        addText(plot, bar.count, row, bar.count > 0 ? colors.text : colors.muted,
                countText(bar.count), Qt::AlignLeft | Qt::AlignVCenter);
    }
    plot.yAxis->setTicker(names);
    plot.yAxis->setTickLength(0);
    plot.yAxis->setSubTicks(false);
    plot.yAxis->setBasePen(QPen(colors.border));
    plot.yAxis->grid()->setVisible(false);
    plot.xAxis->grid()->setVisible(false);
    plot.yAxis->setRangeReversed(true);
    plot.yAxis->setRange(0.45, static_cast<double>(bars_.size()) + 0.55);
    // The names' width is known only after the next layout: counted here.
    const double room = std::max(plot.width() - longest - 16, 40);
    plot.xAxis->setRange(0, greatest * room / std::max(room - widest, room * 0.3));
}

void BarChart::drawIntervals(QCustomPlot &plot) const {
    const bool choosing =
        std::any_of(bars_.begin(), bars_.end(), [](const Bar &bar) { return bar.chosen; });
    double greatest = 1;
    for (qsizetype i = 0; i < bars_.size(); ++i) {
        const Bar &bar = bars_[i];
        greatest = std::max(greatest, bar.count);
        // Bars of QCustomPlot have one width; intervals are an outline that is filled.
        auto *shape = new QCPCurve(plot.xAxis, plot.yAxis);
        paint(*shape, choosing && !bar.chosen, hasFocus() && i == current_);
        const double gap = std::pow(bar.to / bar.from, 0.04);
        const double from = bar.from * gap, to = bar.to / gap;
        shape->setData({0, 1, 2, 3, 4}, {from, from, to, to, from}, {0, bar.count, bar.count, 0, 0},
                       true);
        shape->setLineStyle(QCPCurve::lsLine);
    }
    plot.xAxis->grid()->setVisible(false);
    plot.yAxis->setTicker(QSharedPointer<QCPAxisTicker>(new WholeTicker));
    plot.yAxis->ticker()->setTickCount(3);
    plot.yAxis->setSubTicks(false);
    plot.yAxis->setRange(0, greatest * 1.08);
    plot.xAxis->ticker()->setTickCount(std::clamp(plot.width() / 70, 2, 6));
    plot.xAxis->setRange(bars_.front().from * 0.9, bars_.back().to * 1.1);
}

QPointF BarChart::placeOf(int bar) const {
    const Bar &each = bars_[bar];
    const QCustomPlot &plot = const_cast<BarChart *>(this)->canvas();
    if (kind_ == Kind::names)
        return {plot.xAxis->coordToPixel(each.count / 2), plot.yAxis->coordToPixel(bar + 1)};
    return {plot.xAxis->coordToPixel(std::sqrt(each.from * each.to)),
            plot.yAxis->coordToPixel(each.count / 2)};
}

/// A whole row, its name too, and a whole column belong to a bar: small ones are hard to hit.
void BarChart::clicked(const QPointF &at) {
    const QCustomPlot &plot = canvas();
    int hit = -1;
    if (kind_ == Kind::names) {
        hit = static_cast<int>(std::lround(plot.yAxis->pixelToCoord(at.y()))) - 1;
    } else {
        const double value = plot.xAxis->pixelToCoord(at.x());
        for (qsizetype i = 0; i < bars_.size(); ++i)
            if (value >= bars_[i].from && value < bars_[i].to)
                hit = static_cast<int>(i);
    }
    if (hit < 0 || hit >= bars_.size())
        return;
    current_ = hit;
    redraw();
    Q_EMIT barActivated(hit);
}

void BarChart::keyPressEvent(QKeyEvent *event) {
    const int last = static_cast<int>(bars_.size()) - 1;
    int next = current_;
    switch (event->key()) {
    case Qt::Key_Up:
    case Qt::Key_Left:
        next = std::max(current_ - 1, 0);
        break;
    case Qt::Key_Down:
    case Qt::Key_Right:
        next = std::min(current_ + 1, last);
        break;
    case Qt::Key_Home:
        next = 0;
        break;
    case Qt::Key_End:
        next = last;
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
        if (current_ >= 0)
            Q_EMIT barActivated(current_);
        return;
    default:
        Plot::keyPressEvent(event);
        return;
    }
    if (next == current_ || next > last)
        return;
    current_ = next;
    redraw();
}

void BarChart::focusInEvent(QFocusEvent *event) {
    Plot::focusInEvent(event);
    if (event->reason() != Qt::MouseFocusReason && current_ < 0 && !bars_.isEmpty())
        current_ = 0;
    redraw();
}

void BarChart::focusOutEvent(QFocusEvent *event) {
    Plot::focusOutEvent(event);
    redraw();
}

} // namespace cuda_agent::widgets
