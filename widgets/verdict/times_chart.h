// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plot/plot.h"

#include "core/base/json.h"

namespace cuda_agent::widgets {

/// The times of a verdict as bars with their 95 % intervals, the candidate first, then the
/// baselines from fast to slow; speed-ups at the bars and the device's limit as a line. Its series
/// (for the readout and CSV) are low, median and high of each bar in seconds over the number of the
/// bar.
class TimesChart : public Plot {
    Q_OBJECT
  public:
    explicit TimesChart(QWidget *parent = nullptr);

    /// Clears for what is not a verdict with times.
    void setVerdict(const Json &verdict);
    int barCount() const { return static_cast<int>(bars_.size()); }
    /// What is written at a bar.
    QString barText(int bar) const { return bars_[static_cast<std::size_t>(bar)].text; }

  private:
    struct Bar {
        QString name; ///< as the user reads it
        QString key;  ///< in the log
        double seconds = 0, low = 0, high = 0;
        QString text;
        QString brief = {}; ///< where there is little room
    };
    void draw(QCustomPlot &plot) const;

    std::vector<Bar> bars_;
    double limit_ = 0;
    double fraction_ = 0;
};

} // namespace cuda_agent::widgets
