// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/lowering.h"

#include <array>

// Recurrent layers: cuda_agent.recurrence of worker/recurrence.py.

namespace cuda_agent::policy {

namespace {

using Views = std::vector<View>;
using task::Node;

/// Memory that holds a tensor row by row.
Result<int> bufferOf(Lowering &l, const Json &argument) {
    CUDA_AGENT_ASSIGN(view, l.view(argument, "tensor"));
    if (l.dtypeOf(view) != DType::float32)
        return failedError("of {}", nameOf(l.dtypeOf(view)));
    for (const Axes &dimension : view.dims)
        l.require(dimension);
    return l.bufferOf(view);
}

Result<Views> recurrence(Lowering &l, const Node &node) {
    constexpr std::size_t lists = 4;
    if (node.args.size() < 2 + lists || node.outputs.size() < 2)
        return failedError("of another form");
    Recurrence r;
    r.cell = node.args.at(0).get<std::string>();
    const std::array<std::vector<int> *, lists> places{&r.gates, &r.weights, &r.inputBiases,
                                                       &r.hiddenBiases};
    for (std::size_t i = 0; i < lists; ++i) {
        for (const Json &item : node.args[1 + i]) {
            CUDA_AGENT_ASSIGN(buffer, bufferOf(l, item));
            places[i]->push_back(buffer);
        }
    }
    CUDA_AGENT_ASSIGN(first, bufferOf(l, node.args[1 + lists]));
    r.first = first;
    const bool cells = r.cell == "lstm";
    if (cells) {
        CUDA_AGENT_ASSIGN(firstCell, bufferOf(l, node.args.at(2 + lists)));
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
    step.operations = 2 * static_cast<double>(r.gatesOfUnit() * elements * r.hidden);
    step.step = {{"kind", "recurrence"}, {"writes", l.program.buffers[step.writes].name}};
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
