# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fp64 oracle: forward() as if every floating number had double precision."""

import copy

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

LOW = (torch.float16, torch.bfloat16, torch.float32)


class InDouble(TorchDispatchMode):
    """Runs every operator in double: dtype arguments that name a smaller floating type become
    float64, and so do such tensors (plain attributes, literals). An operator without a double
    implementation on the device runs on the CPU, one that has none there in float32; both are
    told in `notes`."""

    def __init__(self, device):
        super().__init__()
        self.device = device
        self.notes = []
        self.differentiates = False  # an operator of a backward pass ran

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.differentiates = self.differentiates or is_backward(func)
        written = {argument.name for argument in func._schema.arguments
                   if argument.alias_info is not None and argument.alias_info.is_write}
        names = [argument.name for argument in func._schema.arguments]
        args = [value if names[i] in written else raised(value) for i, value in enumerate(args)]
        kwargs = {key: value if key in written else raised(value)
                  for key, value in (kwargs or {}).items()}
        try:
            return func(*args, **kwargs)
        except (RuntimeError, NotImplementedError) as error:
            if written or not lacks_double(error):
                raise
        if self.device.type != "cpu":
            try:
                result = func(*moved(args, "cpu"), **moved(kwargs, "cpu"))
                self._note(f"{func} has no double implementation on {self.device.type}; the "
                           "oracle ran it on the CPU")
                return moved(result, self.device)
            except (RuntimeError, NotImplementedError):
                pass
        result = func(*cast(args, torch.float64, torch.float32),
                      **cast(kwargs, torch.float64, torch.float32))
        self._note(f"{func} has no double implementation; the oracle ran it in float32")
        return cast(result, torch.float32, torch.float64)

    def _note(self, text):
        if text not in self.notes:
            self.notes.append(text)


class Unfused(TorchDispatchMode):
    """Runs the operators of a backward pass as the pointwise operators and sums that they stand
    for (PyTorch's own decompositions, which torch.compile uses too)."""

    def __init__(self):
        super().__init__()
        from .backward import core_table  # thousands of entries, wanted rarely

        self.table = core_table()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        formula = self.table.get(func) if is_backward(func) else None
        if formula is None:
            return func(*args, **(kwargs or {}))
        with self:
            result = formula(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {})) if result is NotImplemented else result


def is_backward(func):
    return "backward" in func._schema.name


def lacks_double(error):
    text = str(error)
    return isinstance(error, NotImplementedError) or "not implemented for 'Double'" in text or (
        "double" in text.lower() and ("not support" in text or "expected" in text.lower()))


def raised(value):
    def one(part):
        if isinstance(part, torch.Tensor):
            return part.double() if part.dtype in LOW else part
        if isinstance(part, torch.dtype):
            return torch.float64 if part in LOW else part
        return part

    return tree_map(one, value)


def cast(value, source, target):
    return tree_map(lambda part: part.to(target) if isinstance(part, torch.Tensor) and
                    part.dtype == source else part, value)


def moved(value, device):
    return tree_map(lambda part: part.to(device) if isinstance(part, torch.Tensor) else
                    torch.device(device) if isinstance(part, torch.device) else part, value)


def double_model(task):
    """A copy of the task's model in double; the weights are those of the model exactly."""
    try:
        model = copy.deepcopy(task.model)
    except Exception:  # some modules hold what cannot be copied; the seed makes the same one
        model = task.build_model()
    return model.double()


def run_in_double(task, model, arguments):
    """Outputs of forward() in double, and the mode that saw it. `arguments` hold double tensors; the list is
    emptied, so that they are freed as early as can be."""
    mode = InDouble(task.device)
    saved = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with mode:
            values = list(arguments)
            arguments.clear()
            outputs, _ = task.forward(model, values)
    finally:
        torch.set_default_dtype(saved)
    return outputs, mode
