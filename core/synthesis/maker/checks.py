# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything about a task that one needs to know before it may be in a set, as numbers.

What a verifier can tell apart is tried on the small task, where an answer costs little; whether it
runs, repeats and stays finite, and what it takes, on the whole one. Raises Rejected.
"""

import contextlib
import math
import time

import torch

from maker import wiring
from maker.answers import (all_numbers, answer, as_oracle, described, nothing, numbers_of_repeat,
                           refuse_unless_finite, same_bits, same_shapes)
from maker.counts import count, peak_memory
from maker.dependence import is_operator, unused, without_each
from maker.figures import Reading, equal, norms, read
from maker.oracles import Oracles, change_from, change_of
from maker.record import Recorder
from maker.rejected import Rejected
from maker.wrong import wrong_answers
from worker.cases import SPARE, bounded, precision, sample

SENSITIVITY = (True, True, False)  # of the seeds: the judge disturbs its first two cases


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
    with precision(loaded.device, False):
        with clock.part("runs"):
            names, answers = loaded.by_the_small(lambda task: first_answers(task, seeds))
        small, whole = loaded.small, loaded.whole
        body = check_small(small, seeds, names, answers, clock)
        del answers
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


def first_answers(task, seeds):
    """Names of what ran, and the answers to two seeds."""
    recorder = Recorder(task.model)
    right, others = answer(task, seeds[0], recorder), answer(task, seeds[1])
    refuse_unless_finite(right, others)
    if not same_shapes(right, others):
        raise Rejected("shape", "outputs have other shapes for other values of the inputs")
    return list(recorder.names), (right, others)


def check_small(task, seeds, names, answers, clock):
    right, others = answers
    with clock.part("rebuilt"):
        again, bitwise = built_anew(task, seeds[0], right)
        noise = nothing(right) if bitwise else numbers_of_repeat(again, right)
    with clock.part("oracle"):
        oracles = Oracles(task)
        (first, *_), own = zip(*(oracles.add(seed, sensitivity, outputs) for
                                 seed, sensitivity, outputs in
                                 zip(seeds, SENSITIVITY, (right, others, None))))
        oracles.finish()
        del oracles
        release(task.device)
    reading = Reading()
    with clock.part("wrong"):
        rebuilt, wrong = [], []
        reading.numbers(again, first, rebuilt)
        for name, outputs in wrong_answers(task, task.draw(seeds[0]), right, others):
            wrong.append({"name": name, "outputs": []})
            reading.numbers(outputs, first, wrong[-1]["outputs"])
    with clock.part("dropped"):
        dropped = without_each(task, seeds[0], names, first, reading)
        reading.finish()
    with clock.part("unused"):
        names_unused = unused(task, seeds, right, noise)
    return {"ops": [name for name in names if is_operator(name)], "own": own, "wrong": wrong,
            "dropped": dropped, "unused": names_unused, "bitwise": bitwise, "rebuilt": rebuilt,
            "small_elements": [output.numel() for output in right]}


def built_anew(task, seed, right):
    """The answer of a second model to inputs that are drawn again, and whether it has the bits of
    the right one."""
    model = task.build_model()
    before, after = task.model.state_dict(), model.state_dict()
    drawn, anew = ([value for value in values if isinstance(value, torch.Tensor)]
                   for values in (task.draw(seed), task.draw_anew(seed)))
    again, _ = task.forward(model, task.draw(seed))
    other_model = list(before) != list(after) or not same_shapes(before.values(), after.values())
    other_inputs = not same_shapes(drawn, anew)
    other_answer = not same_shapes(again, right)
    parts = [((), ()) if known else both for known, both in (
        (other_model, (before.values(), after.values())), (other_inputs, (drawn, anew)),
        (other_answer, (right, again)))]
    model_repeats, inputs_repeat, bitwise = same_bits(*parts)
    if other_model or not model_repeats:
        raise Rejected("unstable", "building the model again with the same seed gives another one")
    if other_inputs or not inputs_repeat:
        raise Rejected("unstable", "get_inputs() gives other inputs for the same seed")
    if other_answer:
        raise Rejected("unstable", "two models of the same seed give outputs of other shapes")
    return again, bitwise


def release(device):
    """Gives memory of the device back that this process has for nothing."""
    if device.type == "cuda" and \
            torch.cuda.memory_reserved() - torch.cuda.memory_allocated() > SPARE:
        torch.cuda.empty_cache()


def check_whole(task, seeds, own, clock):
    body = {}
    with clock.part("whole"):
        right = answer(task, seeds[0])
        arguments = task.hold(seeds[0])
        if len(right) != len(own[0]):
            raise Rejected("shape", "the small task has another number of outputs")
        with peak_memory(task, arguments, body):
            again, _ = task.forward(task.model, arguments)
        repeats = same_shapes(right, again)
        sizes, alike = sizes_of(right, equal(right, again) if repeats else False)
        if not repeats:
            raise Rejected("unstable", "two calls on the same inputs give other shapes")
        body["bitwise"] = alike
        body["repeat"] = nothing(right) if alike else all_numbers(again, as_oracle(right))
        del again
    with clock.part("other inputs"):
        others, counted = count(task, task.draw(seeds[1]))
        if not same_shapes(right, others):
            raise Rejected("shape", "outputs have other shapes for other values of the inputs")
        changes = changes_of(others, right)
        del others
    body["shapes"] = [list(tensor.shape) for tensor in
                      [*arguments, *task.model.parameters(), *task.model.buffers(), *right]
                      if isinstance(tensor, torch.Tensor)]
    outputs = [described(output, i) | {"own": [errors[i] for errors in own]}
               for i, output in enumerate(right)]
    for entry, numbers, changed in zip(outputs, errors_of_whole(sizes, own[0]), changes):
        entry["full"] = numbers | {"change_norm": changed[0], "change_max": changed[1]}
    return body | counted | {"outputs": outputs}


def sizes_of(outputs, alike=True):
    """Euclidean and maximum norm of each output (integers: zeros), and `alike`, a flag that is
    still on the device. Raises Rejected where an output is not finite."""
    *sizes, (alike,) = read([*[
        norms(output, torch.promote_types(output.dtype, torch.float32))
        if output.is_floating_point() else torch.zeros(2, device=output.device)
        for output in outputs], torch.as_tensor(alike, device=outputs[0].device).reshape(1)])
    for i, size in enumerate(sizes):
        if not math.isfinite(size[1]):
            raise Rejected("not finite", f"output {i} holds NaN or infinities")
    return sizes, bool(alike)


def errors_of_whole(sizes, own):
    """ReferenceError of the whole task's outputs, by their norms and the relative errors of the
    small one's, `own`: the oracle of a task that fills the device would cost more than all else
    together."""
    entries = []
    for norms_of, small in zip(sizes, own):
        entry = dict(small) | {"oracle_norm": bounded(norms_of[0]),
                               "max_oracle": bounded(norms_of[1])}
        for keys, norm, before in ((("error_norm", "sensitivity_norm"), norms_of[0], "oracle_norm"),
                                   (("max_error", "sensitivity_max"), norms_of[1], "max_oracle")):
            for key in keys:
                entry[key] = bounded(small[key] / small[before] * norm) if small[before] else 0.0
        entries.append(entry)
    return entries


def changes_of(others, right):
    """How far answers to other inputs are, as the judge tells two random cases apart."""
    samples = [(oracle_sample(output), oracle_sample(known)) for output, known in
               zip(others, right)]
    return [change_from(values, *pair) for values, pair in
            zip(read([change_of(*pair) for pair in samples]), samples)]


def oracle_sample(output):
    part = sample(output)
    return part.double() if part.is_floating_point() else part
