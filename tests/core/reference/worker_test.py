# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Unit tests of the reference worker's Python side. By hand: <python with torch> worker_test.py

Nothing hostile is loaded here: tasks that end, hang or attack their process are tried through the
sandbox in the C++ tests.
"""

import gc
import math
import os
import pathlib
import socket
import struct
import sys
import tempfile
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "core" / "reference"))

import torch  # noqa: E402

from worker import cases, graph, imports, oracle, reshape  # noqa: E402
from worker.loader import Task  # noqa: E402
from worker.protocol import Channel, Closed, WorkerError, encode_number  # noqa: E402
from worker.source import Source  # noqa: E402
from worker.tensors import Outgoing, flat, is_dense, place, span_bytes  # noqa: E402

TASKS = ROOT / "tests" / "data" / "tasks"
CPU = torch.device("cpu")


class SourceTest(unittest.TestCase):
    def source(self, text, **overrides):
        with tempfile.NamedTemporaryFile("wb", suffix=".py") as file:
            file.write(text.encode() if isinstance(text, str) else text)
            file.flush()
            return Source(file.name, overrides)

    def run_source(self, text, **overrides):
        scope = {}
        exec(self.source(text, **overrides).code(), scope)
        return scope

    def problem(self, text, **overrides):
        with self.assertRaises(WorkerError) as caught:
            self.source(text, **overrides)
        self.assertEqual(caught.exception.kind, "request")
        return caught.exception

    def test_finds_what_can_be_set(self):
        source = self.source("import os\nn = 4\nm: int = 2 * n\na, b = 1, (2, 3)\nf = max(1, 2)\n"
                             "s = 'text'\nx.y = 3\nlist_ = [1, n]\nd = {}\nif n:\n    hidden = 1\n")
        self.assertEqual(source.settable(), ["a", "b", "list_", "m", "n", "s"])
        self.assertEqual(source.plain, {"a", "b", "n", "s"})

    def test_overrides_come_before_what_depends_on_them(self):
        scope = self.run_source("n = 4\nm = 2 * n\nshape = (n, m)\n", n="8")
        self.assertEqual(scope["shape"], (8, 16))

    def test_overrides_of_every_form(self):
        scope = self.run_source("a, b = 1, 2\nc = d = 3\ne: float = 1.0\ns = 'x'\na = 7\n", a="-1",
                                c="(1, 2)", e="1e-3", s="'new'")
        self.assertEqual([scope[name] for name in "abcdes"],
                         [-1, 2, (1, 2), (1, 2), 1e-3, "new"])

    def test_lines_stay(self):
        scope = self.run_source("n = 1\n\ndef f():\n    raise ValueError(n)\n", n="7")
        try:
            scope["f"]()
        except ValueError as error:
            self.assertEqual(error.__traceback__.tb_next.tb_lineno, 4)

    def test_refuses_what_is_no_literal(self):
        for text in ("open('x')", "n", "1 +", "lambda: 1", "[x for x in y]", "", "b'1'", "..."):
            self.assertIn("not a Python literal", self.problem("n = 1\n", n=text).message)

    def test_names_what_can_be_set(self):
        error = self.problem("n = 1\nk = 2\n", batch="3")
        self.assertIn("no module-level constant 'batch'; --set can change k, n", error.message)
        self.assertIn("it has none to set", self.problem("", batch="3").message)

    def test_refuses_what_is_no_python(self):
        self.assertEqual(self.problem("x = 1\ny = = 2\n").line, 2)
        for text in (b"\x00", b"\xff\xfe", "(" * 5000, "# coding: nonsense\n"):
            self.assertIn("not Python", self.problem(text).message)


class ImportsTest(unittest.TestCase):
    def tearDown(self):
        gc.enable()
        gc.unfreeze()

    def test_nothing_is_collected_meanwhile_nor_what_came_later_on(self):
        with imports.uncollected():
            self.assertFalse(gc.isenabled())
            imported = [[] for _ in range(1000)]
        self.assertTrue(gc.isenabled())
        self.assertGreaterEqual(gc.get_freeze_count(), len(imported))

    def test_a_collector_that_was_off_stays_off_and_an_error_passes(self):
        gc.disable()
        with self.assertRaises(SyntaxError), imports.uncollected():
            raise SyntaxError
        self.assertFalse(gc.isenabled())

    def test_what_this_version_lacks_is_left_to_it(self):
        imports.import_ahead("torch.no_such_part", "torch.export._trace")
        self.assertIn("torch.export._trace", sys.modules)


class ProtocolTest(unittest.TestCase):
    def setUp(self):
        ours, theirs = socket.socketpair()
        self.engine = ours
        self.channel = Channel(theirs.detach())

    def tearDown(self):
        self.engine.close()
        self.channel.socket.close()

    def test_frames(self):
        body = b'{"request": "quit"}'
        self.engine.sendall(struct.pack("<II", len(body), 0) + body)
        self.assertEqual(self.channel.receive(), {"request": "quit"})
        with tempfile.TemporaryFile() as file:
            file.write(b"lent")
            file.flush()
            self.channel.send({"a": 1}, [file.fileno()])
        frame, descriptors, _, _ = socket.recv_fds(self.engine, 4096, 4)
        self.assertEqual(struct.unpack("<II", frame[:8]), (8, 1))
        self.assertEqual(frame[8:], b'{"a": 1}')
        self.assertEqual(os.pread(descriptors[0], 4, 0), b"lent")
        os.close(descriptors[0])

    def test_end_and_nonsense(self):
        with self.assertRaises(ValueError):
            self.channel.send({"a": math.nan})
        with self.assertRaises(WorkerError):
            self.channel.send({}, range(200))
        self.engine.sendall(struct.pack("<II", 1 << 30, 0))
        with self.assertRaises(Closed):
            self.channel.receive()
        self.engine.close()
        with self.assertRaises(Closed):
            self.channel.receive()

    def test_numbers(self):
        self.assertEqual(encode_number(-math.inf), {"float": "-inf"})
        self.assertEqual(encode_number(math.nan), {"float": "nan"})
        self.assertEqual(encode_number(2.5), 2.5)
        self.assertIs(encode_number(True), True)


class TensorsTest(unittest.TestCase):
    def read(self, memory, entry):
        dtype = getattr(torch, entry["dtype"])
        size = os.fstat(memory.fd).st_size
        self.assertEqual(size, entry["bytes"])
        data = bytearray(os.pread(memory.fd, size, 0))
        holder = type("Holder", (), {"bytes": torch.frombuffer(data, dtype=torch.uint8)})
        return place(holder, dtype, entry["shape"], entry["strides"], entry["offset"])

    def test_density(self):
        x = torch.arange(24).reshape(2, 3, 4)
        self.assertTrue(is_dense(x.permute(2, 0, 1)))
        self.assertTrue(is_dense(torch.zeros(1, 5, 1)))
        self.assertTrue(is_dense(torch.tensor(1)))
        self.assertFalse(is_dense(x[:, ::2]))
        self.assertFalse(is_dense(torch.zeros(3, 1).expand(3, 4)))
        self.assertEqual(span_bytes(x), 24 * 8)
        self.assertEqual(span_bytes(torch.zeros(0, 4)), 0)
        self.assertEqual(flat(x.permute(2, 0, 1)).tolist(), list(range(24)))

    def test_one_memory_each(self):
        tensors = [torch.randn(3, 4).t(), torch.zeros(0, 2), torch.tensor(True),
                   torch.randn(5).to(torch.bfloat16)]
        with Outgoing(CPU) as outgoing:
            entries = [outgoing.add(f"in{i}", t) for i, t in enumerate(tensors)]
            for i, (tensor, entry) in enumerate(zip(tensors, entries)):
                self.assertEqual((entry["fd"], entry["name"]), (i, f"in{i}"))
                self.assertTrue(torch.equal(self.read(outgoing.memories[i], entry), tensor))
            fds = outgoing.fds
        for fd in fds:
            with self.assertRaises(OSError):
                os.fstat(fd)

    def test_all_in_one_memory(self):
        tensors = [("a", torch.randn(3)), ("b", torch.randn(7, 2).t()), ("c", torch.tensor(5))]
        with Outgoing(CPU) as outgoing:
            entries = outgoing.add_all(tensors)
            self.assertEqual(len(outgoing.memories), 1)
            for (name, tensor), entry in zip(tensors, entries):
                self.assertEqual(entry["offset"] % 256, 0)
                self.assertTrue(torch.equal(self.read(outgoing.memories[0], entry), tensor), name)
            self.assertEqual(outgoing.add_all([]), [])


class CompareTest(unittest.TestCase):
    """With chunks so small that every tensor has several."""

    def setUp(self):
        self.chunk, cases.CHUNK = cases.CHUNK, 7

    def tearDown(self):
        cases.CHUNK = self.chunk

    def test_norms(self):
        torch.manual_seed(1)
        oracle_ = torch.randn(6, 5, dtype=torch.float64)
        for output in (oracle_.float() + 1e-3, (oracle_.t().float() + 1e-3).contiguous().t()):
            off = output.double() - oracle_
            got = cases.compare(output, oracle_.clone())
            self.assertAlmostEqual(got["error_norm"], float(off.norm()), places=12)
            self.assertAlmostEqual(got["max_error"], float(off.abs().max()), places=12)
            self.assertAlmostEqual(got["oracle_norm"], float(oracle_.norm()), places=12)
            self.assertEqual(got["max_oracle"], float(oracle_.abs().max()))

    def test_kinds(self):
        inf, nan = math.inf, math.nan
        want = torch.tensor([1.0, inf, -inf, nan, 1e39, inf, nan, 2.0], dtype=torch.float64)
        got = torch.tensor([1.5, inf, -inf, nan, inf, -inf, 3.0, nan])
        result = cases.compare(got, want)
        bits = want.view(torch.int64).tolist()
        marked = [i for i, value in enumerate(bits) if value == cases.UNCONSTRAINED]
        self.assertEqual(marked, [4, 5, 6, 7])
        self.assertEqual(result["error_norm"], 0.5)
        self.assertEqual(result["max_oracle"], 1.0)

    def test_next_to_overflow_either_is_right(self):
        most = torch.finfo(torch.float32).max
        want = torch.tensor([1.0005 * most, -0.995 * most, 0.5 * most, math.inf], dtype=torch.float64)
        got = torch.tensor([most, -0.995 * most, 0.5 * most, math.inf])  # PyTorch's own
        cases.compare(got, want)
        self.assertEqual((want.view(torch.int64) == cases.UNCONSTRAINED).tolist(),
                         [True, True, False, False])
        wide = torch.tensor([1e39], dtype=torch.float64)
        cases.compare(wide.clone(), wide)
        self.assertEqual(wide.item(), 1e39)

    def test_integers_and_bools(self):
        want = torch.tensor([3, 1, 0, 2] * 5)
        got = want.clone()
        got[3] = 7
        self.assertEqual(cases.compare(got, want)["oracle_norm"], 0)
        self.assertEqual(want[3].item(), cases.UNCONSTRAINED_INTEGER)
        self.assertEqual(int((want == cases.UNCONSTRAINED_INTEGER).sum()), 1)
        flags = torch.tensor([1, 0, 1])
        cases.compare(torch.tensor([True, True, True]), flags)
        self.assertEqual(flags.tolist(), [1, cases.UNCONSTRAINED_INTEGER, 1])

    def test_empty_scalar_and_huge(self):
        self.assertEqual(cases.compare(torch.zeros(0, 3), torch.zeros(0, 3).double())["max_error"], 0)
        self.assertEqual(cases.compare(torch.tensor(1.0), torch.tensor(1.0).double())["max_oracle"],
                         1)
        huge = cases.difference(torch.tensor([1e200], dtype=torch.float64),
                                torch.tensor([-1e200], dtype=torch.float64))
        self.assertEqual(huge["error_norm"], cases.LARGEST_NUMBER)

    def test_disturbance_is_relative_and_small(self):
        x = torch.full((3, 40), 5.0, dtype=torch.float64).t()
        oracle.disturb(x, 2.0**-24, torch.Generator().manual_seed(1))
        relative = (x / 5 - 1).abs()
        self.assertLessEqual(float(relative.max()), 2.0**-24)
        self.assertGreater(float(relative.max()), 2.0**-26)
        self.assertGreater(len(set(x.flatten().tolist())), 100)

    def test_whole_numbers(self):
        model = torch.nn.Linear(40, 8)
        before = [tensor.clone() for tensor in model.parameters()]
        with cases.whole_parameters(model):
            for tensor in model.parameters():
                self.assertTrue(torch.equal(tensor, tensor.round()))
                self.assertEqual(float(tensor.abs().max()), 3)
        for tensor, value in zip(model.parameters(), before):
            self.assertTrue(torch.equal(tensor, value))
        half = torch.rand(100).half()
        cases.make_whole(half)
        self.assertEqual(sorted(set(half.tolist())), [0, 1])

    def test_change_from_case_to_case(self):
        now = torch.tensor([3.0, float("nan"), 4.0], dtype=torch.float64)
        self.assertEqual(cases.change(now, now), (0, 0))
        before = torch.tensor([3.0, float("nan"), 4.5], dtype=torch.float64)
        norm, largest = cases.change(now, before)
        self.assertAlmostEqual(norm, 0.1)
        self.assertAlmostEqual(largest, 0.125)
        before[0] = float("inf")
        self.assertEqual(cases.change(now, before), (1, 1))
        zeros = torch.zeros(3, dtype=torch.float64)
        self.assertEqual(cases.change(zeros, zeros), (0, 0))
        self.assertEqual(cases.change(zeros, zeros + 1), (1, 1))
        numbers = torch.arange(5)
        self.assertEqual(cases.change(numbers, numbers), (0, 0))
        self.assertEqual(cases.change(numbers, numbers.flip(0)), (1, 1))
        self.assertLessEqual(cases.sample(torch.zeros(1 << 10, (1 << 12) + 1)).numel(), 2 << 20)

    def test_transforms(self):
        def applied(name, *tensors):
            cases.apply_transform(name, list(tensors), torch.Generator().manual_seed(1))
            return tensors[0]

        self.assertEqual(int(applied("nan", torch.ones(5000)).isnan().sum()), 5)
        infinite = applied("inf", torch.ones(40, 50))
        self.assertEqual((int((infinite > 2).sum()), int((infinite < -2).sum())), (1, 1))
        self.assertAlmostEqual(float(applied("saturate", torch.randn(9).half()).abs().max()), 6e4,
                               delta=64)
        tiny = applied("denormal", torch.tensor([2.0, -1.0]))
        self.assertAlmostEqual(float(tiny[0]) / 1e-39, 1, places=4)
        with self.assertRaises(cases.Skipped):
            applied("denormal", torch.ones(3, dtype=torch.float64))
        with self.assertRaises(WorkerError):
            applied("sideways", torch.ones(3))


class TaskTest(unittest.TestCase):
    """Tasks with one fault: what the author is told."""

    def problem(self, fault):
        source = Source(str(TASKS / "faulty.py"), {"fault": repr(fault)})
        with self.assertRaises(WorkerError) as caught:
            graph.Describer(Task(source, CPU)).describe()
        self.assertEqual(caught.exception.kind, "request")
        return caught.exception.message

    def test_messages(self):
        for fault, part in {
                "inputs are no list": "get_inputs() returned Tensor",
                "no tensor": "get_inputs() returned no tensor",
                "a dictionary": "get_inputs()[1] is a dict",
                "complex input": "input 0 has the element type complex64",
                "init raises": "RuntimeError: no weights (while building Model)",
                "init inputs are no list": "get_init_inputs() returned int",
                "returns nothing": "forward() returned NoneType",
                "returns an empty tuple": "forward() returned an empty tuple",
                "complex output": "output 0 has the element type complex64",
        }.items():
            self.assertIn(part, self.problem(fault), fault)

    def test_drawing_is_repeatable_and_leaves_the_model_alone(self):
        task = Task(Source(str(TASKS / "linear_norm.py"), {}), CPU)
        again = Task(Source(str(TASKS / "linear_norm.py"), {}), CPU)
        for ours, theirs in zip(task.model.state_dict().values(),
                                again.model.state_dict().values()):
            self.assertTrue(torch.equal(ours, theirs))
        self.assertTrue(torch.equal(task.draw(5)[0], again.draw(5)[0]))
        self.assertFalse(torch.equal(task.draw(5)[0], task.draw(6)[0]))
        self.assertFalse(task.model.training)


class BorderTest(unittest.TestCase):
    def marked(self, text, scale):
        """Of the 2000 inputs of a task whose output is its input, if nothing overflows: inputs, and
        which of them are nobody's mistake."""
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(f"""import torch
from torch import nn
class Model(nn.Module):
    def forward(self, x):
        return {text}
def get_inputs():
    return [torch.linspace(-3, 3, 2000, dtype=torch.bfloat16)]
def get_init_inputs():
    return []
""")
            file.flush()
            task = Task(Source(file.name, {}), CPU)
        request = {"name": "", "seed": 3, "scale": scale, "transform": "none", "sensitivity": False}
        views = []

        class Looked(cases.Maker):
            def _export_oracle(self, i, output):
                memory, view, entry = super()._export_oracle(i, output)
                views.append(view)
                return types.SimpleNamespace(release=lambda: None), view, entry

        with Outgoing(CPU) as outgoing:
            Looked(task, request, False, outgoing).make()
            marked = views[0].view(torch.int64) == cases.UNCONSTRAINED
        return torch.linspace(-3, 3, 2000, dtype=torch.bfloat16).double() * scale, marked

    def test_what_is_next_to_overflow_on_the_way_is_left_open(self):
        x, open_ = self.marked("x.exp().log()", 64)
        self.assertTrue(open_[x > 84].all())  # e^88.7 is the last number
        self.assertFalse(open_[(x < 80) & (x > -80)].any())

    def test_nothing_is_left_open_where_nothing_overflows(self):
        for text, scale in (("x * 2", 64), ("x.exp().log()", 1), ("x.exp().log()", 0.001)):
            self.assertFalse(self.marked(text, scale)[1].any(), text)


