// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// The host side: which metrics a chip has, how they are scheduled, what the counters mean.

#include "core/profile/process/counters.h"

#include <algorithm>
#include <cmath>

namespace cuda_agent::profile::process {

namespace {

std::vector<const char *> pointersTo(const std::vector<std::string> &names) {
    std::vector<const char *> pointers;
    for (const auto &name : names)
        pointers.push_back(name.c_str());
    return pointers;
}

} // namespace

Host::Host(Host &&other) noexcept
    : cupti_(other.cupti_), chip_(std::move(other.chip_)),
      availability_(std::move(other.availability_)),
      object_(std::exchange(other.object_, nullptr)) {}

Host::~Host() {
    if (object_ == nullptr)
        return;
    CUDA_AGENT_PARAMETERS(CUpti_Profiler_Host_Deinitialize_Params, parameters);
    parameters.pHostObject = object_;
    cupti_->cuptiProfilerHostDeinitialize(&parameters);
}

Outcome<Host> Host::open(const Cupti &cupti, const std::string &chip,
                         const std::vector<std::uint8_t> &availability) {
    Host host(cupti);
    host.chip_ = chip;
    host.availability_ = availability;
    CUDA_AGENT_PARAMETERS(CUpti_Profiler_Host_Initialize_Params, parameters);
    parameters.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    parameters.pChipName = host.chip_.c_str();
    parameters.pCounterAvailabilityImage =
        host.availability_.empty() ? nullptr : host.availability_.data();
    CUDA_AGENT_TRY(
        cupti.check(cupti.cuptiProfilerHostInitialize(&parameters), "cuptiProfilerHostInitialize"));
    host.object_ = parameters.pHostObject;
    return host;
}

bool Host::knows(const std::string &metric) const {
    CUDA_AGENT_PARAMETERS(CUpti_Profiler_Host_GetMetricProperties_Params, properties);
    properties.pHostObject = object_;
    properties.pMetricName = metric.c_str();
    return cupti_->cuptiProfilerHostGetMetricProperties(&properties) == CUPTI_SUCCESS;
}

Outcome<void> Host::add(const std::vector<std::string> &metrics) {
    auto names = pointersTo(metrics);
    CUDA_AGENT_PARAMETERS(CUpti_Profiler_Host_ConfigAddMetrics_Params, parameters);
    parameters.pHostObject = object_;
    parameters.ppMetricNames = names.data();
    parameters.numMetrics = names.size();
    return cupti_->check(cupti_->cuptiProfilerHostConfigAddMetrics(&parameters),
                         "cuptiProfilerHostConfigAddMetrics");
}

Outcome<Schedule> Host::schedule(const std::vector<std::string> &metrics,
                                 const std::string &settling) {
    // All metrics of one call of ConfigAddMetrics share passes; those of two calls do not, and two
    // passes over instructions (`_sass_`) come out as the first one twice.
    Schedule schedule;
    for (const auto &metric : metrics)
        (knows(metric) ? schedule.metrics : schedule.leftOut).push_back(metric);
    // One that cannot be scheduled spoils an object for all others.
    const auto fits = [&](const std::vector<std::string> &names) {
        auto trial = open(*cupti_, chip_, availability_);
        return trial && trial->add(names);
    };
    if (!schedule.metrics.empty() && !fits(schedule.metrics)) {
        const auto refused =
            std::stable_partition(schedule.metrics.begin(), schedule.metrics.end(),
                                  [&](const std::string &metric) { return fits({metric}); });
        schedule.leftOut.insert(schedule.leftOut.end(), refused, schedule.metrics.end());
        schedule.metrics.erase(refused, schedule.metrics.end());
    }
    if (schedule.metrics.empty())
        return tl::unexpected(Refusal{"cuptiProfilerHostConfigAddMetrics",
                                      0,
                                      "",
                                      "the chip has none of the metrics that were asked for",
                                      {}});
    const bool settles = !settling.empty() && knows(settling);
    if (settles)
        CUDA_AGENT_TRY(add({settling}));
    CUDA_AGENT_TRY(add(schedule.metrics));
    if (settles)
        schedule.metrics.insert(schedule.metrics.begin(), settling);
    CUDA_AGENT_PARAMETERS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
    size.pHostObject = object_;
    CUDA_AGENT_TRY(cupti_->check(cupti_->cuptiProfilerHostGetConfigImageSize(&size),
                                 "cuptiProfilerHostGetConfigImageSize"));
    schedule.config.resize(size.configImageSize);
    CUDA_AGENT_PARAMETERS(CUpti_Profiler_Host_GetConfigImage_Params, image);
    image.pHostObject = object_;
    image.configImageSize = schedule.config.size();
    image.pConfigImage = schedule.config.data();
    CUDA_AGENT_TRY(cupti_->check(cupti_->cuptiProfilerHostGetConfigImage(&image),
                                 "cuptiProfilerHostGetConfigImage"));
    CUDA_AGENT_PARAMETERS(CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
    passes.configImageSize = schedule.config.size();
    passes.pConfigImage = schedule.config.data();
    CUDA_AGENT_TRY(cupti_->check(cupti_->cuptiProfilerHostGetNumOfPasses(&passes),
                                 "cuptiProfilerHostGetNumOfPasses"));
    schedule.passes = passes.numOfPasses;
    return schedule;
}

std::map<std::string, double> Host::values(const std::vector<std::string> &metrics,
                                           const std::vector<std::uint8_t> &image,
                                           std::size_t range) const {
    const auto evaluate = [&](const std::vector<std::string> &names, double *into) {
        auto pointers = pointersTo(names);
        CUDA_AGENT_PARAMETERS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, parameters);
        parameters.pHostObject = object_;
        parameters.pCounterDataImage = image.data();
        parameters.counterDataImageSize = image.size();
        parameters.rangeIndex = range;
        parameters.ppMetricNames = pointers.data();
        parameters.numMetrics = pointers.size();
        parameters.pMetricValues = into;
        return cupti_->cuptiProfilerHostEvaluateToGpuValues(&parameters) == CUPTI_SUCCESS;
    };
    constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> values(metrics.size(), nothing);
    if (!evaluate(metrics, values.data()))
        for (std::size_t i = 0; i < metrics.size(); ++i)
            if (!evaluate({metrics[i]}, &values[i]))
                values[i] = nothing;
    std::map<std::string, double> found;
    for (std::size_t i = 0; i < metrics.size(); ++i)
        if (std::isfinite(values[i]))
            found.emplace(metrics[i], values[i]);
    return found;
}

} // namespace cuda_agent::profile::process
