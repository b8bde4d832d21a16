// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Seconds that processes take to open the first GPU and to leave it, 1 to 32 at once: what every
// fresh process for a candidate costs at least.
//
// usage: gpu_contexts_bench; exit code 3 without a driver

#include <array>
#include <chrono>
#include <cstdio>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using Clock = std::chrono::steady_clock;
using Call = int (*)(...);

double since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// In a process of its own.
struct Opened {
    double init = 0, context = 0, release = 0;
    int error = -1;
};

Opened open() {
    Opened opened;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == nullptr)
        return opened;
    const auto call = [&](const char *name) { return reinterpret_cast<Call>(dlsym(driver, name)); };
    auto begin = Clock::now();
    opened.error = call("cuInit")(0);
    opened.init = since(begin);
    begin = Clock::now();
    void *context = nullptr;
    opened.error |= call("cuDevicePrimaryCtxRetain")(&context, 0);
    opened.context = since(begin);
    begin = Clock::now();
    opened.error |= call("cuDevicePrimaryCtxRelease_v2")(0);
    opened.release = since(begin);
    return opened;
}

/// False where one could not.
bool measure(int processes) {
    std::array<int, 2> channel{};
    if (pipe(channel.data()) != 0)
        return false;
    const auto begin = Clock::now();
    for (int i = 0; i < processes; ++i)
        if (fork() == 0) {
            const Opened opened = open();
            _exit(write(channel[1], &opened, sizeof opened) == sizeof opened ? 0 : 1);
        }
    Opened sum;
    bool all = true;
    for (int i = 0; i < processes; ++i) {
        Opened one;
        all = read(channel[0], &one, sizeof one) == sizeof one && one.error == 0 && all;
        sum.init += one.init;
        sum.context += one.context;
        sum.release += one.release;
    }
    while (wait(nullptr) > 0) {
    }
    close(channel[0]);
    close(channel[1]);
    const double seconds = since(begin);
    std::printf("%2d at once: %5.2f s, %4.1f a second; in the mean cuInit %.3f s, context %.3f s, "
                "release %.3f s\n",
                processes, seconds, processes / seconds, sum.init / processes,
                sum.context / processes, sum.release / processes);
    std::fflush(stdout);
    return all;
}

} // namespace

int main() {
    for (const int processes : {1, 4, 8, 16, 32})
        if (!measure(processes)) {
            std::fprintf(stderr, "no GPU can be opened\n");
            return 3;
        }
    return 0;
}
