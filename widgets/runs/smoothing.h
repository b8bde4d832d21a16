// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/run/metrics_store.h"

#include <vector>

namespace cuda_agent::widgets {

/// Exponential moving average without the pull towards zero at the start: with weight w,
///     a_0 = 0,  a_i = w a_(i-1) + (1 - w) v_i,  s_i = a_i / (1 - w^i),
/// the bias correction of Adam (Kingma and Ba, 2015, section 3) as TensorBoard draws its curves
/// (tensorboard/components/vz_line_chart2/line-chart.ts, resmoothDataset). `i` counts the finite
/// values; a value that is not finite stands for itself and does not enter the average.
/// `weight` in [0, 1); 0 gives the values themselves. At each of `breaks`, positions in rising
/// order, the average begins anew. Linear time.
std::vector<double> smoothed(const std::vector<double> &values, double weight,
                             const std::vector<std::size_t> &breaks = {});

/// Where a metric's line is broken: positions before which a whole stage of the run has no value of
/// it. `stages` in the order of their steps.
std::vector<std::size_t> breaksOf(const learn::MetricSeries &series,
                                  const std::vector<learn::StageSpan> &stages);

} // namespace cuda_agent::widgets
