// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/sample_session.h"

#include "core/session/log.h"

namespace cuda_agent::bench {

namespace {

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

} // namespace

Result<void> writeSampleSession(const std::filesystem::path &folder, int events) {
    CUDA_AGENT_ASSIGN(log, session::Log::create(folder));
    CUDA_AGENT_ASSIGN(blob, log.putBlob(kernelText(22)));
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
          {"blob", blob}, {"bytes", kernelText(22).size()},
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

} // namespace cuda_agent::bench