class ReshapeTest(unittest.TestCase):
    def reshaped(self, task, name, value):
        describer = graph.Describer(task)
        description = describer.describe()
        with Outgoing(CPU) as outgoing:
            return reshape.make_reshaped(
                task, {"name": name, "value": value, "seed": 3, "sensitivity": True}, False,
                outgoing, description, describer.parameters)

    def of_text(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write("import torch\nfrom torch import nn\n" + text)
            file.flush()
            return Task(Source(file.name, {}), CPU)

    def test_another_shape_of_the_same_model(self):
        task = Task(Source(str(TASKS / "softmax.py"), {"columns": "40"}), CPU)
        answer = self.reshaped(task, "rows", "11")
        self.assertEqual(answer["description"]["inputs"][0]["shape"], [11, 40])
        self.assertEqual(answer["description"]["outputs"][0]["shape"], [11, 40])
        self.assertEqual(answer["description"]["constants"]["rows"], 11)
        self.assertEqual(answer["oracle"][0]["shape"], [11, 40])
        self.assertGreater(answer["errors"][0]["sensitivity_norm"], 0)
        # and the task is what it was
        self.assertEqual(task.draw(1)[0].shape, (16, 40))
        self.assertEqual(sys.modules["task"], task.module)

    def test_constants_that_serve_for_nothing(self):
        task = self.of_text("""
rows, width, power, kind = 6, 4, 2, 8
class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width))
        self.register_buffer("table", torch.arange(float(kind)))
    def forward(self, x):
        return (x * self.weight + self.table.sum()) ** power
def get_inputs():
    return [torch.randn(rows, width)] + [None] * (rows == 5)
def get_init_inputs():
    return [width]
""")
        for name, value, why in (("width", "5", "changes the model"),
                                 ("kind", "9", "changes kind, which the model reads"),
                                 ("power", "3", "changes power, which the model reads"),
                                 ("rows", "0", "leaves an input empty"),
                                 ("rows", "5", "changes the number or the kind of inputs"),
                                 ("rows", "-1", "rows = -1: ")):
            self.assertIn(why, self.reshaped(task, name, value)["skipped"], name)
        self.assertNotIn("skipped", self.reshaped(task, "rows", "4"))

    def test_what_follows_from_the_constant_must_not_reach_the_model(self):
        text = """
rows, columns = 6, 16
numel = rows * columns
limit, table = columns / 8, {"a": [columns]}
def helped(x, by=columns):
    return x * by
class Model(nn.Module):
    size = columns
    BODY
def get_inputs():
    return [torch.randn(numel // columns, columns)]
def get_init_inputs():
    return []
"""
        plain = "def forward(self, x):\n        return "
        for body in ("x + limit", "x + table['a'][0]", "(lambda y: y + limit)(x)", "x + 1", "helped(x)"):
            task = self.of_text(text.replace("BODY", plain + body))
            self.assertIn("which the model reads", self.reshaped(task, "columns", "24")["skipped"], body)
            self.assertNotIn("skipped", self.reshaped(task, "rows", "4"))  # and numel with it
        kept = text.replace("    size = columns\n", "").replace(", by=columns", ", by=2")
        task = self.of_text(kept.replace("BODY", plain + "helped(x)"))
        self.assertNotIn("skipped", self.reshaped(task, "columns", "24"))

    def test_a_task_that_takes_its_own_shape_only(self):
        task = self.of_text("""
rows = 6
class Model(nn.Module):
    def forward(self, x):
        if x.shape[0] != 6:
            raise ValueError("six rows, please")
        return x + 1
def get_inputs():
    return [torch.randn(rows, 3)]
def get_init_inputs():
    return []
""")
        answer = self.reshaped(task, "rows", "4")
        self.assertIn("six rows, please", answer["skipped"])

    def test_equality_of_plain_values(self):
        one = [1, (2.0, "x"), {"t": torch.ones(2)}]
        self.assertTrue(reshape.same(one, [1, (2.0, "x"), {"t": torch.ones(2)}]))
        for other in ([1, (2.0, "x"), {"t": torch.zeros(2)}], [1, [2.0, "x"], one[2]],
                      [True, (2.0, "x"), one[2]], [1, (2.0, "x"), {}], [object()] * 3):
            self.assertFalse(reshape.same(one, other), other)


if __name__ == "__main__":
    unittest.main()
