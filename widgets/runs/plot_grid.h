// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plot/plot.h"
#include "widgets/runs/run_follower.h"

#include <QFrame>
#include <QPointer>
#include <QScrollArea>

#include <utility>
#include <vector>

class QCPItemText;
class QGridLayout;
class QHelpEvent;

namespace cuda_agent::widgets {

/// How a run is drawn, everywhere alike.
struct RunLook {
    QString name;
    int color = 0;
};

/// A stage of the run that is looked at, on the x axis as it is now.
struct StageBand {
    QString stage;
    double from = 0, to = 0;
    bool operator==(const StageBand &) const = default;
};

/// One metric's plot with its name above. GUI thread.
class PlotCell : public QFrame {
    Q_OBJECT
  public:
    explicit PlotCell(const QString &metric, QWidget *parent = nullptr);

    const QString &metric() const { return metric_; }
    Plot &plot() { return *plot_; }
    QString note() const;
    /// Bands behind the curves; empty for none. Drawn with the next curves.
    void setBands(QVector<StageBand> bands) { bands_ = std::move(bands); }
    const QVector<StageBand> &bands() const { return bands_; }
    void setCurves(Curves &&curves, const QHash<QString, RunLook> &looks);
    void setAxes(const QString &xTitle, bool logX, bool logY);
    /// The runs' values at (nearest to) x, raw and smoothed, in words and with the runs' colours.
    QString readout(double x) const;

  signals:
    void hovered(const QString &readout);

  protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

  private:
    struct Shown {
        RunLook look;
        int raw = -1, smooth = -1; ///< series numbers; -1 when not there
        std::vector<Curve::Odd> odd;
    };
    void applyTheme();
    void drawBands(QCustomPlot &canvas);
    void fitNames();
    bool tellStage(const QHelpEvent &help) const;

    QString metric_;
    QString unit_;
    QVector<StageBand> bands_;
    std::vector<std::pair<QPointer<QCPItemText>, StageBand>> names_; ///< that are drawn
    bool decorated_ = false;                                         ///< the plot draws bands
    QString xTitle_;
    std::pair<bool, bool> log_{false, false}; ///< x, y
    QLabel *title_ = nullptr;
    QLabel *note_ = nullptr;
    Plot *plot_ = nullptr;
    std::vector<Shown> shown_;
};

/// The plots of the chosen metrics in one to three columns, scrollable. GUI thread.
class PlotGrid : public QScrollArea {
    Q_OBJECT
  public:
    explicit PlotGrid(QWidget *parent = nullptr);

    /// Keeps the cells that stay, in this order.
    void setMetrics(const QStringList &metrics);
    void setColumns(int columns);
    int columns() const { return columns_; }
    PlotCell *cell(const QString &metric) const;
    const QVector<PlotCell *> &cells() const { return cells_; }

  signals:
    void cellMade(cuda_agent::widgets::PlotCell *cell);

  private:
    void arrange();

    QWidget *content_ = nullptr;
    QGridLayout *grid_ = nullptr;
    QVector<PlotCell *> cells_;
    int columns_ = 2;
};

} // namespace cuda_agent::widgets
