// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/process/counters.h"

#include <array>

namespace cuda_agent::profile::process {

namespace {

constexpr std::size_t mostPasses = 500;

struct Mode {
    const char *name;
    CUpti_ProfilerRange range;
    CUpti_ProfilerReplayMode replay;
};
constexpr std::array modes = {Mode{"kernels, call repeated", CUPTI_AutoRange, CUPTI_UserReplay},
                              Mode{"kernels, kernel repeated", CUPTI_AutoRange, CUPTI_KernelReplay},
                              Mode{"steps, call repeated", CUPTI_UserRange, CUPTI_UserReplay}};

/// What stands in the way on this device, before anything is tried.
Outcome<void> checkDevice(const Cupti &cupti, CUdevice device) {
    CUDA_AGENT_PARAMETERS(CUpti_Profiler_DeviceSupported_Params, parameters);
    parameters.cuDevice = device;
    parameters.api = CUPTI_PROFILER_RANGE_PROFILING;
    CUDA_AGENT_TRY(cupti.check(cupti.cuptiProfilerDeviceSupported(&parameters),
                               "cuptiProfilerDeviceSupported"));
    if (parameters.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED)
        return {};
    const std::pair<CUpti_Profiler_Support_Level, const char *> reasons[] = {
        {parameters.architecture, "its generation is too old"},
        {parameters.sli, "SLI is on"},
        {parameters.vGpu, "it is a virtual GPU whose host keeps the counters"},
        {parameters.confidentialCompute, "confidential computing is on"},
        {parameters.cmp, "it is a mining card"},
        {parameters.wsl, "Windows keeps the counters from this Linux"}};
    for (const auto &[level, why] : reasons)
        if (level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED ||
            level == CUPTI_PROFILER_CONFIGURATION_DISABLED)
            return tl::unexpected(Refusal{"cuptiProfilerDeviceSupported", 0, "", why, {}});
    return {}; // not known: the calls below will tell
}

Outcome<std::string> chipOf(const Cupti &cupti, CUdevice device) {
    CUDA_AGENT_PARAMETERS(CUpti_Device_GetChipName_Params, parameters);
    parameters.deviceIndex = static_cast<std::size_t>(device);
    CUDA_AGENT_TRY(
        cupti.check(cupti.cuptiDeviceGetChipName(&parameters), "cuptiDeviceGetChipName"));
    return std::string(parameters.pChipName != nullptr ? parameters.pChipName : "");
}

Outcome<std::vector<std::uint8_t>> availabilityOf(const Cupti &cupti, CUcontext context) {
    CUDA_AGENT_PARAMETERS(CUpti_Profiler_GetCounterAvailability_Params, parameters);
    parameters.ctx = context;
    CUDA_AGENT_TRY(cupti.check(cupti.cuptiProfilerGetCounterAvailability(&parameters),
                               "cuptiProfilerGetCounterAvailability"));
    std::vector<std::uint8_t> image(parameters.counterAvailabilityImageSize);
    parameters.pCounterAvailabilityImage = image.data();
    CUDA_AGENT_TRY(cupti.check(cupti.cuptiProfilerGetCounterAvailability(&parameters),
                               "cuptiProfilerGetCounterAvailability"));
    return image;
}

/// A range for each step.
class StepRanges final : public plan::runner::StepWatcher {
  public:
    StepRanges(const Cupti &cupti, CUpti_RangeProfiler_Object *object)
        : cupti_(cupti), object_(object) {}
    void begin(std::size_t step) override {
        const std::string name = std::to_string(step);
        CUDA_AGENT_PARAMETERS(CUpti_RangeProfiler_PushRange_Params, parameters);
        parameters.pRangeProfilerObject = object_;
        parameters.pRangeName = name.c_str();
        note(cupti_.check(cupti_.cuptiRangeProfilerPushRange(&parameters),
                          "cuptiRangeProfilerPushRange"));
    }
    void end(std::size_t /*step*/) override {
        CUDA_AGENT_PARAMETERS(CUpti_RangeProfiler_PopRange_Params, parameters);
        parameters.pRangeProfilerObject = object_;
        note(cupti_.check(cupti_.cuptiRangeProfilerPopRange(&parameters),
                          "cuptiRangeProfilerPopRange"));
    }
    Outcome<void> problem() const { return problem_; }

