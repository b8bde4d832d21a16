// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plot/marks.h"

#include "widgets/base/theme.h"

#include <algorithm>
#include <cmath>

namespace cuda_agent::widgets {

namespace {

QCPItemStraightLine *newLine(QCustomPlot &plot, const QColor &color) {
    auto *line = new QCPItemStraightLine(&plot);
    line->setPen(QPen(color, 1, Qt::DashLine));
    line->setSelectable(false);
    line->setLayer(QStringLiteral("grid"));
    return line;
}

QCPItemText *newText(QCustomPlot &plot, const QColor &color, const QString &text) {
    auto *item = new QCPItemText(&plot);
    item->setText(text);
    item->setColor(color);
    item->setFont(plot.font());
    item->setPadding(QMargins(3, 1, 3, 1));
    QColor behind = Theme::instance().colors().base;
    behind.setAlpha(170);
    item->setBrush(behind);
    item->setSelectable(false);
    item->setLayer(QStringLiteral("grid")); // curves and points are drawn over words
    return item;
}

} // namespace

void addRing(QCustomPlot &plot, double x, double y, const QColor &color) {
    QCPGraph *graph = plot.addGraph();
    graph->setLineStyle(QCPGraph::lsNone);
    graph->setScatterStyle(
        QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(color, 2), QBrush(Qt::NoBrush), 14));
    graph->setData({x}, {y});
    graph->removeFromLegend();
}

void addLevel(QCustomPlot &plot, double y, const QColor &color, const QString &text,
              Qt::Alignment end) {
    QCPItemStraightLine *line = newLine(plot, color);
    line->point1->setCoords(1, y);
    line->point2->setCoords(2, y);
    if (text.isEmpty())
        return;
    QCPItemText *label = newText(plot, color, text);
    label->position->setTypeX(QCPItemPosition::ptAxisRectRatio);
    label->position->setTypeY(QCPItemPosition::ptPlotCoords);
    const bool right = end.testFlag(Qt::AlignRight);
    label->position->setCoords(right ? 1 : 0, y);
    label->setPositionAlignment((right ? Qt::AlignRight : Qt::AlignLeft) |
                                (end.testFlag(Qt::AlignBottom) ? Qt::AlignTop : Qt::AlignBottom));
}

void addUpright(QCustomPlot &plot, double x, const QColor &color, const QString &text) {
    QCPItemStraightLine *line = newLine(plot, color);
    line->point1->setCoords(x, 1);
    line->point2->setCoords(x, 2);
    if (text.isEmpty())
        return;
    QCPItemText *label = newText(plot, color, text);
    label->position->setTypeX(QCPItemPosition::ptPlotCoords);
    label->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    label->position->setCoords(x, 0);
    label->setPositionAlignment(Qt::AlignLeft | Qt::AlignTop);
}

void addText(QCustomPlot &plot, double x, double y, const QColor &color, const QString &text,
             Qt::Alignment alignment) {
    QCPItemText *label = newText(plot, color, text);
    label->position->setCoords(x, y);
    label->setPositionAlignment(alignment);
}

void addTurnedText(QCustomPlot &plot, double x, double y, const QColor &color, const QString &text,
                   double angle) {
    QCPItemText *label = newText(plot, color, text);
    label->position->setCoords(x, y);
    label->setPositionAlignment(Qt::AlignCenter);
    label->setRotation(angle);
    label->setLayer(QStringLiteral("main")); // over curves that run close to each other
}

QString TextTicker::getTickLabel(double tick, const QLocale &, QChar, int) {
    return text_(tick);
}

QVector<double> LogTicker::createTickVector(double, const QCPRange &range) {
    QVector<double> ticks;
    if (!(range.lower > 0) || !(range.upper > range.lower))
        return ticks;
    const double low = std::log10(range.lower);
    const double high = std::log10(range.upper);
    const double decades = high - low;
    if (!(decades < 600))
        return ticks;
    if (decades < 0.4) // too little for a scale of its own: even steps
        return QCPAxisTicker::createTickVector(QCPAxisTicker::getTickStep(range), range);
    const int stride = std::max(1, static_cast<int>(std::ceil(decades / tickCount())));
    const bool fine = decades * 3 <= tickCount() + 2;
    for (int power = static_cast<int>(std::floor(low)); power <= high; ++power) {
        if (power % stride != 0)
            continue;
        for (const double part : {1.0, 2.0, 5.0}) {
            const double tick = part * std::pow(10.0, power);
            if ((part == 1 || fine) && tick >= range.lower && tick <= range.upper)
                ticks.append(tick);
        }
    }
    if (ticks.size() < 2) // say where the scale is, however small the picture
        for (const double tick :
             {2 * std::pow(10.0, std::floor(low)), 5 * std::pow(10.0, std::floor(low))})
            if (tick >= range.lower && tick <= range.upper && !ticks.contains(tick))
                ticks.append(tick);
    std::sort(ticks.begin(), ticks.end());
    return ticks;
}

QVector<double> LogTicker::createSubTickVector(int, const QVector<double> &) {
    return {};
}

QString LogTicker::getTickLabel(double tick, const QLocale &locale, QChar format, int precision) {
    return text_ ? text_(tick) : QCPAxisTicker::getTickLabel(tick, locale, format, precision);
}

double WholeTicker::getTickStep(const QCPRange &range) {
    return std::max(1.0, std::round(QCPAxisTicker::getTickStep(range)));
}

int WholeTicker::getSubTickCount(double) {
    return 0;
}

} // namespace cuda_agent::widgets
