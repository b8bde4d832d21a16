# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One task: its module, its model, its inputs, its forward pass.

Every call into task code goes through Task.guarded, which turns whatever it raises into an error
that names the line of the task file.
"""

import contextlib
import random
import sys
import types

import torch

from .protocol import WorkerError, encode_number, task_error
from .tensors import dtype_name, is_dense

MODEL_SEED = 0
REQUIRED = {"Model": "class 'Model' (a torch.nn.Module)",
            "get_inputs": "function 'get_inputs()' (a list of tensors for forward())",
            "get_init_inputs": "function 'get_init_inputs()' (a list of arguments for Model())"}


def is_out_of_memory(error):
    text = str(error)
    return isinstance(error, (MemoryError, torch.cuda.OutOfMemoryError)) or (
        isinstance(error, (RuntimeError, OSError)) and
        any(part in text for part in ("can't allocate memory", "out of memory",
                                      "Cannot allocate memory", "not enough memory",
                                      "CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED",
                                      "No space left on device", "Storage size calculation "
                                      "overflowed", "Trying to resize storage")))


def is_fatal(error):
    """After a device-side assertion or an illegal access the CUDA context is lost."""
    text = str(error)
    return "CUDA error" in text and any(
        part in text for part in ("device-side assert", "illegal memory access",
                                  "unspecified launch failure", "misaligned address",
                                  "illegal instruction"))


def shortened(text, limit=600):
    """The first lines of a message: torch appends hints and C++ stacks."""
    lines = [line.rstrip() for line in str(text).strip().splitlines() if line.strip()]
    kept = []
    for line in lines[:4]:
        if line.startswith(("CUDA kernel errors might", "For debugging consider",
                            "Compile with", "Exception raised from", "Set TORCHDYNAMO_VERBOSE")):
            break
        kept.append(line)
    return " ".join(kept)[:limit]


def flatten(value):
    """Tensors of a forward() result in order, and whether it was one bare tensor."""
    if isinstance(value, torch.Tensor):
        return [value], True
    if isinstance(value, (tuple, list)):
        tensors = []
        for part in value:
            tensors += flatten(part)[0]
        if tensors:
            return tensors, False
    kind = "an empty " + type(value).__name__ if isinstance(value, (tuple, list)) \
        else type(value).__name__
    raise task_error(f"forward() returned {kind}; it must return a tensor, or a tuple or list of "
                     "tensors")


def plain_storage(tensor, what):
    """A dense strided tensor with the same values; expanded and sliced ones become contiguous, so
    that reference, baselines and candidate all see the same bytes."""
    if tensor.layout != torch.strided or tensor.is_quantized:
        raise task_error(f"{what} is a {str(tensor.layout).removeprefix('torch.')} tensor; only "
                         "dense tensors are supported")
    dtype_name(tensor.dtype, what)
    tensor = tensor.detach()
    tensor = tensor.resolve_neg().resolve_conj()
    return tensor if is_dense(tensor) else tensor.contiguous()


class Task:
    def __init__(self, source, device):
        self.source = source
        self.device = device
        self.name = source.label.removesuffix(".py")
        self.draw_on_device = device.type != "cpu"
        self.last_outputs = None  # samples of the last random case's
        self.ways = None  # worker.ways.Ways, once it is known which differ
        torch.set_grad_enabled(False)
        self.module = self._load()
        self.model = self.build_model()

    @contextlib.contextmanager
    def guarded(self, doing):
        """Errors of the task's code become WorkerErrors."""
        try:
            yield
        except WorkerError:
            raise
        except BaseException as error:  # SystemExit too: the task may not end its judge
            raise self.translated(error, doing) from error
        finally:
            torch.set_grad_enabled(False)

    def translated(self, error, doing):
        line = self.source.line_of(error)
        place = f"{self.source.label}:{line}: " if line else f"{self.source.label}: "
        if is_out_of_memory(error):
            return task_error(f"{place}the task needs more memory than there is, while {doing}; "
                              f"{self.smaller()}", line)
        if isinstance(error, SystemExit):
            return task_error(f"{place}the task ends the process (exit {error.code}) while "
                              f"{doing}", line)
        text = shortened(error) or "no message"
        return WorkerError("request", f"{place}{type(error).__name__}: {text} (while {doing})",
                           line, restart=is_fatal(error))

    def smaller(self):
        names = self.source.settable()
        if not names:
            return "make its inputs smaller"
        return f"use --set to make it smaller ({', '.join(names)})"

    def constants(self):
        """Module-level ints, floats and bools that do not depend on others."""
        values = {}
        for name in sorted(self.source.plain):
            value = getattr(self.module, name, None)
            if isinstance(value, (bool, int)) and abs(int(value)) < 1 << 63:
                values[name] = value
            elif isinstance(value, float) and not isinstance(encode_number(value), dict):
                values[name] = value
        return values

    def build_model(self):
        """A fresh model in eval mode with the weights of the fixed seed."""
        with self.guarded("calling get_init_inputs()"):
            arguments = self.module.get_init_inputs()
        if not isinstance(arguments, (list, tuple, dict)):
            raise task_error(f"get_init_inputs() returned {type(arguments).__name__}; it must "
                             "return a list of arguments for Model()")
        with self.guarded("building Model"), torch.device(self.device):
            self._seed(MODEL_SEED)
            model = self.module.Model(**arguments) if isinstance(arguments, dict) else \
                self.module.Model(*arguments)
        if not isinstance(model, torch.nn.Module):
            raise task_error("Model is not a torch.nn.Module; derive it from torch.nn.Module")
        with self.guarded("moving Model to the device"):
            return model.to(self.device).eval().requires_grad_(False)

    def draw(self, seed):
        """Arguments for forward(): dense tensors on the device, numbers, bools, strings, None."""
        if self.draw_on_device:
            try:
                return self._draw(seed, self.device)
            except WorkerError as error:
                if error.restart or "memory" in error.message:
                    raise
                # A task may mix its own CPU generator or arrays in: draw where it expects to.
                arguments = self._draw(seed, torch.device("cpu"))
                self.draw_on_device = False
                return arguments
        return self._draw(seed, torch.device("cpu"))

    def forward(self, model, arguments):
        """Output tensors in order, and whether forward() returned one bare tensor."""
        with self.guarded("running forward()"):
            self._seed(MODEL_SEED)  # the same draws, should forward() draw at all
            value = model(*arguments)
            self.finish()
        tensors, single = flatten(value)
        for i, tensor in enumerate(tensors):
            if tensor.layout != torch.strided:
                raise task_error(f"output {i} is not a dense tensor")
            dtype_name(tensor.dtype, f"output {i}")
        return tensors, single

    def finish(self):
        """Waits for the device, so that what fails there fails in the call that began it."""
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def _load(self):
        module = types.ModuleType("task")
        module.__file__ = self.source.path
        sys.modules["task"] = module
        with self.guarded("loading the file"):
            exec(self.source.code(), module.__dict__)
        for name, what in REQUIRED.items():
            if not hasattr(module, name):
                raise task_error(f"{self.source.label} has no {what}; a task is a Python file "
                                 "with Model, get_inputs() and get_init_inputs()")
            if not callable(getattr(module, name)):
                raise task_error(f"{name} in {self.source.label} cannot be called")
        return module

    def _draw(self, seed, device):
        self._seed(seed)
        with self.guarded("calling get_inputs()"), torch.device(device):
            arguments = self.module.get_inputs()
        if not isinstance(arguments, (list, tuple)):
            raise task_error(f"get_inputs() returned {type(arguments).__name__}; it must return a "
                             "list of the arguments of forward()")
        values = list(arguments)
        del arguments
        if not any(isinstance(value, torch.Tensor) for value in values):
            raise task_error("get_inputs() returned no tensor; it must return a list with at "
                             "least one")
        for i, value in enumerate(values):
            if isinstance(value, torch.Tensor):
                with self.guarded(f"moving input {i} to the device"):
                    values[i] = plain_storage(value, f"input {i}").to(self.device)
            elif value is not None and not isinstance(value, (bool, int, float, str)):
                raise task_error(f"get_inputs()[{i}] is a {type(value).__name__}; tensors, "
                                 "numbers, bools, strings and None are supported")
        return values

    @staticmethod
    def _seed(seed):
        if torch.cuda.is_initialized():
            torch.manual_seed(seed)
        else:  # else each call notes where it was made, for a CUDA that may come: 1 ms and 5 KB
            torch.default_generator.manual_seed(seed)
        random.seed(seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed % (1 << 32))
