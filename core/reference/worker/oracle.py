# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fp64 oracle: forward() as if every floating number had double precision."""

import contextlib
import copy
import math

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

from .backward import core_table, is_backward
from .tensors import flat, is_dense

LOW = (torch.float16, torch.bfloat16, torch.float32)
CHUNK = 1 << 23  # elements that are disturbed in one go
SUM_ROUNDOFF = 2.0**-24  # of the sums behind float32 and 16-bit results
# Beyond this many terms a sum from left to right is nobody's right kernel.
MOST_TERMS = 4096
# Operators that add many terms up, by what they are called in every overload.
REDUCTIONS = {"sum", "nansum", "mean", "var", "std", "var_mean", "logsumexp", "prod",
              "linalg_vector_norm", "norm", "mse_loss", "smooth_l1_loss", "huber_loss",
              "nll_loss_forward", "binary_cross_entropy"}
# Where the factor stands whose last dimension is summed over.
PRODUCTS = {"mm": 0, "bmm": 0, "mv": 0, "dot": 0, "addmm": 1, "baddbmm": 1, "addbmm": 1, "addmv": 1,
            "linear": 0}
CONVOLUTIONS = {"convolution", "_convolution", "cudnn_convolution", "mkldnn_convolution"}
SCANS = {"_softmax", "_log_softmax", "cumsum", "cumprod", "logcumsumexp"}


class Disturbance:
    """Relative noise of the size of rounding errors, for the oracle to show what they come to.

    A floating input or parameter becomes x (1 + u d), d uniform in [-1, 1], u the roundoff of the
    type of the outputs. What an operator has summed up from n terms becomes y (1 + v sqrt(n) d), v
    the roundoff of the sum: errors of a sum in any order behave like a random walk of n steps
    (Higham, Accuracy and Stability, ch. 4; Parker, Monte Carlo arithmetic, 1997). That goes for matrix
    products and convolutions too: libraries add up in blocks, and their own error is a fraction of
    what a right kernel may lose that adds from left to right."""

    def __init__(self, roundoff, generator):
        self.roundoff = roundoff
        self.generator = generator

    def value(self, tensor):
        disturb(tensor, self.roundoff, self.generator)

    def result(self, func, args, result):
        """Disturbs what an operator has returned, where it is a sum."""
        results = result if isinstance(result, (tuple, list)) else (result,)
        for tensor, terms in zip(results, terms_of_each(func, args, result)):
            # A task on a GPU may compute with scalars on the CPU, too: few, and left alone.
            if terms > 1 and isinstance(tensor, torch.Tensor) and tensor.is_floating_point() and \
                    tensor.device.type == self.generator.device.type:
                disturb(tensor,
                        min(self.roundoff, SUM_ROUNDOFF) * math.sqrt(min(terms, MOST_TERMS)),
                        self.generator)


