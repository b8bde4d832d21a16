# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task's own answers, and how far two of them are apart."""

import contextlib

import torch

from maker.figures import Reading, equal, finite, flags
from maker.rejected import Rejected
from worker.loader import MODEL_SEED
from worker.tensors import dtype_name


def answer(task, seed, watch=None):
    """Outputs of forward() for the inputs of a seed, which stay with the task; whether they are
    finite is asked of finite(). `watch`: a context around forward(). Raises Rejected where it does
    not behave."""
    model, arguments = task.model, task.hold(seed)
    held = [*[value for value in arguments if isinstance(value, torch.Tensor)],
            *model.parameters(), *model.buffers()]
    versions = [tensor._version for tensor in held]
    with watch or contextlib.nullcontext():
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
    return outputs


def refuse_unless_finite(*answers):
    for outputs, good in zip(answers, flags(map(finite, answers))):
        if not good:
            bad = [i for i, output in enumerate(outputs)
                   if output.is_floating_point() and not bool(torch.isfinite(output).all())]
            raise Rejected("not finite", f"output {bad[0]} holds NaN or infinities")


def generator_states(task):
    states = [torch.get_rng_state().numpy().tobytes()]
    if task.device.type == "cuda":
        states.append(torch.cuda.get_rng_state(task.device).numpy().tobytes())
    return states


def same_shapes(outputs, others):
    return [(tensor.shape, tensor.dtype) for tensor in outputs] == \
        [(tensor.shape, tensor.dtype) for tensor in others]


def same_bits(*pairs):
    """Whether the tensors of each pair of lists are the same: NaN is NaN, and 0 is -0."""
    pairs = [tuple(map(list, pair)) for pair in pairs]
    return [good or all(same_with_nan(*both) for both in zip(*pair)) for good, pair in
            zip(flags(equal(*pair) for pair in pairs), pairs)]


def same_with_nan(output, other):
    return torch.equal(output, other) or \
        output.is_floating_point() and torch.equal(output.nan_to_num(), other.nan_to_num()) and \
        torch.equal(output.isnan(), other.isnan())


def described(output, i):
    return {"dtype": dtype_name(output.dtype, f"output {i}"), "shape": list(output.shape),
            "elements": output.numel()}


def numbers_of_repeat(again, right):
    """Two answers of one model, which mostly are the same."""
    if same_bits((right, again))[0]:
        return nothing(right)
    return all_numbers(again, as_oracle(right))


def nothing(outputs):
    """The numbers of an answer that is right to the last bit."""
    return [{"error_norm": 0.0, "max_error": 0.0, "mismatches": 0} for _ in outputs]


def as_oracle(outputs):
    """Outputs in the form of an oracle, to hold others against."""
    return [output.double().contiguous() if output.is_floating_point()
            else output.to(torch.int64).contiguous() for output in outputs]


def all_numbers(outputs, oracle):
    """How far an answer is from the oracle's."""
    reading, numbers = Reading(), []
    reading.numbers(outputs, oracle, numbers)
    reading.finish()
    return numbers
