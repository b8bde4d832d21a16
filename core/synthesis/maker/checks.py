# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything about a task that one needs to know before it may be in a set, as numbers.

What a verifier can tell apart is tried on the small task, where an answer costs little; whether it
runs, repeats and stays finite, and what it takes, on the whole one. Raises Rejected.
"""

import contextlib
import time

import torch

from maker import wiring
from maker.answers import (all_numbers, described, expected, numbers_of_repeat, run, same_bits,
                           same_shapes)
from maker.counts import count, peak_memory
from maker.dependence import is_operator, names_of_operators, unused, without_each
from maker.rejected import Rejected
from maker.wrong import wrong_answers
from worker.cases import bounded, change, precision, sample


class Clock:
    """Seconds by part of a check."""

    def __init__(self):
        self.seconds = {}

    @contextlib.contextmanager
    def part(self, name):
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = round(time.perf_counter() - start, 6)


def check(loaded, seeds):
    clock = Clock()
    small, whole = loaded.small, loaded.whole
    with precision(loaded.device, False):
        body = check_small(small, seeds, clock)
        if whole is not small:
            small.held.clear()
        bitwise = body["bitwise"]
        body |= check_whole(whole, seeds, body.pop("own"), clock)
        body["bitwise"] = body["bitwise"] and bitwise
        for entry, elements in zip(body["outputs"], body.pop("small_elements")):
            entry["small_elements"] = elements
    with clock.part("graph"):
        graph = wiring.describe(small, seeds[0], body.pop("shapes"))
    return body | graph | {"small": small is not whole, "seconds": clock.seconds}


def check_small(task, seeds, clock):
    with clock.part("runs"):
        right = run(task, seeds[0])
        others = run(task, seeds[1])
        if not same_shapes(right, others):
            raise Rejected("shape", "outputs have other shapes for other values of the inputs")
        again = built_anew(task, seeds[0])
        bitwise = same_bits(right, again)
        names = names_of_operators(task, seeds[0])
    with clock.part("oracle"):
        own = []
        for seed in seeds:
            oracle, errors = expected(task, seed, sensitivity=True)
            own.append(errors)
            if seed == seeds[0]:
                first = oracle
    with clock.part("wrong"):
        wrong = [{"name": name, "outputs": all_numbers(outputs, first)} for name, outputs in
                 wrong_answers(task, task.draw(seeds[0]), right, others)]
    with clock.part("dropped"):
        dropped = without_each(task, seeds[0], names, first)
    with clock.part("unused"):
        names_unused = unused(task, seeds, right, numbers_of_repeat(again, right))
    return {"ops": [name for name in names if is_operator(name)], "own": own, "wrong": wrong, "dropped": dropped, "unused": names_unused,
            "bitwise": bitwise, "rebuilt": all_numbers(again, first),
            "small_elements": [output.numel() for output in right]}


def built_anew(task, seed):
    """The answer of a second model to inputs that are drawn again."""
    model = task.build_model()
    before, after = task.model.state_dict(), model.state_dict()
    if list(before) != list(after) or not same_bits(before.values(), after.values()):
        raise Rejected("unstable", "building the model again with the same seed gives another one")
    tensors = [[value for value in values if isinstance(value, torch.Tensor)]
               for values in (task.draw(seed), task.draw_anew(seed))]
    if not same_shapes(*tensors) or not same_bits(*tensors):
        raise Rejected("unstable", "get_inputs() gives other inputs for the same seed")
    return task.forward(model, task.draw(seed))[0]


def check_whole(task, seeds, own, clock):
    body = {}
    with clock.part("whole"):
        arguments = task.hold(seeds[0])
        right = run(task, seeds[0])
        if len(right) != len(own[0]):
            raise Rejected("shape", "the small task has another number of outputs")
        with peak_memory(task, arguments, body):
            again, _ = task.forward(task.model, arguments)
        if not same_shapes(right, again):
            raise Rejected("unstable", "two calls on the same inputs give other shapes")
        body["bitwise"] = same_bits(right, again)
        body["repeat"] = numbers_of_repeat(again, right)
        del again
    with clock.part("other inputs"):
        others, counted = count(task, task.draw(seeds[1]))
        if not same_shapes(right, others):
            raise Rejected("shape", "outputs have other shapes for other values of the inputs")
        changes = [change(*(oracle_sample(output) for output in pair))
                   for pair in zip(others, right)]
        del others
    body["shapes"] = [list(tensor.shape) for tensor in
                      [*arguments, *task.model.parameters(), *task.model.buffers(), *right]
                      if isinstance(tensor, torch.Tensor)]
    outputs = [described(output, i) | {"own": [errors[i] for errors in own]}
               for i, output in enumerate(right)]
    errors = errors_of_whole(right, own[0])
    del right
    for entry, numbers, changed in zip(outputs, errors, changes):
        entry["full"] = numbers | {"change_norm": changed[0], "change_max": changed[1]}
    return body | counted | {"outputs": outputs}


def errors_of_whole(outputs, own):
    """ReferenceError of the whole task's outputs, by the relative errors of the small one's, `own`:
    the oracle of a task that fills the device would cost more than all else together."""
    entries = []
    for output, small in zip(outputs, own):
        norms = [0.0, 0.0]
        if output.is_floating_point():
            dtype = torch.promote_types(output.dtype, torch.float32)
            norms = [float(torch.linalg.vector_norm(output, p, dtype=dtype))
                     for p in (2, float("inf"))]
        entry = dict(small) | {"oracle_norm": bounded(norms[0]), "max_oracle": bounded(norms[1])}
        for keys, norm, before in ((("error_norm", "sensitivity_norm"), norms[0], "oracle_norm"),
                                   (("max_error", "sensitivity_max"), norms[1], "max_oracle")):
            for key in keys:
                entry[key] = bounded(small[key] / small[before] * norm) if small[before] else 0.0
        entries.append(entry)
    return entries


def oracle_sample(output):
    part = sample(output)
    return part.double() if part.is_floating_point() else part
