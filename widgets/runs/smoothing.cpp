// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/smoothing.h"

#include <cmath>

namespace cuda_agent::widgets {

std::vector<double> smoothed(const std::vector<double> &values, double weight) {
    if (!(weight > 0))
        return values;
    std::vector<double> result;
    result.reserve(values.size());
    double average = 0, power = 1;
    for (const double value : values) {
        if (!std::isfinite(value)) {
            result.push_back(value);
            continue;
        }
        average = weight * average + (1 - weight) * value;
        power *= weight;
        result.push_back(average / (1 - power));
    }
    return result;
}

} // namespace cuda_agent::widgets
