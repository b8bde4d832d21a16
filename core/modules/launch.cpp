// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/modules/launch.h"

#include "core/base/hash.h"
#include "core/base/paths.h"
#include "core/base/temporary_folder.h"
#include "core/reference/launch.h"
#include "core/toolchain/binary_cache.h"

namespace cuda_agent::modules {

namespace fs = std::filesystem;

namespace {

/// A call of a small kernel from Python needs 57 to 142 us of a processor that others use too,
/// where 53 honest candidates were judged eight times on H200s by twelve at a time beside another
/// program.
constexpr double pythonCallSeconds = 100e-6;
/// Folders of texts that are kept for their next load; on cuda one holds what the text compiles
/// itself, some megabytes. Without an end a long run fills the disk. Of those that workers see
/// alone, more are what killed engines left behind.
constexpr std::size_t mostFolders = 512;
/// Calls have limits of their own; this one only bounds a verdict that nobody ends.
constexpr std::chrono::hours longestLife{2};
constexpr const char *extensionFile = "cuda_extension.so";
constexpr const char *insideLaunches = "/engine/libcuda-agent-launches.so";

/// Where a single file lies on disk, and what it compiles itself.
fs::path ownFolder(const Candidate &candidate, const device::Info &device) {
    const auto key = sha256Hex(fmt::format("{}\n{}\n{}", device.name, pythonProgram().string(),
                                           candidate.files.at(modelFile)));
    return cacheDir() / "modules" / key.substr(0, 32);
}

/// Everything that a worker is shown but its candidate.
Result<sandbox::Policy> policyOf(const task::Spec &spec, const device::Info &device,
                                 const ProcessOptions &options, const fs::path &cache, Form form) {
    CUDA_AGENT_ASSIGN(policy, reference::pythonPolicy(device, cache, options.memoryBytes));
    policy.name = "candidate";
    policy.limits.wall = longestLife;
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
    if (device.kind == device::Kind::cpu) {
        CUDA_AGENT_ASSIGN(library, toolchain::hostLibrary(options.checked));
        policy.mounts.push_back({library, insideHostLayer});
        if (options.checked) // it sees what is allocated
            policy.environment.emplace_back("LD_PRELOAD", insideHostLayer);
    } else if (std::error_code missing;
               form == Form::workspace &&
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
    policy.mounts.insert(policy.mounts.end(), options.mounts.begin(), options.mounts.end());
    return policy;
}

Result<std::unique_ptr<plan::LinkedCandidate>> startWorker(const sandbox::Policy &policy,
                                                           const device::Info &device,
                                                           const ProcessOptions &options,
                                                           std::shared_ptr<const void> keeps,
                                                           std::stop_token stop) {
    auto argv = options.launcher;
    argv.insert(argv.end(), {pythonProgram().string(), "-I", "/reference/modules/main.py"});
    CUDA_AGENT_ASSIGN(process, sandbox::start(policy, argv));
    plan::LinkOptions link{"module worker", options.callTimeout};
    if (device.kind == device::Kind::cuda)
        link.callOverhead = pythonCallSeconds;
    if (!options.launcher.empty())
        link.linger = plan::launcherLinger;
    link.keeps = std::move(keeps);
    return std::make_unique<plan::LinkedCandidate>(std::move(process), std::vector<plan::Slot>{},
                                                   plan::Signature{}, std::move(link),
                                                   std::move(stop));
}

} // namespace

Result<Launched> launch(const task::Spec &spec, const device::Info &device,
                        const ProcessOptions &options, std::stop_token stop) {
    // In the cache: programs may not be allowed to load libraries from the temporary folder.
    const auto root = cacheDir() / "workers";
    toolchain::BinaryCache(root).prune(mostFolders);
    CUDA_AGENT_ASSIGN(made, TemporaryFolder::make("worker", root));
    const auto folder = std::make_shared<const TemporaryFolder>(std::move(made));
    const auto candidate = folder->path() / "candidate";
    std::error_code error;
    fs::create_directory(candidate, error);
    if (error)
        return machineError("cannot create {}: {}", candidate.string(), error.message());
    CUDA_AGENT_ASSIGN(policy,
                      policyOf(spec, device, options, folder->path() / "cache", Form::workspace));
    policy.mounts.push_back({candidate, fs::path(insideModel).parent_path()});
    CUDA_AGENT_ASSIGN(link, startWorker(policy, device, options, folder, std::move(stop)));
    return Launched{std::move(link), candidate};
}

Result<void> place(const Compiled &compiled, const Launched &launched) {
    CUDA_AGENT_TRY(writeFileAtomically(launched.candidate / modelFile,
                                       compiled.candidate->files.at(modelFile)));
    std::error_code error;
    fs::copy_file(compiled.extension, launched.candidate / extensionFile, error);
    if (error)
        return machineError("cannot copy {} to {}: {}", compiled.extension.string(),
                            launched.candidate.string(), error.message());
    return {};
}

Result<Launched> launchSingleFile(const Compiled &compiled, const task::Spec &spec,
                                  const device::Info &device, const ProcessOptions &options,
                                  std::stop_token stop) {
    const auto folder = ownFolder(*compiled.candidate, device);
    CUDA_AGENT_ASSIGN(policy, policyOf(spec, device, options, folder / "cache", Form::singleFile));
    const auto model = folder / modelFile;
    CUDA_AGENT_TRY(writeFileAtomically(model, compiled.candidate->files.at(modelFile)));
    toolchain::BinaryCache(folder.parent_path()).prune(mostFolders); // those used longest ago
    policy.mounts.push_back({model, insideModel});
    CUDA_AGENT_ASSIGN(link, startWorker(policy, device, options, nullptr, std::move(stop)));
    return Launched{std::move(link), {}};
}

} // namespace cuda_agent::modules
