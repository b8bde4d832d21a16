# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One name for each public operator of PyTorch, however a task spells its call.

A module is named by its class, "torch.nn.Conv2d"; a function as torch.overrides.resolve_name()
tells it, a method as the function of the same name, a dunder method as the function that it stands
for: x + y, x.add(y) and torch.add(x, y) are all "torch.add".
"""

from functools import lru_cache

import torch
from torch.overrides import resolve_name

# Dunder methods by the function that they stand for.
DUNDER = {
    "add": "add", "radd": "add", "sub": "sub", "rsub": "sub", "mul": "mul", "rmul": "mul",
    "div": "div", "truediv": "div", "rdiv": "div", "rtruediv": "div", "pow": "pow", "rpow": "pow",
    "floordiv": "floor_divide", "rfloordiv": "floor_divide", "mod": "remainder",
    "rmod": "remainder", "matmul": "matmul", "rmatmul": "matmul", "neg": "neg", "pos": "positive",
    "abs": "abs", "eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge",
    "and": "bitwise_and", "rand": "bitwise_and", "or": "bitwise_or", "ror": "bitwise_or",
    "xor": "bitwise_xor", "rxor": "bitwise_xor", "invert": "bitwise_not",
    "lshift": "bitwise_left_shift", "rlshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift", "rrshift": "bitwise_right_shift", "iter": "unbind",
}

# What says something about a tensor, hands it to Python, or is about derivatives, and computes
# nothing of its own.
QUESTIONS = frozenset("""
    size dim shape numel nelement stride storage_offset ndimension element_size data_ptr get_device
    is_contiguous is_complex is_floating_point is_signed is_inference is_same_size is_set_to
    is_shared is_pinned is_conj is_neg is_nonzero is_distributed is_coalesced is_tensor is_storage
    has_names dim_order item tolist numpy storage untyped_storage register_hook
    register_post_accumulate_grad_hook retain_grad backward can_cast result_type
    promote_types get_default_dtype broadcast_shapes sym_int sym_float sym_max sym_min
    detach requires_grad_ _set_grad_enabled _make_subclass
    __len__ __repr__ __str__ __format__ __hash__ __bool__ __int__ __float__ __index__ __complex__
    __contains__ __dir__ __array__ __reversed__ __reduce__ __reduce_ex__ __setstate__ __deepcopy__
    __cuda_array_interface__ __dlpack__ __dlpack_device__ _is_view _version _nnz
""".split())


# One function of two public names, where PyTorch tells the rarer one.
ALIASES = {"torch.spmm": "torch.mm"}


@lru_cache(maxsize=None)
def canonical_name(func):
    """The name of a function that __torch_function__ was handed; None for what is no operator:
    reads of attributes (x.shape, x.T), questions (x.size(), len(x)) and numbers (x.item()).

    Indexing is "torch.Tensor.__getitem__"."""
    name = resolve_name(func)
    if name is None:
        module, own = getattr(func, "__module__", None), getattr(func, "__name__", None)
        if own is None:
            return None
        name = f"{module}.{own}" if module else f"torch.{own}"
    last = name.rsplit(".", 1)[-1]
    if last in ("__get__", "__set__", "__delete__") or last in QUESTIONS:
        return None
    if name.startswith("torch.autograd."):
        return None
    if name.startswith("torch.functional."):
        name = "torch." + last
    if not name.startswith("torch.Tensor."):
        return ALIASES.get(name, name)
    if last.startswith("__") and last.endswith("__"):
        return "torch." + DUNDER[last[2:-2]] if last[2:-2] in DUNDER else name
    return function_of(last) or name


def function_of(method):
    """The name of the function of torch that a method stands for; None where there is none."""
    function = getattr(torch, method, None)
    if function is None or isinstance(function, type) or not callable(function):
        return None
    name = resolve_name(function) or f"torch.{method}"
    return "torch." + method if name.startswith("torch.functional.") else ALIASES.get(name, name)


def module_name(module):
    """The name of a module of torch.nn or of transformers; None for a class of the task's own and
    for containers, which are looked into."""
    kind = type(module)
    package = kind.__module__.split(".")
    if package[:2] == ["torch", "nn"]:
        return None if kind in CONTAINERS else "torch.nn." + kind.__name__
    return "transformers." + kind.__name__ if package[0] == "transformers" else None


CONTAINERS = (torch.nn.Module, torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ModuleDict,
              torch.nn.ParameterList, torch.nn.ParameterDict)
