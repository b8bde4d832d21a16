# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The candidate: its Python file, its models, its calls."""

import importlib.util
import os
import sys
import traceback

import torch

from worker.loader import MODEL_SEED, shortened
from worker.tensors import DTYPES

NAME = "model_new"
PLAIN = (torch.Tensor, torch.nn.Parameter)


class Fault(Exception):
    """The candidate is to blame; the message says how."""


class Rejected(Exception):
    """The candidate does not compile: one line, and the compilers' output."""

    def __init__(self, summary, log):
        super().__init__(summary)
        self.summary = summary
        self.log = log


class LaunchFault(RuntimeError):
    """A kernel failed, whoever raises it."""


def blamed(error, path, doing):
    """An error of the candidate's code in one sentence, with its deepest line of `path`."""
    line = 0
    for frame, number in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == path:
            line = number
    place = f"{os.path.basename(path)}:{line}: " if line else f"{os.path.basename(path)}: "
    if isinstance(error, SyntaxError) and error.filename == path:
        place = f"{os.path.basename(path)}:{error.lineno or 1}: "
    what = "it ends the process" if isinstance(error, SystemExit) else \
        shortened(error) or "no message"
    return f"{place}{type(error).__name__}: {what} (while {doing})"


def build_failure(error):
    """The compilers' output of a load_inline that failed, or None for other errors."""
    text = str(error)
    if "Error building extension" not in text and "Ninja is required" not in text:
        return None
    lines = [line.strip() for line in text.splitlines() if "error" in line.lower()]
    telling = [line for line in lines if ": error" in line or line.startswith("error")]
    return (telling or lines or [text.splitlines()[0]])[0]


class Candidate:
    """A loaded `model_new.py`. `task` is the reference worker's Task: constructor arguments and
    weights come from it, and nothing else."""

    def __init__(self, path, task, strict):
        self.path = path
        self.task = task
        self.device = task.device
        self.strict = strict
        self.flags = []
        self.state = {name: value.detach().clone()
                      for name, value in task.model.state_dict().items()}
        task.model = None
        self.ModelNew = self._load()
        # What is wrong with its constructor or its parameters shows now.
        self.spare = self._construct()
        self._adopt(self.spare, {})

    def _load(self):
        spec = importlib.util.spec_from_file_location(NAME, self.path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[NAME] = module
        try:
            spec.loader.exec_module(module)
        except BaseException as error:
            log = build_failure(error)
            if log is not None:
                raise Rejected(log, str(error)) from error
            raise Fault(blamed(error, self.path, "loading it")) from error
        finally:
            torch.set_grad_enabled(False)
        model = getattr(module, "ModelNew", None)
        if not isinstance(model, type) or not issubclass(model, torch.nn.Module):
            raise Fault(f"{os.path.basename(self.path)} has no class 'ModelNew' that is a "
                        "torch.nn.Module")
        return model

    def build(self, lent):
        """A model on the device in eval mode whose parameters are the lent tensors, by name. The
        first one is the model that was made when the candidate was loaded."""
        model, self.spare = self.spare, None
        if model is None:
            model = self._construct()
        self._adopt(model, lent)
        return model

    def _construct(self):
        arguments = self.task.module.get_init_inputs()
        try:
            torch.manual_seed(MODEL_SEED)
            with torch.device(self.device):
                model = self.ModelNew(**arguments) if isinstance(arguments, dict) else \
                    self.ModelNew(*arguments)
            return model.to(self.device).eval()
        except BaseException as error:
            log = build_failure(error)
            if log is not None:
                raise Rejected(log, str(error)) from error
            raise Fault(blamed(error, self.path, "building ModelNew")) from error
        finally:
            torch.set_grad_enabled(False)

    def _adopt(self, model, lent):
        """Makes the lent tensors, and the task's own beside them, the model's parameters."""
        state = {key: lent.get(key, value) for key, value in self.state.items()}
        try:
            model.load_state_dict(state, strict=True, assign=True)
        except (RuntimeError, KeyError, TypeError) as error:
            if self.strict:
                raise Fault(f"{os.path.basename(self.path)}: load_state_dict (strict): "
                            f"{shortened(error)}; ModelNew needs the parameters and buffers of "
                            "Model under the same names") from error
            self.flags = ["its parameters have other names than the task's: they are what it draws "
                          "from the same seed"]
        model.requires_grad_(False)

    def call(self, model, arguments, doing):
        """The tensors that forward() returns, in order, checked against nothing yet."""
        try:
            value = model(*arguments)
            self.synchronise()
        except BaseException as error:
            raise Fault(blamed(error, self.path, doing)) from error
        finally:
            torch.set_grad_enabled(False)
        return flat(value)

    def synchronise(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        fault = launch_fault()
        if fault:
            raise LaunchFault(fault)


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [tensor for part in value for tensor in flat(part)]
    raise Fault(f"forward() returned {type(value).__name__}; tensors are wanted")


def check_outputs(results, outputs):
    """Faults where the results are not of the expected types. `outputs`: lent tensors."""
    if len(results) != len(outputs):
        raise Fault(f"forward() returned {len(results)} tensors, the task's returns "
                    f"{len(outputs)}")
    for i, (result, lent) in enumerate(zip(results, outputs)):
        # What computes when it is looked at computes outside the timed span.
        if type(result) not in PLAIN or result.layout != torch.strided or result.is_neg() \
                or result.is_conj():
            raise Fault(f"output {i} is not a plain tensor: {type(result).__name__}, "
                        f"{result.layout}{', lazily negated' if result.is_neg() else ''}")
        if any(stride == 0 and size > 1 for stride, size in zip(result.stride(), result.shape)) \
                and result.stride() != lent.stride():
            raise Fault(f"output {i} repeats its elements by a stride of 0; it must hold them all")
        if result.dtype != lent.dtype:
            raise Fault(f"output {i} has the element type {DTYPES.get(result.dtype, result.dtype)},"
                        f" the task's has {DTYPES[lent.dtype]}")
        if result.shape != lent.shape:
            raise Fault(f"output {i} has the shape {list(result.shape)}, the task's has "
                        f"{list(lent.shape)}")
        if result.device.type != lent.device.type:
            raise Fault(f"output {i} lies on {result.device.type}, not on {lent.device.type}")


_host_layer = None


def load_host_layer(path):
    """Kernels compiled for the CPU find their scheduler in this library; it is loaded before the
    extension, for everyone."""
    import ctypes

    global _host_layer
    _host_layer = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    return _host_layer


class Launches:
    """The library that runs the launches of a candidate's own kernels can leave them out."""

    def __init__(self, library):
        self.library = library

    def leave_out(self, place):
        self.library.cuda_agent_host_leave_out(place)

    def end(self):
        """Where launches were seen meanwhile."""
        import ctypes

        text = ctypes.create_string_buffer(1 << 14)
        self.library.cuda_agent_host_places(text, ctypes.c_size_t(len(text)))
        self.library.cuda_agent_host_leave_out(-2)
        return text.value.decode(errors="replace").splitlines()


def launches_of(device):
    """None where launches cannot be left out."""
    import ctypes

    library = _host_layer if device.type == "cpu" else ctypes.CDLL(None)
    try:
        library.cuda_agent_host_leave_out
    except AttributeError:
        return None
    return Launches(library)


def launch_fault():
    """The fault of a kernel on the CPU device since the last look, or an empty text."""
    import ctypes

    if _host_layer is None:
        return ""
    text = ctypes.create_string_buffer(1024)
    return text.value.decode(errors="replace") \
        if _host_layer.cuda_agent_host_take_fault(text, ctypes.c_size_t(1024)) else ""
