// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRectF>
#include <QStringList>

#include <vector>

class QCustomPlot;

namespace cuda_agent::widgets {

/// A roof in plot coordinates, from left to right, and its names: shorter ones for where there is
/// little room come later.
struct NamedRoof {
    QPointF from, to;
    QStringList names;
};

/// Writes each roof's name along its line (`placeLabels`), clear of the `taken` rectangles, which
/// are pixels. As a decoration: after each change of range.
void drawRoofNames(QCustomPlot &canvas, const std::vector<NamedRoof> &roofs,
                   const std::vector<QRectF> &taken);

/// Widens the range of y at its top so that these names have room above the highest roof.
void leaveRoomForNames(QCustomPlot &canvas, const QStringList &names);

/// The pixels of a mark at a point, and of a text that stands to the right of it.
QRectF pixelsOfMark(const QCustomPlot &canvas, double x, double y);
QRectF pixelsOfText(const QCustomPlot &canvas, double x, double y, const QString &text);

} // namespace cuda_agent::widgets
