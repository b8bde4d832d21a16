# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task's own answers, what they should be, and how far other answers are from that."""

import math

import torch

from maker.rejected import Rejected
from worker.cases import (UNCONSTRAINED, UNCONSTRAINED_INTEGER, bounded, chunks, classes, difference,
                          make_case)
from worker.loader import MODEL_SEED
from worker.tensors import dtype_name, place


class Memory:
    """Memory of an expected output that stays in this process."""

    def __init__(self, size, device):
        self.size = size
        self.bytes = torch.empty(max(size, 1), dtype=torch.uint8, device=device)

    def release(self):
        pass


class Kept:
    """What cases.make_case takes for memory that goes to the engine."""

    def __init__(self, device):
        self.device = device
        self.memories = []

    def add(self, name, tensor):
        return {}

    def allocate(self, size):
        self.memories.append(Memory(size, self.device))
        return self.memories[-1], len(self.memories) - 1


def expected(task, seed, sensitivity):
    """The fp64 oracle's outputs for a seed, as the judge has them (places that reference and oracle
    do not agree on are marked), and ReferenceError of each as JSON."""
    kept = Kept(task.device)
    request = {"seed": seed, "scale": 1, "transform": "none", "sensitivity": sensitivity}
    case = make_case(task, request, False, kept, [])
    oracle = []
    for entry in case["oracle"]:
        memory = kept.memories[entry["fd"]]
        dtype = torch.float64 if entry["dtype"] == "float64" else torch.int64
        oracle.append(place(memory, dtype, entry["shape"], entry["strides"]))
    return oracle, case["errors"]


def run(task, seed, model=None):
    """Outputs of forward() for the inputs of a seed, which stay with the task. Raises Rejected where
    it does not behave."""
    model = model or task.model
    arguments = task.hold(seed)
    held = [*[value for value in arguments if isinstance(value, torch.Tensor)],
            *model.parameters(), *model.buffers()]
    versions = [tensor._version for tensor in held]
    outputs, _ = task.forward(model, arguments)
    if [tensor._version for tensor in held] != versions:
        raise Rejected("in place", "forward() changes its inputs, parameters or buffers")
    after = generator_states(task)
    task._seed(MODEL_SEED)
    if after != generator_states(task):
        raise Rejected("random", "forward() draws random numbers")
    for i, output in enumerate(outputs):
        if output.numel() == 0:
            raise Rejected("empty", f"output {i} has the shape {list(output.shape)}")
        if output.is_floating_point() and not bool(torch.isfinite(output).all()):
            raise Rejected("not finite", f"output {i} holds NaN or infinities")
    return outputs


def generator_states(task):
    states = [torch.get_rng_state().numpy().tobytes()]
    if task.device.type == "cuda":
        states.append(torch.cuda.get_rng_state(task.device).numpy().tobytes())
    return states


def same_shapes(outputs, others):
    return [(tensor.shape, tensor.dtype) for tensor in outputs] == \
        [(tensor.shape, tensor.dtype) for tensor in others]


def same_bits(outputs, others):
    """NaN is NaN, and 0 is -0."""
    return all(torch.equal(output, other) or
               output.is_floating_point() and torch.equal(output.nan_to_num(), other.nan_to_num())
               and torch.equal(output.isnan(), other.isnan())
               for output, other in zip(outputs, others))


def numbers(output, oracle):
    """How far an answer is from the oracle's: norms over what is finite in both, and the number of
    elements that differ in kind (integers: at all)."""
    if output.shape != oracle.shape or \
            output.is_floating_point() != oracle.is_floating_point() or output.is_complex():
        return {"error_norm": 0.0, "max_error": 0.0, "mismatches": max(1, oracle.numel())}
    if oracle.is_floating_point() and (close := all_finite(output, oracle)):
        return close
    mismatches = 0
    for got, want in chunks(output, oracle):
        if oracle.is_floating_point():
            differ = classes(got) != classes(want)
            differ &= want.view(torch.int64) != UNCONSTRAINED
        else:
            differ = got.to(torch.int64) != want
            differ &= want != UNCONSTRAINED_INTEGER
        mismatches += int(differ.sum())
    errors = difference(output, oracle)
    return {"error_norm": errors["error_norm"], "max_error": errors["max_error"],
            "mismatches": mismatches}


def all_finite(output, oracle):
    """The numbers where every element is finite on both sides, as nearly always; else None."""
    square, largest = 0.0, 0.0
    for got, want in chunks(output, oracle):
        off = got.double() - want
        top = float(torch.linalg.vector_norm(off, math.inf))
        if not math.isfinite(top):
            return None
        norm = float(torch.linalg.vector_norm(off))
        square, largest = square + norm * norm, max(largest, top)
    return {"error_norm": bounded(math.sqrt(square)), "max_error": bounded(largest),
            "mismatches": 0}


def described(output, i):
    return {"dtype": dtype_name(output.dtype, f"output {i}"), "shape": list(output.shape),
            "elements": output.numel()}


def numbers_of_repeat(again, right):
    """Two answers of one model, which mostly are the same."""
    if same_bits(right, again):
        return [{"error_norm": 0.0, "max_error": 0.0, "mismatches": 0} for _ in right]
    return all_numbers(again, as_oracle(right))


def as_oracle(outputs):
    """Outputs in the form of an oracle, to hold others against."""
    return [output.double().contiguous() if output.is_floating_point()
            else output.to(torch.int64).contiguous() for output in outputs]


def all_numbers(outputs, oracle):
    return [numbers(output, view) for output, view in zip(outputs, oracle)]

