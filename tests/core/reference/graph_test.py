# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Operator graphs as the reference worker writes them. By hand: <python with torch> graph_test.py"""

import contextlib
import functools
import math
import operator
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "core" / "reference"))

import torch  # noqa: E402
from torch.export import decomp_utils, exported_program  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

from worker import composites, functional, graph  # noqa: E402
from worker.loader import Task  # noqa: E402
from worker.main import Session  # noqa: E402
from worker.source import Source  # noqa: E402

CPU = torch.device("cpu")


class GraphTest(unittest.TestCase):
    def test_encoding(self):
        self.assertEqual(graph.encode((1, [2.0, math.inf], None, torch.float16, "mean")),
                         [1, [2.0, {"float": "inf"}], None, {"dtype": "float16"}, "mean"])
        self.assertIsNone(graph.encode(CPU))
        with self.assertRaises(graph.Unsupported):
            graph.encode(1j)

    def test_results_that_nobody_reads_may_be_of_any_type(self):
        """As the random state of attention on a GPU."""
        whole = torch.fx.Graph()
        made = whole.call_function(torch.ops.aten.var_mean.correction, (whole.placeholder("x"),))
        made.meta["val"] = (torch.zeros(2, 3), torch.zeros(2, dtype=torch.uint64))
        first = whole.call_function(operator.getitem, (made, 0))
        whole.call_function(operator.getitem, (made, 1))  # dead
        whole.output(first)
        self.assertEqual([each["shape"] for each in graph.tensor_types(made)], [[2, 3], [0]])
        second = next(node for node in whole.nodes if node.args == (made, 1))
        first.replace_all_uses_with(second)
        with self.assertRaises(graph.Unsupported):
            graph.tensor_types(made)

    def test_unsupported_types(self):
        node = type("Node", (), {"target": "aten.fft", "meta": {"val": torch.zeros(2) * 1j}})
        with self.assertRaises(graph.Unsupported):
            graph.tensor_types(node)


