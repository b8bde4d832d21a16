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
        graph = trace(torch.func.functionalize(forward, remove="mutations_and_views"))
    for node in list(graph.nodes):
        if node.op == "call_function" and node.target in NOTHING:
            node.replace_all_uses_with(node.args[0])
    graph.eliminate_dead_code()
    return graph


def writes(node):
    return node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload) and \
        node.target._schema.is_mutable


def describe(task, seed, shapes):
    """{"graph": [names of core ATen operators in order], "graph_hash"}, and "graph_problem" where
    there is no graph: then the hash is empty. `shapes`: of the whole task's tensors."""
    try:
        graph = traced(task, task.draw(seed))
    except BaseException as error:  # tracing runs task code and reports in many ways
        return {"graph": [], "graph_hash": "",
                "graph_problem": f"{type(error).__name__}: {shortened(error)}"}
    names = [str(node.target) for node in graph.nodes
             if node.op == "call_function" and node.target is not operator.getitem]
    return {"graph": names, "graph_hash": hash_of(graph, shapes)}


def hash_of(graph, shapes):
    """Of operators, wiring, element types, ranks and attributes; sizes by their power of two.
    Nodes are numbered from the outputs backwards, so names and the order of what is independent
    play no part."""
    text = [repr([[rounded(size) for size in shape] for shape in shapes])]
    numbers = {}

    def visit(start):
        stack = [(start, iter(start.all_input_nodes))]
        while stack:
            node, inputs = stack[-1]
            for before in inputs:
                if before not in numbers and all(before is not at for at, _ in stack):
                    stack.append((before, iter(before.all_input_nodes)))
                    break
            else:
                stack.pop()
                if node not in numbers:
                    text.append(line_of(node, numbers))
                    numbers[node] = len(numbers)

    output = next(node for node in graph.nodes if node.op == "output")
    visit(output)
    return hashlib.sha256("\n".join(text).encode()).hexdigest()[:32]


def line_of(node, numbers):
    what = {"placeholder": "input", "get_attr": "parameter", "output": "output"}.get(
        node.op) or str(node.target)
    arguments = repr(canonical(node.args, numbers)) if node.op in ("call_function", "output") else ""
    named = repr(sorted((key, canonical(value, numbers)) for key, value in node.kwargs.items()
                        if key not in ("device", "layout", "pin_memory")))
    return f"{what} {arguments} {named} {type_of(node.meta.get('val'))}"


def canonical(value, numbers):
    if isinstance(value, torch.fx.Node):
        return f"%{numbers[value]}"
    if isinstance(value, (tuple, list)):
        return [canonical(part, numbers) for part in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        return rounded(value)
    return str(value)


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
