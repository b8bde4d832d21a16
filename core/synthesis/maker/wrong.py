# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Standard wrong answers: what kernels give that do not do the work, or do it badly.

A verifier that accepts one of them on a task cannot tell right from wrong there. Each is a list of
outputs; where one does not apply to an output, that output is the right one.
"""

import copy

import torch

TAIL = 4       # the last quarter
SMALLEST = 16  # elements; below, what a part of them says is chance


def round_mantissa(tensor, bits):
    """Rounds to so many significant bits, the leading one among them; the range stays."""
    mantissa, exponent = torch.frexp(tensor.float())
    return torch.ldexp(torch.round(mantissa * 2.0**bits) / 2.0**bits, exponent).to(tensor.dtype)


def rough(tensor):
    """Half the precision: float32 (and double) as bfloat16 has it, types of 16 bits with the
    significant bits of that 8-bit float whose range is nearest: e4m3 has four, e5m2 three."""
    if not tensor.is_floating_point():
        return tensor
    if tensor.dtype in (torch.float32, torch.float64):
        return tensor.to(torch.bfloat16).to(tensor.dtype)
    return round_mantissa(tensor, 3 if tensor.dtype == torch.bfloat16 else 4)


def roughly(task, arguments):
    """Outputs where inputs, parameters and results have half the precision; what lies between is
    computed in the whole one, as by tensor cores."""
    model = copy.deepcopy(task.model)
    for tensor in [*model.parameters(), *model.buffers()]:
        tensor.data.copy_(rough(tensor.data))
    values = [rough(value) if isinstance(value, torch.Tensor) else value for value in arguments]
    return [rough(output) for output in task.forward(model, values)[0]]


def zeros(output):
    return torch.zeros_like(output)


def mean(output):
    if not output.is_floating_point():
        return output.flatten().mode().values.expand_as(output)
    return output.double().mean().to(output.dtype).expand_as(output)


def rolled(output):
    """Every element where its neighbour belongs."""
    return output.flatten().roll(1).view(output.shape) if output.numel() >= SMALLEST else None


def tail(output):
    """The end was never written."""
    if output.numel() < SMALLEST:
        return None
    result = output.clone(memory_format=torch.contiguous_format).view(-1)
    result[-(result.numel() // TAIL):] = 0
    return result.view(output.shape)


def identity(output, inputs):
    for tensor in inputs:
        if tensor.shape == output.shape and (tensor.is_floating_point() or
                                             not output.is_floating_point()):
            return tensor.to(output.dtype)
    return None


def wrong_answers(task, arguments, right, others):
    """Yields (name, outputs). `right`: the answer to `arguments`; `others`: that to other
    inputs."""
    def each(make):
        answers = [make(output) for output in right]
        if all(answer is None for answer in answers):
            return None
        return [output if answer is None else answer for answer, output in zip(answers, right)]

    inputs = [value for value in arguments if isinstance(value, torch.Tensor)]
    for name, make in (("zeros", zeros), ("mean", mean),
                       ("identity", lambda output: identity(output, inputs)),
                       ("rolled", rolled), ("tail", tail)):
        if (answer := each(make)) is not None:
            yield name, answer
    yield "other inputs", others
    yield "half precision", roughly(task, arguments)