  private:
    void note(Outcome<void> done) {
        if (problem_)
            problem_ = std::move(done);
    }
    const Cupti &cupti_;
    CUpti_RangeProfiler_Object *object_;
    Outcome<void> problem_;
};

/// One enabling of the range profiler, ended with the scope.
class Session {
  public:
    explicit Session(const Cupti &cupti) : cupti_(cupti) {}
    ~Session() {
        if (object_ == nullptr)
            return;
        CUDA_AGENT_PARAMETERS(CUpti_RangeProfiler_Disable_Params, parameters);
        parameters.pRangeProfilerObject = object_;
        cupti_.cuptiRangeProfilerDisable(&parameters);
    }
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    Outcome<void> enable(CUcontext context) {
        CUDA_AGENT_PARAMETERS(CUpti_RangeProfiler_Enable_Params, parameters);
        parameters.ctx = context;
        CUDA_AGENT_TRY(
            cupti_.check(cupti_.cuptiRangeProfilerEnable(&parameters), "cuptiRangeProfilerEnable"));
        object_ = parameters.pRangeProfilerObject;
        return {};
    }

    Outcome<void> configure(const Mode &mode, const Schedule &schedule, std::size_t mostRanges) {
        std::vector<const char *> names;
        for (const auto &metric : schedule.metrics)
            names.push_back(metric.c_str());
        CUDA_AGENT_PARAMETERS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
        size.pRangeProfilerObject = object_;
        size.pMetricNames = names.data();
        size.numMetrics = names.size();
        size.maxNumOfRanges = mostRanges;
        size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(mostRanges);
        CUDA_AGENT_TRY(cupti_.check(cupti_.cuptiRangeProfilerGetCounterDataSize(&size),
                                    "cuptiRangeProfilerGetCounterDataSize"));
        image_.assign(size.counterDataSize, 0);
        CUDA_AGENT_PARAMETERS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, initialize);
        initialize.pRangeProfilerObject = object_;
        initialize.pCounterData = image_.data();
        initialize.counterDataSize = image_.size();
        CUDA_AGENT_TRY(
            cupti_.check(cupti_.cuptiRangeProfilerCounterDataImageInitialize(&initialize),
                         "cuptiRangeProfilerCounterDataImageInitialize"));
        config_ = schedule.config;
        CUDA_AGENT_PARAMETERS(CUpti_RangeProfiler_SetConfig_Params, set);
        set.pRangeProfilerObject = object_;
        set.configSize = config_.size();
        set.pConfig = config_.data();
        set.counterDataImageSize = image_.size();
        set.pCounterDataImage = image_.data();
        set.range = mode.range;
        set.replayMode = mode.replay;
        set.maxRangesPerPass = mostRanges;
        set.numNestingLevels = 1;
        set.minNestingLevel = 1;
        set.passIndex = 0;
        set.targetNestingLevel = 1;
        return cupti_.check(cupti_.cuptiRangeProfilerSetConfig(&set),
                            "cuptiRangeProfilerSetConfig");
    }

    Outcome<void> start() {
        CUDA_AGENT_PARAMETERS(CUpti_RangeProfiler_Start_Params, parameters);
        parameters.pRangeProfilerObject = object_;
        return cupti_.check(cupti_.cuptiRangeProfilerStart(&parameters), "cuptiRangeProfilerStart");
    }
    /// True when no further pass is needed.
    Outcome<bool> stop() {
        CUDA_AGENT_PARAMETERS(CUpti_RangeProfiler_Stop_Params, parameters);
        parameters.pRangeProfilerObject = object_;
        CUDA_AGENT_TRY(
            cupti_.check(cupti_.cuptiRangeProfilerStop(&parameters), "cuptiRangeProfilerStop"));
        return parameters.isAllPassSubmitted != 0;
    }
    /// Ranges that had no place.
    Outcome<std::size_t> decode() {
        CUDA_AGENT_PARAMETERS(CUpti_RangeProfiler_DecodeData_Params, parameters);
        parameters.pRangeProfilerObject = object_;
        CUDA_AGENT_TRY(cupti_.check(cupti_.cuptiRangeProfilerDecodeData(&parameters),
                                    "cuptiRangeProfilerDecodeData"));
        return parameters.numOfRangeDropped;
    }
    Outcome<std::vector<std::string>> ranges() const {
        CUDA_AGENT_PARAMETERS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
        info.pCounterDataImage = image_.data();
        info.counterDataImageSize = image_.size();
        CUDA_AGENT_TRY(cupti_.check(cupti_.cuptiRangeProfilerGetCounterDataInfo(&info),
                                    "cuptiRangeProfilerGetCounterDataInfo"));
        std::vector<std::string> names;
        for (std::size_t i = 0; i < info.numTotalRanges; ++i) {
            CUDA_AGENT_PARAMETERS(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, range);
            range.pCounterDataImage = image_.data();
            range.counterDataImageSize = image_.size();
            range.rangeIndex = i;
            range.rangeDelimiter = "/";
            CUDA_AGENT_TRY(cupti_.check(cupti_.cuptiRangeProfilerCounterDataGetRangeInfo(&range),
                                        "cuptiRangeProfilerCounterDataGetRangeInfo"));
            names.emplace_back(range.rangeName != nullptr ? range.rangeName : "");
        }
        return names;
    }
    CUpti_RangeProfiler_Object *object() const { return object_; }
    const std::vector<std::uint8_t> &image() const { return image_; }

