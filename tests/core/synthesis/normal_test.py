# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Unit tests of the screen. By hand: <python> normal_test.py. Needs no torch.

Where KernelBench lies in .kernelbench/ of the checkout all its problems are tried, too.
"""

import json
import pathlib
import re
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "core" / "synthesis"))
sys.path.insert(0, str(ROOT / "tests" / "core" / "synthesis"))

from maker import normal  # noqa: E402
from maker.reading import Unreadable  # noqa: E402
from rewriter import rewrite  # noqa: E402

BENCHMARK = ROOT / ".kernelbench"

TASK = '''
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Two products with things between."""

    def __init__(self, in_features: int, hidden: int, scale: float):
        super(Model, self).__init__()
        self.first = nn.Linear(in_features, hidden)
        self.act = nn.ReLU()
        self.second = nn.Linear(hidden, in_features, bias=False)
        self.scale = scale
        self.shift = nn.Parameter(torch.randn(in_features))

    def forward(self, x):
        y = self.act(self.first(x))  # up
        y = self.second(y) * self.scale + self.shift
        return torch.softmax(x - y, dim=-1)


batch_size = 128
in_features = 512
hidden = 2048
scale = 0.5

def get_inputs():
    return [torch.randn(batch_size, in_features)]

def get_init_inputs():
    return [in_features, hidden, scale]
'''
# The same with constants in the class, other names, more lines, other spellings.
TWIN = '''
from torch import nn
import torch

rows = 128


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(512, 4 * 512)
        self.b = nn.Linear(2048, 512, bias=False)
        self.c = nn.Parameter(torch.randn(512))

    def forward(self, first_input):
        t = self.a(first_input)
        t = t.relu()
        t = self.b(t)
        t *= 0.5
        t = torch.add(t, self.c)
        u = torch.sub(first_input, t)
        return nn.functional.softmax(u, dim=-1)


def get_inputs():
    return [torch.randn(rows, 512)]


def get_init_inputs():
    return []
'''


def single(expression, arguments="x", construction="pass"):
    return f'''
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {construction}

    def forward(self, {arguments}):
        return {expression}

def get_inputs():
    return [torch.randn(64, 64, 64) for _ in range({len(arguments.split(","))})]

def get_init_inputs():
    return []
'''


class Hashes(unittest.TestCase):
    def assert_same(self, one, other, *hashes):
        for function in hashes:
            self.assertEqual(function(one), function(other), function.__name__)

    def assert_unlike(self, one, other, *hashes):
        for function in hashes:
            self.assertNotEqual(function(one), function(other), function.__name__)

    def test_names_layout_and_spelling_leave_no_trace(self):
        self.assert_same(TASK, TWIN, normal.exact_hash, normal.near_hash, normal.skeleton_hash)
        self.assertEqual(normal.fingerprint(TASK), normal.fingerprint(TWIN))
        self.assertEqual(normal.operators(TASK), ["linear", "relu", "linear", "mul", "add", "sub",
                                                  "softmax"])

    def test_rewritten(self):
        same_sizes = rewrite(TASK).replace("614", "512").replace("2456", "2048")
        same_sizes = re.sub(r"= 152$", "= 128", same_sizes, flags=re.M)
        self.assertNotIn("hidden", same_sizes)
        self.assert_same(TASK, same_sizes, normal.exact_hash, normal.near_hash)
        self.assertEqual(normal.similarity(TASK, rewrite(TASK)), 1.0)

    def test_the_order_of_constants_and_of_definitions(self):
        head, _, constants = TASK.partition("batch_size = ")
        parts = ("batch_size = " + constants).split("\n\n")
        lines = parts[0].split("\n")
        moved = head.replace("\n\n\nclass", "\n" + "\n".join(reversed(lines)) + "\n\nclass") + \
            "\n\n".join(reversed(parts[1:]))
        self.assert_same(TASK, moved, normal.exact_hash)

    def test_sizes(self):
        wider = TASK.replace("hidden = 2048", "hidden = 2304")
        much_wider = TASK.replace("hidden = 2048", "hidden = 8192")
        self.assert_unlike(TASK, wider, normal.exact_hash)
        self.assert_same(TASK, wider, normal.near_hash)
        self.assert_unlike(TASK, much_wider, normal.exact_hash, normal.near_hash)
        self.assert_same(TASK, much_wider, normal.skeleton_hash)
        more_rows = TASK.replace("batch_size = 128", "batch_size = 1024")
        self.assert_unlike(TASK, more_rows, normal.exact_hash, normal.near_hash)

    def test_what_differs_in_what_it_computes(self):
        for old, new in (("nn.ReLU", "nn.GELU"), ("x - y", "y - x"), (", bias=False", ""),
                         ("self.scale + self.shift", "self.scale - self.shift"),
                         ("self.act(self.first(x))", "self.first(self.act(x))"),
                         ("torch.softmax(x - y, dim=-1)", "x - y"),
                         ("torch.randn(batch_size, in_features)",
                          "torch.rand(batch_size, in_features)"),
                         ("torch.randn(batch_size, in_features)",
                          "torch.randn(batch_size, in_features, dtype=torch.float16)")):
            changed = TASK.replace(old, new)
            self.assertNotEqual(changed, TASK, old)
            self.assert_unlike(TASK, changed, normal.exact_hash, normal.near_hash)
        for old, new in (("nn.ReLU", "nn.GELU"), ("x - y", "y - x")):
            self.assert_unlike(TASK, TASK.replace(old, new), normal.skeleton_hash)

    def test_dimensions_count(self):
        self.assert_unlike(single("torch.sum(x, dim=1)"), single("torch.sum(x, dim=2)"),
                           normal.exact_hash, normal.near_hash)

    def test_helpers_loops_and_lists_are_followed(self):
        plain = single("F.relu(self.b(F.relu(self.a(x))))",
                       construction="self.a = nn.Linear(64, 64); self.b = nn.Linear(64, 64)")
        looped = single("self.run(x)", construction="self.all = nn.ModuleList([Block(64) "
                        "for _ in range(2)])") + '''
