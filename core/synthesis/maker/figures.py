# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of tensors, which stay on the device until several of them are read in one go.

Each time that a number is asked for, the processor waits for all that was begun on the device, and
on a card that filters share for the turns of the others, too. So what a check wants to know is
computed there, as small tensors, and fetched together.
"""

import math

import torch

from worker.cases import (UNCONSTRAINED, UNCONSTRAINED_INTEGER, bounded, chunks, classes,
                          difference)

HELD = 1 << 26  # bytes of answers that may wait to be compared


def read(tensors):
    """Lists of float64 of one-dimensional tensors, by one transfer."""
    if not tensors:
        return []
    device = tensors[0].device
    flat = torch.cat([tensor.to(device, torch.float64) for tensor in tensors]).tolist()
    lists, start = [], 0
    for tensor in tensors:
        lists.append(flat[start:start + tensor.numel()])
        start += tensor.numel()
    return lists


def flags(values):
    """Booleans of what is one already or a tensor of one element."""
    values = list(values)
    waiting = [i for i, value in enumerate(values) if isinstance(value, torch.Tensor)]
    for i, numbers in zip(waiting, read([values[i].reshape(1) for i in waiting])):
        values[i] = numbers[0]
    return [bool(value) for value in values]


def norms(tensor, dtype=None):
    """The Euclidean and the maximum norm; NaN and infinities reach the second one."""
    if tensor.numel() == 0:
        return torch.zeros(2, dtype=torch.float64, device=tensor.device)
    return torch.stack([torch.linalg.vector_norm(tensor, p, dtype=dtype)
                        for p in (2, math.inf)]).double()


def distance(output, oracle, sizes=False):
    """Norms of output - oracle, with `sizes` those of the oracle behind them. Both are floating and
    of one shape. Of use where all is finite."""
    parts = []
    for got, want in chunks(output, oracle):
        part = norms(got.double() - want)
        parts.append(torch.cat([part, norms(want)]) if sizes else part)
    if len(parts) == 1:
        return parts[0]
    return torch.stack([torch.linalg.vector_norm(column, math.inf if i % 2 else 2)
                        for i, column in enumerate(torch.stack(parts).unbind(1))])


def finite(outputs):
    """Whether all elements of the floating ones are, as a tensor of one element or True."""
    tops = [torch.linalg.vector_norm(output, math.inf).double() for output in outputs
            if output.is_floating_point()]
    return torch.stack(tops).isfinite().all() if tops else True


def equal(outputs, others):
    """Whether all elements are, as a tensor of one element or True; NaN is not NaN, 0 is -0."""
    alike = [(output == other).all() for output, other in zip(outputs, others)]
    return torch.stack(alike).all() if alike else True


def mismatches(output, oracle):
    """How many elements differ in kind (integers: at all), where the oracle is none that nobody has
    to meet."""
    count = 0
    for got, want in chunks(output, oracle):
        if oracle.is_floating_point():
            differ = (classes(got) != classes(want)) & (want.view(torch.int64) != UNCONSTRAINED)
        else:
            differ = (got.to(torch.int64) != want) & (want != UNCONSTRAINED_INTEGER)
        count = count + differ.sum()
    return count


def is_finite(values):
    return all(map(math.isfinite, values))


class Reading:
    """Figures, and what is done with each once it was read."""

    def __init__(self):
        self.waiting = []
        self.bytes = 0

    def add(self, tensor, use, held=None):
        """`use` gets the list of the figures of a one-dimensional tensor. `held` is what it keeps
        alive until then."""
        self.waiting.append((tensor, use))
        self.bytes += held.numel() * held.element_size() if held is not None else 0
        if self.bytes > HELD:
            self.finish()

    def finish(self):
        waiting, self.waiting, self.bytes = self.waiting, [], 0
        for values, (_, use) in zip(read([tensor for tensor, _ in waiting]), waiting):
            use(values)

    def numbers(self, outputs, oracle, into):
        """How far an answer is from the oracle's, an entry of `into` for each output: norms over
        what is finite in both, and mismatches()."""
        for output, view in zip(outputs, oracle):
            entry = {"error_norm": 0.0, "max_error": 0.0, "mismatches": 0}
            into.append(entry)
            if output.shape != view.shape or output.is_complex() or \
                    output.is_floating_point() != view.is_floating_point():
                entry["mismatches"] = max(1, view.numel())
            elif view.is_floating_point():
                self._floating(output, view, entry)
            else:
                self.add(mismatches(output, view).reshape(1),
                         lambda values, entry=entry: entry.update(mismatches=int(values[0])))

    def _floating(self, output, view, entry):
        def use(values):
            if is_finite(values):
                entry.update(error_norm=bounded(values[0]), max_error=bounded(values[1]))
            else:
                errors = difference(output, view)
                entry.update(error_norm=errors["error_norm"], max_error=errors["max_error"],
                             mismatches=int(mismatches(output, view)))

        self.add(distance(output, view), use, output)
