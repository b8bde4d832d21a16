# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task is: its operator graph, the tensors that cross its border, its cost by counting."""

import contextlib
import operator
import re

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from .imports import import_ahead
from .loader import flatten, shortened
from .protocol import encode_number, task_error
from .tensors import DTYPES, contiguous, type_of

DESCRIPTION_SEED = 1
# Say where and how a tensor lies, not what it holds.
PLACEMENT = ("device", "layout", "pin_memory")
# Of a task that differentiates: its export on inputs without values ends the process in PyTorch.
DIFFERENTIATES = re.compile(r"autograd|enable_grad|requires_grad|\.backward\(|torch\.func\b")

ATEN = torch.ops.aten


def attention_operations(query, key, value, *_arguments, out_val=None, **_options):
    """Of two products a head: queries by keys, and that by values."""
    rows = query.numel() // query.shape[-1]
    return 2 * rows * key.shape[-2] * (query.shape[-1] + value.shape[-1])


# PyTorch's registry leaves out what attention is called on a CPU, and refuses keys with fewer heads
# than queries.
OPERATIONS = flop_registry | dict.fromkeys(
    (ATEN._scaled_dot_product_efficient_attention, ATEN._scaled_dot_product_flash_attention,
     ATEN._scaled_dot_product_cudnn_attention, ATEN._scaled_dot_product_flash_attention_for_cpu),
    attention_operations) | {
        ATEN._scaled_dot_product_flash_attention_for_cpu_backward:
            flop_registry[ATEN._scaled_dot_product_flash_attention_backward]}


class Unsupported(Exception):
    """The graph has something the engine's format has no room for; the text says what."""


class HasComplexNumbers(Unsupported):
    """The graph has complex tensors, which tracing turns into pairs of real ones."""


@contextlib.contextmanager
def unchanged(model):
    """Puts the attributes of all modules back: a forward() that assigns some leaves there, when it
    is exported, tensors without values."""
    saved = [(module, dict(module.__dict__),
              {name: dict(module.__dict__[name]) for name in ("_parameters", "_buffers")})
             for module in model.modules()]
    try:
        yield
    finally:
        for module, attributes, tensors in saved:
            module.__dict__.clear()
            module.__dict__.update(attributes)
            for name, values in tensors.items():
                attributes[name].clear()
                attributes[name].update(values)