def terms_of_each(func, args, result):
    """How many terms an element of each result is a sum of; 1 where it is none."""
    if func is torch.ops.aten.convolution_backward.default:
        grad, x, weight, transposed = args[0], args[1], args[2], args[7]
        places = grad.numel() // max(1, grad.shape[1])
        filters = (x.numel() // max(1, x.shape[1])) if transposed else places
        return weight.numel() // max(1, x.shape[1]), filters, places
    count = len(result) if isinstance(result, (tuple, list)) else 1
    return (terms_of(func, args, result),) * count


def terms_of(func, args, result):
    """How many terms an element of the result is a sum of, or of all results where there are
    several; 1 where it is none."""
    name = func._schema.name.split("::")[-1]
    source = args[0] if args and isinstance(args[0], torch.Tensor) else None
    if source is None or source.numel() == 0:
        return 1
    if name in REDUCTIONS:
        first = result[0] if isinstance(result, (tuple, list)) else result
        return source.numel() // max(1, first.numel())
    # Arguments may come by name where a task calls an operator itself; then it is left alone.
    if name in PRODUCTS and len(args) > PRODUCTS[name]:
        factor = args[PRODUCTS[name]]
        return factor.shape[-1] if factor.dim() else 1
    if name in CONVOLUTIONS and len(args) > 1:
        channels = result.shape[1 if result.dim() == args[1].dim() else 0]
        return args[1].numel() // max(1, channels)  # transposed or not, of groups or not
    if name in SCANS and source.dim() and len(args) > 1:
        return source.shape[args[1]]
    if name == "native_layer_norm" and len(args) > 1:
        return math.prod(args[1])
    if name == "native_group_norm" and len(args) > 6:  # input, weight, bias, N, C, HxW, groups, eps
        return args[4] * args[5] // args[6]
    return 1


def disturb(tensor, roundoff, generator):
    """x (1 + u d), d uniform in [-1, 1], in place."""
    if tensor.numel() == 0:
        return
    for part in flat(tensor).split(CHUNK) if is_dense(tensor) else (tensor,):
        factor = torch.empty_like(part).uniform_(-roundoff, roundoff, generator=generator)
        part.mul_(factor.add_(1))


def ordered(func, args, kwargs):
    """What a sort or top-k gives where equal elements stay as they come; None for other operators.
    PyTorch leaves their places open: where its own answer is another one, none is demanded."""
    given = dict(zip((argument.name for argument in func._schema.arguments), args)) | kwargs
    sort = torch.ops.aten.sort.stable
    if func is torch.ops.aten.sort.default:
        return sort(given["self"], stable=True, dim=given.get("dim", -1),
                    descending=given.get("descending", False))
    if func is torch.ops.aten.topk.default and given.get("sorted", True):
        x, dim = given["self"], given.get("dim", -1)
        both = sort(x, stable=True, dim=dim, descending=given.get("largest", True))
        # Of one number all is kept, as it has no dimension to cut.
        return tuple(part.narrow(dim, 0, given["k"]).contiguous() if x.dim() else part
                     for part in both)
    return None


class InDouble(TorchDispatchMode):
    """Runs every operator in double: dtype arguments that name a smaller floating type become
    float64, and so do such tensors (plain attributes, literals). An operator without a double
    implementation on the device runs on the CPU, one that has none there in float32; both are
    told in `notes`. `disturbance`: None, or what is done to sums."""

    def __init__(self, device, disturbance=None):
        super().__init__()
        self.device = device
        self.disturbance = disturbance
        self.notes = []
        self.fused = False  # an operator ran that is many sums in one

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.fused = self.fused or is_fused(func)
        written = {argument.name for argument in func._schema.arguments
                   if argument.alias_info is not None and argument.alias_info.is_write}
        names = [argument.name for argument in func._schema.arguments]
        args = [value if names[i] in written else raised(value) for i, value in enumerate(args)]
        kwargs = {key: value if key in written else raised(value)
                  for key, value in (kwargs or {}).items()}
        result = self._run(func, args, kwargs, written)
        if self.disturbance and not written:
            self.disturbance.result(func, args, result)
        return result

    def _run(self, func, args, kwargs, written):
        try:
            stable = ordered(func, args, kwargs)
        except torch.OutOfMemoryError:  # it needs more than the operator itself
            stable = None
        if stable is not None:
            return stable
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


class RecurrentAtOnce(TorchFunctionMode):
    """Recurrent layers whose tensors are all double run as PyTorch runs them, not as the tens of
    thousands of operators that a dispatch mode sees of them."""

    LAYERS = {getattr(torch._VF, name) for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")}

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func in self.LAYERS and not kwargs and all(
                leaf.dtype == torch.float64 for leaf in tree_leaves(args)
                if isinstance(leaf, torch.Tensor)):
            with _disable_current_modes():
                return func(*args)
        return func(*args, **(kwargs or {}))


class Unfused(TorchDispatchMode):
    """Runs the operators of a backward pass, and Fourier transforms, as the pointwise operators and
    sums that they stand for (PyTorch's own decompositions, which torch.compile uses too, and ours)."""

    def __init__(self):
        super().__init__()
        from .complex_numbers import TRANSFORMS  # what that imports is wanted rarely

        self.table = core_table() | TRANSFORMS

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        formula = self.table.get(func) if is_fused(func) else None
        if formula is None:
            return func(*args, **(kwargs or {}))
        with self:
            result = formula(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {})) if result is NotImplemented else result


def is_fused(func):
    """Operators that turn infinities into what their order of summing makes of them."""
    return is_backward(func) or "::_fft_" in func._schema.name


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


def run_in_double(task, model, arguments, disturbance=None):
    """Outputs of forward() in double, and the mode that saw it. `arguments` hold double tensors; the list is
    emptied, so that they are freed as early as can be."""
    mode = InDouble(task.device, disturbance)
    # Sums that are to be disturbed have to be seen.
    at_once = contextlib.nullcontext() if disturbance else RecurrentAtOnce()
    saved = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with mode, at_once:
            values = list(arguments)
            arguments.clear()
            outputs, _ = task.forward(model, values)
    finally:
        torch.set_default_dtype(saved)
    return outputs, mode
