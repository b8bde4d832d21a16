// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string_view>

namespace cuda_agent::learn {

/// A metric that trainers write. Names as verl has them (verl/trainer/ppo/metric_utils.py,
/// verl/workers: actor, critic; verl/trainer/sft_trainer.py), and ours for what it has not.
/// A "*" in a name stands for any text: "timing_s/*", "val-aux/*/memorised". Of several names that
/// fit the first one counts.
struct MetricName {
    std::string_view name;
    std::string_view unit; ///< "" for a number without one
    std::string_view text; ///< one line
};

std::span<const MetricName> metricNames();
/// The entry of a metric, or of the family that it belongs to; null for names that are not known.
const MetricName *findMetricName(std::string_view name);

} // namespace cuda_agent::learn
