# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the outcome of a task depends on: each of its operators, inputs and parameters."""

import torch

from maker.answers import numbers_of_repeat, same_shapes
from maker.figures import equal, flags
from maker.record import Recorder
from worker.protocol import WorkerError

MOST_DROPPED = 64  # calls of a task that are left out in turns
# They compute nothing: without them the outcome is the same and no work is saved.
PLUMBING = {"torch.detach", "torch.clone", "torch.Tensor.contiguous", "torch.Tensor.to",
            "torch.Tensor.type", "torch.Tensor.type_as", "torch.Tensor.cpu", "torch.Tensor.cuda",
            "torch.Tensor.float", "torch.Tensor.half", "torch.Tensor.bfloat16",
            "torch.Tensor.double", "torch.autograd.grad"}
NOISE = 4  # times what atomics make of the same inputs is no change
FRESH = 0x51DE  # seed of what is put in the place of parameters


class Dropper(Recorder):
    """Lets the call of that number give its first floating tensor argument back in place of its
    result, where both have one shape and type. `dropped` says whether it did."""

    def __init__(self, model, number):
        super().__init__(model)
        self.number = number
        self.dropped = False
        self.saved = None

    def entered(self, module, inputs):
        first = not self.inside
        super().entered(module, inputs)
        if first and len(self.names) - 1 == self.number:
            self.saved = self.save(inputs)

    def left(self, module, inputs, outputs):
        super().left(module, inputs, outputs)
        if not self.inside and self.saved is not None:
            return self.put_back(outputs)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if self.inside or self.dropped or len(self.names) != self.number:
            return super().__torch_function__(func, types, args, kwargs)
        saved = self.save(args)
        result = super().__torch_function__(func, types, args, kwargs)
        if len(self.names) - 1 != self.number:  # no operator, only a question
            return result
        self.saved = saved
        replaced = self.put_back(result)
        return result if replaced is None else replaced

    @staticmethod
    def save(values):
        """The first floating tensor and a copy: an operator may write into it."""
        for value in values:
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                return value, value.detach().clone(), value._version
        return None

    def put_back(self, result):
        if self.saved is None:
            return None
        (value, copy, version), self.saved = self.saved, None
        if not isinstance(result, torch.Tensor) or result.shape != value.shape or \
                result.dtype != value.dtype:
            return None
        self.dropped = True
        if value._version != version:
            with torch.no_grad():
                value.copy_(copy)
        return value


def is_operator(name):
    return not name.startswith("torch._C.")  # switches, such as enable_grad()


def without_each(task, seed, names, oracle, reading):
    """The task without one of its operators, in turns: [{"op", "call", "possible", "outputs"}].
    Outputs are there once `reading` is finished."""
    candidates = [i for i, name in enumerate(names) if name not in PLUMBING and is_operator(name)]
    step = max(1, -(-len(candidates) // MOST_DROPPED))
    entries = []
    for number in candidates[::step]:
        entry = {"op": names[number], "call": number, "possible": False, "outputs": []}
        entries.append(entry)
        dropper = Dropper(task.model, number)
        arguments = [value.clone() if isinstance(value, torch.Tensor) else value
                     for value in task.draw(seed)]
        try:
            with dropper:
                outputs, _ = task.forward(task.model, arguments)
        except WorkerError as error:
            if error.restart:
                raise
            continue  # what comes after cannot do without it
        if dropper.dropped and len(outputs) == len(oracle):
            entry["possible"] = True
            reading.numbers(outputs, oracle, entry["outputs"])
    return entries


def unused(task, seeds, right, noise):
    """Names of tensor inputs and of floating parameters and buffers whose values do not matter.
    `right`: the finite answer to the inputs of the first seed; `noise`: how far another call was
    from that, mostly nothing."""
    arguments = task.draw(seeds[0])
    tried = {}  # name: whether nothing came of it
    for n, (position, fresh) in enumerate(other_inputs(task, seeds)):
        if fresh is not None:
            tried[f"in{n}"] = unchanged(
                task, [*arguments[:position], fresh, *arguments[position + 1:]], right, noise)
    generator = torch.Generator(task.device).manual_seed(FRESH)
    for name, tensor in [*task.model.named_parameters(), *task.model.named_buffers()]:
        if not tensor.is_floating_point() or not tensor.numel():
            continue
        saved = tensor.detach().clone()
        try:
            tensor.data.copy_(other_values(saved, generator))
            tried[name] = unchanged(task, arguments, right, noise)
        finally:
            tensor.data.copy_(saved)
    return [name for name, still in zip(tried, flags(tried.values())) if still]


def unchanged(task, arguments, right, noise):
    """A boolean, or a tensor of one element that is one."""
    try:
        outputs, _ = task.forward(task.model, arguments)
    except WorkerError as error:
        if error.restart:
            raise
        return False  # values that it refuses matter
    if not same_shapes(outputs, right):
        return False
    if not any(value for numbers in noise for value in numbers.values()):
        return equal(outputs, right)
    return all(numbers[key] <= NOISE * most[key] for numbers, most in
               zip(numbers_of_repeat(outputs, right), noise) for key in numbers)


def other_inputs(task, seeds):
    """Of each tensor among the inputs its position and what another seed draws there; where that is
    the same, its own values disturbed or in another order. None where there is nothing else to put
    there."""
    first = task.draw(seeds[0])
    found = {i: None for i, value in enumerate(first) if isinstance(value, torch.Tensor)}
    for seed in seeds[1:]:
        missing = [i for i, other in found.items() if other is None]
        if not missing:
            break
        drawn = task.hold(seed)
        alike = [drawn[i].shape != first[i].shape or equal([drawn[i]], [first[i]])
                 for i in missing]
        for i, same in zip(missing, flags(alike)):
            found[i] = None if same else drawn[i]
    return [(i, disturbed(first[i], task.device) if other is None else other)
            for i, other in found.items()]


def disturbed(first, device):
    generator = torch.Generator(device).manual_seed(FRESH)
    if first.is_floating_point():
        return other_values(first, generator)
    if first.dtype == torch.bool:
        return ~first
    order = torch.randperm(first.numel(), generator=generator, device=first.device)
    other = first.flatten()[order].view(first.shape)
    return None if torch.equal(other, first) else other


def other_values(tensor, generator):
    """Values of the same sign and about the same size; zeros become small numbers."""
    factor = torch.empty(tensor.shape, dtype=torch.float32, device=tensor.device)
    factor.uniform_(0.25, 0.75, generator=generator)
    return torch.where(tensor == 0, factor.to(tensor.dtype), (tensor * factor).to(tensor.dtype))
