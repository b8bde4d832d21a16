// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/process/sampling.h"

#include "core/profile/process/warm_up.h"

#include <chrono>
#include <cstdlib>
#include <thread>

namespace cuda_agent::profile::process {

namespace {

namespace fs = std::filesystem;

/// Where the sandbox shows the candidate's compiled kernels (core/plan/runner_process.cpp).
constexpr const char *kernelFolder = "/candidate/kernels";
constexpr std::size_t instructionsAtOnce = 4096;
/// CUPTI's own threads decode what the hardware wrote, and wake this often.
constexpr std::chrono::milliseconds decodeEvery{20};
constexpr std::size_t hardwareBufferBytes = 256u << 20;
constexpr std::string_view reasonPrefix = "smsp__pcsamp_warps_issue_stalled_";
constexpr std::string_view subset = "_not_issued"; ///< of the reason without it

/// A structure of this part of the interface, which spells its size another way.
template <typename Parameters>
Parameters sized(std::size_t size) {
    Parameters parameters{};
    parameters.size = size;
    return parameters;
}

/// What is known of a line, or of a function.
struct Count {
    std::uint64_t samples = 0;
    std::map<std::string, std::uint64_t> stalls;
};
struct Function {
    std::uint64_t samples = 0;
    std::map<std::pair<std::string, int>, Count> lines;
};

/// Sampling of one context, ended with the scope.
class Sampling {
  public:
    Sampling(const Cupti &cupti, CUcontext context) : cupti_(cupti), context_(context) {}
    ~Sampling() { disable(); }
    Sampling(const Sampling &) = delete;
    Sampling &operator=(const Sampling &) = delete;

    Outcome<void> enable(int period) {
        auto parameters = sized<CUpti_PCSamplingEnableParams>(CUpti_PCSamplingEnableParamsSize);
        parameters.ctx = context_;
        CUDA_AGENT_TRY(
            cupti_.check(cupti_.cuptiPCSamplingEnable(&parameters), "cuptiPCSamplingEnable"));
        enabled_ = true;
        CUDA_AGENT_TRY(readReasons());
        taken_.make(std::max<std::size_t>(indices_.size(), 1));
        rest_.make(std::max<std::size_t>(indices_.size(), 1));
        return configure(period);
    }

    Outcome<void> start() {
        auto parameters = sized<CUpti_PCSamplingStartParams>(CUpti_PCSamplingStartParamsSize);
        parameters.ctx = context_;
        return cupti_.check(cupti_.cuptiPCSamplingStart(&parameters), "cuptiPCSamplingStart");
    }
    Outcome<void> stop() {
        auto parameters = sized<CUpti_PCSamplingStopParams>(CUpti_PCSamplingStopParamsSize);
        parameters.ctx = context_;
        return cupti_.check(cupti_.cuptiPCSamplingStop(&parameters), "cuptiPCSamplingStop");
    }

    /// What is decoded by now, added to `functions`.
    Outcome<void> collect(const Cubins &cubins, std::map<std::string, Function> &functions) {
        for (int round = 0; round < 1000; ++round) {
            auto parameters =
                sized<CUpti_PCSamplingGetDataParams>(CUpti_PCSamplingGetDataParamsSize);
            parameters.ctx = context_;
            parameters.pcSamplingData = &taken_.data;
            CUDA_AGENT_TRY(
                cupti_.check(cupti_.cuptiPCSamplingGetData(&parameters), "cuptiPCSamplingGetData"));
            add(taken_, cubins, functions);
            if (taken_.data.remainingNumPcs == 0)
                break;
        }
        return {};
    }

    /// Ends the sampling and adds what was still under way.
    Outcome<void> finish(const Cubins &cubins, std::map<std::string, Function> &functions) {
        std::this_thread::sleep_for(2 * decodeEvery);
        CUDA_AGENT_TRY(collect(cubins, functions));
        CUDA_AGENT_TRY(cupti_.check(disable(), "cuptiPCSamplingDisable"));
        add(rest_, cubins, functions);
        return {};
    }
    std::uint64_t samples() const { return samples_; }
    std::uint64_t dropped() const { return dropped_; }

  private:
    /// Room for records of instructions. The text of a function belongs to all records that name
    /// it, so it is left to the end of the process.
    struct Buffer {
        std::vector<CUpti_PCSamplingStallReason> stalls;
        std::vector<CUpti_PCSamplingPCData> instructions;
        CUpti_PCSamplingData data{};

