// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/reference/launch.h"

#include "core/base/hash.h"
#include "core/base/paths.h"

#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <thread>

namespace cuda_agent::reference {

namespace fs = std::filesystem;

namespace {

// torch.compile starts pools of processes and threads; a fork bomb still ends here.
constexpr int mostProcesses = 4096;
// Tensors are files in memory to the kernel.
constexpr std::uint64_t largestFile = 64ull << 30;
constexpr std::uint64_t scratchBytes = 4ull << 30;
// Up to this many threads, starting a pool of compile processes costs more than it saves: each
// imports Triton.
constexpr unsigned fewThreads = 4;

bool under(const fs::path &path, const fs::path &folder) {
    return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
           folder.end();
}

/// The value of `key = value` in pyvenv.cfg, or empty.
std::string configured(const std::string &text, std::string_view key) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        const auto equals = line.find('=');
        if (equals == line.npos)
            continue;
        const auto trim = [](std::string part) {
            const auto first = part.find_first_not_of(" \t\r");
            const auto last = part.find_last_not_of(" \t\r");
            return first == part.npos ? std::string() : part.substr(first, last - first + 1);
        };
        if (trim(line.substr(0, equals)) == key)
            return trim(line.substr(equals + 1));
    }
    return {};
}

/// A share of the machine's memory, so that the limit protects small machines too.
std::uint64_t memoryLimit(std::uint64_t wanted) {
    const auto pages = ::sysconf(_SC_PHYS_PAGES);
    const auto size = ::sysconf(_SC_PAGE_SIZE);
    if (pages <= 0 || size <= 0)
        return wanted;
    return std::min(wanted,
                    static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size) / 4 * 3);
}

} // namespace

void showFolder(std::vector<sandbox::Mount> &mounts, const fs::path &folder) {
    std::error_code error;
    const auto real = fs::canonical(folder, error);
    if (error)
        return;
    for (const auto &inside : {folder, real}) {
        const bool known = std::any_of(mounts.begin(), mounts.end(), [&](const auto &mount) {
            return under(inside, mount.inside);
        });
        if (!known && !under(inside, "/usr"))
            mounts.push_back({real, inside, false});
    }
}

Result<std::vector<sandbox::Mount>> pythonMounts(const fs::path &program) {
    std::error_code error;
    if (program.empty() || !fs::exists(program, error))
        return machineError("no Python with PyTorch{}; run {}, or set CUDA_AGENT_PYTHON to a "
                            "Python that has PyTorch 2.11",
                            program.empty() ? "" : " at " + program.string(), setupCommand());
    std::vector<sandbox::Mount> mounts;
    const auto root = program.parent_path().parent_path();
    const auto config = root / "pyvenv.cfg";
    if (fs::exists(config, error)) {
        showFolder(mounts, root);
        CUDA_AGENT_ASSIGN(text, readTextFile(config, 1u << 20));
        if (const fs::path home = configured(text, "home"); home.is_absolute())
            showFolder(mounts, home.filename() == "bin" ? home.parent_path() : home);
    } else {
        showFolder(mounts, root);
    }
    // The interpreter may be a link out of both.
    const auto real = fs::canonical(program, error);
    if (!error && real.parent_path().filename() == "bin")
        showFolder(mounts, real.parent_path().parent_path());
    for (const auto &mount : mounts)
        if (mount.inside == "/" || mount.inside == "/tmp" || mount.inside == "/etc")
            return machineError("the Python {} belongs to the folder {}, which cannot be shown to "
                                "a sandbox; use one in a virtual environment",
                                program.string(), mount.inside.string());
    return mounts;
}

Result<sandbox::Policy> pythonPolicy(const device::Info &device, const fs::path &cache,
                                     std::uint64_t hostMemoryBytes, unsigned threads) {
    sandbox::Policy policy;
    CUDA_AGENT_ASSIGN(mounts, pythonMounts(pythonProgram()));
    policy.mounts = std::move(mounts);
    std::error_code error;
    fs::create_directories(cache, error);
    if (error)
        return machineError("cannot create the compile cache {}: {}", cache.string(),
                            error.message());
    policy.mounts.push_back({fs::absolute(cache), "/cache", true});

    const auto all = std::max(1u, std::thread::hardware_concurrency());
    threads = threads == 0 ? all : std::min(threads, all);
    policy.environment = {{"OMP_NUM_THREADS", std::to_string(threads)},
                          {"TMPDIR", "/tmp"},
                          {"USER", "agent"},
                          {"TORCHINDUCTOR_CACHE_DIR", "/cache/inductor"},
                          {"TRITON_CACHE_DIR", "/cache/triton"}};
    if (threads <= fewThreads || threads < all)
        policy.environment.emplace_back("TORCHINDUCTOR_COMPILE_THREADS",
                                        std::to_string(threads <= fewThreads ? 1 : threads));
    if (device.kind == device::Kind::cuda) {
        policy.gpu = device.index;
        if (const auto toolkit = cudaToolkitDir(); !toolkit.empty()) {
            showFolder(policy.mounts, toolkit);
            policy.environment.emplace_back("CUDA_HOME", toolkit.string());
        }
    }
    policy.limits.wall = {}; // every request has a limit of its own
    policy.limits.memoryBytes = memoryLimit(hostMemoryBytes);
    policy.limits.processes = mostProcesses;
    policy.limits.fileBytes = largestFile;
    policy.limits.scratchBytes = scratchBytes;
    return policy;
}

Result<Launch> prepareLaunch(const task::Spec &spec, const device::Info &device,
                             const Options &options) {
    Launch launch;
    const auto program = pythonProgram();
    CUDA_AGENT_ASSIGN(text, readTextFile(spec.file, 4u << 20));
    const auto key =
        sha256Hex(fmt::format("{}\n{}\n{}", program.string(), device.name, text)).substr(0, 32);
    const unsigned threads = device.kind == device::Kind::cuda ? options.threads : 0;
    const auto cache = options.stock ? options.stock->cache() : cacheDir() / "inductor" / key;
    CUDA_AGENT_ASSIGN(policy, pythonPolicy(device, cache, options.hostMemoryBytes, threads));
    launch.policy = std::move(policy);
    launch.policy.name = "task";

    std::error_code error;
    const auto worker = shareDir() / "worker";
    if (!fs::exists(worker / "main.py", error))
        return machineError("the reference worker is missing at {}; build or install the program "
                            "again",
                            worker.string());
    launch.policy.mounts.push_back({worker, "/reference/worker", false});
    launch.taskFile = "/task/" + spec.file.filename().string();
    if (options.stock)
        launch.taskText = std::move(text);
    else
        launch.policy.mounts.push_back({spec.file, launch.taskFile, false});
    // -I: nothing of the user's Python settings and folders takes part.
    launch.argv = {program.string(), "-I", "/reference/worker/main.py"};
    return launch;
}

} // namespace cuda_agent::reference
