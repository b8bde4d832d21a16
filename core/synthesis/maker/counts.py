# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one call of a task takes: operations, bytes across its border, memory."""

import contextlib

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from worker.graph import Operations


class Live(TorchDispatchMode):
    """The most bytes that tensors made while it is active held at one time. Workspaces inside of
    operators are not seen."""

    def __init__(self, known):
        super().__init__()
        self.known = {StorageWeakRef(tensor.untyped_storage()).cdata for tensor in known}
        self.live = {}
        self.peak = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(result):
            if isinstance(tensor, torch.Tensor) and tensor.layout == torch.strided:
                storage = tensor.untyped_storage()
                reference = StorageWeakRef(storage)
                if reference.cdata not in self.known:
                    self.live[reference.cdata] = reference, storage.nbytes()
        self.live = {key: entry for key, entry in self.live.items() if not entry[0].expired()}
        self.peak = max(self.peak, sum(size for _, size in self.live.values()))
        return result


def tensors_of(task, arguments):
    return [*[value for value in arguments if isinstance(value, torch.Tensor)],
            *task.model.parameters(), *task.model.buffers()]


@contextlib.contextmanager
def peak_memory(task, arguments, into):
    """Writes "memory_bytes" into a dictionary: what a call holds at most over inputs and
    parameters."""
    if task.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(task.device)
        before = torch.cuda.memory_allocated(task.device)
        yield
        into["memory_bytes"] = torch.cuda.max_memory_allocated(task.device) - before
    else:
        with Live(tensors_of(task, arguments)) as live:
            yield
        into["memory_bytes"] = live.peak


def count(task, arguments):
    """Outputs of forward(), and {"operations", "counted_bytes"}: floating-point operations of
    products and convolutions, bytes of inputs, parameters and outputs."""
    with Operations() as operations:
        outputs, _ = task.forward(task.model, arguments)
    return outputs, {"operations": sum(operations.flops.values()),
                     "counted_bytes": sum(tensor.numel() * tensor.element_size() for tensor in
                                          [*outputs, *tensors_of(task, arguments)])}