        void make(std::size_t reasons) {
            stalls.resize(instructionsAtOnce * reasons);
            instructions.resize(instructionsAtOnce);
            for (std::size_t i = 0; i < instructionsAtOnce; ++i) {
                instructions[i].size = sizeof(CUpti_PCSamplingPCData);
                instructions[i].stallReason = &stalls[i * reasons];
            }
            data.size = sizeof(CUpti_PCSamplingData);
            data.collectNumPcs = instructionsAtOnce;
            data.pPcData = instructions.data();
        }
    };

    CUptiResult disable() {
        if (!enabled_)
            return CUPTI_SUCCESS;
        enabled_ = false;
        auto parameters = sized<CUpti_PCSamplingDisableParams>(CUpti_PCSamplingDisableParamsSize);
        parameters.ctx = context_;
        return cupti_.cuptiPCSamplingDisable(&parameters);
    }

    void add(Buffer &buffer, const Cubins &cubins, std::map<std::string, Function> &functions) {
        samples_ += buffer.data.totalSamples;
        dropped_ += buffer.data.droppedSamples;
        for (std::size_t i = 0; i < buffer.data.totalNumPcs; ++i)
            add(buffer.instructions.at(i), cubins, functions);
    }

    Outcome<void> readReasons() {
        std::size_t count = 0;
        auto number = sized<CUpti_PCSamplingGetNumStallReasonsParams>(
            CUpti_PCSamplingGetNumStallReasonsParamsSize);
        number.ctx = context_;
        number.numStallReasons = &count;
        CUDA_AGENT_TRY(cupti_.check(cupti_.cuptiPCSamplingGetNumStallReasons(&number),
                                    "cuptiPCSamplingGetNumStallReasons"));
        std::vector<std::string> texts(count, std::string(CUPTI_STALL_REASON_STRING_SIZE, '\0'));
        std::vector<char *> pointers;
        for (auto &text : texts)
            pointers.push_back(text.data());
        indices_.resize(count);
        auto names =
            sized<CUpti_PCSamplingGetStallReasonsParams>(CUpti_PCSamplingGetStallReasonsParamsSize);
        names.ctx = context_;
        names.numStallReasons = count;
        names.stallReasonIndex = indices_.data();
        names.stallReasons = pointers.data();
        CUDA_AGENT_TRY(cupti_.check(cupti_.cuptiPCSamplingGetStallReasons(&names),
                                    "cuptiPCSamplingGetStallReasons"));
        for (std::size_t i = 0; i < count; ++i)
            reasons_[indices_[i]] = texts[i].c_str(); // up to the first zero
        return {};
    }

    Outcome<void> configure(int period) {
        std::vector<CUpti_PCSamplingConfigurationInfo> list;
        const auto add = [&](CUpti_PCSamplingConfigurationAttributeType type)
            -> decltype(CUpti_PCSamplingConfigurationInfo::attributeData) & {
            list.push_back({});
            list.back().attributeType = type;
            return list.back().attributeData;
        };
        add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE)
            .collectionModeData.collectionMode = CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
        add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD)
            .samplingPeriodData.samplingPeriod = static_cast<std::uint32_t>(period);
        add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE)
            .hardwareBufferSizeData.hardwareBufferSize = hardwareBufferBytes;
        add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL)
            .enableStartStopControlData.enableStartStopControl = 1;
        add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER)
            .samplingDataBufferData.samplingDataBuffer = &rest_.data;
        add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_WORKER_THREAD_PERIODIC_SLEEP_SPAN)
            .workerThreadPeriodicSleepSpanData.workerThreadPeriodicSleepSpan =
            static_cast<std::uint32_t>(decodeEvery.count());
        auto &reasons = add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON);
        reasons.stallReasonData.stallReasonCount = indices_.size();
        reasons.stallReasonData.pStallReasonIndex = indices_.data();
        auto parameters = sized<CUpti_PCSamplingConfigurationInfoParams>(
            CUpti_PCSamplingConfigurationInfoParamsSize);
        parameters.ctx = context_;
        parameters.numAttributes = list.size();
        parameters.pPCSamplingConfigurationInfo = list.data();
        return cupti_.check(cupti_.cuptiPCSamplingSetConfigurationAttribute(&parameters),
                            "cuptiPCSamplingSetConfigurationAttribute");
    }

    void add(const CUpti_PCSamplingPCData &instruction, const Cubins &cubins,
             std::map<std::string, Function> &functions) {
        const std::string name =
            instruction.functionName != nullptr ? instruction.functionName : "";
        Function &function = functions[name];
        const auto place = cubins.lineOf(instruction.cubinCrc, name, instruction.pcOffset);
        Count *line = place ? &function.lines[{place->file, place->line}] : nullptr;
        for (std::size_t i = 0; i < std::min(instruction.stallReasonCount, indices_.size()); ++i) {
            const auto &stall = instruction.stallReason[i];
            std::string_view reason = reasons_[stall.pcSamplingStallReasonIndex];
            if (reason.ends_with(subset) || !reason.starts_with(reasonPrefix))
                continue;
            reason.remove_prefix(reasonPrefix.size());
            function.samples += stall.samples;
            if (line == nullptr)
                continue;
            line->samples += stall.samples;
            line->stalls[std::string(reason)] += stall.samples;
        }
    }

    const Cupti &cupti_;
    CUcontext context_;
    bool enabled_ = false;
    std::vector<std::uint32_t> indices_;
    std::map<std::uint32_t, std::string> reasons_;
    Buffer taken_; ///< what it is asked for
    Buffer rest_;  ///< what CUPTI puts down by itself when it ends
    std::uint64_t samples_ = 0, dropped_ = 0;
};

