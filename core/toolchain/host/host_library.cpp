// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// libcuda-agent-host.so: what compiled module candidates call to launch their kernels.

#include "core/toolchain/host/abi.h"
#include "core/toolchain/host/fiber_block.h"
#include "core/toolchain/host/launch_watch.h"
#include "core/toolchain/host/left_out.h"
#include "core/toolchain/host/scheduler.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

namespace host = cuda_agent::toolchain::host;

namespace {

// Of cudaError_t.
constexpr int invalidValue = 1;
constexpr int invalidConfiguration = 9;
constexpr int launchFailure = 719;

// What a GPU takes, whatever this machine could do.
constexpr std::uint32_t mostShared = 227u << 10;
constexpr std::array<std::uint32_t, 3> mostBlocks{0x7fffffffu, 65535, 65535};
constexpr std::array<std::uint32_t, 3> mostThreads{1024, 1024, 64};

std::atomic<int> lastError{0};

struct Fault {
    std::mutex mutex;
    std::string text;
    bool there = false;
};
Fault &fault() {
    static auto *instance = new Fault; // launches may outlive main()
    return *instance;
}

int problemOf(const CudaAgentHostLaunch &launch) {
    std::uint64_t threads = 1;
    for (std::size_t i = 0; i < 3; ++i) {
        if (launch.grid[i] == 0 || launch.block[i] == 0 || launch.grid[i] > mostBlocks[i] ||
            launch.block[i] > mostThreads[i])
            return invalidConfiguration;
        threads *= launch.block[i];
    }
    if (threads > host::maxBlockThreads)
        return invalidConfiguration;
    return launch.sharedBytes > mostShared ? invalidValue : 0;
}

} // namespace

const CudaAgentHostRuntime *cuda_agent_host_runtime(void) {
    return &host::hostRuntime();
}

int cuda_agent_host_set_error(int code) {
    if (code != 0)
        lastError = code;
    return code;
}

int cuda_agent_host_last_error(int clear) {
    return clear ? lastError.exchange(0) : lastError.load();
}

void cuda_agent_host_report(const char *message) {
    auto &kept = fault();
    std::lock_guard lock(kept.mutex);
    if (!kept.there)
        kept.text = message ? message : "";
    kept.there = true;
    lastError = launchFailure;
}

int cuda_agent_host_take_fault(char *message, size_t bytes) {
    auto &kept = fault();
    std::lock_guard lock(kept.mutex);
    if (!kept.there)
        return 0;
    if (message && bytes > 0) {
        const std::size_t size = std::min(kept.text.size(), bytes - 1);
        std::memcpy(message, kept.text.data(), size);
        message[size] = 0;
    }
    kept.there = false;
    return 1;
}

int cuda_agent_host_threads(void) {
    static const int threads = host::hardwareThreads();
    return threads;
}

int cuda_agent_host_launch(const char *file, int line, CudaAgentHostLaunch *launch,
                           CudaAgentHostRunChunk chunk) {
    const auto failed = [&](const std::string &what) {
        cuda_agent_host_report((std::string(file) + ": " + what).c_str());
        return launchFailure;
    };
    if (host::insideLaunch())
        return failed("line " + std::to_string(line) + ": a kernel is launched from a kernel");
    if (const int problem = problemOf(*launch); problem != 0)
        return cuda_agent_host_set_error(problem);
    if (host::leavingOut() && host::leavesOut(std::string(file) + ":" + std::to_string(line)))
        return 0;
    std::array<char, 1024> message{};
    launch->message = message.data();
    launch->messageBytes = message.size();
    launch->runtime = cuda_agent_host_runtime();
    if (!host::watchBegin(file, line, *launch, chunk))
        return cuda_agent_host_set_error(launchFailure);
    const int result = launch->runtime->run(launch, chunk);
    host::watchEnd(message.data());
    return result != 0 ? failed(message.data()) : 0;
}
