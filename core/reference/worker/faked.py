# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task's description without its tensors: model, inputs and forward pass on fake tensors.

Shapes, element types and strides are those of the task, nothing is computed and no memory is taken,
so that a task made for a large GPU is described in a fraction of a second anywhere. What depends on
the values of tensors cannot be described so and raises an error.
"""

import contextlib
import functools

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from .graph import Describer
from .loader import Task
from .protocol import WorkerError, task_error

# What PyTorch says where it asks for the device itself: the autograd engine, cuDNN's limits.
NO_DEVICE = ("hasPrimaryContext", "NVIDIA driver", "CUDA driver", "No CUDA GPUs",
             "re-initialize CUDA", "OS call failed", "cudaGetDeviceCount")


class FakedTask(Task):
    def finish(self):
        """Nothing runs on any device."""


class TracedDescriber(Describer):
    """Takes the way that is there for what torch.export cannot take, and ends with some backward
    passes over fake tensors."""

    def _export(self, arguments):
        raise RuntimeError("left out")


def describe(source, device, describer=Describer):
    """As `Describer.describe` on `device` ("cpu" or "cuda", which need not be there). Where PyTorch
    insists on the device itself, the description is that of the CPU."""
    try:
        return _describe(source, device, describer)
    except WorkerError as error:
        if device == "cpu" or not any(text in error.message for text in NO_DEVICE):
            raise
        return _describe(source, "cpu", describer)


def _describe(source, device, describer):
    with FakeTensorMode(allow_non_fake_inputs=True), replaced_parameters():
        description = describer(FakedTask(source, torch.device(device))).describe()
    problem = description["graph_problem"]
    if device != "cpu" and any(text in problem for text in NO_DEVICE):
        raise task_error(problem)
    return description


@contextlib.contextmanager
def replaced_parameters():
    """`Module.to()` puts new parameters in the place of the old ones: PyTorch's own way exchanges
    what is inside of them, which fake tensors refuse."""
    made, depth = {}, 0

    def apply(self, function, recurse=True):
        nonlocal depth

        @functools.wraps(function)
        def once(tensor):  # tied parameters stay tied
            if id(tensor) not in made:
                result = function(tensor)
                if isinstance(tensor, torch.nn.Parameter):
                    result = torch.nn.Parameter(result, tensor.requires_grad)
                made[id(tensor)] = (tensor, result)
            return made[id(tensor)][1]

        depth += 1
        try:
            if recurse:
                for child in self.children():
                    child._apply(function)
            for table in (self._parameters, self._buffers):
                for name, tensor in table.items():
                    if tensor is not None:
                        table[name] = once(tensor)
            return self
        finally:
            depth -= 1
            if depth == 0:
                made.clear()

    original = torch.nn.Module._apply
    torch.nn.Module._apply = apply
    try:
        yield
    finally:
        torch.nn.Module._apply = original
