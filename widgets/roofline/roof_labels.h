// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLineF>
#include <QRectF>
#include <QSizeF>

#include <optional>
#include <vector>

namespace cuda_agent::widgets {

/// A roof of the picture, in pixels, from left to right, and the sizes of its names: shorter ones
/// for where there is little room come later.
struct RoofLine {
    QLineF line;
    std::vector<QSizeF> names;
};

/// Where a name stands: along its line, close above or below it.
struct LabelPlace {
    QPointF centre;
    double angle = 0;     ///< degrees, clockwise, as the line runs
    std::size_t name = 0; ///< which of the names
};

/// A place for each line's name inside the frame such that no name covers another or one of the
/// `taken` rectangles, and few cover other lines; nothing where there is no room. Level lines are
/// named at their right end first, rising ones along their lower half.
std::vector<std::optional<LabelPlace>> placeLabels(const std::vector<RoofLine> &lines,
                                                   const std::vector<QRectF> &taken,
                                                   const QRectF &frame);

} // namespace cuda_agent::widgets
