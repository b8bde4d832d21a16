// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/plot_grid.h"

#include "core/learn/run/metric_names.h"
#include "widgets/base/theme.h"

#include <QGridLayout>
#include <QHelpEvent>
#include <QLocale>
#include <QMouseEvent>
#include <QSignalBlocker>
#include <QToolTip>
#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

namespace cuda_agent::widgets {
namespace {

QString numberText(double value) {
    if (std::isnan(value))
        return QStringLiteral("NaN");
    if (std::isinf(value))
        return value > 0 ? QStringLiteral("+∞") : QStringLiteral("−∞");
    return QLocale().toString(value, 'g', 6);
}

/// The position of the value of ascending `x` that is nearest to `at`; `x` is not empty.
std::size_t nearest(const std::vector<double> &x, double at) {
    const auto after = std::lower_bound(x.begin(), x.end(), at);
    auto i = static_cast<std::size_t>(after - x.begin());
    if (i == x.size() || (i > 0 && at - x[i - 1] < x[i] - at))
        --i;
    return i;
}

} // namespace

PlotCell::PlotCell(const QString &metric, QWidget *parent)
    : QFrame(parent), metric_(metric), title_(new QLabel(metric, this)), note_(new QLabel(this)),
      plot_(new Plot(tr("Plot of %1").arg(metric), this)) {
    setFrameShape(QFrame::StyledPanel);
    QFont bold = title_->font();
    bold.setBold(true);
    title_->setFont(bold);
    title_->setTextFormat(Qt::PlainText);
    title_->setToolTip(metric);
    if (const auto *known = learn::findMetricName(metric.toStdString())) {
        title_->setToolTip(
            QString::fromUtf8(known->text.data(), static_cast<qsizetype>(known->text.size())));
        unit_ = QString::fromUtf8(known->unit.data(), static_cast<qsizetype>(known->unit.size()));
    }
    title_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    note_->setTextFormat(Qt::PlainText);
    note_->hide();
    auto *head = new QHBoxLayout;
    head->addWidget(title_, 1);
    head->addWidget(note_);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(6, 4, 6, 4);
    layout->setSpacing(2);
    layout->addLayout(head);
    layout->addWidget(plot_, 1);
    setMinimumSize(220, 230);
    plot_->setEmptyText(tr("No values of %1 in the checked runs.").arg(metric));
    plot_->canvas().installEventFilter(this);
    connect(&plot_->canvas(), &QCustomPlot::afterLayout, this, &PlotCell::fitNames);
    connect(&Theme::instance(), &Theme::changed, this, &PlotCell::applyTheme);
    applyTheme();
}

void PlotCell::applyTheme() {
    setTextColor(note_, Theme::instance().colors().warning);
}

QString PlotCell::note() const {
    return note_->text();
}

void PlotCell::setAxes(const QString &xTitle, bool logX, bool logY) {
    xTitle_ = xTitle;
    plot_->setTitles(xTitle, unit_);
    if (const std::pair wanted(logX, logY); wanted != log_) {
        log_ = wanted; // not each second: it draws anew
        plot_->setLogarithmic(logX, logY);
    }
}

void PlotCell::setCurves(Curves &&curves, const QHash<QString, RunLook> &looks) {
    std::vector<Series> series;
    shown_.clear();
    qsizetype odd = 0;
    const auto add = [&](Series &&made) {
        series.push_back(std::move(made));
        return static_cast<int>(series.size()) - 1;
    };
    // Faint raw curves lie under all smoothed ones.
    for (Curve &curve : curves.curves) {
        Shown shown;
        shown.look = looks.value(curve.folder);
        shown.odd = std::move(curve.odd);
        odd += static_cast<qsizetype>(shown.odd.size());
        if (!curve.y.empty() && !curve.smooth.empty()) {
            Series raw;
            raw.name = tr("%1 (raw)").arg(shown.look.name);
            raw.x = std::move(curve.rawX);
            raw.y = std::move(curve.y);
            raw.color = shown.look.color;
            raw.faint = true;
            shown.raw = add(std::move(raw));
            curve.y = std::move(curve.smooth);
        }
        shown_.push_back(std::move(shown));
    }
    for (std::size_t i = 0; i < shown_.size(); ++i) {
        Curve &curve = curves.curves[i];
        if (curve.y.empty())
            continue;
        Series line;
        line.name = shown_[i].look.name;
        line.color = shown_[i].look.color;
        line.points = curve.x.size() == 1; // a line of one point is not seen
        line.x = std::move(curve.x);
        line.y = std::move(curve.y);
        const int number = add(std::move(line));
        (shown_[i].raw < 0 ? shown_[i].raw : shown_[i].smooth) = number;
    }
    for (const Shown &shown : shown_) {
        if (shown.odd.empty())
            continue;
        Series marks;
        marks.name = tr("%1: not finite").arg(shown.look.name);
        marks.color = shown.look.color;
        marks.points = true;
        marks.line = false;
        for (const Curve::Odd &value : shown.odd) {
            marks.x.push_back(value.x);
            marks.y.push_back(value.y);
        }
        add(std::move(marks));
    }
    QStringList notes;
    if (odd > 0)
        notes << tr("not finite: %1").arg(odd);
    if (curves.without > 0)
        notes << (curves.request.x == XAxis::time ? tr("without a time: %1").arg(curves.without)
                  : curves.request.x == XAxis::samples
                      ? tr("without samples: %1").arg(curves.without)
                      : tr("without tokens: %1").arg(curves.without));
    note_->setText(notes.join(QStringLiteral(" · ")));
    note_->setVisible(!notes.isEmpty());
    if (const bool wanted = !bands_.isEmpty() && !series.empty(); wanted != decorated_) {
        decorated_ = wanted;
        plot_->setDecoration(wanted ? [this](QCustomPlot &canvas) { drawBands(canvas); }
                                    : std::function<void(QCustomPlot &)>());
    }
    // A million points are fitted and thinned once, not again for each axis that gets its range.
    QCustomPlot &canvas = plot_->canvas();
    {
        const QSignalBlocker quietX(canvas.xAxis), quietY(canvas.yAxis);
        plot_->setSeries(std::move(series));
    }
    canvas.xAxis2->setRange(canvas.xAxis->range());
    canvas.yAxis2->setRange(canvas.yAxis->range());
}

/// Every other stage is shaded; a line and, where there is room, its name at its begin.
void PlotCell::drawBands(QCustomPlot &canvas) {
    const Colors &colors = Theme::instance().colors();
    QColor shade = colors.muted;
    shade.setAlpha(26);
    QColor border = colors.muted;
    border.setAlpha(120);
    names_.clear();
    for (qsizetype i = 0; i < bands_.size(); ++i) {
        const StageBand &band = bands_[i];
        auto *area = new QCPItemRect(&canvas);
        area->setLayer(QStringLiteral("background"));
        area->setSelectable(false);
        area->setPen(Qt::NoPen);
        area->setBrush(i % 2 == 0 ? QBrush(Qt::NoBrush) : QBrush(shade));
        for (QCPItemPosition *corner : {area->topLeft, area->bottomRight}) {
            corner->setTypeX(QCPItemPosition::ptPlotCoords);
            corner->setTypeY(QCPItemPosition::ptAxisRectRatio);
        }
        area->topLeft->setCoords(band.from, 0);
        area->bottomRight->setCoords(band.to, 1);
        if (i > 0) {
            auto *line = new QCPItemStraightLine(&canvas);
            line->setLayer(QStringLiteral("grid"));
            line->setSelectable(false);
            line->setPen(QPen(border, 1, Qt::DashLine));
            line->point1->setCoords(band.from, 1);
            line->point2->setCoords(band.from, 2);
        }
        auto *label = new QCPItemText(&canvas);
        label->setLayer(QStringLiteral("grid"));
        label->setSelectable(false);
        label->setFont(plot_->font());
        label->setColor(colors.muted);
        label->setPositionAlignment(Qt::AlignLeft | Qt::AlignTop);
        label->position->setTypeX(QCPItemPosition::ptAbsolute);
        label->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
        names_.push_back({label, band});
    }
    fitNames();
}

/// How much of a stage's name there is room for changes with every zoom and every size.
void PlotCell::fitNames() {
    const QCPAxis *axis = plot_->canvas().xAxis;
    const QFontMetrics metrics(plot_->font());
    for (const auto &[label, band] : names_) {
        if (!label) // gone with the curves that it belonged to
            continue;
        const double left = axis->coordToPixel(std::max(band.from, axis->range().lower));
        const double right = axis->coordToPixel(std::min(band.to, axis->range().upper));
        const int room = std::isfinite(right - left) ? static_cast<int>(right - left) - 6 : 0;
        const QString name = metrics.elidedText(band.stage, Qt::ElideRight, std::max(room, 0));
        const bool fits = metrics.horizontalAdvance(name) <= room;
        label->setVisible(fits && (name == band.stage || name.size() > 2)); // more than "a…"
        label->setText(name);
        label->position->setCoords(left + 3, 0.01);
    }
}

/// Where the pointer is at a stage's name, or where that would be, tells it in full.
bool PlotCell::tellStage(const QHelpEvent &help) const {
    const QCustomPlot &canvas = plot_->canvas();
    QRect line = canvas.axisRect()->rect();
    line.setHeight(QFontMetrics(plot_->font()).height() * 3 / 2);
    if (!line.contains(help.pos()))
        return false;
    const double x = canvas.xAxis->pixelToCoord(help.pos().x());
    for (auto band = bands_.rbegin(); band != bands_.rend(); ++band)
        if (x >= band->from && x <= band->to) {
            line.setLeft(
                std::max(line.left(), static_cast<int>(canvas.xAxis->coordToPixel(band->from))));
            line.setRight(
                std::min(line.right(), static_cast<int>(canvas.xAxis->coordToPixel(band->to))));
            QToolTip::showText(help.globalPos(), tr("Stage %1").arg(band->stage), &plot_->canvas(),
                               line);
            return true;
        }
    return false;
}

QString PlotCell::readout(double x) const {
    QStringList parts;
    double at = x;
    bool placed = false;
    for (const Shown &shown : shown_) {
        const Series *raw =
            shown.raw < 0 ? nullptr : &plot_->series()[static_cast<std::size_t>(shown.raw)];
        const Series *smooth =
            shown.smooth < 0 ? nullptr : &plot_->series()[static_cast<std::size_t>(shown.smooth)];
        double distance = std::numeric_limits<double>::infinity();
        QString text;
        if (raw) {
            const std::size_t i = nearest(raw->x, x);
            if (!std::isnan(raw->y[i])) { // else in a stage that has no values
                distance = std::abs(raw->x[i] - x);
                text = smooth
                           ? tr("%1 (raw %2)").arg(numberText(smooth->y[i]), numberText(raw->y[i]))
                           : numberText(raw->y[i]);
                at = placed ? at : raw->x[i];
            }
        }
        if (!shown.odd.empty()) {
            const auto odd = std::min_element(shown.odd.begin(), shown.odd.end(),
                                              [&](const Curve::Odd &a, const Curve::Odd &b) {
                                                  return std::abs(a.x - x) < std::abs(b.x - x);
                                              });
            if (std::abs(odd->x - x) < distance) {
                text = tr("%1 (not finite)").arg(numberText(odd->value));
                at = placed ? at : odd->x;
            }
        }
        if (text.isEmpty())
            continue;
        placed = true;
        const QColor color =
            Theme::instance().colors().series[static_cast<std::size_t>(shown.look.color)];
        parts << QStringLiteral("<span style='color:%1'>■</span> %2")
                     .arg(color.name(), tr("%1: %2").arg(shown.look.name, text).toHtmlEscaped());
    }
    if (parts.isEmpty())
        return {};
    for (auto band = bands_.rbegin(); band != bands_.rend(); ++band)
        if (at >= band->from) {
            parts << tr("in %1").arg(band->stage).toHtmlEscaped();
            break;
        }
    return tr("<b>%1</b> at %2 = %3 &nbsp; %4")
        .arg(metric_.toHtmlEscaped(), xTitle_.toHtmlEscaped(), numberText(at),
             parts.join(QStringLiteral(" &nbsp; ")));
}

bool PlotCell::eventFilter(QObject *watched, QEvent *event) {
    if (event->type() == QEvent::MouseMove) {
        const auto *mouse = static_cast<QMouseEvent *>(event);
        emit hovered(readout(plot_->canvas().xAxis->pixelToCoord(mouse->position().x())));
    } else if (event->type() == QEvent::Leave) {
        emit hovered(QString());
    } else if (event->type() == QEvent::ToolTip) {
        if (tellStage(*static_cast<QHelpEvent *>(event)))
            return true;
    }
    return QFrame::eventFilter(watched, event);
}

PlotGrid::PlotGrid(QWidget *parent)
    : QScrollArea(parent), content_(new QWidget), grid_(new QGridLayout(content_)) {
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setAccessibleName(tr("Plots"));
    grid_->setContentsMargins(4, 4, 4, 4);
    grid_->setSpacing(6);
    setWidget(content_);
}

PlotCell *PlotGrid::cell(const QString &metric) const {
    for (PlotCell *cell : cells_)
        if (cell->metric() == metric)
            return cell;
    return nullptr;
}

void PlotGrid::setMetrics(const QStringList &metrics) {
    QVector<PlotCell *> cells, made;
    for (const QString &metric : metrics) {
        PlotCell *known = cell(metric);
        if (!known)
            made << (known = new PlotCell(metric, content_));
        cells << known;
    }
    for (PlotCell *old : cells_)
        if (!cells.contains(old)) {
            grid_->removeWidget(old);
            old->hide();
            old->deleteLater();
        }
    cells_ = cells;
    arrange();
    for (PlotCell *fresh : made)
        emit cellMade(fresh);
}

void PlotGrid::setColumns(int columns) {
    columns_ = std::clamp(columns, 1, 3);
    arrange();
}

void PlotGrid::arrange() {
    while (QLayoutItem *item = grid_->takeAt(0))
        delete item;
    const int columns = std::max(1, std::min(columns_, static_cast<int>(cells_.size())));
    for (int i = 0; i < 3; ++i)
        grid_->setColumnStretch(i, i < columns ? 1 : 0);
    for (int i = 0; i < cells_.size(); ++i) {
        grid_->addWidget(cells_[i], i / columns, i % columns);
        cells_[i]->show();
    }
}

} // namespace cuda_agent::widgets
