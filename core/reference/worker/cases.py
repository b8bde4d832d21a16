# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cases: drawn inputs with the oracle's outputs and the errors of the same-precision reference.

Written for tensors of many gigabytes: big temporaries are freed as soon as they are used, and all
comparisons go in chunks.
"""

import contextlib
import math

import torch

from .oracle import Disturbance, Unfused, double_model, run_in_double
from .protocol import WorkerError
from .tensors import Outgoing, contiguous, dtype_name, flat, place
from .ways import Ways

SPARE = 1 << 28  # bytes on the device that PyTorch may keep for what comes next
CHUNK = 1 << 23  # elements a comparison looks at in one go
SAMPLE = 1 << 20  # elements of an output that are kept to compare the next case with
UNCONSTRAINED = 0x7FF4DEAD00000001  # device::unconstrainedBits
UNCONSTRAINED_INTEGER = -(1 << 63)
ROUNDOFF = {torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8, torch.float32: 2.0**-24,
            torch.float64: 2.0**-53}
BORDER = 0.99  # of the largest number of a type
EDGE_ERRORS = 4  # of the reference: what a kernel may have, as in the engine's allowance
BEYOND = 1.0625  # times inputs; more than rounding moves what comes of them
LARGEST_NUMBER = 1e308  # JSON has no infinity; nothing sensible is that large
DENORMAL = 1e-39
WHOLE = {torch.float32: 3, torch.float64: 3}  # largest magnitude; 1 in 16 bits
SATURATED = {torch.float16: 6e4}
SATURATED_OTHERS = 1e30


class Skipped(Exception):
    """This case does not apply to this task; the text says why."""


@contextlib.contextmanager
def precision(device, tf32):
    """Declares whether fp32 products may use TF32; convolutions may by PyTorch's default."""
    if device.type != "cuda":
        yield
        return
    saved = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    torch.set_float32_matmul_precision("high" if tf32 else "highest")
    torch.backends.cudnn.allow_tf32 = True
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(saved[0])
        torch.backends.cudnn.allow_tf32 = saved[1]


def make_case(task, request, tf32, outgoing, parameters):
    """Answer to the request "case"; the tensors lie in `outgoing`. `parameters`: (name, tensor),
    those that the graph reads."""
    plain = request["transform"] == "none" and request["scale"] == 1
    try:
        maker = Maker(task, request, tf32, outgoing)
        if request["transform"] != "whole":
            return maker.make()
        with whole_parameters(task.model):
            answer = maker.make()
            if any(error["max_error"] > 0 for error in answer["errors"]) or \
                    not any(error["max_oracle"] > 0 for error in answer["errors"]):
                raise Skipped("PyTorch's own results are not exact on whole numbers")
            known = task.model.state_dict()
            return answer | {"parameters": outgoing.add_all(
                [(name, known.get(name, tensor)) for name, tensor in parameters])}
    except Skipped as error:
        return {"skipped": str(error)}
    except WorkerError as error:
        if plain or error.kind != "request" or "more memory" in error.message:
            raise
        return {"skipped": error.message, "restart": error.restart}


@contextlib.contextmanager
def whole_parameters(model):
    """The model's floating parameters become small whole numbers for a while."""
    saved = [(tensor, tensor.clone()) for tensor in model.parameters()
             if tensor.is_floating_point()]
    try:
        for tensor, _ in saved:
            make_whole(tensor.data)
        yield
    finally:
        for tensor, values in saved:
            tensor.data.copy_(values)


def make_whole(tensor):
    """The values keep their proportions roughly. Products of such numbers are exact in TF32 and
    half precision too, and so are long sums of them in float32."""
    scale_to(tensor, WHOLE.get(tensor.dtype, 1))
    tensor.round_()


