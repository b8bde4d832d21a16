// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

namespace cuda_agent::widgets {

/// Exponential moving average without the pull towards zero at the start: with weight w,
///     a_0 = 0,  a_i = w a_(i-1) + (1 - w) v_i,  s_i = a_i / (1 - w^i),
/// the bias correction of Adam (Kingma and Ba, 2015, section 3) as TensorBoard draws its curves
/// (tensorboard/components/vz_line_chart2/line-chart.ts, resmoothDataset). `i` counts the finite
/// values; a value that is not finite stands for itself and does not enter the average.
/// `weight` in [0, 1); 0 gives the values themselves. Linear time.
std::vector<double> smoothed(const std::vector<double> &values, double weight);

} // namespace cuda_agent::widgets
