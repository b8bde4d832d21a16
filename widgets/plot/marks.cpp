// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plot/marks.h"

#include <cmath>

namespace cuda_agent::widgets {

namespace {

QCPItemStraightLine *newLine(QCustomPlot &plot, const QColor &color) {
    auto *line = new QCPItemStraightLine(&plot);
    line->setPen(QPen(color, 1, Qt::DashLine));
    line->setSelectable(false);
    return line;
}

QCPItemText *newText(QCustomPlot &plot, const QColor &color, const QString &text) {
    auto *item = new QCPItemText(&plot);
    item->setText(text);
    item->setColor(color);
    item->setFont(plot.font());
    item->setPadding(QMargins(3, 1, 3, 1));
    item->setSelectable(false);
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

void addLevel(QCustomPlot &plot, double y, const QColor &color, const QString &text, bool right) {
    QCPItemStraightLine *line = newLine(plot, color);
    line->point1->setCoords(1, y);
    line->point2->setCoords(2, y);
    if (text.isEmpty())
        return;
    QCPItemText *label = newText(plot, color, text);
    label->position->setTypeX(QCPItemPosition::ptAxisRectRatio);
    label->position->setTypeY(QCPItemPosition::ptPlotCoords);
    label->position->setCoords(right ? 1 : 0, y);
    label->setPositionAlignment((right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignBottom);
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

QString TextTicker::getTickLabel(double tick, const QLocale &, QChar, int) {
    return text_(tick);
}

double WholeTicker::getTickStep(const QCPRange &range) {
    return std::max(1.0, std::round(QCPAxisTicker::getTickStep(range)));
}

int WholeTicker::getSubTickCount(double) {
    return 0;
}

} // namespace cuda_agent::widgets
