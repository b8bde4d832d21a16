// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"
#include "core/device/cuda_driver.h"

#include <cupti_activity.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include <optional>
#include <string>
#include <vector>

#define CUDA_AGENT_CUPTI_FUNCTIONS(apply)                                                          \
    apply(cuptiGetVersion);                                                                        \
    apply(cuptiGetTimestamp);                                                                      \
    apply(cuptiActivityRegisterCallbacks);                                                         \
    apply(cuptiActivityEnable);                                                                    \
    apply(cuptiActivityDisable);                                                                   \
    apply(cuptiActivityFlushAll);                                                                  \
    apply(cuptiActivityGetNextRecord);                                                             \
    apply(cuptiActivityGetNumDroppedRecords);                                                      \
    apply(cuptiProfilerInitialize);                                                                \
    apply(cuptiProfilerDeviceSupported);                                                           \
    apply(cuptiProfilerGetCounterAvailability);                                                    \
    apply(cuptiDeviceGetChipName);                                                                 \
    apply(cuptiProfilerHostInitialize);                                                            \
    apply(cuptiProfilerHostDeinitialize);                                                          \
    apply(cuptiProfilerHostGetMetricProperties);                                                   \
    apply(cuptiProfilerHostConfigAddMetrics);                                                      \
    apply(cuptiProfilerHostGetConfigImageSize);                                                    \
    apply(cuptiProfilerHostGetConfigImage);                                                        \
    apply(cuptiProfilerHostGetNumOfPasses);                                                        \
    apply(cuptiProfilerHostEvaluateToGpuValues);                                                   \
    apply(cuptiRangeProfilerEnable);                                                               \
    apply(cuptiRangeProfilerDisable);                                                              \
    apply(cuptiRangeProfilerSetConfig);                                                            \
    apply(cuptiRangeProfilerStart);                                                                \
    apply(cuptiRangeProfilerStop);                                                                 \
    apply(cuptiRangeProfilerPushRange);                                                            \
    apply(cuptiRangeProfilerPopRange);                                                             \
    apply(cuptiRangeProfilerDecodeData);                                                           \
    apply(cuptiRangeProfilerGetCounterDataSize);                                                   \
    apply(cuptiRangeProfilerCounterDataImageInitialize);                                           \
    apply(cuptiRangeProfilerGetCounterDataInfo);                                                   \
    apply(cuptiRangeProfilerCounterDataGetRangeInfo);                                              \
    apply(cuptiPCSamplingEnable);                                                                  \
    apply(cuptiPCSamplingDisable);                                                                 \
    apply(cuptiPCSamplingStart);                                                                   \
    apply(cuptiPCSamplingStop);                                                                    \
    apply(cuptiPCSamplingGetData);                                                                 \
    apply(cuptiPCSamplingGetNumStallReasons);                                                      \
    apply(cuptiPCSamplingGetStallReasons);                                                         \
    apply(cuptiPCSamplingSetConfigurationAttribute);                                               \
    apply(cuptiGetCubinCrc);                                                                       \
    apply(cuptiGetSassToSourceCorrelation)

/// A structure of CUPTI's parameters that knows its own size.
#define CUDA_AGENT_PARAMETERS(type, name)                                                          \
    type name{};                                                                                   \
    name.structSize = type##_STRUCT_SIZE

namespace cuda_agent::profile::process {

/// Why a pass did not come about. Either the library's answer, or an error of the calls themselves.
struct Refusal {
    std::string call;           ///< "cuptiRangeProfilerEnable"; "dlopen" for a missing library
    int status = 0;             ///< CUptiResult
    std::string name;           ///< "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
    std::string text;           ///< what the library says about it
    std::optional<Error> fault; ///< of a call of the candidate: not CUPTI's doing
};
/// {"call", "status", "name", "text"}
Json toJson(const Refusal &refusal);

template <typename T>
using Outcome = tl::expected<T, Refusal>;

/// The CUDA Profiling Tools Interface, loaded at run time, by the names of its headers.
struct Cupti {
    /// Opens libcupti.so.13 from the first of these folders that has it, else from where the system
    /// looks. Once a process.
    static Outcome<const Cupti *> load(const std::vector<std::string> &folders);

    std::string file; ///< the library's path
    int version = 0;  ///< of its interface, 130001 for CUDA 13.0 Update 1
#define CUDA_AGENT_DECLARE(name) decltype(&::name) name = nullptr
    CUDA_AGENT_CUPTI_FUNCTIONS(CUDA_AGENT_DECLARE);
#undef CUDA_AGENT_DECLARE
    decltype(&::cuptiGetResultString) cuptiGetResultString = nullptr;
    decltype(&::cuptiGetErrorMessage) cuptiGetErrorMessage = nullptr;

    /// Success, or what the library says about it.
    Outcome<void> check(CUptiResult status, const char *call) const;
};

/// A result of the candidate's calls as an outcome.
Outcome<void> outcomeOf(Result<void> done);

} // namespace cuda_agent::profile::process