Json jsonOf(const std::map<std::string, Function> &functions) {
    Json list = Json::array();
    for (const auto &[name, function] : functions) {
        Json lines = Json::array();
        for (const auto &[place, count] : function.lines)
            lines.push_back({{"file", place.first},
                             {"line", place.second},
                             {"samples", count.samples},
                             {"stalls", count.stalls}});
        list.push_back(
            {{"name", name}, {"samples", function.samples}, {"lines", std::move(lines)}});
    }
    return list;
}

} // namespace

Cubins::Cubins(const Cupti &cupti, const fs::path &folder) : cupti_(cupti) {
    std::error_code ignored;
    for (const auto &entry : fs::directory_iterator(folder, ignored)) {
        auto image = readTextFile(entry.path(), 256u << 20);
        if (!image || !image->starts_with("\177ELF"))
            continue;
        auto parameters = sized<CUpti_GetCubinCrcParams>(CUpti_GetCubinCrcParamsSize);
        parameters.cubin = image->data();
        parameters.cubinSize = image->size();
        if (cupti_.cuptiGetCubinCrc(&parameters) == CUPTI_SUCCESS)
            images_.emplace(parameters.cubinCrc, std::move(*image));
    }
}

std::optional<SourceLine> Cubins::lineOf(std::uint64_t crc, const std::string &function,
                                         std::uint64_t offset) const {
    const auto image = images_.find(crc);
    if (image == images_.end())
        return std::nullopt;
    auto parameters =
        sized<CUpti_GetSassToSourceCorrelationParams>(CUpti_GetSassToSourceCorrelationParamsSize);
    parameters.cubin = image->second.data();
    parameters.cubinSize = image->second.size();
    parameters.functionName = function.c_str();
    parameters.pcOffset = offset;
    if (cupti_.cuptiGetSassToSourceCorrelation(&parameters) != CUPTI_SUCCESS)
        return std::nullopt;
    SourceLine place;
    if (parameters.fileName != nullptr)
        place.file = parameters.fileName;
    place.line = static_cast<int>(parameters.lineNumber);
    std::free(parameters.fileName);
    std::free(parameters.dirName);
    return place.line > 0 ? std::optional(std::move(place)) : std::nullopt;
}

std::vector<std::uint64_t> Cubins::sums() const {
    std::vector<std::uint64_t> all;
    for (const auto &[sum, image] : images_)
        all.push_back(sum);
    return all;
}

Outcome<Json> sampleCalls(const Cupti &cupti, plan::runner::Backend &backend, CacheFlush &flush,
                          const SampleRequest &request) {
    const auto driver = device::cuda::Driver::load();
    if (!driver)
        return tl::unexpected(Refusal{"cuInit", 0, "", driver.error().message, {}});
    CUcontext context = nullptr;
    (*driver)->cuCtxGetCurrent(&context);
    const Cubins cubins(cupti, kernelFolder);
    CUDA_AGENT_TRY(warmUp(backend, request.set));
    Sampling sampling(cupti, context);
    CUDA_AGENT_TRY(sampling.enable(request.period));
    std::map<std::string, Function> functions;
    for (int i = 0; i < request.calls; ++i) {
        if (request.flush)
            CUDA_AGENT_TRY(outcomeOf(flush.flush()));
        CUDA_AGENT_TRY(sampling.start());
        CUDA_AGENT_TRY(outcomeOf(backend.call(request.set)));
        CUDA_AGENT_TRY(sampling.stop());
        CUDA_AGENT_TRY(sampling.collect(cubins, functions)); // else instructions of two ranges mix
    }
    CUDA_AGENT_TRY(sampling.finish(cubins, functions));
    return Json{{"functions", jsonOf(functions)},
                {"samples", sampling.samples()},
                {"dropped", sampling.dropped()}};
}

} // namespace cuda_agent::profile::process
