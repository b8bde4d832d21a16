// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/process/sampling.h"

#include "core/profile/process/warm_up.h"

#include <cstdlib>

namespace cuda_agent::profile::process {

namespace {

namespace fs = std::filesystem;

/// Where the sandbox shows the candidate's compiled kernels (core/plan/runner_process.cpp).
constexpr const char *kernelFolder = "/candidate/kernels";
constexpr std::size_t instructionsAtOnce = 4096;
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
    ~Sampling() {
        if (!enabled_)
            return;
        auto parameters = sized<CUpti_PCSamplingDisableParams>(CUpti_PCSamplingDisableParamsSize);
        parameters.ctx = context_;
        cupti_.cuptiPCSamplingDisable(&parameters);
    }
    Sampling(const Sampling &) = delete;
    Sampling &operator=(const Sampling &) = delete;

    Outcome<void> enable(int period) {
        auto parameters = sized<CUpti_PCSamplingEnableParams>(CUpti_PCSamplingEnableParamsSize);
        parameters.ctx = context_;
        CUDA_AGENT_TRY(
            cupti_.check(cupti_.cuptiPCSamplingEnable(&parameters), "cuptiPCSamplingEnable"));
        enabled_ = true;
        CUDA_AGENT_TRY(readReasons());
        makeBuffer();
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

    /// What was sampled up to the last stop, added to `functions`.
    Outcome<void> collect(const Cubins &cubins, std::map<std::string, Function> &functions) {
        for (int round = 0; round < 1000; ++round) {
            auto parameters =
                sized<CUpti_PCSamplingGetDataParams>(CUpti_PCSamplingGetDataParamsSize);
            parameters.ctx = context_;
            parameters.pcSamplingData = &data_;
            CUDA_AGENT_TRY(
                cupti_.check(cupti_.cuptiPCSamplingGetData(&parameters), "cuptiPCSamplingGetData"));
            samples_ += data_.totalSamples;
            dropped_ += data_.droppedSamples;
            for (std::size_t i = 0; i < data_.totalNumPcs; ++i)
                add(instructions_.at(i), cubins, functions);
            if (data_.remainingNumPcs == 0)
                break;
        }
        return {};
    }
    std::uint64_t samples() const { return samples_; }
    std::uint64_t dropped() const { return dropped_; }

  private:
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

    void makeBuffer() {
        const std::size_t reasons = std::max<std::size_t>(indices_.size(), 1);
        stalls_.resize(instructionsAtOnce * reasons);
        instructions_.resize(instructionsAtOnce);
        for (std::size_t i = 0; i < instructionsAtOnce; ++i) {
            instructions_[i].size = sizeof(CUpti_PCSamplingPCData);
            instructions_[i].stallReason = &stalls_[i * reasons];
        }
        data_.size = sizeof(CUpti_PCSamplingData);
        data_.collectNumPcs = instructionsAtOnce;
        data_.pPcData = instructions_.data();
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
            .samplingDataBufferData.samplingDataBuffer = &data_;
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
        // Records of one function share the text, so it is left to the end of the process.
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
    std::vector<CUpti_PCSamplingStallReason> stalls_;
    std::vector<CUpti_PCSamplingPCData> instructions_;
    CUpti_PCSamplingData data_{};
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
        CUDA_AGENT_TRY(sampling.collect(cubins, functions)); // of this range
    }
    return Json{{"functions", jsonOf(functions)},
                {"samples", sampling.samples()},
                {"dropped", sampling.dropped()}};
}

} // namespace cuda_agent::profile::process