class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(size, size), nn.ReLU())

    def forward(self, value):
        return helper(self.inner, value)

def helper(layer, value):
    return layer(value)
'''
        looped = looped.replace("def forward(self, x):", '''def run(self, x):
        for layer in self.all:
            x = layer(x)
        return x

    def forward(self, x):''')
        self.assertEqual(normal.operators(looped), ["linear", "relu", "linear", "relu"])
        self.assert_same(plain, looped, normal.exact_hash)

    def test_compounds(self):
        for one, other in (("F.silu(x)", "x * torch.sigmoid(x)"),
                           ("F.mish(x)", "x * F.softplus(x).tanh()"),
                           ("F.softsign(x)", "x / (1 + torch.abs(x))"),
                           ("torch.clamp(x, -1, 1)", "F.hardtanh(x)"),
                           ("torch.square(x)", "x ** 2"), ("x.mm(x)", "x @ x"),
                           ("torch.amax(x, dim=1)", "torch.max(x, dim=1)[0]"),
                           ("torch.max(x, dim=1).values", "x.max(1)[0]"),
                           ("F.dropout(x.view(-1).relu(), 0.1)", "torch.relu_(x)")):
            self.assertEqual(normal.similarity(single(one), single(other)), 1.0, one)
        self.assertLess(normal.similarity(single("F.silu(x)"), single("F.gelu(x)")), 0.5)

    def test_texts_that_are_no_tasks(self):
        with self.assertRaises(SyntaxError):
            normal.exact_hash("def f(:")
        for text in ("", "x = 1", "def Model(): pass"):
            with self.assertRaises(Unreadable):
                normal.near_hash(text)
        self.assertTrue(issubclass(Unreadable, ValueError))  # as a caller catches it

    def test_hostile_texts_end(self):
        deep = "x" + " + 1" * 5000
        bombs = {
            "nested": single("(" * 90 + "x" + ")" * 90 + ".relu()"),
            "deep": single(deep),
            "power": single("x * 9 ** 9 ** 9 ** 9"),
            "lists": single("torch.cat(self.all)", construction="self.all = [0] * 40\n" + "".join(
                "        self.all = self.all * 40\n" for _ in range(8))),
            "doubling": single("torch.cat(self.all)", construction="self.all = [0]\n" + "".join(
                "        self.all = [self.all, self.all]\n" for _ in range(40))),
            "loops": single("x", construction="pass") + "",
            "recursion": single("again(x)") + "\ndef again(x):\n    return again(again(x))\n",
            "itself": single("x * size") + "\nsize = size + 1\n",
            "own base": "class Model(Model):\n    pass\n",
            "two bases": "class A(Model): pass\nclass Model(A): pass\n",
            "unknown": single("x[lambda: (yield)]"),
        }
        bombs["loops"] = bombs["loops"].replace("return x", "\n        ".join(
            f"{'    ' * depth}for i{depth} in range(48):" for depth in range(7)) +
            "\n" + " " * 40 + "x = 1\n        return x")
        for name, text in bombs.items():
            with self.subTest(name):
                started = time.monotonic()
                try:
                    normal.exact_hash(text)
                    normal.fingerprint(text)
                except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
                    self.assertNotIsInstance(error, UnicodeError)
                self.assertLess(time.monotonic() - started, 20)


class Similar(unittest.TestCase):
    def test_one_more_operator_is_near_but_another_task(self):
        more = TASK.replace("return torch.softmax(x - y, dim=-1)",
                            "return torch.softmax(x - y, dim=-1).cumsum(-1)")
        alike = normal.similarity(TASK, more)
        self.assertGreater(alike, 0.6)
        self.assertLess(alike, 0.9)

    def test_unlike_tasks(self):
        texts = [single(expression) for expression in (
            "torch.cumsum(x, 1).relu()", "F.gelu(x).sum(-1)", "torch.fft.rfft(x).abs()",
            "F.layer_norm(x, (64,)) * x.sigmoid()", "x.sort(-1)[0] + x.mean(0)",
            "torch.linalg.qr(x)[1]", "F.pad(x, (1, 2)).roll(1)", "x.logcumsumexp(1) - x")] + [TASK]
        for place, one in enumerate(texts):
            for other in texts[:place]:
                self.assertLess(normal.similarity(one, other), 0.4)
        self.assertEqual(normal.similarity(TASK, TASK), 1.0)


class Shipped(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.screen = normal.Screen()

    def test_hashes_only(self):
        self.assertLess(normal.SHIPPED.stat().st_size, 400_000)
        content = json.loads(normal.SHIPPED.read_text(encoding="utf-8"))
        self.assertGreaterEqual(len(content["tasks"]), 250)
        for task in content["tasks"]:
            self.assertEqual(set(task), {"name", "sequence", "shingles"})
            self.assertRegex(task["name"], r"^level[1-4]/\d+$")
            self.assertRegex(task["sequence"] + task["shingles"], r"^[0-9a-f]+$")
            self.assertEqual(len(task["shingles"]) % 8, 0)

    def test_single_operators_of_the_benchmark_are_found(self):
        spelt = {
            "level1/19": ["torch.relu(x)", "F.relu(x)", "x.relu()", "nn.ReLU()(x)"],
            "level1/21": ["x.sigmoid()", "nn.Sigmoid()(x)"], "level1/22": ["torch.tanh(x)"],
            "level1/23": ["x.softmax(1)", "F.softmax(x, dim=1)"],
            "level1/25": ["F.silu(x)", "x * x.sigmoid()"], "level1/26": ["nn.GELU()(x)"],
            "level1/40": ["F.layer_norm(x, (64, 64))"], "level1/47": ["x.sum(1, keepdim=True)"],
            "level1/51": ["x.argmax(dim=1)"], "level1/89": ["torch.cumsum(x, dim=1)"],
            "level1/90": ["x.cumprod(2)"], "level1/24": ["F.log_softmax(x, dim=1)"],
        }
        for name, expressions in spelt.items():
            for expression in expressions:
                self.assertEqual(self.screen.nearest(single(expression)), (1.0, name), expression)
        for expression in ("x @ y", "torch.matmul(x, y)", "torch.bmm(x, y)", "x.mm(y)"):
            alike, name = self.screen.nearest(single(expression, "x, y"))
            self.assertEqual((alike, name[:7]), (1.0, "level1/"))

    def test_single_operators_that_are_not_there(self):
        for expression in ("torch.erf(x)", "x.sort(dim=1)[0]", "torch.fft.fft(x).real", "x.roll(3)",
                           "torch.logcumsumexp(x, 1)", "F.glu(x)", "x.sinh()"):
            self.assertLess(self.screen.nearest(single(expression))[0], 0.5, expression)

    def test_fast(self):
        started = time.process_time()
        for _ in range(200):
            self.screen.nearest(TASK)
        seconds = (time.process_time() - started) / 200
        self.assertLess(seconds * 20_000, 60)

    def test_another_file(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "set").mkdir()
            (folder / "set" / "7_mine.py").write_text(TASK)
            (folder / "set" / "8_broken.py").write_text("def f(:")
            (folder / "set" / "9_none.py").write_text("x = 1\n")
            tasks, unread = normal.fingerprints_of(folder)
            self.assertEqual((len(tasks), unread), (1, ["8_broken.py", "9_none.py"]))
            path = folder / "own.json"
            path.write_text(json.dumps({"format": normal.FORMAT, "tasks": tasks}))
            self.assertEqual(normal.Screen(path).nearest(TWIN), (1.0, "set/7"))
            self.assertEqual(normal.Screen(path).nearest(single("x.sin()")), (0.0, ""))
            path.write_text(json.dumps({"format": 99, "tasks": []}))
            with self.assertRaises(ValueError):
                normal.Screen(path)


@unittest.skipUnless(BENCHMARK.is_dir(), "no KernelBench in .kernelbench")
class AllOfTheBenchmark(unittest.TestCase):
    def setUp(self):
        self.texts = {f"{path.parent.name}/{path.stem.partition('_')[0]}": path.read_text()
                      for path in BENCHMARK.glob("level*/*.py")}

    def test_what_is_shipped_is_of_these_texts(self):
        tasks, unread = normal.fingerprints_of(BENCHMARK)
        self.assertEqual(unread, [])
        self.assertEqual(json.loads(normal.SHIPPED.read_text())["tasks"], tasks)

    def test_all_are_found_again_rewritten(self):
        screen = normal.Screen()
        for name, text in self.texts.items():
            other = rewrite(text)
            self.assertNotEqual(text, other)
            self.assertEqual(screen.nearest(other)[0], 1.0, name)
            self.assertEqual(normal.fingerprint(text), normal.fingerprint(other), name)

    def test_unlike_problems_are_told_apart(self):
        """Of all pairs whose operators differ, hardly any are above 0.9."""
        prints = {name: (normal.fingerprint(text), tuple(normal.operators(text)))
                  for name, text in self.texts.items()}
        names = sorted(prints)
        near = [(one, other) for place, one in enumerate(names) for other in names[:place]
                if prints[one][1] != prints[other][1]
                and normal.jaccard(prints[one][0], prints[other][0]) > 0.9]
        self.assertLess(len(near), 8, near)


if __name__ == "__main__":
    unittest.main()
