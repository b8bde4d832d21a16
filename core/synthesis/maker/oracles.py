# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task's answers should be: the fp64 oracle, and how far the task's own are from it.

The figures are those of the judge (worker/cases.py, ReferenceError). That one is made for tensors
that fill a device; here they are small, and many tasks share it, so nothing is waited for before
all seeds have been through (maker/figures.py).
"""

import math

import torch

from maker.figures import Reading, distance, is_finite, norms
from worker.cases import (ROUNDOFF, UNCONSTRAINED_INTEGER, bounded, change, difference,
                          mark_disagreement, precision, sample, summary)
from worker.oracle import Disturbance, double_model, run_in_double
from worker.protocol import WorkerError
from worker.ways import Ways

NORMS = ("error_norm", "max_error", "oracle_norm", "max_oracle")


class View:
    """One output of the oracle, float64 or int64."""

    def __init__(self, output, like):
        self.tensor = torch.empty(output.shape, device=output.device, dtype=torch.float64 if
                                  like.is_floating_point() else torch.int64).copy_(output)
        self.marked = False  # where reference and oracle differ in kind


class Oracles:
    """Oracles of one task, seed after seed."""

    def __init__(self, task):
        self.task = task
        self.model = double_model(task)
        self.reading = Reading()
        self.before = None  # views of the last seed
        self.ways = None

    def add(self, seed, sensitivity, outputs=None):
        """Expected outputs, places that reference and oracle do not agree on marked, and
        ReferenceError of each as JSON; both are right after finish(). `outputs`: the task's own,
        where they are known. Raises WorkerError."""
        task, arguments = self.task, self.task.hold(seed)
        doubles = self._double(self.model, arguments)
        if outputs is None:
            outputs, _ = task.forward(task.model, arguments)
        if len(outputs) != len(doubles):
            raise WorkerError("request", "forward() returns a different number of tensors in "
                              "double precision; such a task cannot be verified")
        for i, (output, double) in enumerate(zip(outputs, doubles)):
            if output.shape != double.shape:
                raise WorkerError("request", f"output {i} has the shape {list(output.shape)}, in "
                                  f"double precision {list(double.shape)}; such a task cannot be "
                                  "verified")
        views = [View(double, output) for double, output in zip(doubles, outputs)]
        del doubles
        errors = [summary([0.0] * 4) for _ in views]
        for output, view, entry in zip(outputs, views, errors):
            if output.is_floating_point():
                self._own(output, view, entry)
            else:
                view.tensor.masked_fill_(output.to(torch.int64) != view.tensor,
                                         UNCONSTRAINED_INTEGER)
        for now, before, entry in zip(views, self.before or [], errors):
            self._change(now, before, entry)
        self.before = views
        if sensitivity:
            self._sensitivity(seed, arguments, [output.dtype for output in outputs], views, errors)
            if task.device.type == "cuda" and any(map(torch.is_floating_point, outputs)):
                self._other_ways(arguments, views, errors)
        return [view.tensor for view in views], errors

    def finish(self):
        self.reading.finish()
        self.before = None

    def _double(self, model, arguments, disturbance=None):
        doubles = [value.double() if isinstance(value, torch.Tensor) and value.is_floating_point()
                   else value.clone() if isinstance(value, torch.Tensor) else value
                   for value in arguments]
        if disturbance:
            # double() of what is double already is the task's own tensor.
            doubles = [value.clone() if value is own and isinstance(value, torch.Tensor) else value
                       for value, own in zip(doubles, arguments)]
            for tensor in [*doubles, *model.parameters(), *model.buffers()]:
                if isinstance(tensor, torch.Tensor) and tensor.is_floating_point():
                    disturbance.value(tensor)
        try:
            return run_in_double(self.task, model, doubles, disturbance)[0]
        except WorkerError as error:
            raise WorkerError(error.kind, f"in double precision: {error.message}", error.line,
                              error.restart) from error.__cause__

    def _difference(self, output, view, use, sizes=False):
        """`use` hears the norms of output - view."""
        def heard(values):
            if view.marked or not is_finite(values):
                whole = difference(output, view.tensor)
                values = [whole[key] for key in NORMS]
            use([bounded(value) for value in values])

        self.reading.add(distance(output, view.tensor, sizes), heard, output)

    def _own(self, output, view, entry):
        def use(values):
            if not is_finite(values):
                mark_disagreement(output, view.tensor)
                view.marked = True
                values = [difference(output, view.tensor)[key] for key in NORMS]
            entry.update(zip(NORMS, map(bounded, values)))

        self.reading.add(distance(output, view.tensor, sizes=True), use, output)

    def _change(self, now, before, entry):
        """How far it is from the last seed's."""
        if now.tensor.shape != before.tensor.shape or now.tensor.dtype != before.tensor.dtype:
            return

        def use(values):
            if now.marked or before.marked:
                values = [math.nan]
            changed = change_from(values, sample(now.tensor), sample(before.tensor))
            entry.update(change_norm=changed[0], change_max=changed[1])

        self.reading.add(change_of(sample(now.tensor), sample(before.tensor)), use)

    def _sensitivity(self, seed, arguments, dtypes, views, errors):
        for dtype in sorted({dtype for dtype in dtypes if dtype.is_floating_point}, key=str):
            generator = torch.Generator(self.task.device).manual_seed(seed % (1 << 63))
            outputs = self._double(double_model(self.task), arguments,
                                   Disturbance(ROUNDOFF[dtype], generator))
            for i, output in enumerate(outputs):
                if dtypes[i] == dtype and output.shape == views[i].tensor.shape:
                    self._difference(output, views[i], lambda values, entry=errors[i]: entry.update(
                        sensitivity_norm=values[0], sensitivity_max=values[1]))

    def _other_ways(self, arguments, views, errors):
        """Where PyTorch may round products, the least exact of its ways sets the allowance."""
        self.ways = self.ways or Ways(False)
        try:
            with precision(self.task.device, False):
                for outputs in self.ways.run(
                        lambda: self.task.forward(self.task.model, arguments)[0]):
                    for output, view, entry in zip(outputs, views, errors):
                        if output.is_floating_point() and output.shape == view.tensor.shape:
                            self._difference(output, view, lambda values, entry=entry: raise_to(
                                entry, values))
        except WorkerError as error:
            if error.restart:
                raise


def raise_to(entry, values):
    for key, value in zip(("error_norm", "max_error"), values):
        entry[key] = max(entry[key], value)


def change_of(now, before):
    """What change_from() takes, on the device: norms of the difference and of what is now. Of integers:
    whether they are the same."""
    if not now.is_floating_point():
        return (now == before).all().reshape(1)
    return torch.cat([norms(now - before), norms(now)])


def change_from(values, now, before):
    """Relative distance in the Euclidean and in the maximum norm, by what change_of() gave."""
    if not is_finite(values):
        return change(now, before)
    if not now.is_floating_point():
        return (0.0, 0.0) if values[0] else (1.0, 1.0)
    return tuple(bounded(part / whole) if whole > 0 else bounded(float(part > 0))
                 for part, whole in zip(values[:2], values[2:]))