@contextlib.contextmanager
def no_fast_path():
    """Transformer layers call operators that the graph can have: the one that does a whole layer at
    once counts as none, and on fake tensors it runs for real, on a CPU, for minutes."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


class Describer:
    """Describes one task once; keeps the tensors of its parameters and constants."""

    def __init__(self, task):
        self.task = task
        self.parameters = []  # (name, tensor), those that the graph reads
        self.seen = None  # what run() found out
        self.arguments = None  # that it ran on, where it left them as they were
        self.looked = False  # ahead
        self.ahead = None  # what came of that: (types of the inputs, graph, parameters), by look_ahead()

    def look_ahead(self):
        """Exports forward() on inputs without memory or values, for whoever has to wait until there
        is room for real ones: the export takes a second of the processor, and none of the device.
        What cannot be exported so is exported by describe()."""
        task = self.task
        if DIFFERENTIATES.search(str(task.source.text)):
            return
        self.looked = True
        draws_on_device = task.draw_on_device
        try:
            with FakeTensorMode(allow_non_fake_inputs=True):
                arguments = task.draw(DESCRIPTION_SEED)
            import_ahead("torch.export._trace")
            with unchanged(task.model):
                graph = self._export(arguments)
            self.ahead = self._port_types(arguments), graph, self.parameters
        except BaseException:  # task code and PyTorch, in many ways
            pass
        finally:
            task.draw_on_device, self.parameters = draws_on_device, []

    @staticmethod
    def _port_types(arguments):
        """Of inputs: types where they are tensors, else what they are."""
        return [type_of(value, f"input {i}") if isinstance(value, torch.Tensor) else value
                for i, value in enumerate(arguments)]

    @no_fast_path()
    def run(self):
        """Runs the task once and counts: what of the description takes the device's time."""
        task = self.task
        arguments = task.draw(DESCRIPTION_SEED)
        inputs = [(i, value) for i, value in enumerate(arguments)
                  if isinstance(value, torch.Tensor)]
        types = self._port_types(arguments)
        if self.ahead and self.ahead[0] != types:
            self.ahead = None
        in_ports = [types[i] | {"name": f"in{n}", "input_index": i}
                    for n, (i, _) in enumerate(inputs)]
        with Operations() as operations:
            outputs, single = task.forward(task.model, arguments)
        if self.looked and any(isinstance(tensor, FakeTensor) for tensor in outputs):
            raise task_error("forward() keeps tensors from one call to the next")
        if all(value._version == 0 for _, value in inputs):
            self.arguments = arguments
        # Told row-major; how PyTorch leaves them the graph's last nodes tell.
        out_ports = [type_of(tensor, f"output {i}") | {"name": f"out{i}",
                                                       "strides": contiguous(tensor.shape)}
                     for i, tensor in enumerate(outputs)]
        self.seen = {
            "inputs": in_ports,
            "scalars": [None if isinstance(value, torch.Tensor) else encode_number(value)
                        for value in arguments],
            "outputs": out_ports, "single_output": single,
            "counted_bytes": sum(tensor.numel() * tensor.element_size()
                                 for tensor in [*outputs, *(value for _, value in inputs)]),
            "matmul_flops": operations.flops["matmul"],
            "convolution_flops": operations.flops["convolution"],
        }

    def describe(self):
        """The whole description, as `task::descriptionFromJson` reads it."""
        if self.seen is None:
            self.run()
        task = self.task
        arguments, self.arguments = self.arguments, None
        if arguments is None and not self.ahead:
            arguments = task.draw(DESCRIPTION_SEED)
        graph, problem = None, ""
        import_ahead("torch.export._trace")
        try:
            if self.ahead:
                _, graph, self.parameters = self.ahead
            else:
                with unchanged(task.model):
                    graph = self._export(arguments)
            trace = any("backward" in node["op"] for node in graph["nodes"])
        except Unsupported as error:
            problem = str(error)
            trace = isinstance(error, HasComplexNumbers)
        except BaseException as error:  # export runs task code and reports in many ways
            problem = f"torch.export failed: {type(error).__name__}: {shortened(error)}"
            trace = True
        if trace:
            try:
                with unchanged(task.model):
                    graph = self._trace(arguments or task.draw(DESCRIPTION_SEED))
                problem = ""
            except Unsupported as error:
                problem = problem or str(error)
            except BaseException:
                pass  # what export said or gave is the better answer
        if graph is None:
            self.parameters = list(task.model.state_dict().items())
        return self.seen | {
            "name": task.name, "graph": graph, "graph_problem": problem,
            "parameters": [type_of(t, name) | {"name": name} for name, t in self.parameters],
            "constants": task.constants(),
            "counted_bytes": self.seen["counted_bytes"] +
            sum(t.numel() * t.element_size() for _, t in self.parameters),
        }

    @no_fast_path()
    def _export(self, arguments):
        from . import composites, forward, recurrence

        try:
            program = torch.export.export(self.task.model, tuple(arguments), strict=False)
            with composites.left_alone():
                formulas = forward.FORMULAS | forward.FORWARD_ONLY | recurrence.formulas(
                    torch.export.default_decompositions())
                program = program.run_decompositions(
                    forward.adapt(torch.export.default_decompositions(), formulas))
        finally:
            torch.set_grad_enabled(False)
        from torch.export.graph_signature import InputKind, OutputKind

        for spec in program.graph_signature.output_specs:
            if spec.kind == OutputKind.BUFFER_MUTATION:
                raise Unsupported(f"forward() changes the buffer '{spec.target}' of the model")
            if spec.kind == OutputKind.USER_INPUT_MUTATION:
                raise Unsupported(f"forward() changes its input '{spec.target}'")
            if spec.kind != OutputKind.USER_OUTPUT:
                raise Unsupported(f"the graph has an output of kind {spec.kind.name}")
        specs = {spec.arg.name: spec for spec in program.graph_signature.input_specs}
        positions = {}
        for spec in program.graph_signature.input_specs:
            if spec.kind == InputKind.USER_INPUT:
                positions[spec.arg.name] = len(positions)
        if len(positions) != len(arguments):
            raise Unsupported("the graph's inputs are not those of get_inputs()")

        state = dict(self.task.model.state_dict(keep_vars=True)) | dict(program.constants)
        nodes, parameters, outputs = [], [], []
        for node in program.graph.nodes:
            if node.op == "placeholder":
                spec = specs[node.name]
                entry = {"name": node.name, "op": "placeholder", "outputs": tensor_types(node)}
                if spec.kind == InputKind.USER_INPUT:
                    index = positions[node.name]
                    entry |= {"origin": "input", "input_index": index}
                    if not isinstance(arguments[index], torch.Tensor):
                        entry["scalar"] = encode_number(arguments[index])
                elif spec.kind in (InputKind.PARAMETER, InputKind.BUFFER,
                                   InputKind.CONSTANT_TENSOR):
                    if not node.users:
                        continue
                    constant = spec.kind == InputKind.CONSTANT_TENSOR
                    key = node.name if constant else spec.target
                    tensor = state.get(spec.target)
                    if not isinstance(tensor, torch.Tensor):
                        raise Unsupported(f"the graph reads '{spec.target}', which is no tensor")
                    tensor = tensor.detach().to(self.task.device)
                    if tensor.stride() != tuple(entry["outputs"][0]["strides"]):
                        tensor = tensor.contiguous()
                        entry["outputs"][0]["strides"] = contiguous(tensor.shape)
                    parameters.append((key, tensor))
                    entry |= {"origin": "constant" if constant else "parameter", "key": key}
                else:
                    raise Unsupported(f"the graph has an input of kind {spec.kind.name}")
                nodes.append(entry)
            elif node.op == "call_function":
                if "_assert" not in str(node.target) or node.users:
                    nodes.append(call_of(node))
            elif node.op == "output":
                for value in node.args[0]:
                    if not isinstance(value, torch.fx.Node):
                        raise Unsupported("forward() returns something that is no tensor")
                    outputs.append(value.name)
            else:
                raise Unsupported(f"the graph has a {node.op} node ({node.target}), such as "
                                  "control flow")
        self.parameters = parameters
        return {"nodes": nodes, "outputs": outputs}

    @no_fast_path()
    def _trace(self, arguments):
        """The graph as the dispatcher sees it, for what torch.export cannot take: a forward() that
        differentiates (`torch.autograd.grad`) comes out as forward and backward operators."""
        from torch.fx.experimental.proxy_tensor import make_fx

        from . import complex_numbers, forward
        from .backward import core_table
        from .functional import changes_in_place, functional

        table = forward.adapt(core_table(), forward.FORMULAS | complex_numbers.FORMULAS)

        positions = [i for i, value in enumerate(arguments) if isinstance(value, torch.Tensor)]

        def run(*tensors):
            values = list(arguments)
            for position, tensor in zip(positions, tensors):
                values[position] = tensor
            return tuple(flatten(self.task.model(*values))[0])

        try:
            traced = make_fx(run, decomposition_table=table,
                             tracing_mode="fake", _allow_non_fake_inputs=True)(
                                 *[arguments[i] for i in positions])
            torch.set_grad_enabled(False)
            first = {}
            for node in traced.graph.nodes:
                if node.op == "get_attr" and first.setdefault(node.target, node) is not node:
                    node.replace_all_uses_with(first[node.target])
            traced.graph.eliminate_dead_code()
            lifted = []
            if changes_in_place(traced):
                try:
                    traced, lifted = functional(traced, [arguments[i] for i in positions],
                                                table)
                except ValueError as error:
                    raise Unsupported(str(error))
        finally:
            torch.set_grad_enabled(False)
        names = {id(value): key for key, value in
                 self.task.model.state_dict(keep_vars=True).items()}
        nodes, parameters, outputs = [], [], []
        inputs, lifted = iter(positions), iter(lifted)
        for node in traced.graph.nodes:
            position = next(inputs, None) if node.op == "placeholder" else None
            if position is not None:
                nodes.append({"name": node.name, "op": "placeholder", "origin": "input",
                              "input_index": position, "outputs": tensor_types(node)})
            elif node.op in ("get_attr", "placeholder"):
                tensor = (getattr(traced, node.target) if node.op == "get_attr" else
                          next(lifted))
                if not node.users:
                    continue
                if not isinstance(tensor, torch.Tensor):
                    raise Unsupported(f"the graph reads '{node.target}', which is no tensor")
                key = names.get(id(tensor))
                tensor = tensor.detach().to(self.task.device).contiguous()
                parameters.append((key or node.name, tensor))
                nodes.append({"name": node.name, "op": "placeholder", "key": key or node.name,
                              "origin": "parameter" if key else "constant",
                              "outputs": [type_of(tensor, node.name)]})
            elif node.op == "call_function":
                nodes.append(call_of(node))
            elif node.op == "output":
                for value in torch.utils._pytree.tree_leaves(node.args[0]):
                    if not isinstance(value, torch.fx.Node):
                        raise Unsupported("forward() returns something that is no tensor")
                    outputs.append(value.name)
        self.parameters = parameters
        return {"nodes": nodes, "outputs": outputs}


