// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/timeline/symbol_icon.h"

#include "widgets/base/theme.h"

#include <QPainter>
#include <QPainterPath>
#include <QPixmap>

namespace cuda_agent::widgets {

namespace {

/// In a square of 16, pointing forward.
QPainterPath shapeOf(Symbol symbol) {
    QPainterPath path;
    const auto triangle = [&](qreal left, qreal right, qreal half) {
        path.addPolygon(QPolygonF{{left, 8 - half}, {right, 8}, {left, 8 + half}});
        path.closeSubpath();
    };
    switch (symbol) {
    case Symbol::start:
    case Symbol::end:
        triangle(2.5, 11, 5);
        path.addRect(11.5, 3, 2, 10);
        break;
    case Symbol::previousTurn:
    case Symbol::nextTurn:
        triangle(1.5, 8, 4.5);
        triangle(8, 14.5, 4.5);
        break;
    case Symbol::previous:
    case Symbol::next:
        path.addRect(3.5, 4, 1.8, 8);
        triangle(6.5, 12.5, 4);
        break;
    case Symbol::play:
        triangle(3, 14, 6.5);
        break;
    case Symbol::pause:
        path.addRect(3.5, 2.5, 3.2, 11);
        path.addRect(9.3, 2.5, 3.2, 11);
        break;
    }
    return path;
}

QPixmap drawn(Symbol symbol, const QColor &color, int factor) {
    QPixmap pixmap(16 * factor, 16 * factor);
    pixmap.setDevicePixelRatio(factor);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    if (symbol == Symbol::start || symbol == Symbol::previousTurn || symbol == Symbol::previous) {
        painter.translate(16, 0);
        painter.scale(-1, 1);
    }
    painter.fillPath(shapeOf(symbol), color);
    return pixmap;
}

} // namespace

QIcon symbolIcon(Symbol symbol) {
    const Colors &colors = Theme::instance().colors();
    QIcon icon;
    for (const int factor : {1, 2}) {
        icon.addPixmap(drawn(symbol, colors.text, factor));
        icon.addPixmap(drawn(symbol, colors.border, factor), QIcon::Disabled);
    }
    return icon;
}

} // namespace cuda_agent::widgets
