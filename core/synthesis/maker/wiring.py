# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task as a graph of core ATen operators, and a hash that tasks share which compute the same.

Traced through the dispatcher on fake tensors (`make_fx`): some milliseconds a task, where
torch.export with its decompositions takes several hundred.
"""

import functools
import hashlib
import math
import operator

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode

from worker.backward import core_table
from worker.loader import flatten, shortened

NOTHING = {torch.ops.aten.alias.default, torch.ops.aten.detach.default}  # what they do to values
FROM = 16  # whole numbers from here on are sizes and count by their power of two


@functools.cache
def decompositions():
    return core_table()


def traced(task, arguments):
    """The graph without what nothing reads, attention as the products that it stands for. Raises
    whatever tracing raises."""
    from torch.fx.experimental.proxy_tensor import make_fx

    positions = [i for i, value in enumerate(arguments) if isinstance(value, torch.Tensor)]

    def forward(*tensors):
        values = list(arguments)
        for position, tensor in zip(positions, tensors):
            values[position] = tensor
        return tuple(flatten(task.model(*values))[0])

    tensors = [arguments[i] for i in positions]

    def trace(function):
        try:
            with sdpa_kernel([SDPBackend.MATH]):
                return make_fx(function, decomposition_table=decompositions(), tracing_mode="fake",
                               _allow_non_fake_inputs=True)(*tensors).graph
        finally:
            torch.set_grad_enabled(False)

    graph = trace(forward)
    if any(writes(node) for node in graph.nodes):
        from torch._subclasses.functional_tensor import dispatch_functionalize

        graph = trace(dispatch_functionalize(forward))  # torch.func's cannot differentiate
    for node in list(graph.nodes):
        if node.op == "call_function" and node.target in NOTHING:
            node.replace_all_uses_with(node.args[0])
    graph.eliminate_dead_code()
    return graph


def writes(node):
    return node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload) and \
        node.target._schema.is_mutable


def describe(task, seed, shapes):
    """{"graph": [names of core ATen operators in order], "graph_hash"}; where there is no graph the
    operators as they ran, and "graph_problem" says why. `shapes`: of the whole task's tensors."""
    try:
        if task.device.type == "cuda" and any(isinstance(module, torch.nn.RNNBase) for module in
                                              task.model.modules()):
            # Tracing tries for many seconds to make fakes of the weights that cuDNN keeps as one.
            raise NotImplementedError("recurrent layers of cuDNN cannot be traced")
        graph = traced(task, task.draw(seed))
    except BaseException as error:  # tracing runs task code and reports in many ways
        seen, arguments = Seen(), task.draw(seed)
        with sdpa_kernel([SDPBackend.MATH]), seen:
            task.forward(task.model, arguments)
        return {"graph": seen.names, "graph_hash": hash_of(seen.lines, shapes),
                "graph_problem": f"{type(error).__name__}: {shortened(error)}"}
    names = [str(node.target) for node in graph.nodes
             if node.op == "call_function" and node.target is not operator.getitem]
    return {"graph": names, "graph_hash": hash_of(lines_of(graph), shapes)}


def hash_of(lines, shapes):
    shapes = repr([[rounded(size) for size in shape] for shape in shapes])
    return hashlib.sha256("\n".join([shapes, *lines]).encode()).hexdigest()[:32]


class Seen(TorchDispatchMode):
    """Operators while forward() runs: their names, and a line for each as lines_of() gives."""

    def __init__(self):
        super().__init__()
        self.names, self.lines = [], []
        self.tensors = []  # kept, so that no two have one id
        self.numbers = {}

    def number(self, tensor):
        if id(tensor) not in self.numbers:
            self.numbers[id(tensor)] = f"%{len(self.tensors)}"
            self.tensors.append(tensor)
        return self.numbers[id(tensor)]

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        with self:
            result = func.decompose(*args, **kwargs)
        if result is not NotImplemented:
            return result
        result = func(*args, **kwargs)
        self.names.append(str(func))
        arguments = canonical([list(args), sorted(kwargs.items())], self.number)
        self.lines.append(f"{func} {arguments} {canonical(result, self.number)} {type_of(result)}")
        return result


def lines_of(graph):
    """A line for each node: operator, wiring, element types, ranks and attributes; sizes by their
    power of two. Nodes are numbered from the outputs backwards, so names and the order of what is
    independent play no part."""
    text = []
    numbers = {}

    def visit(start):
        stack = [(start, iter(start.all_input_nodes))]
        begun = {start}
        while stack:
            node, inputs = stack[-1]
            for before in inputs:
                if before not in begun:
                    begun.add(before)
                    stack.append((before, iter(before.all_input_nodes)))
                    break
            else:
                stack.pop()
                if node not in numbers:
                    text.append(line_of(node, numbers))
                    numbers[node] = len(numbers)

    output = next(node for node in graph.nodes if node.op == "output")
    visit(output)
    return text


def line_of(node, numbers):
    number = lambda before: f"%{numbers[before]}"  # noqa: E731
    what = {"placeholder": "input", "get_attr": "parameter", "output": "output"}.get(
        node.op) or str(node.target)
    arguments = repr(canonical(node.args, number)) if node.op in ("call_function", "output") else ""
    named = repr(sorted((key, canonical(value, number)) for key, value in node.kwargs.items()
                        if key not in ("device", "layout", "pin_memory")))
    return f"{what} {arguments} {named} {type_of(node.meta.get('val'))}"


def canonical(value, number):
    """Arguments as JSON-like values; `number(value)` names nodes and tensors."""
    if isinstance(value, (torch.fx.Node, torch.Tensor)):
        return number(value)
    if isinstance(value, (tuple, list)):
        return [canonical(part, number) for part in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        return rounded(value)
    return "" if isinstance(value, (torch.device, torch.layout)) else str(value)


def rounded(value):
    """Small whole numbers stay: dimensions, strides, kernels. Others by their power of two."""
    if isinstance(value, float):
        if value == 0 or not math.isfinite(value):
            return str(value)
        return f"{'-' if value < 0 else ''}2^{math.floor(math.log2(abs(value)))}"
    if abs(value) < FROM or abs(value) >= 1 << 62:  # to the end
        return value
    return f"{'-' if value < 0 else ''}2^{abs(value).bit_length() - 1}"


def type_of(value):
    if isinstance(value, torch.Tensor):
        return f"{value.dtype}[{' '.join(str(rounded(int(size))) for size in value.shape)}]"
    if isinstance(value, (tuple, list)):
        return " ".join(type_of(part) for part in value)
    return ""
