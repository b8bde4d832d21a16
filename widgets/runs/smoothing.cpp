// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/smoothing.h"

#include <cmath>

namespace cuda_agent::widgets {

std::vector<double> smoothed(const std::vector<double> &values, double weight,
                             const std::vector<std::size_t> &breaks) {
    if (!(weight > 0))
        return values;
    std::vector<double> result;
    result.reserve(values.size());
    double average = 0, power = 1;
    auto next = breaks.begin();
    for (const double value : values) {
        if (next != breaks.end() && *next == result.size()) {
            average = 0;
            power = 1;
            ++next;
        }
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

std::vector<std::size_t> breaksOf(const learn::MetricSeries &series,
                                  const std::vector<learn::StageSpan> &stages) {
    std::vector<std::size_t> breaks;
    auto stage = stages.begin();
    for (std::size_t i = 1; i < series.size(); ++i) {
        while (stage != stages.end() && stage->first.step <= series.step[i - 1])
            ++stage;
        if (stage == stages.end())
            break;
        if (stage->last.step < series.step[i])
            breaks.push_back(i);
    }
    return breaks;
}

} // namespace cuda_agent::widgets
