// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/bench/memory_need.h"

#include "core/verify/verify.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace cuda_agent::bench {

namespace {

/// Contexts and libraries of the oracle's process, the baselines' and the candidate's.
constexpr std::uint64_t processBytes = 2ull << 30;
/// Weights: PyTorch's, the judge's, and the oracle's, which take twice as much.
constexpr std::uint64_t copiesOfParameters = 4;

std::uint64_t bytesOf(const std::vector<task::Port> &ports) {
    std::uint64_t total = 0;
    for (const auto &port : ports)
        total += port.type.spanBytes();
    return total;
}

/// Operators of ATen whose results show the memory of what they are given.
constexpr std::string_view views[] = {
    "view",   "_unsafe_view", "reshape", "permute",   "transpose",  "t",      "expand",
    "slice",  "select",       "squeeze", "unsqueeze", "unbind",     "detach", "alias",
    "narrow", "split",        "chunk",   "diagonal",  "as_strided", "unfold", "split_with_sizes"};

bool isView(const std::string &op) {
    return op == "getitem" || std::ranges::any_of(views, [&](std::string_view name) {
               return op.starts_with(fmt::format("aten.{}.", name));
           });
}

} // namespace

std::uint64_t liveBytes(const task::Graph &graph) {
    struct Value {
        std::size_t owner; ///< the node whose memory it shows
        std::uint64_t bytes = 0;
        std::size_t lastRead = 0; ///< of an owner's memory
    };
    std::vector<Value> values;
    std::unordered_map<std::string_view, std::size_t> byName;
    for (const auto &node : graph.nodes) {
        const auto at = values.size();
        Value value{at, 0, at};
        std::optional<std::size_t> first;
        task::forEachRead(node, [&](const std::string &name) {
            const auto found = byName.find(name);
            if (found == byName.end())
                return;
            const auto owner = values[found->second].owner;
            values[owner].lastRead = at;
            if (!first)
                first = owner;
        });
        if (first && isView(node.op))
            value.owner = *first;
        else if (node.op != "placeholder")
            for (const auto &type : node.outputs)
                value.bytes += type.spanBytes();
        byName.emplace(node.name, at);
        values.push_back(value);
    }
    for (const auto &name : graph.outputs)
        if (const auto found = byName.find(name); found != byName.end())
            values[values[found->second].owner].lastRead = values.size();
    // What is read last at a node dies after it.
    std::vector<std::uint64_t> dying(values.size() + 1, 0);
    std::uint64_t alive = 0;
    std::uint64_t most = 0;
    for (std::size_t at = 0; at < values.size(); ++at) {
        alive += values[at].bytes;
        dying[values[at].lastRead] += values[at].bytes;
        most = std::max(most, alive);
        alive -= dying[at];
    }
    return most;
}

std::uint64_t memoryNeed(std::uint64_t taskBytes, std::uint64_t caseBytes,
                         verify::Strength strongest) {
    constexpr std::uint64_t oracle = 2; ///< works in twice the precision
    const auto sealed =
        std::max(taskBytes, std::min(caseBytes, taskBytes * verify::mostCases(strongest)));
    return processBytes + sealed + (copiesOfParameters + oracle) * taskBytes;
}

std::uint64_t memoryNeed(const task::Description &description, std::uint64_t caseBytes,
                         verify::Strength strongest) {
    const auto inputs = bytesOf(description.inputs);
    const auto outputs = bytesOf(description.outputs);
    const auto live = std::max(liveBytes(description.graph), outputs);
    const auto one = verify::caseBytes(description);
    const auto sealed = std::max(one, std::min(caseBytes, one * verify::mostCases(strongest)));
    const auto oracle = 3 * inputs + 2 * live; // as drawn, in double, and what comes of that
    const auto candidate = 2 * (inputs + outputs) + live;
    return processBytes + sealed + copiesOfParameters * bytesOf(description.parameters) +
           std::max(oracle, candidate) + inputs + live;
}

} // namespace cuda_agent::bench
