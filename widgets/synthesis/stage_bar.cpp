// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/synthesis/stage_bar.h"

#include "widgets/base/theme.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>

namespace cuda_agent::widgets {

StageBar::StageBar(QWidget *parent) : QWidget(parent) {
    setAccessibleName(tr("Progress of the synthesis"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

QSize StageBar::sizeHint() const {
    return {300, fontMetrics().height()};
}

QSize StageBar::minimumSizeHint() const {
    return {60, sizeHint().height()};
}

QColor StageBar::color(int stage) {
    const Colors &colors = Theme::instance().colors();
    if (stage == 0)
        return colors.border;
    if (stage + 1 == stages)
        return colors.good;
    // Deeper with each step between.
    const double part = 0.45 + 0.275 * (stage - 1);
    const QColor &full = colors.series[0];
    const auto mix = [part](int of, int over) {
        return static_cast<int>(part * of + (1 - part) * over);
    };
    return {mix(full.red(), colors.base.red()), mix(full.green(), colors.base.green()),
            mix(full.blue(), colors.base.blue())};
}

void StageBar::display(const SynthesisProgress &progress) {
    progress_ = progress;
    setAccessibleDescription(
        tr("%1 of %2 accepted").arg(progress.accepted, 0, 'f', 0).arg(progress.wanted, 0, 'f', 0));
    update();
}

void StageBar::paintEvent(QPaintEvent *) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Colors &colors = Theme::instance().colors();
    const QRectF whole = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    QPainterPath frame;
    frame.addRoundedRect(whole, 4, 4);
    painter.fillPath(frame, colors.panel);
    const double counts[stages] = {progress_.proposed, progress_.checked, progress_.timed,
                                   progress_.compiled, progress_.accepted};
    const double greatest =
        std::max({1.0, progress_.wanted, *std::max_element(counts, counts + stages)});
    painter.setClipPath(frame);
    for (int stage = 0; stage < stages; ++stage) {
        QRectF part = whole;
        part.setWidth(whole.width() * counts[stage] / greatest);
        // Each later stage is a little lower, so that bars of one length can all be seen.
        part.setTop(whole.top() + stage * whole.height() * 0.12);
        painter.fillRect(part, color(stage));
    }
    painter.setClipping(false);
    painter.setPen(QPen(colors.border, 1));
    painter.drawPath(frame);
    if (progress_.wanted > 0 && progress_.wanted < greatest) {
        const double x = whole.left() + whole.width() * progress_.wanted / greatest;
        painter.setPen(QPen(colors.text, 2));
        painter.drawLine(QPointF(x, whole.top()), QPointF(x, whole.bottom()));
    }
}

} // namespace cuda_agent::widgets
