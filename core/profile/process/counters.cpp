// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/process/counters.h"

#include "core/profile/process/warm_up.h"

#include <array>

namespace cuda_agent::profile::process {

namespace {

constexpr std::size_t mostPasses = 500;
constexpr std::size_t spareRanges = 256; ///< beside the kernels that were traced
/// What CUPTI sets up for the first pass leaves tens of megabytes of its own in L2 and slows that
/// pass down. This metric has it to itself and is thrown away.
constexpr const char *settlingMetric = "gpu__time_duration.sum";

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
    CUDA_AGENT_TRY(session.configure(mode, schedule, request.kernels + spareRanges));
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
    for (std::size_t i = 0; i < names.size(); ++i) {
        auto values = host.values(schedule.metrics, session.image(), i);
        values.erase(settlingMetric);
        answer["ranges"].push_back({{"name", names[i]}, {"counters", std::move(values)}});
    }
    return answer;
}

/// Counts some metrics in the first mode that works; a mode that failed once is not tried again.
class Counting {
  public:
    Counting(const Cupti &cupti, CUcontext context, std::string chip,
             std::vector<std::uint8_t> availability, plan::runner::Backend &backend,
             CacheFlush &flush, const CountRequest &request)
        : cupti_(cupti), context_(context), chip_(std::move(chip)),
          availability_(std::move(availability)), backend_(backend), flush_(flush),
          request_(request) {}

    Outcome<Json> count(const std::vector<std::string> &metrics) {
        CUDA_AGENT_ASSIGN(host, Host::open(cupti_, chip_, availability_));
        // Instructions are the same ones in whatever state the caches are.
        const bool instructions = metrics.front().find("_sass_") != std::string::npos;
        CUDA_AGENT_ASSIGN(schedule, host.schedule(metrics, instructions ? "" : settlingMetric));
        Json tried = Json::array();
        Refusal last;
        for (; mode_ < modes.size(); ++mode_) {
            auto answer =
                countIn(modes[mode_], cupti_, context_, host, schedule, backend_, flush_, request_);
            if (answer) {
                (*answer)["left_out"] = schedule.leftOut;
                return answer;
            }
            last = std::move(answer).error();
            if (last.fault || last.status == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
                last.status == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)
                return tl::unexpected(std::move(last)); // another mode meets the same
            Json one = toJson(last);
            one["mode"] = modes[mode_].name;
            tried.push_back(std::move(one));
        }
        // All refusals in one text: the last alone may not be the cause.
        last.text += " (all modes: " + tried.dump() + ")";
        return tl::unexpected(std::move(last));
    }

  private:
    const Cupti &cupti_;
    CUcontext context_;
    std::string chip_;
    std::vector<std::uint8_t> availability_;
    plan::runner::Backend &backend_;
    CacheFlush &flush_;
    const CountRequest &request_;
    std::size_t mode_ = 0;
};

/// A metric over instructions that is never 0, to tell whether the others have values of their own.
constexpr const char *sentinel = "smsp__sass_inst_executed.sum";

/// True when every metric of every range has the sentinel's value: they were not told apart.
bool allAlike(const Json &answer) {
    for (const auto &range : answer["ranges"])
        for (const auto &[name, value] : range["counters"].items())
            if (value != range["counters"].value(sentinel, Json()))
                return false;
    return true;
}

/// Adds the counters of `from`; false where it is not of the same ranges.
bool merge(Json &into, const Json &from) {
    if (from["ranges"].size() != into["ranges"].size() || from["mode"] != into["mode"])
        return false;
    for (std::size_t i = 0; i < into["ranges"].size(); ++i) {
        if (from["ranges"][i]["name"] != into["ranges"][i]["name"])
            return false;
        into["ranges"][i]["counters"].update(from["ranges"][i]["counters"]);
    }
    into["passes"] = into["passes"].get<std::size_t>() + from["passes"].get<std::size_t>();
    for (const auto &name : from["left_out"])
        into["left_out"].push_back(name);
    return true;
}

/// Metrics over instructions are counted by code that CUPTI puts into the kernels, in sessions
/// apart from the hardware's.
Outcome<void> addInstructionMetrics(Counting &counting, std::vector<std::string> metrics,
                                    Json &into) {
    metrics.insert(metrics.begin(), sentinel);
    CUDA_AGENT_ASSIGN(together, counting.count(metrics));
    const bool apart = !allAlike(together);
    into["instructions"] = apart ? "together" : "one by one";
    if (apart) {
        if (!merge(into, together))
            into["instructions"] = "of other launches, left out";
        return {};
    }
    for (const auto &metric : metrics) {
        CUDA_AGENT_ASSIGN(one, counting.count({metric}));
        if (!merge(into, one))
            into["instructions"] = "of other launches, left out";
    }
    return {};
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
    CUDA_AGENT_TRY(warmUp(backend, request.set));

    std::vector<std::string> hardware, instructions;
    for (const auto &metric : request.metrics)
        (metric.find("_sass_") == metric.npos ? hardware : instructions).push_back(metric);
    Counting counting(cupti, context, chip, availability, backend, flush, request);
    CUDA_AGENT_ASSIGN(answer, counting.count(hardware));
    if (!instructions.empty()) {
        auto added = addInstructionMetrics(counting, std::move(instructions), answer);
        if (!added && added.error().fault)
            return tl::unexpected(std::move(added).error());
        if (!added) // what the hardware counted stands
            answer["instructions_refused"] = toJson(added.error());
    }
    answer["chip"] = chip;
    answer["library"] = cupti.file;
    answer["version"] = cupti.version;
    return std::move(answer);
}

} // namespace cuda_agent::profile::process
