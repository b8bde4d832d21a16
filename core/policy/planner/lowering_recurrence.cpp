// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/lowering.h"

#include <array>

// Recurrent layers: cuda_agent.recurrence of worker/recurrence.py.

namespace cuda_agent::policy {

namespace {

using Views = std::vector<View>;
using task::Node;

/// Memory that holds each tensor of a list, row by row.
Result<std::vector<int>> buffersOf(Lowering &l, const Node &node, std::size_t position) {
    std::vector<int> buffers;
    for (const Json &item : node.args.at(position)) {
        Node one;
        one.args = Json::array({item});
        CUDA_AGENT_ASSIGN(view, l.view(one, 0, "tensor"));
        if (l.dtypeOf(view) != DType::float32)
            return failedError("of {}", nameOf(l.dtypeOf(view)));
        for (const Axes &dimension : view.dims)
            l.require(dimension);
        buffers.push_back(l.bufferOf(view));
    }
    return buffers;
}

Result<Views> recurrence(Lowering &l, const Node &node) {
    constexpr std::size_t lists = 4;
    if (node.args.size() < 1 + lists || node.outputs.size() < 2)
        return failedError("of another form");
    Recurrence r;
    r.cell = node.args.at(0).get<std::string>();
    const std::array<std::vector<int> *, lists> places{&r.gates, &r.weights, &r.inputBiases,
                                                       &r.hiddenBiases};
    for (std::size_t i = 0; i < lists; ++i) {
        CUDA_AGENT_ASSIGN(buffers, buffersOf(l, node, 1 + i));
        *places[i] = std::move(buffers);
    }
    const auto states = [&](std::size_t position) -> Result<int> {
        Node one;
        one.args = Json::array({Json::array({node.args.at(position)})});
        CUDA_AGENT_ASSIGN(buffers, buffersOf(l, one, 0));
        return buffers.at(0);
    };
    CUDA_AGENT_ASSIGN(first, states(1 + lists));
    r.first = first;
    const bool cells = r.cell == "lstm";
    if (cells) {
        CUDA_AGENT_ASSIGN(firstCell, states(2 + lists));
        r.firstCell = firstCell;
    }
    const Shape &shape = node.outputs[0].shape;
    r.steps = shape.at(0);
    r.batch = shape.at(1);
    r.hidden = shape.at(2) / r.directions();
    const std::int64_t elements = r.steps * shape[1] * shape[2];
    const Shape last{r.directions(), r.batch, r.hidden};

    LibraryStep step;
    step.writes = cells ? l.bufferOfParts({elements + shape[1] * shape[2]}, DType::float32)
                        : l.bufferOfParts(shape, DType::float32);
    for (const auto *buffers : places)
        step.reads.insert(step.reads.end(), buffers->begin(), buffers->end());
    step.reads.push_back(r.first);
    if (cells)
        step.reads.push_back(r.firstCell);
    const double gates = cells ? 4 : r.cell == "gru" ? 3 : 1;
    step.operations = 2 * gates * static_cast<double>(elements * r.hidden);
    step.step = {{"kind", "recurrence"},
                 {"cell", r.cell},
                 {"steps", r.steps},
                 {"batch", r.batch},
                 {"hidden", r.hidden},
                 {"directions", r.directions()},
                 {"writes", l.program.buffers[step.writes].name}};
    const int writes = step.writes;
    step.recurrence = std::move(r);
    l.program.library.push_back(std::move(step));
    const View all = l.loadBuffer(writes);
    if (!cells)
        return Views{all, l.constant(0)};
    return Views{l.reshape(l.slice(all, 0, 0, 1, elements), shape),
                 l.reshape(l.slice(all, 0, elements, 1, shape[1] * shape[2]), last)};
}

} // namespace

void addRecurrenceOperators(OperatorTable &table) {
    table["cuda_agent.recurrence.default"] = recurrence;
}

} // namespace cuda_agent::policy