class Operations(TorchDispatchMode):
    """Counts floating-point operations by PyTorch's registry of formulas. Unlike its
    FlopCounterMode it sets no hooks, which a forward() that differentiates cannot bear."""

    def __init__(self):
        super().__init__()
        self.flops = {"matmul": 0, "convolution": 0}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        formula = OPERATIONS.get(function._overloadpacket)
        if formula is None and function is not torch.ops.prim.device.default:
            with self:
                result = function.decompose(*args, **kwargs)
            if result is not NotImplemented:
                return result
        result = function(*args, **kwargs)
        if formula is not None:
            kind = "convolution" if "conv" in str(function) else "matmul"
            self.flops[kind] += formula(*args, **kwargs, out_val=result)
        return result


def call_of(node):
    """An operator call of a graph as JSON."""
    if isinstance(node.target, torch._ops.OpOverload):
        name = str(node.target)
    elif node.target is operator.getitem:
        name = "getitem"
    else:
        raise Unsupported(f"the graph has the operator {node.target}")
    return {"name": node.name, "op": name, "args": encode(node.args),
            "kwargs": {key: encode(value) for key, value in node.kwargs.items()
                       if key not in PLACEMENT},
            "outputs": tensor_types(node)}


def tensor_types(node):
    value = node.meta.get("val")
    if isinstance(value, (tuple, list)):
        read = {user.args[1] for user in node.users if user.target is operator.getitem and user.users}
        # Attention's random state has a type that nothing else has, and that nobody reads.
        return [one_type(None if isinstance(part, torch.Tensor) and part.dtype not in DTYPES and i not in read
                         else part, node) for i, part in enumerate(value)]
    return [one_type(value, node)] if isinstance(value, torch.Tensor) else []


def one_type(value, node):
    if value is None or isinstance(value, int):  # left out, or one of attention's odd numbers
        return {"dtype": "float32", "shape": [0], "strides": [1]}
    if not isinstance(value, torch.Tensor):
        raise Unsupported(f"{node.target} yields a {type(value).__name__}")
    if value.dtype not in DTYPES:
        kind = HasComplexNumbers if value.dtype.is_complex else Unsupported
        raise kind(f"{node.target} yields {str(value.dtype).removeprefix('torch.')}")
    try:
        return {"dtype": DTYPES[value.dtype], "shape": [int(size) for size in value.shape],
                "strides": [int(stride) for stride in value.stride()]}
    except (TypeError, RuntimeError):
        raise Unsupported(f"{node.target} yields a shape that depends on the data")


def encode(value):
    """A graph argument in the encoding of core/task/task.h."""
    if isinstance(value, torch.fx.Node):
        return {"node": value.name}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return encode_number(value)
    if isinstance(value, (tuple, list)):
        return [encode(part) for part in value]
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if isinstance(value, (torch.memory_format, torch.layout)):
        return str(value)
    if isinstance(value, torch.device):
        return None
    raise Unsupported(f"the graph has an argument of type {type(value).__name__}")
