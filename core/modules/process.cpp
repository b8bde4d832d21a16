// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/modules/process.h"

#include "core/base/hash.h"
#include "core/base/paths.h"
#include "core/reference/launch.h"
#include "core/toolchain/binary_cache.h"

namespace cuda_agent::modules {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds helloTimeout{180'000}; ///< Python, PyTorch and a cold disk; the task's model
/// A call of a small kernel from Python needs 57 to 142 us of a processor that others use too,
/// where 53 honest candidates were judged eight times on H200s by twelve at a time beside another
/// program.
constexpr double pythonCallSeconds = 100e-6;
constexpr milliseconds auditTimeout{120'000}; ///< the first use of CUPTI takes seconds
/// Folders of texts that are kept for their next load; on cuda one holds what the text compiles
/// itself, some megabytes. Without an end a long run fills the disk.
constexpr std::size_t mostOwnFolders = 512;
constexpr const char *insideModel = "/candidate/model_new.py";
constexpr const char *insideHostLayer = "/candidate/libcuda-agent-host.so";
constexpr const char *insideLaunches = "/candidate/libcuda-agent-launches.so";

/// Where a candidate's Python file lies on disk, and what it compiles itself. One folder for each
/// text, so that a load that compiles is paid once.
fs::path ownFolder(const Candidate &candidate, const device::Info &device) {
    const auto key = sha256Hex(fmt::format("{}\n{}\n{}", device.name, pythonProgram().string(),
                                           candidate.files.at(modelFile)));
    return cacheDir() / "modules" / key.substr(0, 32);
}

Result<sandbox::Policy> makePolicy(const Compiled &compiled, const task::Spec &spec,
                                   const device::Info &device, const ProcessOptions &options) {
    const auto folder = ownFolder(*compiled.candidate, device);
    CUDA_AGENT_ASSIGN(policy,
                      reference::pythonPolicy(device, folder / "cache", options.memoryBytes));
    policy.name = "candidate";
    // Calls have limits of their own; this one only bounds a verdict that nobody ends.
    policy.limits.wall = std::chrono::hours(1);
    for (const auto &[name, inside] : {std::pair{"worker", "/reference/worker"},
                                       std::pair{"module-worker", "/reference/modules"}}) {
        std::error_code error;
        if (!fs::exists(shareDir() / name, error))
            return machineError("the module worker is missing at {}; build or install the program "
                                "again",
                                (shareDir() / name).string());
        policy.mounts.push_back({shareDir() / name, inside});
    }
    policy.mounts.push_back({spec.file, "/task/" + spec.file.filename().string()});
    const auto model = folder / modelFile;
    CUDA_AGENT_TRY(writeFileAtomically(model, compiled.candidate->files.at(modelFile)));
    toolchain::BinaryCache(folder.parent_path()).prune(mostOwnFolders); // those used longest ago
    policy.mounts.push_back({model, insideModel});
    if (!compiled.extension.empty())
        policy.mounts.push_back({compiled.extension, "/candidate/cuda_extension.so"});
    if (device.kind == device::Kind::cpu) {
        CUDA_AGENT_ASSIGN(library, toolchain::hostLibrary(options.checked));
        policy.mounts.push_back({library, insideHostLayer});
        if (options.checked) // it sees what is allocated
            policy.environment.emplace_back("LD_PRELOAD", insideHostLayer);
    } else if (std::error_code missing;
               !compiled.extension.empty() &&
               fs::exists(workerDir() / "libcuda-agent-launches.so", missing)) {
        // Stands between the candidate's launches and the run time, for the knock-out, which says
        // that it was left out where this is not there.
        policy.mounts.push_back({workerDir() / "libcuda-agent-launches.so", insideLaunches});
        policy.environment.emplace_back("LD_PRELOAD", insideLaunches);
    }
    // For what the candidate compiles itself.
    if (device.kind == device::Kind::cuda && !device.architecture.empty()) {
        const auto digits = device.architecture.substr(3);
        policy.environment.emplace_back("TORCH_CUDA_ARCH_LIST",
                                        fmt::format("{}.{}{}", digits.substr(0, digits.size() - 1),
                                                    digits.back(), digits >= "90" ? "a" : ""));
        policy.environment.emplace_back("TORCH_EXTENSIONS_DIR", "/cache/extensions");
        // Ninja may have come with Python's packages.
        auto path = "/usr/bin:/bin:" + pythonProgram().parent_path().string();
        if (const auto toolkit = cudaToolkitDir(); !toolkit.empty())
            path += ":" + (toolkit / "bin").string();
        policy.environment.emplace_back("PATH", path);
    }
    return policy;
}

std::vector<plan::Slot> slotsOf(const task::Description &description) {
    std::vector<plan::Slot> slots;
    for (std::size_t i = 0; i < description.inputs.size(); ++i)
        slots.push_back({fmt::format("input {}", i), plan::Role::input, static_cast<int>(i), {}});
    for (const auto &port : description.parameters)
        slots.push_back({port.name, plan::Role::parameter, -1, port.name});
    for (std::size_t i = 0; i < description.outputs.size(); ++i)
        slots.push_back({fmt::format("output {}", i), plan::Role::output, static_cast<int>(i), {}});
    return slots;
}

/// How a single file's own compile failed.
Result<toolchain::Rejection> rejectionOf(const Json &rejected) {
    const auto text = [&](const char *field) {
        const auto found = rejected.find(field);
        return found != rejected.end() && found->is_string() ? found->get<std::string>()
                                                             : std::string();
    };
    toolchain::Rejection rejection;
    rejection.summary = plan::tamed(text("summary"));
    rejection.log = text("log").substr(0, 64u << 10);
    rejection.diagnostics = toolchain::parseDiagnostics(rejection.log);
    std::erase_if(rejection.diagnostics, [](const auto &each) { return each.severity != "error"; });
    if (rejection.diagnostics.size() > 20)
        rejection.diagnostics.resize(20);
    if (rejection.diagnostics.empty())
        rejection.diagnostics.push_back({"error", modelFile, 0, 0, rejection.summary});
    return rejection;
}

} // namespace

Result<StartOutcome> start(const Compiled &compiled, const task::Spec &spec,
                           const task::Description &description, const plan::Signature &signature,
                           device::Device &device, const ProcessOptions &options,
                           std::stop_token stop) {
    const auto &info = device.info();
    CUDA_AGENT_ASSIGN(policy, makePolicy(compiled, spec, info, options));
    const auto program = pythonProgram().string();
    policy.mounts.insert(policy.mounts.end(), options.mounts.begin(), options.mounts.end());
    auto argv = options.launcher;
    argv.insert(argv.end(), {program, "-I", "/reference/modules/main.py"});
    CUDA_AGENT_ASSIGN(process, sandbox::start(policy, argv));
    plan::LinkOptions linkOptions{"module worker", options.callTimeout};
    if (device.info().kind == device::Kind::cuda)
        linkOptions.callOverhead = pythonCallSeconds;
    if (!options.launcher.empty())
        linkOptions.linger = plan::launcherLinger;
    auto link =
        std::make_unique<plan::LinkedCandidate>(std::move(process), slotsOf(description), signature,
                                                std::move(linkOptions), std::move(stop));

    Json positions = Json::array();
    for (const auto &port : description.inputs)
        positions.push_back(port.inputIndex);
    Json parameters = Json::array();
    for (const auto &port : description.parameters)
        parameters.push_back(port.name);
    CUDA_AGENT_TRY(link->ask({{"op", "hello"},
                              {"task", "/task/" + spec.file.filename().string()},
                              {"overrides", spec.overrides},
                              {"device", device::nameOf(info.kind)},
                              {"tf32", options.numerics != task::Numerics::standard},
                              {"scalars", description.scalars},
                              {"positions", positions},
                              {"parameters", parameters}},
                             helloTimeout, "load"));
    Json load{
        {"op", "load"}, {"candidate", insideModel}, {"strict", options.rules == Rules::published}};
    if (info.kind == device::Kind::cpu) {
        load["host_layer"] = insideHostLayer;
        load["checked"] = options.checked;
    }
    CUDA_AGENT_ASSIGN(answer, link->ask(load, options.loadTimeout, "loading model_new.py"));
    if (const auto rejected = answer.find("rejected");
        rejected != answer.end() && rejected->is_object()) {
        CUDA_AGENT_ASSIGN(rejection, rejectionOf(*rejected));
        return StartOutcome(std::move(rejection));
    }
    Started started;
    if (const auto flags = answer.find("flags"); flags != answer.end() && flags->is_array())
        for (const auto &flag : *flags)
            if (flag.is_string() && started.flags.size() < 10)
                started.flags.push_back(plan::tamed(flag.get<std::string>()));
    started.process = std::move(link);
    return StartOutcome(std::move(started));
}

Result<Audit> audit(plan::LinkedCandidate &process, int set) {
    CUDA_AGENT_ASSIGN(answer,
                      process.ask({{"op", "audit"}, {"set", set}}, auditTimeout, "the audit"));
    return auditFromJson(answer);
}

} // namespace cuda_agent::modules
