// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plot/plot.h"

#include "widgets/base/command.h"
#include "widgets/base/theme.h"
#include "widgets/plot/marks.h"

#include <cmath>

namespace cuda_agent::widgets {

namespace {

constexpr double reach = 14; ///< pixels from the mouse to a point that it means

bool drawable(double value, const QCPAxis *axis) {
    return std::isfinite(value) && (axis->scaleType() == QCPAxis::stLinear || value > 0);
}

QCPRange padded(double low, double high, const QCPAxis *axis) {
    // What differs by rounding alone is one value: an axis has no ticks for such a range.
    if (high - low <= 1e-9 * std::max(std::fabs(low), std::fabs(high)))
        low = high;
    if (axis->scaleType() == QCPAxis::stLogarithmic) {
        const double part = high > low ? std::pow(high / low, 0.05) : 2;
        return {low / part, high * part};
    }
    const double part = high > low ? (high - low) * 0.05 : std::max(std::fabs(high) * 0.1, 1e-12);
    return {low - part, high + part};
}

} // namespace

Plot::Plot(const QString &accessibleName, QWidget *parent) : QWidget(parent) {
    setAccessibleName(accessibleName);
    setFocusPolicy(Qt::StrongFocus);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    plot_ = new QCustomPlot(this);
    plot_->setFocusPolicy(Qt::NoFocus);
    plot_->setInteractions(QCP::iRangeDrag);
    plot_->setNoAntialiasingOnDrag(true);
    plot_->setPlottingHint(QCP::phFastPolylines, true);
    plot_->setMouseTracking(true);
    plot_->setMinimumSize(60, 60);
    plot_->installEventFilter(this);
    plot_->legend->setVisible(false);
    plot_->axisRect()->setupFullAxesBox();
    plot_->axisRect()->setMinimumMargins(QMargins(8, 10, 12, 8));
    for (QCPAxis *axis : {plot_->xAxis2, plot_->yAxis2}) {
        axis->setTicks(false);
        axis->setSubTicks(false);
    }
    plot_->legend->setFillOrder(QCPLegend::foColumnsFirst);
    plot_->legend->setIconSize(16, 12);
    plot_->legend->setIconTextPadding(5);
    plot_->legend->setColumnSpacing(12);
    plot_->legend->setRowSpacing(0);
    plot_->legend->setBorderPen(Qt::NoPen);
    plot_->legend->setBrush(Qt::NoBrush);
    column->addWidget(plot_);
    empty_ = new QLabel(plot_);
    empty_->setAlignment(Qt::AlignCenter);
    empty_->setWordWrap(true);
    empty_->setAttribute(Qt::WA_TransparentForMouseEvents);
    for (QCPAxis *axis : {plot_->xAxis, plot_->yAxis}) {
        connect(axis, qOverload<const QCPRange &>(&QCPAxis::rangeChanged), this, [this] {
            if (!ownChange_)
                setFollow(false);
            updateVisible();
        });
    }
    makeActions();
    connect(&Theme::instance(), &Theme::changed, this, &Plot::applyTheme);
    applyTheme();
}

Plot::~Plot() = default;

void Plot::makeActions() {
    setContextMenuPolicy(Qt::ActionsContextMenu);
    const auto add = [this](const QString &text, const char *name, const QKeySequence &key,
                            const std::function<void()> &run) {
        addCommand(this, name, text, key, run);
    };
    add(tr("Show All"), "plot.showAll", Qt::Key_F, [this] { showAll(); });
    add(tr("Export Plot…"), "plot.export", {}, [this] { askExport(); });
    add(tr("Copy Image"), "plot.copy", QKeySequence::Copy,
        [this] { QApplication::clipboard()->setPixmap(plot_->toPixmap(0, 0, 2)); });
    add(tr("Zoom In"), "plot.zoomIn", Qt::Key_Plus,
        [this] { zoom(0.8, plot_->rect().center(), true, true); });
    add(tr("Zoom Out"), "plot.zoomOut", Qt::Key_Minus,
        [this] { zoom(1.25, plot_->rect().center(), true, true); });
    add(tr("Pan Left"), "plot.left", Qt::Key_Left, [this] { pan(-0.1, 0); });
    add(tr("Pan Right"), "plot.right", Qt::Key_Right, [this] { pan(0.1, 0); });
    add(tr("Pan Up"), "plot.up", Qt::Key_Up, [this] { pan(0, 0.1); });
    add(tr("Pan Down"), "plot.down", Qt::Key_Down, [this] { pan(0, -0.1); });
}

void Plot::setTitles(const QString &x, const QString &y) {
    xTitle_ = x;
    yTitle_ = y;
    fitFrame();
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

void Plot::setLogarithmic(bool x, bool y) {
    ownChange_ = true;
    for (auto [axis, opposite, on] :
         {std::tuple{plot_->xAxis, plot_->xAxis2, x}, std::tuple{plot_->yAxis, plot_->yAxis2, y}}) {
        for (QCPAxis *each : {axis, opposite}) {
            each->setScaleType(on ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
            each->setTicker(on ? QSharedPointer<QCPAxisTicker>(new LogTicker)
                               : QSharedPointer<QCPAxisTicker>(new QCPAxisTicker));
        }
        axis->setNumberFormat(on ? QStringLiteral("eb") : QStringLiteral("gb"));
        axis->setNumberPrecision(on ? 0 : 5);
    }
    ownChange_ = false;
    rebuild();
}

void Plot::setSeries(std::vector<Series> series) {
    series_ = std::move(series);
    rebuild();
}

void Plot::setEmptyText(const QString &text) {
    empty_->setText(text);
    describe();
}

void Plot::setDecoration(std::function<void(QCustomPlot &)> decorate) {
    decorate_ = std::move(decorate);
    rebuild();
}

void Plot::setReadout(std::function<QString(int series, int point)> text) {
    readout_ = std::move(text);
}

void Plot::setLegendAllowed(bool allowed) {
    legendAllowed_ = allowed;
    rebuild();
}

void Plot::setZoomable(bool zoomable) {
    zoomable_ = zoomable;
    plot_->setInteractions(zoomable ? QCP::Interactions(QCP::iRangeDrag) : QCP::Interactions());
    for (QAction *action : actions()) {
        const QString name = action->objectName();
        if (name != QLatin1String("plot.export") && name != QLatin1String("plot.copy")) {
            action->setEnabled(zoomable);
            action->setVisible(zoomable);
        }
    }
}

void Plot::setFollow(bool follow) {
    if (follow_ == follow)
        return;
    follow_ = follow;
    Q_EMIT followChanged(follow);
}

void Plot::showAll() {
    setFollow(true);
    rebuild();
}

void Plot::rebuild() {
    hovered_ = {}; // points may have other places now
    const Colors &colors = Theme::instance().colors();
    plot_->clearItems();
    plot_->clearPlottables();
    graphs_.clear();
    bool anyName = false;
    for (const Series &series : series_) {
        QCPGraph *graph = plot_->addGraph();
        graph->setName(series.name);
        QColor color =
            colors
                .series[static_cast<std::size_t>(std::max(series.color, 0)) % colors.series.size()];
        if (series.faint)
            color.setAlpha(90);
        // Cosmetic lines of one pixel are many times faster where points are many.
        graph->setPen(QPen(color, series.faint || series.x.size() > 20'000 ? 1 : 2));
        graph->setLineStyle(!series.line  ? QCPGraph::lsNone
                            : series.step ? QCPGraph::lsStepLeft
                                          : QCPGraph::lsLine);
        graph->setAdaptiveSampling(false); // `thin` does it, and keeps the extremes
        if (series.points)
            graph->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, color, color, 7));
        if (series.x.size() > 20'000)
            graph->setAntialiased(false);
        if (series.faint || series.name.isEmpty() || !series.inLegend)
            graph->removeFromLegend();
        else
            anyName = true;
        graphs_.push_back(graph);
    }
    named_ = legendAllowed_ && anyName && plot_->legend->itemCount() > 1;
    fitFrame();
    const bool empty = series_.empty() && !decorate_;
    empty_->setVisible(empty);
    plot_->axisRect()->setVisible(!empty); // and its axes
    ownChange_ = true;
    if (follow_)
        fitAxes();
    updateVisible();
    if (decorate_)
        decorate_(*plot_);
    ownChange_ = false;
    describe();
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

void Plot::fitAxes() {
    QCPRange x, y;
    bool any = false;
    for (const Series &series : series_) {
        const std::size_t size = std::min(series.x.size(), series.y.size());
        for (std::size_t i = 0; i < size; ++i) {
            if (!drawable(series.x[i], plot_->xAxis) || !drawable(series.y[i], plot_->yAxis))
                continue;
            if (!any) {
                x = {series.x[i], series.x[i]};
                y = {series.y[i], series.y[i]};
                any = true;
            }
            x.lower = std::min(x.lower, series.x[i]);
            x.upper = std::max(x.upper, series.x[i]);
            y.lower = std::min(y.lower, series.y[i]);
            y.upper = std::max(y.upper, series.y[i]);
        }
    }
    if (!any)
        return;
    plot_->xAxis->setRange(padded(x.lower, x.upper, plot_->xAxis));
    plot_->yAxis->setRange(padded(y.lower, y.upper, plot_->yAxis));
}

void Plot::fitFrame() {
    // A small plot shows its curves rather than words about them; the readout still has the words.
    const QFontMetrics metrics(plot_->font());
    const int width = plot_->width();
    const int height = plot_->height();
    QCPLegend *legend = plot_->legend;
    int widest = 1;
    for (int i = 0; i < legend->itemCount(); ++i)
        if (auto *item = qobject_cast<QCPPlottableLegendItem *>(legend->item(i)))
            widest = std::max(widest, metrics.horizontalAdvance(item->plottable()->name()));
    const int columns =
        std::clamp((width - 20) / (widest + 33), 1, std::max(1, legend->itemCount()));
    const int rows = (legend->itemCount() + columns - 1) / columns;
    const int legendHeight = rows * (metrics.height() + 2);
    const bool shown = named_ && legendHeight < height / 4;
    // Above the curves, so that it hides none. Where it is not drawn it must not take room there.
    const bool above = legend->layout() == plot_->plotLayout();
    if (shown && !above) {
        legend->layout()->take(legend);
        plot_->plotLayout()->insertRow(0);
        plot_->plotLayout()->addElement(0, 0, legend);
        plot_->plotLayout()->setRowSpacing(0);
        plot_->plotLayout()->setRowStretchFactor(0, 0.001);
        legend->setMargins(QMargins(12, 4, 12, 2));
    } else if (!shown && above) {
        plot_->plotLayout()->take(legend);
        plot_->plotLayout()->simplify();
        plot_->axisRect()->insetLayout()->addElement(legend, Qt::AlignTop | Qt::AlignRight);
    }
    legend->setVisible(shown);
    legend->setWrap(columns);
    legend->setFillOrder(QCPLegend::foColumnsFirst, true); // also those that are there already
    const int room = height - (shown ? legendHeight : 0) - 3 * metrics.height();
    plot_->xAxis->setLabel(height >= 150 ? xTitle_ : QString());
    plot_->yAxis->setLabel(metrics.horizontalAdvance(yTitle_) < room ? yTitle_ : QString());
    plot_->xAxis->ticker()->setTickCount(std::clamp(width / 90, 2, 9));
    plot_->yAxis->ticker()->setTickCount(std::clamp(height / 45, 2, 8));
}

void Plot::updateVisible() {
    const QCPRange range = plot_->xAxis->range();
    const int pixels = std::max(
        static_cast<int>(std::lround(plot_->axisRect()->width() * devicePixelRatioF())), 50);
    const Scales scales{plot_->xAxis->scaleType() == QCPAxis::stLogarithmic,
                        plot_->yAxis->scaleType() == QCPAxis::stLogarithmic};
    for (std::size_t i = 0; i < graphs_.size(); ++i) {
        const Thinned shown =
            thin(series_[i].x, series_[i].y, range.lower, range.upper, pixels, scales);
        graphs_[i]->setData(shown.x, shown.y, true);
    }
}

void Plot::applyTheme() {
    const Colors &colors = Theme::instance().colors();
    plot_->setBackground(colors.base);
    for (QCPAxis *axis : {plot_->xAxis, plot_->yAxis, plot_->xAxis2, plot_->yAxis2}) {
        axis->setBasePen(QPen(colors.border));
        axis->setTickPen(QPen(colors.border));
        axis->setSubTickPen(QPen(colors.border));
        axis->setTickLabelColor(colors.text);
        axis->setLabelColor(colors.text);
        axis->setTickLabelFont(font());
        axis->setLabelFont(font());
        QColor lines = colors.border;
        lines.setAlpha(110);
        axis->grid()->setPen(QPen(lines, 1));
        axis->grid()->setZeroLinePen(QPen(colors.border, 1));
    }
    plot_->legend->setTextColor(colors.text);
    plot_->legend->setFont(font());
    plot_->setFont(font());
    setTextColor(empty_, colors.muted);
    rebuild();
}

void Plot::resizeEvent(QResizeEvent *event) {
    QWidget::resizeEvent(event);
    empty_->setGeometry(rect().adjusted(12, 12, -12, -12));
    fitFrame();
    updateVisible();
    if (decorate_)
        QTimer::singleShot(0, this, &Plot::rebuild); // when the axes have their new size
}

// --- mouse ------------------------------------------------------------------------------------

void Plot::zoom(double factor, const QPoint &at, bool x, bool y) {
    if (x)
        plot_->xAxis->scaleRange(factor, plot_->xAxis->pixelToCoord(at.x()));
    if (y)
        plot_->yAxis->scaleRange(factor, plot_->yAxis->pixelToCoord(at.y()));
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

void Plot::pan(double x, double y) {
    const auto move = [](QCPAxis *axis, double part) {
        if (part == 0)
            return;
        if (axis->scaleType() == QCPAxis::stLogarithmic)
            axis->setRange(
                axis->range().lower * std::pow(axis->range().upper / axis->range().lower, part),
                axis->range().upper * std::pow(axis->range().upper / axis->range().lower, part));
        else
            axis->moveRange(axis->range().size() * part);
    };
    move(plot_->xAxis, x);
    move(plot_->yAxis, y);
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

bool Plot::eventFilter(QObject *watched, QEvent *event) {
    if (watched != plot_)
        return QWidget::eventFilter(watched, event);
    switch (event->type()) {
    case QEvent::Wheel: {
        if (!zoomable_) {
            event->ignore();
            return QWidget::eventFilter(watched, event);
        }
        auto *wheel = static_cast<QWheelEvent *>(event);
        const QPoint delta = wheel->angleDelta();
        const int turned = delta.y() != 0 ? delta.y() : delta.x();
        const bool onlyX = wheel->modifiers() & Qt::ShiftModifier;
        const bool onlyY = wheel->modifiers() & Qt::ControlModifier;
        zoom(std::pow(0.85, turned / 120.0), wheel->position().toPoint(), !onlyY, !onlyX);
        return true;
    }
    case QEvent::MouseButtonDblClick:
        if (zoomable_)
            showAll();
        return true;
    case QEvent::MouseButtonPress:
        setFocus(Qt::MouseFocusReason);
        pressed_ = static_cast<QMouseEvent *>(event)->pos();
        break;
    case QEvent::MouseButtonRelease: {
        auto *mouse = static_cast<QMouseEvent *>(event);
        if (mouse->button() == Qt::LeftButton &&
            (mouse->pos() - pressed_).manhattanLength() < QApplication::startDragDistance()) {
            if (const Hit hit = nearest(mouse->position()); hit.series >= 0)
                Q_EMIT pointClicked(hit.series, hit.point);
        }
        break;
    }
    case QEvent::MouseMove:
        if (static_cast<QMouseEvent *>(event)->buttons() == Qt::NoButton)
            showReadout(static_cast<QMouseEvent *>(event)->pos());
        break;
    case QEvent::Leave:
        if (hovered_.series >= 0) {
            hovered_ = {};
            Q_EMIT pointHovered(-1, -1);
        }
        break;
    default:
        break;
    }
    return false;
}

Plot::Hit Plot::nearest(const QPointF &at) const {
    Hit best;
    double distance = reach * reach;
    const double from = plot_->xAxis->pixelToCoord(at.x() - reach);
    const double to = plot_->xAxis->pixelToCoord(at.x() + reach);
    for (std::size_t s = 0; s < series_.size(); ++s) {
        const Series &series = series_[s];
        if (series.faint)
            continue;
        const std::size_t size = std::min(series.x.size(), series.y.size());
        const auto end = series.x.begin() + static_cast<std::ptrdiff_t>(size);
        for (auto i = static_cast<std::size_t>(std::lower_bound(series.x.begin(), end, from) -
                                               series.x.begin());
             i < size && series.x[i] <= to; ++i) {
            if (!drawable(series.y[i], plot_->yAxis))
                continue;
            const double dx = plot_->xAxis->coordToPixel(series.x[i]) - at.x();
            const double dy = plot_->yAxis->coordToPixel(series.y[i]) - at.y();
            if (dx * dx + dy * dy < distance) {
                distance = dx * dx + dy * dy;
                best = {static_cast<int>(s), static_cast<int>(i)};
            }
        }
    }
    return best;
}

void Plot::showReadout(const QPoint &at) {
    const Hit hit = nearest(at);
    if (hit.series != hovered_.series || hit.point != hovered_.point) {
        hovered_ = hit;
        Q_EMIT pointHovered(hit.series, hit.point);
    }
    if (hit.series < 0) {
        QToolTip::hideText();
        return;
    }
    if (readout_) {
        QToolTip::showText(plot_->mapToGlobal(at), readout_(hit.series, hit.point), plot_);
        return;
    }
    const Series &series = series_[static_cast<std::size_t>(hit.series)];
    const auto point = static_cast<std::size_t>(hit.point);
    const QString values =
        tr("%1: %2\n%3: %4")
            .arg(xTitle_.isEmpty() ? tr("x") : xTitle_, QLocale().toString(series.x[point], 'g', 6),
                 yTitle_.isEmpty() ? tr("y") : yTitle_,
                 QLocale().toString(series.y[point], 'g', 6));
    QToolTip::showText(plot_->mapToGlobal(at),
                       series.name.isEmpty() ? values : series.name + QLatin1Char('\n') + values,
                       plot_);
}

void Plot::describe() {
    if (series_.empty()) {
        setAccessibleDescription(empty_->text());
        return;
    }
    const QCPRange x = plot_->xAxis->range();
    const QCPRange y = plot_->yAxis->range();
    setAccessibleDescription(tr("%n curve(s), x from %1 to %2, y from %3 to %4", nullptr,
                                static_cast<int>(series_.size()))
                                 .arg(x.lower)
                                 .arg(x.upper)
                                 .arg(y.lower)
                                 .arg(y.upper));
}

} // namespace cuda_agent::widgets