  private:
    const Cupti &cupti_;
    CUpti_RangeProfiler_Object *object_ = nullptr;
    std::vector<std::uint8_t> image_, config_; ///< CUPTI keeps their addresses
};

Outcome<Json> countIn(const Mode &mode, const Cupti &cupti, CUcontext context, const Host &host,
                      const Schedule &schedule, plan::runner::Backend &backend, CacheFlush &flush,
                      const CountRequest &request) {
    Session session(cupti);
    CUDA_AGENT_TRY(session.enable(context));
    CUDA_AGENT_TRY(session.configure(mode, schedule, request.mostLaunches));
    std::size_t passes = 0;
    for (bool done = false; !done; ++passes) {
        if (passes == mostPasses)
            return tl::unexpected(Refusal{"cuptiRangeProfilerStop",
                                          0,
                                          "",
                                          fmt::format("not done after {} passes", passes),
                                          {}});
        if (request.flush)
            CUDA_AGENT_TRY(outcomeOf(flush.flush()));
        CUDA_AGENT_TRY(session.start());
        StepRanges ranges(cupti, session.object());
        if (mode.range == CUPTI_UserRange)
            backend.watchSteps(&ranges);
        auto called = outcomeOf(backend.call(request.set));
        backend.watchSteps(nullptr);
        CUDA_AGENT_TRY(std::move(called));
        CUDA_AGENT_TRY(ranges.problem());
        CUDA_AGENT_ASSIGN(last, session.stop());
        done = last;
    }
    CUDA_AGENT_ASSIGN(dropped, session.decode());
    CUDA_AGENT_ASSIGN(names, session.ranges());
    if (names.empty())
        return tl::unexpected(
            Refusal{"cuptiRangeProfilerDecodeData", 0, "", "it saw no range", {}});
    Json answer{
        {"ranges", Json::array()}, {"mode", mode.name}, {"passes", passes}, {"dropped", dropped}};
    for (std::size_t i = 0; i < names.size(); ++i)
        answer["ranges"].push_back(
            {{"name", names[i]}, {"counters", host.values(schedule.metrics, session.image(), i)}});
    return answer;
}

} // namespace

Outcome<Json> countCalls(const Cupti &cupti, plan::runner::Backend &backend, CacheFlush &flush,
                         const CountRequest &request) {
    const auto driver = device::cuda::Driver::load();
    if (!driver)
        return tl::unexpected(Refusal{"cuInit", 0, "", driver.error().message, {}});
    CUcontext context = nullptr;
    CUdevice device = 0;
    (*driver)->cuCtxGetCurrent(&context);
    (*driver)->cuDeviceGet(&device, 0);

    CUDA_AGENT_PARAMETERS(CUpti_Profiler_Initialize_Params, initialize);
    CUDA_AGENT_TRY(
        cupti.check(cupti.cuptiProfilerInitialize(&initialize), "cuptiProfilerInitialize"));
    CUDA_AGENT_TRY(checkDevice(cupti, device));
    CUDA_AGENT_ASSIGN(chip, chipOf(cupti, device));
    CUDA_AGENT_ASSIGN(availability, availabilityOf(cupti, context));
    CUDA_AGENT_ASSIGN(host, Host::open(cupti, chip, availability));
    CUDA_AGENT_ASSIGN(schedule, host.schedule(request.metrics));
    CUDA_AGENT_TRY(outcomeOf(backend.call(request.set))); // loads code

    Json tried = Json::array();
    Refusal last;
    for (const auto &mode : modes) {
        auto answer = countIn(mode, cupti, context, host, schedule, backend, flush, request);
        if (answer) {
            (*answer)["chip"] = chip;
            (*answer)["scheduled_passes"] = schedule.passes;
            (*answer)["left_out"] = schedule.leftOut;
            (*answer)["tried"] = std::move(tried);
            (*answer)["library"] = cupti.file;
            (*answer)["version"] = cupti.version;
            return answer;
        }
        last = std::move(answer).error();
        if (last.fault || last.status == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
            last.status == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)
            break; // another mode meets the same
        Json one = toJson(last);
        one["mode"] = mode.name;
        tried.push_back(std::move(one));
    }
    // All refusals in one text: one alone may not be the cause.
    if (!last.fault && tried.size() > 1)
        last.text += " (all modes: " + tried.dump() + ")";
    return tl::unexpected(std::move(last));
}

} // namespace cuda_agent::profile::process
