// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/profiler.h"

#include "core/base/names.h"
#include "core/base/paths.h"
#include "core/plan/library_folders.h"
#include "core/plan/make_program.h"
#include "core/profile/answers.h"
#include "core/profile/counted.h"
#include "core/profile/derive.h"
#include "core/profile/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unistd.h>

namespace cuda_agent::profile {

namespace fs = std::filesystem;

namespace {

constexpr const char *program = "cuda-agent-profiler";
/// Of twenty milliseconds of calls, or one long one.
constexpr std::chrono::milliseconds samplingTimeout{60'000};

constexpr const char *countedSource = "CUPTI activity and counters";
constexpr const char *gpuLabel = "times of this GPU at its own clock, kernels traced one call at a "
                                 "time; counters come from runs of their own";
constexpr const char *cpuLabel =
    "CPU device time, says nothing about GPU time; bytes and operations are counted from the plan";

void addFolder(std::vector<fs::path> &folders, const fs::path &folder) {
    std::error_code problem;
    if (!fs::exists(folder / "libcupti.so.13", problem))
        return;
    const fs::path real = fs::canonical(folder, problem);
    if (!problem && std::find(folders.begin(), folders.end(), real) == folders.end())
        folders.push_back(real);
}

/// The line of `__global__ ... entry(` in a kernel file, or 0.
int lineOfKernel(const std::string &text, const std::string &entry) {
    for (std::size_t at = text.find(entry); at != std::string::npos;
         at = text.find(entry, at + 1)) {
        const auto isWord = [&](std::size_t i) { return i < text.size() && isNamePart(text[i]); };
        if ((at > 0 && isWord(at - 1)) || isWord(at + entry.size()))
            continue;
        // The words before it, back to the end of what came before.
        const std::size_t begin = text.find_last_of(";}", at) + 1; // npos + 1 is 0
        if (text.substr(begin, at - begin).find("__global__") != std::string::npos)
            return 1 + static_cast<int>(std::count(
                           text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    }
    return 0;
}

/// All passes over one candidate; each in a fresh process.
class Passes {
  public:
    Passes(const Subject &subject, device::Device &device, const plan::CallBuffers &buffers,
           const Options &options, std::stop_token stop)
        : subject_(subject), device_(device), buffers_(buffers), options_(options),
          stop_(std::move(stop)) {
        report_.device = device.info();
        report_.countedBytes = subject.countedBytes;
        report_.countedOperations = subject.countedOperations;
    }

    Result<Report> run() {
        CUDA_AGENT_ASSIGN(resolved, plan::resolve(candidate().plan, subject_.signature,
                                                  plan::limitsOf(report_.device)));
        program_ = plan::makeProgram(candidate().plan, resolved, report_.device);
        CUDA_AGENT_ASSIGN(ceilings, device_.ceilings());
        report_.ceilings = ceilings;
        CUDA_AGENT_TRY(span());
        if (report_.device.kind == device::Kind::cpu) {
            report_.label = cpuLabel;
            report_.source = "host clock";
            CUDA_AGENT_TRY(steps());
        } else {
            report_.label = gpuLabel;
            report_.source = "host clock";
            CUDA_AGENT_TRY(activity());
            if (report_.launches.empty()) {
                CUDA_AGENT_TRY(steps());
                report_.notes.push_back("times are those of whole steps by the host's clock, with "
                                        "their launch and the wait for their end");
            } else if (options_.counters && kernels() > 0) {
                CUDA_AGENT_TRY(counters());
                if (options_.lines)
                    CUDA_AGENT_TRY(lines());
            }
        }
        for (auto &launch : report_.launches)
            complete(launch);
        for (auto &launch : report_.launches)
            deriveLaunch(launch, report_);
        deriveTotals(report_);
        return std::move(report_);
    }

  private:
    const plan::Candidate &candidate() const { return *subject_.compiled->candidate; }

    Result<std::unique_ptr<plan::LinkedCandidate>> start(bool performanceCounters) {
        plan::RunnerOptions options;
        options.program = program;
        options.callTimeout = options_.callTimeout;
        options.performanceCounters = performanceCounters;
        if (report_.device.kind == device::Kind::cuda)
            options.libraryFolders = cuptiFolders();
        CUDA_AGENT_ASSIGN(process, plan::startLinkedRunner(*subject_.compiled, subject_.signature,
                                                           device_, options, stop_));
        CUDA_AGENT_TRY(process->bind(0, buffers_));
        return std::move(process);
    }

    Json request(const char *pass) const {
        Json folders = Json::array();
        for (const auto &folder : cuptiFolders())
            folders.push_back(folder);
        return {{"op", "profile"},
                {"pass", pass},
                {"set", 0},
                {"calls", options_.calls},
                {"flush", options_.flush},
                {"wait", report_.device.kind == device::Kind::cuda},
                {"cache_bytes", report_.device.cacheBytes},
                {"library_folders", std::move(folders)},
                {"kernels", kernels()},
                {"metrics", wantedMetrics()}};
    }

    std::ptrdiff_t kernels() const {
        return std::ranges::count(report_.launches, LaunchKind::kernel, &Launch::kind);
    }

    /// As the judge times it.
    Result<void> span() {
        CUDA_AGENT_ASSIGN(process, start(false));
        CUDA_AGENT_TRY(process->call(0));
        plan::SampleRequest request;
        request.sets = {0};
        request.samples = options_.samples;
        request.flushCache = options_.flush;
        CUDA_AGENT_ASSIGN(samples, process->time(request));
        std::ranges::sort(samples, {}, &plan::Sample::seconds);
        report_.spanSeconds = samples[samples.size() / 2].seconds;
        process->finish();
        return {};
    }

    /// A pass that the machine does not allow is a note; a fault of the candidate is an error.
    Result<std::optional<Json>> ask(const Json &asked, bool performanceCounters,
                                    std::string_view what,
                                    std::optional<std::chrono::milliseconds> timeout = {}) {
        const auto note = [&](const Error &error) {
            report_.notes.push_back(fmt::format("{}: not measured, {}", what, error.message));
        };
        auto process = start(performanceCounters);
        if (!process) {
            if (process.error().kind != ErrorKind::machine)
                return tl::unexpected(process.error());
            note(process.error());
            return std::nullopt;
        }
        auto answer = (*process)->ask(asked, timeout.value_or(options_.passTimeout), what);
        if (!answer) {
            if (answer.error().kind == ErrorKind::stopped)
                return tl::unexpected(answer.error());
            // The same calls have run without the profiler, so a fault here is its doing.
            note(answer.error());
            return std::nullopt;
        }
        (*process)->finish();
        return std::move(*answer);
    }

    Result<void> activity() {
        constexpr std::string_view what = "exact kernel times";
        CUDA_AGENT_ASSIGN(answer, ask(request("activity"), false, what));
        if (!answer)
            return {};
        if (const auto refused = refusalIn(*answer)) {
            report_.notes.push_back(sentenceOf(*refused, what));
            return {};
        }
        auto traced = tracedIn(*answer);
        if (!traced) {
            report_.notes.push_back(traced.error().message);
            return {};
        }
        report_.launches = std::move(traced->launches);
        report_.source = "CUPTI activity";
        if (!traced->asTimed)
            report_.notes.push_back("exact kernel times: the calls were launched one by one, since "
                                    "a graph of them does not show the same launches; gaps are "
                                    "not measured");
        if (traced->dropped > 0)
            report_.notes.push_back(
                fmt::format("exact kernel times: CUPTI lost {} records", traced->dropped));
        return {};
    }

    Result<void> counters() {
        constexpr std::string_view what = "hardware counters";
        CUDA_AGENT_ASSIGN(first, ask(request("counters"), false, what));
        auto answer = std::move(first);
        if (answer)
            if (const auto refused = refusalIn(*answer);
                refused && refused->lacksPrivileges() && ::geteuid() == 0) {
                const std::string before = sentenceOf(*refused, what);
                CUDA_AGENT_ASSIGN(second, ask(request("counters"), true, what));
                answer = std::move(second);
                privileged_ = true;
                if (!answer) {
                    report_.notes.push_back(before);
                    return {};
                }
                if (!refusalIn(*answer))
                    report_.notes.push_back("hardware counters: the driver keeps them for "
                                            "administrators, so the profiling process ran with "
                                            "CAP_PERFMON");
            }
        if (!answer)
            return {};
        if (const auto refused = refusalIn(*answer)) {
            report_.notes.push_back(sentenceOf(*refused, what));
            return {};
        }
        auto counted = rangesIn(*answer);
        if (!counted) {
            report_.notes.push_back(counted.error().message);
            return {};
        }
        report_.source = countedSource;
        for (auto &text : assignCounters(report_.launches, *counted))
            report_.notes.push_back(std::move(text));
        report_.notes.push_back(
            fmt::format("hardware counters: {} passes ({})", counted->passes, counted->mode));
        if (counted->instructionsRefused)
            report_.notes.push_back(
                sentenceOf(*counted->instructionsRefused, "operations and bytes by instructions"));
        else if (!counted->instructions.empty() && counted->instructions != "together")
            report_.notes.push_back("operations and bytes by instructions: counted " +
                                    counted->instructions);
        noteLeftOut(counted->leftOut);
        return {};
    }

    /// Twenty milliseconds of samples, some ten thousand of each multiprocessor at most.
    Result<void> lines() {
        constexpr std::string_view what = "samples by line";
        if (report_.source != countedSource)
            return {}; // they need what counters need
        constexpr double wanted = 0.02, clockRate = 2e9, mostSamples = 20'000;
        const double span = std::max(report_.spanSeconds, 1e-6);
        const int calls = static_cast<int>(std::clamp(wanted / span, 1.0, 100.0));
        const double cycles = span * calls * clockRate;
        Json asked = request("sampling");
        asked["calls"] = calls;
        asked["period"] =
            std::clamp(static_cast<int>(std::ceil(std::log2(cycles / mostSamples))), 10, 24);
        CUDA_AGENT_ASSIGN(answer, ask(asked, privileged_, what, samplingTimeout));
        if (!answer)
            return {};
        if (const auto refused = refusalIn(*answer)) {
            report_.notes.push_back(sentenceOf(*refused, what));
            return {};
        }
        const auto sampled = samplesIn(*answer);
        if (!sampled) {
            report_.notes.push_back(sampled.error().message);
            return {};
        }
        for (auto &launch : report_.launches)
            if (const auto found = sampled->lines.find(launch.name);
                launch.kind == LaunchKind::kernel && found != sampled->lines.end())
                launch.lines = found->second;
        report_.notes.push_back(
            fmt::format("samples by line: {} samples of {} calls{}", sampled->samples, calls,
                        sampled->dropped > 0 ? fmt::format(", {} lost", sampled->dropped) : ""));
        return {};
    }

    /// Names of which another spelling is there are no loss.
    void noteLeftOut(const std::vector<std::string> &leftOut) {
        std::string names;
        for (const auto &name : leftOut) {
            const bool spelling =
                name.starts_with("dram__bytes") || name.find("tensor_src_fp16") != name.npos;
            if (!spelling)
                names += (names.empty() ? "" : ", ") + name;
        }
        if (!names.empty())
            report_.notes.push_back("this chip does not have: " + names);
    }

    Result<void> steps() {
        CUDA_AGENT_ASSIGN(process, start(false));
        CUDA_AGENT_ASSIGN(answer,
                          process->ask(request("steps"), options_.passTimeout, "profiling"));
        const auto list = answer.find("steps");
        if (list == answer.end() || !list->is_array() || list->size() != program_.steps.size())
            return machineError("the profiler's process did not answer with the times of steps");
        for (std::size_t i = 0; i < list->size(); ++i) {
            // The form of a traced launch, so that it is read by the same rules.
            const Json one{
                {"launches", {{{"kind", "kernel"}, {"step", i}, {"seconds", (*list)[i]}}}}};
            CUDA_AGENT_ASSIGN(traced, tracedIn(one));
            traced.launches[0].kind = LaunchKind::step;
            report_.launches.push_back(std::move(traced.launches[0]));
        }
        process->finish();
        return {};
    }

    /// What the plan and the compiler know of it.
    void complete(Launch &launch) const {
        const auto counted = countedSteps(program_);
        const auto index = static_cast<std::size_t>(launch.step);
        if (launch.step < 0 || index >= program_.steps.size()) {
            launch.step = -1;
            launch.label = "copy of a buffer that is not as the plan wants it";
            return;
        }
        const auto &step = program_.steps[index];
        launch.label = step.label;
        if (launch.name.empty())
            launch.name = step.label;
        launch.countedBytes = counted[index].bytes;
        launch.countedOperations = counted[index].operations;
        std::int64_t barriers = 1;
        if (const auto *kernel = std::get_if<plan::ProgramKernel>(&step.work)) {
            const std::string source =
                candidate().plan.sources().at(static_cast<std::size_t>(kernel->binary));
            launch.file = source;
            launch.line = lineOfKernel(candidate().files.at(source), kernel->entry);
            for (auto &line : launch.lines) // CUPTI leaves folders out
                if (line.file == fs::path(source).filename())
                    line.file = source;
            if (launch.kind == LaunchKind::step) {
                std::copy_n(kernel->grid, 3, launch.grid.begin());
                std::copy_n(kernel->block, 3, launch.block.begin());
                launch.sharedDynamic = kernel->sharedBytes;
                launch.name = kernel->entry;
            }
            for (const auto &entry : subject_.compiled->binaries.at(source).entries) {
                if (entry.name != kernel->entry || launch.kind == LaunchKind::memset)
                    continue;
                launch.spillBytes = entry.spillBytes;
                barriers = std::max(entry.barriers, 0);
                if (launch.kind == LaunchKind::step) {
                    std::copy_n(kernel->cluster, 3, launch.cluster.begin());
                    launch.registers = entry.registers;
                    launch.sharedStatic = entry.sharedBytes;
                }
            }
        }
        const auto *architecture = device::findArchitecture(report_.device.architecture);
        if (architecture != nullptr && launch.block[0] > 0) {
            device::BlockNeeds needs;
            needs.threads = static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]);
            needs.registers = std::max(launch.registers, 0);
            needs.staticShared = std::max<std::int64_t>(launch.sharedStatic, 0);
            needs.dynamicShared = std::max<std::int64_t>(launch.sharedDynamic, 0);
            needs.barriers = static_cast<int>(barriers);
            needs.clusterBlocks = static_cast<int>(
                std::max(1u, launch.cluster[0] * launch.cluster[1] * launch.cluster[2]));
            launch.theoretical = device::occupancyOf(*architecture, needs);
        }
    }

    const Subject &subject_;
    device::Device &device_;
    const plan::CallBuffers &buffers_;
    const Options &options_;
    std::stop_token stop_;
    plan::Program program_;
    Report report_;
    bool privileged_ = false; ///< counters needed CAP_PERFMON
};

} // namespace

std::vector<fs::path> cuptiFolders() {
    std::vector<fs::path> folders;
    if (const char *variable = std::getenv("LD_LIBRARY_PATH")) {
        const std::string text = variable;
        for (std::size_t begin = 0; begin <= text.size();) {
            const std::size_t end = std::min(text.find(':', begin), text.size());
            if (end > begin)
                addFolder(folders, text.substr(begin, end - begin));
            begin = end + 1;
        }
    }
    for (const fs::path &toolkit : {cudaToolkitDir(), fs::path("/usr/local/cuda")}) {
        if (toolkit.empty())
            continue;
        addFolder(folders, toolkit / "extras/CUPTI/lib64");
        addFolder(folders, toolkit / "lib64");
    }
    // <venv>/bin/python -> <venv>/lib/python3.x/site-packages/nvidia/<part>/lib
    const fs::path environment = pythonProgram().parent_path().parent_path();
    std::error_code problem;
    for (const auto &version : fs::directory_iterator(environment / "lib", problem)) {
        std::error_code ignored;
        for (const auto &part :
             fs::directory_iterator(version.path() / "site-packages/nvidia", ignored))
            addFolder(folders, part.path() / "lib");
    }
    return folders;
}

Result<Report> profileCandidate(const Subject &subject, device::Device &device,
                                const plan::CallBuffers &buffers, const Options &options,
                                std::stop_token stop) {
    return Passes(subject, device, buffers, options, std::move(stop)).run();
}

} // namespace cuda_agent::profile
