// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Usage: session_log_bench [EVENTS] [RUNS]
// Writes a session of EVENTS events (10000) as the planner's sessions look, opens and folds it
// RUNS times (21) and prints the median, best and worst times.
#include "core/session/log.h"
#include "core/session/state.h"
#include "tests/bench/sample_session.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace cuda_agent;
int run(int events, int runs) {
    std::string name = (std::filesystem::temp_directory_path() / "session-bench-XXXXXX").string();
    if (!::mkdtemp(name.data()))
        return 3;
    const std::filesystem::path folder = name;
    std::vector<double> seconds;
    auto result = bench::writeSampleSession(folder, events);
    const auto bytes = std::filesystem::file_size(folder / "session.jsonl");
    int turns = 0;
    for (int i = 0; i < runs && result; ++i) {
        const auto start = std::chrono::steady_clock::now();
        auto contents = session::readLog(folder);
        if (!contents) {
            result = tl::unexpected(contents.error());
            break;
        }
        const session::State state = session::fold(contents->events);
        turns = static_cast<int>(state.turns.size());
        seconds.push_back(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::filesystem::remove_all(folder);
    if (!result) {
        std::fprintf(stderr, "%s\n", result.error().message.c_str());
        return cuda_agent::exitCode(result.error().kind);
    }
    std::sort(seconds.begin(), seconds.end());
    std::printf("%d events, %d turns, %.1f MB: open and fold median %.1f ms (%.1f to %.1f, %d "
                "runs)\n",
                events, turns, static_cast<double>(bytes) * 1e-6, seconds[seconds.size() / 2] * 1e3,
                seconds.front() * 1e3, seconds.back() * 1e3, runs);
    return 0;
}

} // namespace

int main(int argc, char **argv) {
    const int events = argc > 1 ? std::atoi(argv[1]) : 10'000;
    const int runs = argc > 2 ? std::atoi(argv[2]) : 21;
    if (events < 1 || runs < 1) {
        std::fprintf(stderr, "usage: session_log_bench [EVENTS] [RUNS]\n");
        return 2;
    }
    return run(events, runs);
}
