// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

namespace cuda_agent::widgets {

/// What panes draw beside curves, for use in a decoration: nothing here has a place in the legend.

/// A ring around a point.
void addRing(QCustomPlot &plot, double x, double y, const QColor &color);
/// A line over the whole width at a height, with a text above its left or right end; a vertical one
/// with the text at the top.
void addLevel(QCustomPlot &plot, double y, const QColor &color, const QString &text,
              bool right = false);
void addUpright(QCustomPlot &plot, double x, const QColor &color, const QString &text);
/// A text beside a point, in plot coordinates.
void addText(QCustomPlot &plot, double x, double y, const QColor &color, const QString &text,
             Qt::Alignment alignment);

/// Ticks labelled by a function of their value ("1.2 ms").
class TextTicker : public QCPAxisTicker {
  public:
    using Text = QString (*)(double);
    explicit TextTicker(Text text) : text_(text) {}

  protected:
    QString getTickLabel(double tick, const QLocale &locale, QChar format, int precision) override;

  private:
    Text text_;
};
/// Turns: whole numbers only.
class WholeTicker : public QCPAxisTicker {
  protected:
    double getTickStep(const QCPRange &range) override;
    int getSubTickCount(double step) override;
};

} // namespace cuda_agent::widgets
