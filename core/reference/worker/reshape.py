# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same task with one of its constants changed, so that its inputs have other shapes and its
model is the same: for candidates that serve the drawn shapes only and do not say so."""

import contextlib
import copy
import sys
import types

import torch

from .cases import Skipped, make_case
from .protocol import WorkerError, encode_number
from .tensors import contiguous, type_of

PLAIN = (bool, int, float, str, tuple, list, dict, torch.Tensor)


def make_reshaped(task, request, tf32, outgoing, description, parameters):
    """Answer to the request "reshape": that of a random case, and `description` of the task as it
    is then, without a graph. `skipped` where the constant does something else."""
    name = request["name"]
    plain = request | {"scale": 1, "transform": "none"}
    try:
        if any(key not in task.model.state_dict() for key, _ in parameters):
            raise Skipped("the graph has constants of its own, which may depend on shapes")
        with reshaped(task, name, request["value"]) as other:
            arguments = other.draw(request["seed"])
            inputs = compared(description, arguments, name)
            scalars = [None if isinstance(value, torch.Tensor) else encode_number(value)
                       for value in arguments]
            del arguments
            case = make_case(other, plain, tf32, outgoing, parameters)
    except Skipped as error:
        return {"skipped": str(error)}
    except WorkerError as error:
        if error.kind != "request":
            raise
        return {"skipped": f"{name} = {request['value']}: {error.message}",
                "restart": error.restart}
    if "skipped" in case:
        return case
    outputs = [{"name": entry["name"], "dtype": entry["reference_dtype"], "shape": entry["shape"],
                "strides": contiguous(entry["shape"])} for entry in case["oracle"]]
    if [(port["dtype"], len(port["shape"])) for port in outputs] != \
            [(port["dtype"], len(port["shape"])) for port in description["outputs"]]:
        return {"skipped": f"{name} changes the rank or the type of an output"}
    return case | {"description": description | {
        "inputs": inputs, "outputs": outputs, "scalars": scalars,
        "constants": description["constants"] | {name: int(request["value"])},
        "graph": None, "graph_problem": "described for its shapes only",
        "counted_bytes": 0, "matmul_flops": 0, "convolution_flops": 0}}


@contextlib.contextmanager
def reshaped(task, name, value):
    """`task` with the module-level constant `name` set, where its model stays what it is."""
    source = task.source.changed(name, value)
    saved = sys.modules.get("task")
    other = copy.copy(task)
    try:
        other.source = source
        other.last_outputs = None
        other.module = other._load()
        with other.guarded("calling get_init_inputs()"):
            if not same(task.module.get_init_inputs(), other.module.get_init_inputs()):
                raise Skipped(f"{name} changes the model")
        before, after = read_by_model(task.module), read_by_model(other.module)
        for read in before.keys() | after.keys():
            if read not in before or read not in after or not same(before[read], after[read]):
                raise Skipped(f"{name} changes {read}, which the model reads")
        other.model = other.build_model()
        before, after = task.model.state_dict(), other.model.state_dict()
        if before.keys() != after.keys() or \
                not all(same(before[key], after[key]) for key in before):
            raise Skipped(f"{name} changes the model")
        yield other
    finally:
        sys.modules["task"] = saved


def read_by_model(module):
    """Plain values that code of the task other than get_inputs() and get_init_inputs() may read, by
    what they are called: globals, defaults of arguments, attributes of classes."""
    found = {}

    def look_at_code(code):
        for name in code.co_names:
            if isinstance(module.__dict__.get(name), PLAIN):
                found[name] = module.__dict__[name]
        for inner in code.co_consts:
            if isinstance(inner, types.CodeType):
                look_at_code(inner)

    def look_at(value, label):
        value = getattr(value, "__func__", value)  # of static methods and those of the class
        if isinstance(value, types.FunctionType):
            if value.__globals__ is module.__dict__:
                found[f"the defaults of {label}"] = [value.__defaults__, value.__kwdefaults__]
                look_at_code(value.__code__)
        elif isinstance(value, type):
            if value.__module__ == module.__name__:
                for name, inner in vars(value).items():
                    look_at(inner, f"{label}.{name}")
        elif isinstance(value, property):
            look_at(value.fget, label)
        elif isinstance(value, PLAIN) and not label.rpartition(".")[2].startswith("__"):
            found[label] = value

    for name, value in vars(module).items():
        if isinstance(value, (types.FunctionType, type)) and name not in ("get_inputs", "get_init_inputs"):
            look_at(value, name)
    return found


def compared(description, arguments, name):
    """The ports of `arguments`, which must differ from the task's own in shape and nothing else."""
    ports = [type_of(value, f"input {i}") | {"input_index": i}
             for i, value in enumerate(arguments) if isinstance(value, torch.Tensor)]
    for n, port in enumerate(ports):
        port["name"] = f"in{n}"
    known = description["inputs"]
    if len(arguments) != len(description["scalars"]) or \
            [port["input_index"] for port in ports] != [port["input_index"] for port in known]:
        raise Skipped(f"{name} changes the number or the kind of inputs")
    if [kind_of(port) for port in ports] != [kind_of(port) for port in known]:
        raise Skipped(f"{name} changes the rank, type or layout of an input")
    if all(old["shape"] == new["shape"] for old, new in zip(known, ports)):
        raise Skipped(f"{name} leaves the shapes of the inputs as they are")
    if any(0 in port["shape"] for port in ports):
        raise Skipped(f"{name} leaves an input empty")
    return ports


def kind_of(port):
    return (port["dtype"], len(port["shape"]),
            list(port["strides"]) == list(contiguous(port["shape"])))


def same(left, right):
    """Equality of plain values with tensors among them. What cannot be compared is not the same."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, torch.Tensor):
        return left.dtype == right.dtype and left.shape == right.shape and \
            bool(torch.equal(left, right))
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return left is None or isinstance(left, (bool, int, float, str)) and left == right
