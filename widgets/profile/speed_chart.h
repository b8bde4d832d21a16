// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plot/plot.h"
#include "widgets/profile/kernel_profile.h"

#include <algorithm>

namespace cuda_agent::widgets {

/// Speed of light: how many per cent of each ceiling a launch reaches, as bars with the data
/// sheet's share as a mark on them. Its series (for the readout and CSV) have per cent of the
/// measured ceiling and of the data sheet over the number of the bar. GUI thread.
class SpeedChart : public Plot {
    Q_OBJECT
  public:
    explicit SpeedChart(QWidget *parent = nullptr);

    /// Only ceilings that are known, of what was used, have a bar.
    void setLaunch(const ProfiledLaunch &launch);
    int barCount() const { return static_cast<int>(bars_.size()); }
    /// What is written at a bar.
    QString barText(int bar) const;

  private:
    struct Bar {
        QString name, text, readout;
        bool memory = false;
        double measured = 0;  ///< per cent; 0: unknown
        double datasheet = 0; ///< likewise
        double greatest() const { return std::max(measured, datasheet); }
    };
    void draw(QCustomPlot &plot) const;

    std::vector<Bar> bars_;
};

} // namespace cuda_agent::widgets