class LookAheadTest(unittest.TestCase):
    """What is exported before there is room for real inputs."""

    def described(self, file, ahead):
        describer = graph.Describer(Task(Source(str(file), {}), CPU))
        if ahead:
            describer.look_ahead()
        return describer.describe(), describer

    def test_is_the_same(self):
        for file in sorted((ROOT / "resources" / "tasks").glob("*.py")):
            with self.subTest(file.stem):
                plain, other = self.described(file, False)
                seen, describer = self.described(file, True)
                self.assertIsNotNone(describer.ahead)
                self.assertEqual(seen, plain)
                self.assertEqual([(name, tuple(tensor.shape)) for name, tensor in describer.parameters],
                                 [(name, tuple(tensor.shape)) for name, tensor in other.parameters])
                for (_, one), (_, two) in zip(describer.parameters, other.parameters):
                    self.assertTrue(torch.equal(one, two))

    def session(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(text)
            file.flush()
            session = Session()
            session.hello({"file": file.name, "overrides": {}, "device": "cpu"}, None)
        session.load({"device": "cpu", "numerics": "default"}, None)
        session.look_ahead(None, None)
        return session

    def test_tasks_that_keep_tensors(self):
        session = self.session("""import torch
kept = {}


class Model(torch.nn.Module):
    def forward(self, x):
        if "ramp" not in kept:
            kept["ramp"] = torch.arange(8.0)
        return x + kept["ramp"]


def get_inputs():
    return [torch.randn(4, 8)]


def get_init_inputs():
    return []
""")
        seen = session.describe({}, None)["description"]
        self.assertEqual(seen["graph_problem"], "")
        (_, ramp), = session.describer.parameters
        self.assertTrue(torch.equal(ramp, torch.arange(8.0)))

    def test_not_what_differentiates(self):
        session = self.session("""import torch


class Model(torch.nn.Module):
    def forward(self, grad, x):
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            return list(torch.autograd.grad(torch.div(x * x, 3), [x], grad))


def get_inputs():
    return [torch.randn(4), torch.randn(4)]


def get_init_inputs():
    return []
""")
        self.assertIsNone(session.ahead.ahead)
        self.assertEqual(session.describe({}, None)["description"]["graph_problem"], "")

    def test_inputs_by_their_values(self):
        session = self.session("""import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.abs()


def get_inputs():
    return [torch.randn(int(torch.randint(3, 6, ()).item()), 8)]


def get_init_inputs():
    return []
""")
        self.assertIsNone(session.ahead.ahead)
        seen = session.describe({}, None)["description"]
        self.assertEqual([node["op"] for node in seen["graph"]["nodes"]], ["placeholder", "aten.abs.default"])


class CompositesTest(unittest.TestCase):
    """What export is spared changes no graph."""

    TASK = """import torch
import torch.nn as nn
F = nn.functional


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(4, 6, 3, padding=1), nn.GroupNorm(2, 6)
        self.linear, self.lstm = nn.Linear(8, 12), nn.LSTM(12, 5, batch_first=True)

    def forward(self, x, q):
        x = F.interpolate(F.gelu(self.norm(self.conv(x))), scale_factor=2, mode="bilinear")
        x = F.avg_pool2d(x, 2).flatten(2).transpose(1, 2)
        y, _ = self.lstm(F.layer_norm(self.linear(q), [12]))
        attended = F.scaled_dot_product_attention(y, y, y).softmax(-1)
        return x, attended, torch.einsum("bij,bkj->bik", y, y), F.huber_loss(y, attended)


def get_inputs():
    return [torch.randn(2, 4, 8, 8), torch.randn(2, 7, 8)]


def get_init_inputs():
    return []
"""

    def test_graphs_are_the_same(self):
        def described():
            torch.manual_seed(1)
            return graph.Describer(Task(Source("task.py", {}, self.TASK), CPU)).describe()

        with mock.patch.object(composites, "left_alone", contextlib.nullcontext):
            plain = described()
        self.assertEqual(plain["graph_problem"], "")
        collect = decomp_utils._collect_all_valid_cia_ops
        self.assertEqual(described(), plain)
        self.assertIs(decomp_utils._collect_all_valid_cia_ops, collect)

    def test_resizing_stays_whole(self):
        """Also where a forward() differentiates."""
        ways = [(3, "nearest"), (3, "nearest-exact"), (3, "linear"), (4, "nearest"), (4, "bilinear"), (5, "nearest-exact"),
                (5, "trilinear"), (5, "nearest")]
        for rank, mode in ways:
            code = self.TASK[:self.TASK.index("class Model")] + (
                "class Model(nn.Module):\n    def forward(self, x):\n        {}\n"
                f"        return F.interpolate(x, scale_factor=1.5, mode={mode!r}){{}}\n\n\n"
                f"def get_inputs():\n    return [torch.randn({', '.join(['2'] * rank)})]\n\n\n"
                "def get_init_inputs():\n    return []\n")
            for first, last in (("pass", ""), ("x = x.detach().requires_grad_()", ".detach()")):
                description = graph.Describer(Task(Source("task.py", {}, code.format(first, last)), CPU)).describe()
                self.assertEqual(description["graph_problem"], "")
                operators = [node["op"] for node in description["graph"]["nodes"] if "upsample" in node["op"]]
                self.assertEqual(len(operators), 1, (mode, rank, first))

    def test_only_formulas_override(self):
        seen = {}

        @contextlib.contextmanager
        def override(callables):
            seen.update(callables)
            yield

        with mock.patch.object(exported_program, "_override_composite_implicit_decomp", override):
            with composites.left_alone():
                whole, own = torch.ops.aten.linear.default, lambda *operands: None
                with exported_program._override_composite_implicit_decomp(
                        {whole: functools.partial(own, kernel=whole),
                         torch.ops.aten.matmul.default: own}):
                    pass
        self.assertEqual(seen, {torch.ops.aten.matmul.default: own})

    def test_another_torch_does_as_ever(self):
        with mock.patch.object(exported_program, "_override_composite_implicit_decomp") as kept:
            with mock.patch.object(decomp_utils, "_collect_all_valid_cia_ops") as collect:
                del decomp_utils._collect_all_valid_cia_ops
                with composites.left_alone():
                    self.assertIs(exported_program._override_composite_implicit_decomp, kept)
                decomp_utils._collect_all_valid_cia_ops = collect


class FunctionalTest(unittest.TestCase):
    """What changes tensors in place becomes what computes new ones."""

    TASK = """import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(5))

    def forward(self, x, grad):
        with torch.enable_grad():
            self.requires_grad_()
            x = x.detach().requires_grad_()
            y = (x * self.weight).sum(1)
            made, kept = torch.autograd.grad(y, [x, self.weight], grad)
        made[:, 1:3].mul_(2.0)
        return made, kept


def get_inputs():
    return [torch.randn(4, 5), torch.randn(4)]


def get_init_inputs():
    return []
"""

    def test_part_of_a_gradient(self):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(self.TASK)
            file.flush()
            description = graph.Describer(Task(Source(file.name, {}), CPU)).describe()
        nodes = {node["name"]: node for node in description["graph"]["nodes"]}
        self.assertEqual([name for name, node in nodes.items() if "_." in node["op"]], [])
        self.assertIn("aten.slice_scatter.default", [node["op"] for node in nodes.values()])
        placed = [(node["origin"], node.get("key"), node.get("input_index"))
                  for node in nodes.values() if node["op"] == "placeholder"]
        self.assertEqual(sorted(placed, key=str), [("input", None, 0), ("input", None, 1),
                                                   ("parameter", "weight", None)])

    def test_an_input_is_no_scratch_paper(self):
        inputs = [torch.ones(3)]
        traced = make_fx(lambda x: x.mul_(2.0) + 1, tracing_mode="fake")(*inputs)
        self.assertTrue(functional.changes_in_place(traced))
        with self.assertRaisesRegex(ValueError, "changes an input"):
            functional.functional(traced, inputs, {})


class OverwrittenTest(unittest.TestCase):
    """A tensor of the model that each call writes before it reads it is no state."""

    TASK = """import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(6, 3)
        self.hidden = torch.randn(2, 3)

    def forward(self, x, hidden):
        WRITE
        self.hidden = torch.tanh(self.cell(torch.cat((x, self.hidden), 1)))
        return self.hidden * 2


def get_inputs():
    return [torch.rand(2, 3), torch.rand(2, 3)]


def get_init_inputs():
    return []
"""

    def described(self, write):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(self.TASK.replace("WRITE", write))
            file.flush()
            return graph.Describer(Task(Source(file.name, {}), CPU)).describe()

    def test_written_as_a_whole(self):
        description = self.described("self.hidden.copy_(hidden)")
        self.assertEqual(description["graph_problem"], "")
        nodes = description["graph"]["nodes"]
        self.assertEqual([node["op"] for node in nodes if node["op"] != "placeholder"],
                         [f"aten.{name}" for name in ("cat.default", "permute.default", "addmm.default",
                                                      "tanh.default", "mul.Tensor")])
        self.assertEqual(sorted(str(node.get("key")) for node in nodes if node["op"] == "placeholder"),
                         ["None", "None", "cell.bias", "cell.weight"])
        self.assertEqual([port["name"] for port in description["parameters"]],
                         ["cell.weight", "cell.bias"])

    def test_written_in_part_or_read_before(self):
        for write in ("self.hidden[:1].copy_(hidden[:1])", "self.hidden.add_(hidden)",
                      "self.hidden.copy_(hidden + self.hidden)"):
            with self.subTest(write):
                self.assertIn("hidden is mutated", self.described(write)["graph_problem"])


class StatefulTest(unittest.TestCase):
    """Describing a task leaves its model as it was."""

    TASK = """import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(6, 3)
        self.hidden = torch.randn(2, 3)
        self.register_buffer("last", torch.zeros(2, 3))

    def forward(self, x, hidden):
        self.hidden.mul_(0.0).add_(hidden)  # which neither export nor tracing takes
        self.hidden = torch.tanh(self.cell(torch.cat((x, self.hidden), 1)))
        return self.hidden * 2


def get_inputs():
    return [torch.rand(2, 3), torch.rand(2, 3)]


def get_init_inputs():
    return []
"""

    def test_attributes_that_forward_assigns_keep_their_values(self):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(self.TASK)
            file.flush()
            task = Task(Source(file.name, {}), CPU)
            describer = graph.Describer(task)
            describer.run()
            hidden = task.model.hidden
            description = describer.describe()
        self.assertIn("hidden is mutated", description["graph_problem"])
        self.assertIs(task.model.hidden, hidden)
        self.assertEqual(sorted(task.model.state_dict()), ["cell.bias", "cell.weight", "last"])
        outputs, _ = task.forward(task.model, task.draw(1))
        self.assertTrue(torch.isfinite(outputs[0]).all())


class FastPathTest(unittest.TestCase):
    TASK = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    def forward(self, x):
        return self.layer(x)
def get_inputs():
    return [torch.randn(2, 8, 64)]
def get_init_inputs():
    return []
"""

    def test_a_layer_is_its_operators(self):
        from worker import faked

        source = Source("layer.py", {}, self.TASK)
        with mock.patch("torch._subclasses.fake_tensor.run_fallback_kernel",
                        side_effect=AssertionError("runs on a CPU")):
            description = faked.describe(source, "cuda")
        self.assertEqual(description["graph_problem"], "")
        rows, width, inner = 2 * 8, 64, 128
        products = 4 * rows * width * width + 2 * rows * width * inner + 2 * rows * 8 * width
        self.assertEqual(description["matmul_flops"], 2 * products)
        self.assertTrue(torch.backends.mha.get_fastpath_enabled())
        describer = graph.Describer(Task(source, CPU))
        self.assertEqual(describer.describe()["matmul_flops"], 2 * products)

    def test_keys_of_fewer_heads_count_as_often_as_they_are_read(self):
        from worker import faked

        source = Source("heads.py", {}, """
import torch
class Model(torch.nn.Module):
    def forward(self, q, k, v):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)
def get_inputs():
    return [torch.randn(2, 8, 16, 32), torch.randn(2, 2, 24, 32), torch.randn(2, 2, 24, 32)]
def get_init_inputs():
    return []
""")
        for device in ("cpu", "cuda"):
            description = faked.describe(source, device)
            self.assertEqual(description["matmul_flops"], 2 * 2 * 8 * 16 * 24 * (32 + 32))


if __name__ == "__main__":
    unittest.main()
