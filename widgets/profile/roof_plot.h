// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plot/plot.h"
#include "widgets/profile/roof_picture.h"

#include <QTimer>

namespace cuda_agent::widgets {

/// The hierarchical roofline of one profile: ceilings as measured (solid) and as the data sheet has
/// them (dashed), and of each launch a point a memory on one performance, joined by a line. Several
/// launches have a colour each; of one alone the memories have. Exports as every plot does; its CSV
/// has a series a ceiling, a launch's line and a launch's memory. GUI thread.
class RoofPlot : public Plot {
    Q_OBJECT
  public:
    explicit RoofPlot(QWidget *parent = nullptr);

    /// Launches as in `roofPictureOf`. A profile that is null, or has no marks, leaves the plot
    /// empty.
    void setProfile(const KernelProfile *profile, const std::vector<int> &launches);
    const RoofPicture &picture() const { return picture_; }

    /// The mark that the keyboard is at, in `picture().marks`; -1: none. N and Shift+N go on.
    int currentMark() const { return current_; }
    void setCurrentMark(int mark);
    /// What is said of a mark under the mouse or the keyboard.
    QString markText(int mark) const;
    /// "● DRAM  ■ L2", for where the legend names launches.
    QString shapesText() const;
    /// Where a mark is painted, in coordinates of `canvas`.
    QPointF placeOf(int mark);

  signals:
    /// None: -1.
    void currentMarkChanged(int mark);

  private:
    struct Shown { ///< of a mark, when the picture is made
        QString text;
        int series = -1;
    };
    void makeActions();
    void stepMark(int by);
    void decorate(QCustomPlot &canvas) const;
    /// Of a point of a series; -1 for the ceilings.
    int markAt(int series, int point) const;

    RoofPicture picture_;
    std::vector<Shown> shown_;    ///< one a mark
    std::vector<QString> curves_; ///< texts of the first series, which are the ceilings
    std::vector<int> shapes_;     ///< of each series behind them; -1: a joining line
    QTimer names_;                ///< of the roofs, placed again after a zoom
    int current_ = -1;
};

} // namespace cuda_agent::widgets
