# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs during one call: operators through PyTorch's dispatcher, kernels through CUPTI."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

# Before any candidate is loaded: what is registered later is the candidate's own.
FRAMEWORK = set(torch._C._dispatch_get_all_op_names())


class Operators(TorchDispatchMode):
    """Counts every operator that passes the dispatcher, from Python and from C++."""

    def __init__(self):
        super().__init__()
        self.calls = {}

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        name = str(operator)
        schema = getattr(operator, "_schema", None)
        full = schema.name + ("." + schema.overload_name if schema.overload_name else "") \
            if schema is not None else name.replace(".", "::", 1)
        count, _ = self.calls.get(name, (0, False))
        self.calls[name] = (count + 1, full not in FRAMEWORK)
        return operator(*args, **(kwargs or {}))


def prepare():
    """The first use of a dispatch mode imports large parts of PyTorch, which takes a second, and
    which register operators too."""
    before = set(torch._C._dispatch_get_all_op_names())
    with Operators():
        torch.empty(0)
    FRAMEWORK.update(set(torch._C._dispatch_get_all_op_names()) - before)


def record(call, device):
    """Answer to the request "audit": `call` runs once under both recorders."""
    prepare()
    operators = Operators()
    kernels, problem = None, ""
    if device.type != "cuda":
        with operators:
            call()
    else:
        profiler, problem = _profiler()
        if profiler is None:
            with operators:
                call()
        else:
            with profiler, operators:
                call()
            kernels = _kernels(profiler)
            problem = "" if kernels else "the profiler saw no kernel"
            kernels = kernels or None
    return {"operators": [{"name": name, "calls": calls, "own": own}
                          for name, (calls, own) in sorted(operators.calls.items())],
            "kernels": kernels, "kernels_problem": problem}


def _profiler():
    from torch.profiler import ProfilerActivity, profile

    try:
        with profile(activities=[ProfilerActivity.CUDA]):  # the first one starts CUPTI
            torch.cuda.synchronize()
        return profile(activities=[ProfilerActivity.CUDA]), ""
    except Exception as error:
        return None, f"CUPTI cannot be used: {error}"


def _kernels(profiler):
    found = {}
    for event in profiler.events():
        if event.device_type != torch.autograd.DeviceType.CUDA:
            continue
        calls, seconds = found.get(event.name, (0, 0.0))
        found[event.name] = (calls + 1, seconds + event.device_time / 1e6)
    return [{"name": name, "calls": calls, "seconds": seconds}
            for name, (calls, seconds) in sorted(found.items())
            if not name.startswith(("Memcpy", "Memset"))]
