// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/progress/progress_data.h"

#include <QTimer>
#include <QWidget>

class QActionGroup;
class QComboBox;
class QCustomPlot;
class QLabel;

namespace cuda_agent::widgets {

class Plot;

/// Speed-up over the turns with the milestones of the reward; turns without a right candidate lie
/// below zero. A click selects a turn. The document outlives the pane. GUI thread.
class ProgressPane : public QWidget {
    Q_OBJECT
  public:
    explicit ProgressPane(SessionDocument *document, QWidget *parent = nullptr);

    Against against() const { return against_; }
    void setAgainst(Against against);
    Plot &plot() { return *plot_; }
    const ProgressData &data() const { return data_; }
    /// What the readout says of a turn.
    QString turnText(const TurnResult &result) const;

  protected:
    void showEvent(QShowEvent *event) override;

  private:
    void makeActions();
    void later();
    void refresh();
    void draw(QCustomPlot &plot) const;
    void selectBeside(int direction);
    /// The turn of a point of the plot; null for the curve of the best.
    const TurnResult *resultAt(int series, int point) const;

    SessionDocument *document_;
    Plot *plot_ = nullptr;
    QComboBox *choice_ = nullptr;
    QLabel *summary_ = nullptr;
    QTimer timer_; ///< many events are one change
    Against against_ = Against::eager;
    ProgressData data_;
    std::vector<std::vector<std::size_t>> places_; ///< series, point -> place in data_.turns
    double floor_ = -1;                            ///< where wrong turns are drawn
    bool dirty_ = true;
};

} // namespace cuda_agent::widgets
