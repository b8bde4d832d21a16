// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/budget/gauge.h"

#include "widgets/base/theme.h"

#include <cmath>

namespace cuda_agent::widgets {

namespace {
constexpr int barHeight = 3;
constexpr int gap = 6;         ///< between name and figure
constexpr double nearly = 0.9; ///< of a limit: worth a look
} // namespace

Gauge::Gauge(const QString &name, QWidget *parent) : QWidget(parent), name_(name) {
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
    set(QString(), -1, QString());
}

void Gauge::set(const QString &value, double fraction, const QString &details) {
    const bool wider = value.size() != value_.size();
    value_ = value;
    fraction_ = std::isfinite(fraction) ? fraction : -1;
    setToolTip(details);
    setAccessibleName(tr("%1: %2").arg(name_, value_));
    setAccessibleDescription(details);
    if (wider)
        updateGeometry();
    update();
}

QSize Gauge::sizeHint() const {
    QFont strong = font();
    strong.setBold(true);
    const int width = fontMetrics().horizontalAdvance(name_) + gap +
                      QFontMetrics(strong).horizontalAdvance(value_);
    return {width + 2, fontMetrics().height() + 2 + barHeight};
}

void Gauge::paintEvent(QPaintEvent *) {
    const Colors &colors = Theme::instance().colors();
    QPainter painter(this);
    const QRect text = rect().adjusted(0, 0, 0, -barHeight - 2);
    painter.setPen(colors.muted);
    painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter, name_);
    QFont strong = font();
    strong.setBold(true);
    painter.setFont(strong);
    painter.setPen(fraction_ >= 1        ? colors.bad
                   : fraction_ >= nearly ? colors.warning
                                         : colors.text);
    painter.drawText(text, Qt::AlignRight | Qt::AlignVCenter, value_);
    if (fraction_ < 0)
        return;
    const QRectF bar(0, height() - barHeight, width(), barHeight);
    painter.fillRect(bar, colors.border);
    QRectF used = bar;
    used.setWidth(bar.width() * std::min(fraction_, 1.0));
    painter.fillRect(used, fraction_ >= 1        ? colors.bad
                           : fraction_ >= nearly ? colors.warning
                                                 : colors.accent);
}

} // namespace cuda_agent::widgets
