# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recurrent layers of a graph: products over all steps at once, and one operator for what goes from
step to step, which PyTorch writes out step by step.

`cuda_agent.recurrence(kind, gates, weights, input_biases, hidden_biases, hx, cx)` is one layer in one
direction or two. kind: "lstm", "gru", "rnn_tanh", "rnn_relu", of 4, 3, 1 and 1 gates in the order of
torch.nn. Of each direction: gates [steps, batch, gates * hidden], what the input gives, weights
[gates * hidden, hidden], biases [gates * hidden] or none. hx and, for "lstm", cx are [directions,
batch, hidden]. Results: [steps, batch, directions * hidden], and the last cells [directions, batch,
hidden] (elements: none but for "lstm").
"""

import torch

from .forward import gru_cell, lstm_cell

aten = torch.ops.aten

# What the planner's kernels keep on a multiprocessor, and what is worth a kernel of its own.
FEWEST_STEPS, MOST_HIDDEN, MOST_STATE = 8, 2048, 24576

library = torch.library.Library("cuda_agent", "DEF")
library.define("recurrence(str kind, Tensor[] gates, Tensor[] weights, Tensor[] input_biases, "
               "Tensor[] hidden_biases, Tensor hx, Tensor? cx) -> (Tensor, Tensor)")


def recurrence(kind, gates, weights, input_biases, hidden_biases, hx, cx):
    """By its definition."""
    steps = gates[0].shape[0]
    outputs, cells = [], []
    for d, (given, weight) in enumerate(zip(gates, weights)):
        state, cell = hx[d], cx[d] if kind == "lstm" else None
        found = [None] * steps
        for t in reversed(range(steps)) if d else range(steps):
            x, h = given[t], state @ weight.t()
            if input_biases:
                x, h = x + input_biases[d], h + hidden_biases[d]
            state, cell = step(kind, x, h, state, cell)
            found[t] = state
        outputs.append(torch.stack(found))
        cells.append(cell)
    return (torch.cat(outputs, 2),
            torch.stack(cells) if kind == "lstm" else gates[0].new_empty(0))


def step(kind, x, h, state, cell):
    if kind == "lstm":
        return lstm_cell(x, h, cell)[:2]
    if kind == "gru":
        return gru_cell(x, h, state)[0], None
    return (x + h).tanh() if kind == "rnn_tanh" else (x + h).relu(), None


def shapes(kind, gates, weights, input_biases, hidden_biases, hx, cx):
    steps, batch = gates[0].shape[:2]
    directions, _, hidden = hx.shape
    return (gates[0].new_empty(steps, batch, directions * hidden),
            gates[0].new_empty((directions, batch, hidden) if kind == "lstm" else (0,)))


library.impl("recurrence", recurrence, "CompositeExplicitAutograd")
torch.library.register_fake("cuda_agent::recurrence", shapes, lib=library)


def layers(kind, x, hx, cx, params, has_biases, num_layers, bidirectional, batch_first):
    """Output and last states of torch.nn.LSTM, GRU and RNN in evaluation mode."""
    directions, each = 2 if bidirectional else 1, 4 if has_biases else 2
    if batch_first:
        x = x.transpose(0, 1)
    hidden, states, cells = hx.shape[2], [], []
    for layer in range(num_layers):
        steps, batch = x.shape[:2]
        own = [params[(layer * directions + d) * each:][:each] for d in range(directions)]
        part = slice(layer * directions, (layer + 1) * directions)
        flat = x.reshape(steps * batch, x.shape[2])
        gates = [aten.mm(flat, group[0].t()).reshape(steps, batch, -1) for group in own]
        x, cell = torch.ops.cuda_agent.recurrence(
            kind, gates, [group[1] for group in own], [group[2] for group in own if has_biases],
            [group[3] for group in own if has_biases], hx[part], None if cx is None else cx[part])
        states += [x[0 if d else steps - 1, :, d * hidden:(d + 1) * hidden]
                   for d in range(directions)]
        cells.append(cell)
    result = (x.transpose(0, 1) if batch_first else x, torch.stack(states))
    return (*result, torch.cat(cells)) if kind == "lstm" else result


def served(x, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    """Whether the planner has kernels for it."""
    if x.dim() != 3 or x.dtype != torch.float32 or train and dropout > 0:
        return False
    steps, batch = x.shape[1 if batch_first else 0], x.shape[0 if batch_first else 1]
    directions, hidden = 2 if bidirectional else 1, hx.shape[2]
    return (len(params) == num_layers * directions * (4 if has_biases else 2) and
            all(p.dtype == torch.float32 for p in (hx, *params)) and steps >= FEWEST_STEPS and
            hidden % 4 == 0 and hidden <= MOST_HIDDEN and batch * hidden <= MOST_STATE)


def formulas(others):
    """Of recurrent layers; `others` has what is done where the planner has no kernels."""
    def lstm(x, hx, params, *rest):
        if len(hx) == 2 and served(x, hx[0], params, *rest) and hx[1].shape == hx[0].shape:
            return layers("lstm", x, hx[0], hx[1], params, *rest[:2], *rest[4:])
        return others[aten.lstm.input](x, hx, params, *rest)

    def plain(kind):
        def formula(x, hx, params, *rest):
            if served(x, hx, params, *rest):
                return layers(kind, x, hx, None, params, *rest[:2], *rest[4:])
            return others[getattr(aten, kind).input](x, hx, params, *rest)
        return formula

    return {aten.lstm.input: lstm} | {
        getattr(aten, kind).input: plain(kind) for kind in ("gru", "rnn_tanh", "rnn_relu")}
