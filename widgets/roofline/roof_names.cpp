// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/roofline/roof_names.h"

#include "widgets/base/theme.h"
#include "widgets/plot/marks.h"
#include "widgets/roofline/roof_labels.h"

#include <algorithm>
#include <cmath>

namespace cuda_agent::widgets {

namespace {

const QSizeF padding(8, 2);

QPointF pixelOf(const QCustomPlot &canvas, const QPointF &at) {
    return {canvas.xAxis->coordToPixel(at.x()), canvas.yAxis->coordToPixel(at.y())};
}

} // namespace

void drawRoofNames(QCustomPlot &canvas, const std::vector<NamedRoof> &roofs,
                   const std::vector<QRectF> &taken) {
    const QFontMetrics metrics(canvas.font());
    std::vector<RoofLine> lines;
    for (const NamedRoof &roof : roofs) {
        RoofLine line{QLineF(pixelOf(canvas, roof.from), pixelOf(canvas, roof.to)), {}};
        for (const QString &name : roof.names)
            line.names.push_back(QSizeF(metrics.size(Qt::TextSingleLine, name)) + padding);
        lines.push_back(std::move(line));
    }
    const auto places = placeLabels(lines, taken, QRectF(canvas.axisRect()->rect()));
    for (std::size_t i = 0; i < places.size(); ++i)
        if (places[i])
            addTurnedText(
                canvas, canvas.xAxis->pixelToCoord(places[i]->centre.x()),
                canvas.yAxis->pixelToCoord(places[i]->centre.y()), Theme::instance().colors().text,
                roofs[i].names[static_cast<qsizetype>(places[i]->name)], places[i]->angle);
}

void leaveRoomForNames(QCustomPlot &canvas, const QStringList &names) {
    const QFontMetrics metrics(canvas.font());
    int height = 0; // of fonts of other scripts, too
    for (const QString &name : names)
        height = std::max(height, metrics.size(Qt::TextSingleLine, name).height());
    const double part = (height + 7.0) / std::max(1, canvas.axisRect()->height());
    const QCPRange range = canvas.yAxis->range();
    canvas.yAxis->setRangeUpper(range.upper *
                                std::pow(range.upper / range.lower, std::min(0.3, part)));
}

QRectF pixelsOfMark(const QCustomPlot &canvas, double x, double y) {
    return {pixelOf(canvas, {x, y}) - QPointF(8, 8), QSizeF(16, 16)};
}

QRectF pixelsOfText(const QCustomPlot &canvas, double x, double y, const QString &text) {
    const QFontMetrics metrics(canvas.font());
    return {pixelOf(canvas, {x, y}) - QPointF(8, metrics.height() / 2.0 + 1),
            QSizeF(metrics.size(Qt::TextSingleLine, text)) + padding + QSizeF(8, 0)};
}

} // namespace cuda_agent::widgets