class Maker:
    def __init__(self, task, request, tf32, outgoing):
        self.task = task
        self.seed = request["seed"]
        self.scale = request["scale"]
        self.transform = request["transform"]
        self.sensitivity = request["sensitivity"]
        self.tf32 = tf32
        self.outgoing = outgoing
        self.notes = []
        self.fused = False

    def make(self):
        task = self.task
        arguments = self._inputs()
        tensors = [value for value in arguments if isinstance(value, torch.Tensor)]
        inputs = [self.outgoing.add(f"in{i}", tensor) for i, tensor in enumerate(tensors)]
        del tensors

        outputs = self._oracle(arguments, perturb=None)
        oracle = []  # (memory, view, entry), sealed in the engine later
        while outputs:
            oracle.append(self._export_oracle(len(oracle), outputs.pop(0)))
        self._free()

        versions = [value._version for value in arguments if isinstance(value, torch.Tensor)]
        with precision(task.device, self.tf32):
            outputs, _ = task.forward(task.model, arguments)
        changed = versions != [value._version for value in arguments
                               if isinstance(value, torch.Tensor)]
        if len(outputs) != len(oracle):
            raise WorkerError("request", "forward() returns a different number of tensors in "
                              "double precision; such a task cannot be verified")
        errors, dtypes, entries = [], [], []
        overflows = False  # only asked of enlarged inputs
        for i, (memory, view, entry) in enumerate(oracle):
            output, outputs[i] = outputs[i], None
            if list(output.shape) != entry["shape"]:
                raise WorkerError("request", f"output {i} has the shape {list(output.shape)}, in "
                                  f"double precision {entry['shape']}; such a task cannot be "
                                  "verified")
            dtypes.append(output.dtype)
            if output.dtype.is_floating_point != view.dtype.is_floating_point:
                memory, view, entry = self._retype(memory, view, entry, output.dtype)
                oracle[i] = memory, view, entry
            errors.append(compare(output, view))
            if self.scale > 1 and output.dtype.is_floating_point and not overflows:
                overflows = not all_finite(output)
            entry["reference_dtype"] = dtype_name(output.dtype, f"output {i}")
            entries.append(entry)
            del output
        if self.transform == "none" and self.scale == 1:
            self._measure_change([view for _, view, _ in oracle], errors)
        self._free()
        if self.fused and self.transform in ("nan", "inf"):
            self._loosen([view for _, view, _ in oracle])
        if overflows:
            self._mark_border([view for _, view, _ in oracle], errors)
        floating = any(dtype.is_floating_point for dtype in dtypes)
        if self.sensitivity and floating:
            if changed:
                arguments = self._inputs()
            self._measure_sensitivity(arguments, dtypes, oracle, errors)
        arguments.clear()
        # Errors of other inputs are not in proportion to those of random ones where something
        # saturates. Those of whole numbers have to be none.
        if floating and self.transform != "whole" and \
                (self.sensitivity or self.scale != 1 or self.transform != "none"):
            self._try_other_ways(oracle, errors)
        for memory, _, _ in oracle:
            memory.release()
        oracle.clear()
        self._free()
        return {"inputs": inputs, "oracle": entries, "errors": errors, "notes": self.notes}

    def _loosen(self, oracle):
        """PyTorch's fused backward operators, Fourier transforms, and the sums that they stand for
        turn infinities into different things: NaN or not. What both do not agree on is nobody's mistake."""
        with precision(self.task.device, self.tf32), Unfused():
            outputs, _ = self.task.forward(self.task.model, self._inputs())
        for output, view in zip(outputs, oracle):
            if view.dtype.is_floating_point and output.shape == view.shape:
                mark_disagreement(output, view)
        self._free()

    def _mark_border(self, oracle, errors):
        """Where a value on the way lies next to what overflows, rounding decides whether it does, and
        a kernel that rounds elsewhere may be on the other side. Those are the elements that overflow
        when the inputs are a little larger, and those that a few of the reference's own errors would
        take over the edge."""
        arguments = self._inputs()
        for value in arguments:
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                value.mul_(BEYOND)
        with precision(self.task.device, self.tf32):
            outputs, _ = self.task.forward(self.task.model, arguments)
        for output, view, own in zip(outputs, oracle, errors):
            if not view.dtype.is_floating_point or output.shape != view.shape:
                continue
            edge = torch.finfo(output.dtype).max - EDGE_ERRORS * own["max_error"]
            for got, want in chunks(output, view):
                over = torch.isfinite(want) & (~torch.isfinite(got) | (want.abs() >= edge))
                want.view(torch.int64).masked_fill_(over, UNCONSTRAINED)
        self._free()

    def _measure_change(self, oracle, errors):
        """How far the outputs are from those of the random case before: a task whose outputs do
        not depend on its inputs cannot tell who computes them."""
        samples = [sample(view) for view in oracle]
        if self.task.last_outputs is not None:
            for entry, now, before in zip(errors, samples, self.task.last_outputs):
                entry["change_norm"], entry["change_max"] = change(now, before)
        self.task.last_outputs = samples

    def _try_other_ways(self, oracle, errors):
        """Where PyTorch may round products, the least exact of its ways sets the allowance."""
        if self.task.device.type != "cuda":
            return  # no TF32 there
        if self.task.ways is None:
            self.task.ways = Ways(self.tf32)

        def forward():
            return self.task.forward(self.task.model, self._inputs())[0]

        try:
            with precision(self.task.device, self.tf32):
                for outputs in self.task.ways.run(forward):
                    for i, (_, view, _) in enumerate(oracle):
                        output, outputs[i] = outputs[i], None
                        if output.shape == view.shape:
                            raise_errors(errors[i], difference(output, view))
                    self._free()
        except WorkerError as error:
            if error.restart:
                raise
            self.notes.append(f"another way of PyTorch's was not tried: {error.message}")

    def _inputs(self):
        arguments = self.task.draw(self.seed)
        floating = [value for value in arguments
                    if isinstance(value, torch.Tensor) and value.is_floating_point()]
        if (self.transform != "none" or self.scale != 1) and not floating:
            raise Skipped("the task has no floating-point input")
        generator = torch.Generator(self.task.device).manual_seed(self.seed % (1 << 63) ^ 0x5EED)
        apply_transform(self.transform, floating, generator)
        if self.scale != 1:
            for tensor in floating:
                tensor.mul_(self.scale)
        return arguments

    def _oracle(self, arguments, perturb):
        """`perturb`: None, or the Disturbance of floating inputs, parameters and sums."""
        model = double_model(self.task)
        doubles = [value.double() if isinstance(value, torch.Tensor) and value.is_floating_point()
                   else value.clone() if isinstance(value, torch.Tensor) else value
                   for value in arguments]
        if perturb:
            for tensor in [*doubles, *model.parameters(), *model.buffers()]:
                if isinstance(tensor, torch.Tensor) and tensor.is_floating_point():
                    perturb.value(tensor)
        try:
            outputs, mode = run_in_double(self.task, model, doubles, perturb)
        except WorkerError as error:
            raise WorkerError(error.kind, f"in double precision: {error.message}", error.line,
                              error.restart)
        self.notes += [note for note in mode.notes if note not in self.notes]
        self.fused = mode.fused
        return outputs

    def _export_oracle(self, i, output):
        dtype = torch.float64 if output.is_floating_point() else torch.int64
        entry = {"name": f"out{i}", "dtype": dtype_name(dtype, "oracle"),
                 "shape": list(output.shape), "strides": contiguous(output.shape), "offset": 0}
        memory, number = self.outgoing.allocate(output.numel() * 8)
        view = place(memory, dtype, output.shape, entry["strides"])
        view.copy_(output)
        return memory, view, entry | {"fd": number, "bytes": memory.size}

    def _retype(self, memory, view, entry, dtype):
        """Same bytes, the class of element that the reference yields."""
        target = torch.float64 if dtype.is_floating_point else torch.int64
        view.view(target).copy_(view.to(target))
        return memory, view.view(target), entry | {"dtype": dtype_name(target, "oracle")}

    def _measure_sensitivity(self, arguments, dtypes, oracle, errors):
        for dtype in sorted({d for d in dtypes if d.is_floating_point}, key=str):
            generator = torch.Generator(self.task.device).manual_seed(self.seed % (1 << 63))
            outputs = self._oracle(arguments, Disturbance(ROUNDOFF[dtype], generator))
            for i, (_, view, _) in enumerate(oracle):
                output, outputs[i] = outputs[i], None
                if dtypes[i] != dtype or output.shape != view.shape:
                    continue
                moved = difference(output, view)
                errors[i]["sensitivity_norm"] = moved["error_norm"]
                errors[i]["sensitivity_max"] = moved["max_error"]
            self._free()

    def _free(self):
        if self.task.device.type == "cuda" and \
                torch.cuda.memory_reserved() - torch.cuda.memory_allocated() > SPARE:
            torch.cuda.empty_cache()


