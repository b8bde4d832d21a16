// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// What a sandbox costs: the time of running /usr/bin/true bare and sandboxed.
// Usage: sandbox_bench [repetitions]

#include "core/sandbox/sandbox.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <tuple>
#include <vector>

namespace {

struct Times {
    double median = -1;
    double fastest = -1; ///< what a busy machine disturbs least
};

template <typename Work>
Times milliseconds(int repetitions, Work work) {
    std::vector<double> times;
    for (int i = 0; i < repetitions; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        if (!work())
            return {};
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - begin;
        times.push_back(took.count());
    }
    std::sort(times.begin(), times.end());
    return {times[static_cast<std::size_t>(repetitions / 2)], times.front()};
}

bool runBare() {
    char program[] = "/usr/bin/true";
    char *argv[] = {program, nullptr};
    pid_t pid = 0;
    int status = -1;
    return ::posix_spawn(&pid, program, nullptr, nullptr, argv, environ) == 0 &&
           ::waitpid(pid, &status, 0) == pid && status == 0;
}

bool runSandboxed() {
    cuda_agent::sandbox::Policy policy;
    policy.name = "bench";
    const auto record = cuda_agent::sandbox::run(policy, {"/usr/bin/true"});
    if (!record)
        fmt::print(stderr, "{}\n", record.error().message);
    return record && record->clean();
}

} // namespace

int main(int argc, char **argv) {
    const int repetitions = std::max(1, argc > 1 ? std::atoi(argv[1]) : 100);
    const auto support = cuda_agent::sandbox::probe();
    for (const auto &reason : support.unenforced)
        fmt::print("not enforced: {}\n", reason);
    const auto bare = milliseconds(repetitions, runBare);
    const auto sandboxed = milliseconds(repetitions, runSandboxed);
    if (bare.median < 0 || sandboxed.median < 0)
        return 1;
    for (const auto &[name, one, other] : {std::tuple{"median", bare.median, sandboxed.median},
                                           std::tuple{"fastest", bare.fastest, sandboxed.fastest}})
        fmt::print("{} of {}: bare {:.2f} ms, sandboxed {:.2f} ms, added {:.2f} ms\n", name,
                   repetitions, one, other, other - one);
    return 0;
}
