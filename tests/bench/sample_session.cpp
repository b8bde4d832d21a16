// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/sample_session.h"

#include "core/session/log.h"

namespace cuda_agent::bench {

namespace {

using session::EventType;

std::string kernelText(int turn) {
    std::string text =
        fmt::format("// Launched as plan.json says. Version {}: one warp a row.\n"
                    "extern \"C\" __global__ void softmax(const float *in0, float *out0,"
                    "\n                                   int rows, int columns) {{\n",
                    turn);
    for (int i = 0; i < 20; ++i)
        text += fmt::format("    const float value{} = __expf(in0[threadIdx.x + {}] - 1.0f);\n", i,
                            i * 32);
    return text + "    out0[threadIdx.x] = value0;\n}\n";
}

Json times(double seconds) {
    return {
        {"seconds", seconds}, {"low", 0.99 * seconds}, {"high", 1.02 * seconds}, {"samples", 30}};
}

constexpr double eagerSeconds = 4e-4;
constexpr double compileSeconds = 2.5e-4;
constexpr double bytes = 1 << 28;

Json verdict(int turn) {
    Json checks = Json::array();
    for (int i = 0; i < 9; ++i)
        checks.push_back({{"name", "random inputs"},
                          {"passed", true},
                          {"detail", "error 0.31 of what is allowed"},
                          {"evidence", {{"case", "random 1"}, {"error", 1.25e-7 * turn}}}});
    const double seconds = 1.2e-4 + 2e-4 / turn;
    return {{"compiled", true},
            {"correct", true},
            {"reward", seconds * 1.05 < compileSeconds ? 3 : 2},
            {"strength", "training"},
            {"device", "cuda"},
            {"numerics", "default"},
            {"times",
             {{"candidate", times(seconds)},
              {"eager", times(eagerSeconds)},
              {"compile", times(compileSeconds)}}},
            {"speedup", {{"eager", eagerSeconds / seconds}, {"compile", compileSeconds / seconds}}},
            {"limit_seconds", 1.1e-4},
            {"limited_by", "memory"},
            {"fraction_of_limit", 1.1e-4 / seconds},
            {"seconds", 0.5},
            {"checks", checks}};
}

Result<void> writeHead(session::Log &log) {
    CUDA_AGENT_ASSIGN(task, log.putBlob("import torch\n\n\nclass Model(torch.nn.Module):\n"
                                        "    def forward(self, x):\n"
                                        "        return torch.softmax(x, dim=-1)\n"));
    CUDA_AGENT_TRY(
        log.append(EventType::sessionStarted, 0,
                   {{"task", {{"name", "softmax"}, {"file", "softmax.py"}, {"blob", task}}},
                    {"policy", "planner"},
                    {"numerics", "default"},
                    {"turns", 20},
                    {"device", {{"kind", "cuda"}, {"name", "NVIDIA H200"}}}}));
    CUDA_AGENT_TRY(
        log.append(EventType::taskDescribed, 0,
                   {{"name", "softmax"}, {"counted_bytes", bytes}, {"matmul_flops", 4e9}}));
    CUDA_AGENT_TRY(log.append(
        EventType::baselinesMeasured, 0,
        {{"eager", times(eagerSeconds)},
         {"compile", times(compileSeconds)},
         {"ceilings",
          {{"copy_bytes_per_second", 4.2e12},
           {"fp32_flops_per_second", 5.5e13},
           {"tf32_flops_per_second", 4.4e14},
           {"half_flops_per_second", 7.5e14},
           {"levels",
            {{{"name", "L1/shared"}, {"bytes", 30'818'304}, {"bytes_per_second", 3.3e13}},
             {{"name", "L2"}, {"bytes", 62'914'560}, {"bytes_per_second", 6.5e12}}}}}}}));
    return {};
}

Result<void> writeTurn(session::Log &log, int turn, int events) {
    const std::string kernel = kernelText(turn % 50);
    CUDA_AGENT_ASSIGN(blob, log.putBlob(kernel));
    const Json judged = {{"verdict", verdict(turn)}, {"candidate", {{"kernels/k.cu", blob}}}};
    const std::string write = fmt::format("{}-1", turn);
    const std::string verify = fmt::format("{}-2", turn);
    const std::pair<EventType, Json> parts[] = {
        {EventType::turnStarted, {{"author", "policy"}}},
        {EventType::thought,
         {{"text", "The row fits into one warp’s registers, so I expect one pass over memory, "
                   "about 1.1 times the copy time; last turn lost 12 % to a second read."}}},
        {EventType::action,
         {{"id", write},
          {"tool", "Write"},
          {"arguments", {{"path", "kernels/k.cu"}, {"content", kernel}}}}},
        {EventType::fileWritten,
         {{"path", "kernels/k.cu"},
          {"blob", blob},
          {"bytes", kernel.size()},
          {"author", "policy"}}},
        {EventType::observation,
         {{"id", write}, {"ok", true}, {"text", "written"}, {"seconds", 0.001}}},
        {EventType::action, {{"id", verify}, {"tool", "Verify"}, {"arguments", Json::object()}}},
        {EventType::compiled,
         {{"ok", true},
          {"diagnostics",
           {{{"severity", "warning"},
             {"file", "kernels/k.cu"},
             {"line", 2},
             {"column", 74},
             {"message", "parameter \"rows\" was declared but never referenced"}}}},
          {"seconds", 0.071},
          {"kernels", {{{"name", "softmax"}, {"registers", 40}}}}}},
        {EventType::verdictGiven, judged},
        {EventType::observation,
         {{"id", verify},
          {"ok", true},
          {"text", fmt::format("correct, {:.2f}x torch.compile",
                               judged["verdict"]["speedup"]["compile"].get<double>())},
          {"data", judged},
          {"seconds", 0.5}}},
        {EventType::turnEnded, Json::object()}};
    // Durable appends are not what is measured here.
    for (int i = 0; i < std::min(events, static_cast<int>(std::size(parts))); ++i)
        CUDA_AGENT_TRY(log.append(parts[i].first, turn, parts[i].second));
    return {};
}

} // namespace

Result<void> writeSampleSession(const std::filesystem::path &folder, int events) {
    constexpr int ofHead = 3;
    constexpr int ofTurn = 10;
    CUDA_AGENT_ASSIGN(log, session::Log::create(folder));
    CUDA_AGENT_TRY(writeHead(log));
    for (int written = ofHead; written < events; written += ofTurn)
        CUDA_AGENT_TRY(writeTurn(log, (written - ofHead) / ofTurn + 1, events - written));
    return {};
}

} // namespace cuda_agent::bench
