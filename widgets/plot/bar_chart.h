// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plot/plot.h"

namespace cuda_agent::widgets {

/// Counts as bars that can be chosen by mouse and keyboard (arrows, Enter). Exports as every plot
/// does; its CSV has a series a bar. GUI thread.
class BarChart : public Plot {
    Q_OBJECT
  public:
    enum class Kind {
        names,    ///< a row a bar, from above: name, bar, count
        intervals ///< upright bars over a logarithmic axis
    };
    struct Bar {
        QString name;
        double count = 0;
        double from = 0, to = 0; ///< of an interval, above 0
        bool chosen = false;
        bool operator==(const Bar &) const = default;
    };

    BarChart(const QString &accessibleName, Kind kind, QWidget *parent = nullptr);

    /// Of an axis of intervals: its title, and a value as text.
    void setAxis(const QString &title, QString (*text)(double));
    void setBars(const QVector<Bar> &bars);
    const QVector<Bar> &bars() const { return bars_; }
    /// The bar that the keyboard is at; -1 for none.
    int currentBar() const { return current_; }
    /// Where a bar is clicked, in coordinates of `canvas`.
    QPointF placeOf(int bar) const;

  signals:
    void barActivated(int bar);

  protected:
    void keyPressEvent(QKeyEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void focusOutEvent(QFocusEvent *event) override;

  private:
    void draw(QCustomPlot &plot) const;
    void drawNames(QCustomPlot &plot) const;
    void drawIntervals(QCustomPlot &plot) const;
    void clicked(const QPointF &at);
    void redraw();

    Kind kind_;
    QVector<Bar> bars_;
    QString (*text_)(double) = nullptr;
    int current_ = -1;
    QPointF pressed_;
};

} // namespace cuda_agent::widgets
