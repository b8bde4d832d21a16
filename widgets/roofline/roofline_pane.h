// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/roofline/roofline_data.h"

#include <QTimer>
#include <QWidget>

class QCustomPlot;
class QLabel;
class QSplitter;
class QTableView;

namespace cuda_agent::widgets {

class Plot;
class ProfileModel;

/// The roofline of the device with the candidates of all turns, and a table of what the shown one
/// reached. A click selects a turn. A task without counted operations has no arithmetic intensity:
/// then the bandwidth of the turns is drawn against that of the device. The document outlives the
/// pane. GUI thread.
class RooflinePane : public QWidget {
    Q_OBJECT
  public:
    explicit RooflinePane(SessionDocument *document, QWidget *parent = nullptr);

    Plot &plot() { return *plot_; }
    ProfileModel &model() { return *model_; }
    const RooflineData &data() const { return data_; }
    QString note() const;

  protected:
    void showEvent(QShowEvent *event) override;

  private:
    void makeActions();
    void later();
    void refresh();
    void drawRoofs();
    void drawBandwidth();
    void decorate(QCustomPlot &plot) const;
    void nameRoofs(QCustomPlot &canvas) const;
    QString turnText(int turn) const;
    void retheme();
    QString pointText(int series, int point) const;

    SessionDocument *document_;
    ProfileModel *model_;
    Plot *plot_ = nullptr;
    QLabel *note_ = nullptr;
    QSplitter *splitter_ = nullptr;
    QTableView *table_ = nullptr;
    QTimer timer_;  ///< many events are one change
    QTimer labels_; ///< of the roofs, placed again after a zoom
    RooflineData data_;
    int roofs_ = 0;       ///< of the plot: the first series are roofs
    int turnSeries_ = -1; ///< of the plot: points of the turns
    int firstBaseline_ = -1;
    bool dirty_ = true;
};

} // namespace cuda_agent::widgets
