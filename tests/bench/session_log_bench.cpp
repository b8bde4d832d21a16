// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Usage: session_log_bench [EVENTS] [RUNS]
// Writes a session of EVENTS events (10000) as the planner's sessions look, opens and folds it
// RUNS times (21) and prints the median, best and worst times.
#include "core/session/log.h"
#include "core/session/state.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace cuda_agent;
using session::EventType;

std::string kernelText(int lines) {
    std::string text = "// Usage: softmax over rows\n// v3: one warp per row, because 128 fits\n";
    for (int i = 0; i < lines; ++i)
        text += fmt::format("    const float value{} = __expf(row[{}] - \"maximum\"[0]) * scale;\n",
                            i, i * 32);
    return text;
}

Json verdict(int turn) {
    Json checks = Json::array();
    for (int i = 0; i < 9; ++i)
        checks.push_back({{"name", "random inputs"},
                          {"passed", true},
                          {"detail", "error 0.31 of what is allowed"},
                          {"evidence", {{"case", "random 1"}, {"error", 1.25e-7 * turn}}}});
    const Json times = {{"seconds", 1.234567e-4 / turn}, {"low", 1.2e-4}, {"high", 1.3e-4}};
    return {{"verdict",
             {{"compiled", true},
              {"correct", true},
              {"reward", 2},
              {"times", {{"candidate", times}, {"eager", times}, {"compile", times}}},
              {"checks", checks}}},
            {"candidate", {{"plan.json", std::string(64, 'a')}, {"k.cu", std::string(64, 'b')}}}};
}

Result<void> writeSession(const std::filesystem::path &folder, int events) {
    CUDA_AGENT_ASSIGN(log, session::Log::create(folder));
    const std::pair<EventType, Json> parts[] = {
        {EventType::turnStarted, Json::object()},
        {EventType::thought,
         {{"text", "The row fits into one warp’s registers, so I expect one pass over memory, "
                   "about 1.1 times the copy time; last turn lost 12 % to a second read."}}},
        {EventType::action,
         {{"id", "a"},
          {"tool", "Write"},
          {"arguments", {{"path", "kernels/k.cu"}, {"content", kernelText(22)}}}}},
        {EventType::fileWritten,
         {{"path", "kernels/k.cu"},
          {"blob", std::string(64, 'b')},
          {"bytes", 1700},
          {"author", "policy"}}},
        {EventType::observation,
         {{"id", "a"}, {"ok", true}, {"text", "written"}, {"data", {{"bytes", 1700}}}}},
        {EventType::action, {{"id", "b"}, {"tool", "Verify"}, {"arguments", Json::object()}}},
        {EventType::compiled,
         {{"ok", true},
          {"diagnostics", Json::array()},
          {"seconds", 0.071},
          {"kernels", {{{"name", "k"}, {"registers", 40}}}}}},
        {EventType::verdictGiven, Json()},
        {EventType::observation,
         {{"id", "b"},
          {"ok", true},
          {"text", "correct, 0.21 ms, 1.31 times compile"},
          {"data", verdict(1)}}},
        {EventType::turnEnded, Json::object()}};
    for (int i = 0; i < events; ++i) {
        const int turn = i / static_cast<int>(std::size(parts)) + 1;
        const auto &[type, data] = parts[static_cast<std::size_t>(i) % std::size(parts)];
        // Durable appends are not what is measured here.
        const bool judged = type == EventType::verdictGiven;
        CUDA_AGENT_TRY(log.append(type, turn, judged ? verdict(turn) : data));
    }
    return {};
}

int run(int events, int runs) {
    std::string name = (std::filesystem::temp_directory_path() / "session-bench-XXXXXX").string();
    if (!::mkdtemp(name.data()))
        return 3;
    const std::filesystem::path folder = name;
    std::vector<double> seconds;
    auto result = writeSession(folder, events);
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
