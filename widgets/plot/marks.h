// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

namespace cuda_agent::widgets {

/// What panes draw beside curves, for use in a decoration: nothing here has a place in the legend.

/// A ring around a point.
void addRing(QCustomPlot &plot, double x, double y, const QColor &color);
/// A line over the whole width at a height, with a text at its left or right end, above (top) or
/// below it; a vertical one with the text at the top.
void addLevel(QCustomPlot &plot, double y, const QColor &color, const QString &text,
              Qt::Alignment end = Qt::AlignLeft | Qt::AlignTop);
void addUpright(QCustomPlot &plot, double x, const QColor &color, const QString &text);
/// A text beside a point, in plot coordinates.
void addText(QCustomPlot &plot, double x, double y, const QColor &color, const QString &text,
             Qt::Alignment alignment);

/// The same, centred there and turned clockwise by `angle` degrees.
void addTurnedText(QCustomPlot &plot, double x, double y, const QColor &color, const QString &text,
                   double angle);

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
/// Powers of ten, with their twofold and fivefold where there is room; on logarithmic axes. With a
/// function of the value as text, else as the axis writes numbers.
class LogTicker : public QCPAxisTicker {
  public:
    explicit LogTicker(TextTicker::Text text = nullptr) : text_(text) {}

  protected:
    QVector<double> createTickVector(double step, const QCPRange &range) override;
    QVector<double> createSubTickVector(int count, const QVector<double> &ticks) override;
    QString getTickLabel(double tick, const QLocale &locale, QChar format, int precision) override;

  private:
    TextTicker::Text text_;
};
/// Turns: whole numbers only.
class WholeTicker : public QCPAxisTicker {
  protected:
    double getTickStep(const QCPRange &range) override;
    int getSubTickCount(double step) override;
};

} // namespace cuda_agent::widgets
