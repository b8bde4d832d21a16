# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task costs, estimated on meta tensors: nothing is computed, no memory is touched.

An operator takes the longer of moving its bytes and doing its operations, and at least a launch.
That is good for choosing a batch; the filter measures.
"""

import contextlib
from dataclasses import dataclass

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

# Rates that eager PyTorch reaches in a mix of operators, not ceilings: bytes a second, operations a
# second by element type, seconds a launch. From measurements on an H200 and on two cores.
RATES = {
    "cuda": {"bytes": 3.0e12, "float32": 4.0e13, "half": 4.0e14, "other": 2.0e13, "call": 4e-6},
    "cpu": {"bytes": 8.0e9, "float32": 6.0e10, "half": 6.0e9, "other": 1.0e10, "call": 5e-6},
}
HALVES = (torch.float16, torch.bfloat16)


@dataclass
class Cost:
    seconds: float = 0.0
    bytes: int = 0       # moved by all operators together
    operations: int = 0  # of products and convolutions
    memory: int = 0      # inputs, parameters and the largest operator's tensors, at least
    calls: int = 0


class Counting(TorchDispatchMode):
    def __init__(self, rates):
        super().__init__()
        self.rates = rates
        self.cost = Cost()
        self.largest = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        formula = flop_registry.get(func._overloadpacket)
        if formula is None and func is not torch.ops.prim.device.default:
            with self:
                result = func.decompose(*args, **kwargs)
            if result is not NotImplemented:
                return result
        result = func(*args, **kwargs)
        if func.is_view:
            return result
        tensors = [leaf for leaf in tree_leaves((args, kwargs, result))
                   if isinstance(leaf, torch.Tensor)]
        moved = sum(size_of(tensor) for tensor in tensors)
        operations = formula(*args, **kwargs, out_val=result) if formula is not None else 0
        dtype = tensors[-1].dtype if tensors else torch.float32
        rate = self.rates["half" if dtype in HALVES else
                          "float32" if dtype == torch.float32 else "other"]
        self.cost.bytes += moved
        self.cost.operations += operations
        self.cost.calls += 1
        self.cost.seconds += max(moved / self.rates["bytes"], operations / rate) + \
            self.rates["call"]
        self.largest = max(self.largest, moved)
        return result


def size_of(tensor):
    """Bytes of what a tensor holds; an expanded one is read once."""
    count = 1
    for size, stride in zip(tensor.shape, tensor.stride()):
        count *= size if stride else 1
    return count * tensor.element_size()


@contextlib.contextmanager
def on_meta():
    """Tensors and modules are made on the meta device, no gradients."""
    with torch.device("meta"), torch.no_grad():
        yield


def load(code):
    """The namespace of a task's text of our own making, run on the meta device."""
    namespace = {"__name__": "task"}
    exec(compile(code, "task.py", "exec"), namespace)
    return namespace


def estimate(code, device):
    """Cost and outputs of a task's text of our own making. Raises what PyTorch raises."""
    with on_meta():
        namespace = load(code)
        model = namespace["Model"](*namespace["get_init_inputs"]()).eval()
        inputs = namespace["get_inputs"]()
        with Counting(RATES[device]) as counting:
            outputs = model(*inputs)
    cost = counting.cost
    held = [*inputs, *model.parameters(), *model.buffers()]
    cost.memory = counting.largest + sum(size_of(value) for value in held
                                         if isinstance(value, torch.Tensor))
    return cost, outputs