def sample(view):
    """Up to about SAMPLE elements of a tensor, evenly spread."""
    elements = view.reshape(-1)
    return elements[::max(1, elements.numel() // SAMPLE)].clone()


def change(now, before):
    """Relative distance in the Euclidean and in the maximum norm, over what is finite in both."""
    if not now.dtype.is_floating_point:
        return (0.0, 0.0) if torch.equal(now, before) else (1.0, 1.0)
    if not (all_finite(now) and all_finite(before)):
        if not torch.equal(classes(now), classes(before)):
            return 1.0, 1.0
        finite = torch.isfinite(now)
        now, before = now[finite], before[finite]
    if now.numel() == 0:
        return 0.0, 0.0
    ratio = lambda p: (float(torch.linalg.vector_norm(now - before, p)),  # noqa: E731
                       float(torch.linalg.vector_norm(now, p)))
    return tuple(bounded(part / whole) if whole > 0 else bounded(float(part > 0))
                 for part, whole in (ratio(2), ratio(float("inf"))))


def raise_errors(errors, others):
    for key in ("error_norm", "max_error"):
        errors[key] = max(errors[key], others[key])


def apply_transform(transform, floating, generator):
    if transform == "none":
        return
    if transform in ("nan", "inf"):
        tensor = flat(floating[0])
        if tensor.numel() == 0:
            raise Skipped("the first floating-point input is empty")
        count = max(1 if transform == "nan" else 2, tensor.numel() // 1000)
        places = torch.randint(tensor.numel(), (count,), generator=generator,
                               device=tensor.device)
        if transform == "nan":
            tensor[places] = float("nan")
        else:
            tensor[places[::2]] = float("inf")
            tensor[places[1::2]] = -float("inf")
    elif transform == "whole":
        for tensor in floating:
            make_whole(tensor)
    elif transform == "denormal":
        chosen = [tensor for tensor in floating if tensor.dtype == torch.float32]
        if not chosen:
            raise Skipped("no input is float32, denormals are tried there only")
        for tensor in chosen:
            scale_to(tensor, DENORMAL)
    elif transform == "saturate":
        for tensor in floating:
            scale_to(tensor, SATURATED.get(tensor.dtype, SATURATED_OTHERS))
    else:
        raise WorkerError("machine", f"unknown transform '{transform}'")


def scale_to(tensor, largest):
    """Multiplies so that the largest magnitude is about `largest`."""
    top = float(torch.linalg.vector_norm(tensor, float("inf"))) if tensor.numel() else 0.0
    if top > 0 and top < float("inf"):
        # In two steps: the factor itself may lie outside the tensor's range.
        tensor.mul_(1 / top)
        tensor.mul_(largest)


def bounded(value):
    value = float(value)
    return value if abs(value) <= LARGEST_NUMBER else LARGEST_NUMBER


def classes(tensor):
    """0 finite, 1 NaN, 2 +Inf, 3 -Inf."""
    result = torch.isnan(tensor).to(torch.int8)
    result += 2 * torch.isposinf(tensor)
    result += 3 * torch.isneginf(tensor)
    return result


def compare(output, oracle):
    """ReferenceError of one output as JSON; marks in `oracle` where both disagree in kind."""
    if not oracle.dtype.is_floating_point:
        for got, want in chunks(output, oracle):
            want.masked_fill_(got.to(torch.int64) != want, UNCONSTRAINED_INTEGER)
        return summary([0.0] * 4)
    mark_disagreement(output, oracle)
    return difference(output, oracle)


def largest(tensor):
    """One quick pass: NaN and infinities reach the maximum norm."""
    return float(torch.linalg.vector_norm(tensor, math.inf)) if tensor.numel() else 0.0


def all_finite(tensor):
    return math.isfinite(largest(tensor))


def mark_disagreement(output, oracle):
    """Marks in `oracle` where it and `output` differ in kind, and where it is finite in double but
    by its size next to what overflows in the output's type: rounding decides there which it is."""
    border = BORDER * torch.finfo(output.dtype).max
    for got, want in chunks(output, oracle):
        if all_finite(got) and largest(want) < border:
            continue  # as nearly always
        differ = (classes(got) != classes(want)) | (torch.isfinite(want) & (want.abs() >= border))
        want.view(torch.int64).masked_fill_(differ, UNCONSTRAINED)


def difference(output, oracle):
    """Norms over the elements that are finite on both sides."""
    if not oracle.dtype.is_floating_point:
        return summary([0.0] * 4)
    sums = torch.zeros(4, dtype=torch.float64, device=oracle.device)
    for got, want in chunks(output, oracle):
        got = got.double()
        off = got - want
        if not all_finite(off):
            finite = torch.isfinite(got) & torch.isfinite(want)
            zero = torch.zeros((), dtype=torch.float64, device=want.device)
            want = torch.where(finite, want, zero)
            off = torch.where(finite, got, zero).sub_(want)
        for i, part in ((0, off), (2, want)):
            sums[i] += torch.dot(part, part)
            sums[i + 1] = torch.maximum(sums[i + 1], torch.linalg.vector_norm(part, math.inf))
    return summary(sums.tolist())


def summary(values):
    return {"error_norm": bounded(values[0]**0.5), "max_error": bounded(values[1]),
            "oracle_norm": bounded(values[2]**0.5), "max_oracle": bounded(values[3]),
            "sensitivity_norm": 0.0, "sensitivity_max": 0.0}


def chunks(output, oracle):
    """Pairs of one-dimensional parts in row-major order; `oracle` is contiguous and may be
    written. No copy of a contiguous output is made."""
    total = oracle.numel()
    if output.is_contiguous():
        flat_output = output.reshape(-1)
        for start in range(0, total, CHUNK):
            size = min(CHUNK, total - start)
            yield flat_output.narrow(0, start, size), oracle.view(-1).narrow(0, start, size)
    elif total <= CHUNK or output.dim() == 0 or output.shape[0] == 1:
        yield output.reshape(-1), oracle.view(-1)
    else:
        rows = max(1, CHUNK // max(1, total // output.shape[0]))
        for got, want in zip(output.split(rows), oracle.split(rows)):
            yield got.reshape(-1), want.view(-1)


