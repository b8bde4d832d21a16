// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/trace/sample_session.h"

#include <algorithm>

namespace cuda_agent::widgets::sample {

using session::EventType;

Events &Events::add(EventType type, int turn, Json data) {
    const auto sequence = std::int64_t(all.size());
    all.push_back({sequence, 1'000'000 + gap_ * double(sequence), type, turn, std::move(data)});
    return *this;
}

Events &Events::prelude() {
    add(EventType::sessionStarted, 0,
        {{"task", {{"name", "softmax"}, {"file", "tasks/softmax.py"}}},
         {"device", {{"name", "Test Device"}, {"architecture", "sm_90"}}},
         {"numerics", "default"},
         {"policy", "planner"},
         {"turns", 20}});
    const Json tensor = {{{"name", "in0"}, {"dtype", "float32"}, {"shape", {2048, 1000}}}};
    add(EventType::taskDescribed, 0,
        {{"inputs", tensor},
         {"outputs", tensor},
         {"counted_bytes", 16384000},
         {"graph", {{"nodes", {{{"op", "placeholder"}}, {{"op", "aten._softmax.default"}}}}}}});
    return add(EventType::baselinesMeasured, 0,
               {{"eager", {{"seconds", 0.0022}, {"low", 0.0021}, {"high", 0.0023}}},
                {"compile", {{"seconds", 0.0019}, {"low", 0.0018}, {"high", 0.0020}}},
                {"problems", {{"compile_max_autotune", "not asked for"}}}});
}

Events &Events::turn(int number, bool correct, int lines, bool ends) {
    const std::string id = std::to_string(number);
    add(EventType::turnStarted, number, Json::object());
    add(EventType::thought, number,
        {{"text", "Turn " + id + ": a thread takes a whole row, 2048 elements at a time."}});
    std::string content;
    for (int line = 0; line < lines; ++line)
        content += "// line " + std::to_string(line) + " of turn " + id + "\n";
    add(EventType::action, number,
        {{"id", id + "-1"},
         {"tool", "Write"},
         {"arguments", {{"path", "kernels/row.cu"}, {"content", content}}}});
    add(EventType::fileWritten, number,
        {{"path", "kernels/row.cu"}, {"blob", "0"}, {"bytes", content.size()}});
    add(EventType::observation, number,
        {{"id", id + "-1"}, {"ok", true}, {"seconds", 0.0008}, {"text", "wrote kernels/row.cu"}});
    add(EventType::action, number,
        {{"id", id + "-2"}, {"tool", "Verify"}, {"arguments", {{"strength", "training"}}}});
    add(EventType::compiled, number, {{"ok", true}, {"seconds", 0.4}});
    Json verdict = {{"compiled", true}, {"correct", correct}, {"reward", correct ? 3 : -1}};
    if (correct) {
        verdict["times"]["candidate"] = {{"seconds", 0.0017}};
        verdict["speedup"] = {{"eager", 1.28}, {"compile", 1.10}};
    }
    add(EventType::verdictGiven, number, {{"verdict", verdict}});
    add(EventType::observation, number,
        {{"id", id + "-2"},
         {"ok", correct},
         {"seconds", 1.07},
         {"text", correct
                      ? "correct, reward 3: 1.715 ms"
                      : "wrong: case 'random 1', index [120,972]: expected 10.756, got 0.724"}});
    return ends ? add(EventType::turnEnded, number, Json::object()) : *this;
}

SessionIndex indexOf(const std::vector<session::Event> &events, std::size_t first,
                     std::size_t end) {
    SessionIndex index;
    for (std::size_t i = first; i < std::min(end, events.size()); ++i)
        index.append(events[i]);
    return index;
}

SessionIndex big(int events) {
    Events made;
    made.prelude();
    for (int turn = 1; int(made.all.size()) < events; ++turn)
        made.turn(turn, turn % 3 != 0, 60);
    made.all.resize(std::size_t(events));
    // Moved, not copied: to free half a million pieces of memory makes the next allocation slow.
    SessionIndex index;
    for (session::Event &event : made.all)
        index.append(std::move(event));
    return index;
}

} // namespace cuda_agent::widgets::sample
