# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Unit tests of the filter process. By hand: <python with torch> filter_test.py, on a GPU with
CUDA_AGENT_TEST_DEVICE=cuda.

Nothing hostile is loaded here: tasks that end, hang or flood their process are tried through the
sandbox in the C++ tests.
"""

import json
import os
import pathlib
import socket
import struct
import subprocess
import sys
import textwrap
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
PROGRAM = ROOT / "core" / "synthesis" / "maker" / "filter_main.py"
sys.path[:0] = [str(PROGRAM.parent.parent), str(ROOT / "core" / "reference")]

import torch  # noqa: E402

from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from maker import dependence, filter_main, wrong  # noqa: E402
from maker.counts import Live  # noqa: E402
from maker.rejected import REASONS  # noqa: E402
from worker.protocol import WorkerError  # noqa: E402

DEVICE = os.environ.get("CUDA_AGENT_TEST_DEVICE", "cpu")
SEEDS = [101, 202, 303]
CLASSES = ("zeros", "mean", "identity", "rolled", "tail", "other inputs", "half precision")


def task(forward="return x * 2", inputs="torch.randn(n, 24)", init="", head="", arguments="x"):
    """The text of a task; `n` is 64, to be made small."""
    body = textwrap.indent(textwrap.dedent(forward).strip(), "        ")
    made = textwrap.indent(textwrap.dedent(init).strip(), "        ")
    return (f"import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n{head}\n"
            f"n = 64\n\n\nclass Model(nn.Module):\n    def __init__(self):\n"
            f"        super().__init__()\n{made}\n\n    def forward(self, {arguments}):\n{body}\n\n\n"
            f"def get_inputs():\n    return [{inputs}]\n\n\ndef get_init_inputs():\n    return []\n")


GOOD = task("return F.gelu(self.linear(x)) + other", "torch.randn(n, 24), torch.randn(n, 24)",
            "self.linear = nn.Linear(24, 24)", arguments="x, other")


class FilterTest(unittest.TestCase):
    """Asks the handlers directly, in this process."""

    @classmethod
    def setUpClass(cls):
        cls.session = filter_main.Session()
        cls.ask("hello", device=DEVICE, memory_bytes=0)

    @classmethod
    def ask(cls, request, **fields):
        with mock.patch("sys.stderr"):
            return filter_main.answer_of(cls.session, {"request": request} | fields)

    def load(self, code, small=None):
        return self.ask("load", id="t", code=code, small={"n": "16"} if small is None else small,
                        backward=False)

    def check(self, code, small=None):
        answer = self.load(code, small)
        if "rejected" not in answer and "error" not in answer:
            answer = self.ask("check", seeds=SEEDS)
        json.dumps(answer, allow_nan=False)
        return answer

    def passed(self, code, small=None):
        answer = self.check(code, small)
        self.assertIn("ops", answer, answer)
        return answer

    def rejected(self, reason, code, small=None):
        answer = self.check(code, small)
        self.assertEqual(answer.get("rejected"), reason, answer)
        self.assertIn(reason, REASONS)
        self.assertTrue(answer["detail"])
        return answer["detail"]

    @staticmethod
    def allowed(answer, output=0):
        """What a right answer may be off by, about as the judge has it."""
        own = answer["outputs"][output]["own"]
        unit = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}[
            answer["outputs"][output]["dtype"]]
        return own[0]["oracle_norm"] * 4 * max(unit, *(
            max(entry["error_norm"], entry["sensitivity_norm"]) / entry["oracle_norm"]
            for entry in own))

    def assert_refused(self, answer, entry):
        self.assertTrue(any(
            numbers["mismatches"] or answer["outputs"][i]["dtype"].startswith(("float", "bfloat")) and
            numbers["error_norm"] > self.allowed(answer, i)
            for i, numbers in enumerate(entry["outputs"])), entry)


class ChecksTest(FilterTest):
    def test_good_task(self):
        answer = self.passed(GOOD)
        self.assertEqual(answer["ops"], ["torch.nn.Linear", "torch.nn.functional.gelu",
                                         "torch.add"])
        self.assertEqual((answer["unused"], answer["bitwise"], answer["small"]), ([], True, True))
        output, = answer["outputs"]
        self.assertEqual((output["dtype"], output["shape"]), ("float32", [64, 24]))
        self.assertEqual((output["elements"], output["small_elements"]), (64 * 24, 16 * 24))
        self.assertEqual(len(output["own"]), 3)
        for own in output["own"]:
            self.assertLess(own["error_norm"], 1e-5 * own["oracle_norm"])
        # The judge disturbs its first two cases.
        self.assertEqual([own["sensitivity_norm"] > 0 for own in output["own"]],
                         [True, True, False])
        self.assertGreater(output["own"][1]["change_norm"], 0.5)
        self.assertGreater(output["full"]["change_norm"], 0.5)
        self.assertGreater(output["full"]["oracle_norm"], output["own"][0]["oracle_norm"])
        self.assertEqual(answer["operations"], 2 * 64 * 24 * 24)
        self.assertEqual(answer["counted_bytes"], 4 * (3 * 64 * 24 + 24 * 24 + 24))
        self.assertGreaterEqual(answer["memory_bytes"], 4 * 2 * 64 * 24)
        self.assertEqual(answer["graph"], ["aten.permute.default", "aten.addmm.default",
                                           "aten.gelu.default", "aten.add.Tensor"])
        for numbers in answer["repeat"]:
            self.assertEqual(set(numbers.values()), {0})

    def test_wrong_answers_are_far_off(self):
        half = task("return F.softmax(self.linear(x), -1)", "torch.randn(n, 24, dtype=torch.half)",
                    "self.linear = nn.Linear(24, 24).half()")
        for code in (GOOD, half, half.replace("half", "bfloat16")):
            answer = self.passed(code)
            self.assertEqual([entry["name"] for entry in answer["wrong"]], list(CLASSES))
            for entry in [*answer["wrong"], *answer["dropped"]]:
                if entry.get("possible", True):
                    self.assert_refused(answer, entry)
            self.assertLess(answer["rebuilt"][0]["error_norm"], self.allowed(answer))

    def test_wrong_answers_that_pass_show(self):
        blind = self.passed(task("return (x * 0).clamp(0, 1)"))
        zeros = blind["wrong"][0]
        self.assertEqual(zeros["name"], "zeros")
        self.assertEqual(set(zeros["outputs"][0].values()), {0})
        mean = self.passed(task("return x * 1e-9 + 3"))
        for entry in mean["wrong"]:
            if entry["name"] in ("mean", "rolled", "other inputs"):
                self.assertLessEqual(entry["outputs"][0]["error_norm"], self.allowed(mean))

    def test_outputs_of_several_kinds(self):
        answer = self.passed(task("values, places = x.max(-1)\nreturn [values, places, x > 0]"))
        self.assertEqual([output["dtype"] for output in answer["outputs"]],
                         ["float32", "int64", "bool"])
        by_name = {entry["name"]: entry["outputs"] for entry in answer["wrong"]}
        for name in ("zeros", "other inputs"):
            self.assertGreater(by_name[name][1]["mismatches"], 8)
            self.assertGreater(by_name[name][2]["mismatches"], 100)
        # No input has the shape of the maxima: there identity gives what is right.
        self.assertEqual(by_name["identity"][0]["error_norm"], 0)

    def test_round_to_bits(self):
        x = torch.tensor([1.0, 1.0625, -1.03, 3e-5, 60000.0], dtype=torch.half)
        self.assertEqual(wrong.round_mantissa(x, 4)[:3].tolist(), [1.0, 1.0, -1.0])
        self.assertLess(float(((wrong.round_mantissa(x, 4) - x) / x).abs().max()), 2.0**-4)
        self.assertEqual(wrong.rough(torch.tensor(1 + 2.0**-9)).item(), 1)
        self.assertEqual(wrong.rough(torch.tensor(7)).item(), 7)

    def test_redundant_operator(self):
        answer = self.passed(task("return torch.relu(torch.relu(x) * 2)"))
        first, scale, second = answer["dropped"]
        self.assertEqual([entry["op"] for entry in answer["dropped"]],
                         ["torch.relu", "torch.mul", "torch.relu"])
        self.assertEqual(second["outputs"][0], {"error_norm": 0, "max_error": 0, "mismatches": 0})
        self.assert_refused(answer, scale)
        # relu(x * 2) is relu(x) * 2: either one is too much.
        self.assertEqual(first["outputs"][0]["error_norm"], 0)
        answer = self.passed(task("return self.drop(x.cos())", init="self.drop = nn.Dropout()"))
        self.assertEqual(answer["dropped"][1]["outputs"][0]["max_error"] < 1e-6, True)
        self.assertEqual(answer["dropped"][1]["op"], "torch.nn.Dropout")

    def test_dropping_what_writes_in_place(self):
        for forward in ("x = x + 1\nreturn F.relu(x, inplace=True)", "x = x + 1\nx.relu_()\nreturn x",
                        "return self.relu(x + 1)"):
            answer = self.passed(task(forward, init="self.relu = nn.ReLU(inplace=True)"))
            dropped = answer["dropped"][1]
            self.assertTrue(dropped["possible"], forward)
            self.assert_refused(answer, dropped)

    def test_what_cannot_be_dropped(self):
        answer = self.passed(task("return x.sum(-1, keepdim=True).contiguous().expand(-1, 3) @ "
                                  "torch.ones(3, 2, device=x.device)"))
        self.assertEqual({entry["possible"] for entry in answer["dropped"]}, {False})
        self.assertNotIn("torch.Tensor.contiguous", [entry["op"] for entry in answer["dropped"]])
        # Half of a chain of hundred calls is tried.
        answer = self.passed(task("for _ in range(100):\n    x = x.cos()\nreturn x"))
        self.assertEqual([entry["call"] for entry in answer["dropped"]], list(range(0, 100, 2)))

    def test_unused(self):
        answer = self.passed(task(
            "return x * self.used + self.flags.float() + order[0] + mask",
            "torch.randn(n, 24), torch.randn(n), torch.arange(n), torch.ones(24).bool()",
            "self.used = nn.Parameter(torch.zeros(24))\nself.idle = nn.Parameter(torch.ones(3))\n"
            "self.register_buffer('lost', torch.zeros(3))\n"
            "self.register_buffer('flags', torch.ones(24).bool())",
            arguments="x, lone, order, mask"))
        # x is multiplied by zeros, so it does not matter either.
        self.assertEqual(answer["unused"], ["in0", "in1", "idle", "lost"])
        self.assertEqual(self.passed(task("return x.sum() + self.norm(x)", init="self.norm = "
                                          "nn.BatchNorm1d(24)"))["unused"], [])

    def test_what_atomics_do_is_no_change(self):
        noisy = mock.Mock(forward=lambda model, arguments: ([torch.ones(3) + 1e-6], True))
        noise = [{"error_norm": 1e-6, "max_error": 1e-6, "mismatches": 0}]
        self.assertTrue(dependence.unchanged(noisy, [], [torch.ones(3)], noise))
        self.assertFalse(dependence.unchanged(noisy, [], [torch.ones(3) - 1e-4], noise))
        still = [{"error_norm": 0.0, "max_error": 0.0, "mismatches": 0}]
        self.assertFalse(dependence.unchanged(noisy, [], [torch.ones(3)], still))

    def test_backward(self):
        answer = self.passed(task("""
            with torch.enable_grad():
                x = x.detach().requires_grad_()
                return torch.autograd.grad(F.tanh(x), [x], grad)[0]
        """, "torch.randn(n, 24), torch.randn(n, 24)", arguments="grad, x"))
        self.assertEqual(answer["ops"], ["torch.tanh"])
        self.assertEqual([entry["op"] for entry in answer["dropped"]], ["torch.tanh"])
        self.assert_refused(answer, answer["dropped"][0])
        self.assertEqual(answer["graph"][0], "aten.tanh.default")
        self.assertFalse([name for name in answer["graph"] if "alias" in name or "detach" in name])
        self.assertEqual(answer["unused"], [])

    def test_what_a_function_of_transformers_does_is_its_modules(self):
        answer = self.passed(task(
            "cos, sin = self.block(x, self.positions)\nq, k = apply_rotary_pos_emb(x, other, cos, sin)\n"
            "return q, k.cos()", "torch.randn(n, 2, 12, 8), torch.randn(n, 2, 12, 8)",
            "config = LlamaConfig(hidden_size=16, num_attention_heads=2)\n"
            "self.block = LlamaRotaryEmbedding(config)\ndel self.block.original_inv_freq\n"
            "self.register_buffer('positions', torch.arange(12)[None])",
            "from transformers import LlamaConfig\nfrom transformers.models.llama.modeling_llama import "
            "LlamaRotaryEmbedding, apply_rotary_pos_emb", "x, other"))
        self.assertEqual(answer["ops"], ["transformers.LlamaRotaryEmbedding", "torch.cos"])
        # Without a module before it there is nothing else to call it by.
        answer = self.passed(task("return rotate_half(x)", "torch.randn(n, 8)", head="from "
                                  "transformers.models.llama.modeling_llama import rotate_half"))
        self.assertIn("torch.cat", answer["ops"])

    def test_small_one_that_cannot_be(self):
        for small in ({"n": "0"}, {"m": "3"}, {"n": "'text'"}):
            answer = self.passed(task("return x[5:].cos()"), small)
            self.assertFalse(answer["small"])
            self.assertEqual(answer["outputs"][0]["small_elements"],
                             answer["outputs"][0]["elements"])

    def test_numbers_are_read_together(self):
        """Each time that the processor waits for the device costs filters that share it a turn."""
        waits = []

        class Watch(TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                if func._schema.name in ("aten::_local_scalar_dense", "aten::equal", "aten::nonzero"):
                    waits.append(func)
                return func(*args, **(kwargs or {}))

        tolist = torch.Tensor.tolist

        def counted(tensor):
            waits.append("tolist")
            return tolist(tensor)

        for more in ("", "for _ in range(9): x = x.sin() + x\n"):
            self.load(GOOD.replace("return F", f"{more}        return F"))
            waits.clear()
            with mock.patch.object(torch.Tensor, "tolist", counted), Watch():
                self.assertEqual(self.ask("check", seeds=SEEDS)["unused"], [])
            self.assertEqual(len(waits), 8, waits)

    def test_what_depends_on_the_clock(self):
        answer = self.passed(task("return x + __import__('time').perf_counter() % 1"))
        self.assertFalse(answer["bitwise"])
        self.assertGreater(answer["repeat"][0]["max_error"], 1e-7)
        self.assertGreater(answer["rebuilt"][0]["max_error"], 1e-7)


class RejectionsTest(FilterTest):
    def test_form(self):
        self.rejected("not python", "def f(:\n")
        self.rejected("not python", "x = '\ud800\0'\n")
        for code in ("import torch\n", GOOD.replace("class Model", "class Other"),
                     GOOD.replace("get_inputs", "inputs"), task("return {'x': x}"), task("return x, 3"),
                     task("return 3.0"), task("return []"), task(inputs="3"), task(inputs=""),
                     task(inputs="torch.randn(n), {}"), GOOD.replace("    return []", "    return 3")):
            self.rejected("form", code)

    def test_imports(self):
        self.assertIn("task.py:4: imports os", self.rejected("imports", task(head="import os.path")))
        self.rejected("imports", task("from time import time\nreturn x"))
        self.rejected("imports", task(head="from . import x"))
        self.passed(task(head="import math\nfrom typing import List", forward="return x * math.pi"))

    def test_raises(self):
        self.assertIn("task.py:14: ValueError: no", self.rejected(
            "raises", task("raise ValueError('no')")))
        self.rejected("raises", task(init="raise KeyError(3)"))
        self.rejected("raises", task(inputs="torch.randn(n)[n + 1]"))
        self.rejected("raises", task("raise SystemExit(3)"))
        self.rejected("raises", task("raise KeyboardInterrupt"))
        self.rejected("raises", task(head="raise SystemExit"))
        self.rejected("raises", task("return x @ x"))
        self.rejected("raises", task("def f(k):\n    return f(k + 1)\nreturn f(0)"))
        # Where the filter itself calls what the task has defined.
        self.rejected("raises", task(head="class Bad:\n    def __deepcopy__(self, memo):\n"
                                          "        raise SystemExit(1)\n", init="self.bad = Bad()"))

    def test_values(self):
        self.rejected("not finite", task("return x / 0"))
        self.rejected("not finite", task("return x.log()"))
        self.rejected("empty", task("return x[:0]"))
        self.rejected("dtype", task("return torch.fft.fft(x)"))
        self.rejected("dtype", task(inputs="torch.randn(n, 3, dtype=torch.complex64)"))
        self.rejected("dtype", task("return x.to_sparse()"))
        self.rejected("shape", task("return x[x > 0]"))

    def test_changes(self):
        self.rejected("in place", task("return x.relu_()"))
        self.rejected("in place", task("self.norm.train()\nreturn self.norm(x)",
                                       init="self.norm = nn.BatchNorm1d(24)"))
        self.rejected("in place", task("self.w.add_(1)\nreturn x * self.w",
                                       init="self.w = nn.Parameter(torch.ones(24))"))

    def test_chance(self):
        self.rejected("random", task("return x + torch.rand_like(x)"))
        self.rejected("random", task("return F.dropout(x, 0.5, True)"))
        clock = "__import__('time').perf_counter_ns()"
        self.rejected("unstable", task(inputs=f"torch.randn(n, 3) + {clock} % 1009"))
        self.rejected("unstable", task("return x * self.w", init="self.w = nn.Parameter("
                                       f"torch.tensor({clock} % 10007 + 1.0))"))

    def test_double(self):
        self.rejected("double", task("assert x.dtype == torch.float32\nreturn x.cos()"))
        self.rejected("double", task("return x[:3 if x.element_size() == 4 else 4].cos()"))

    def test_memory(self):
        self.assertIn("memory", self.rejected("memory", task("return torch.zeros(1 << 50)")))
        self.rejected("memory", task(inputs="torch.zeros(n << 45)"), {})

    def test_device_that_tells_late(self):
        late = RuntimeError("CUDA error: device-side assert triggered")
        self.load(GOOD)
        with mock.patch("maker.checks.read", side_effect=late):
            answer = self.ask("check", seeds=SEEDS)
        self.assertEqual((answer["rejected"], answer["restart"]), ("raises", True))
        self.ask("drop")
        with mock.patch.object(filter_main, "warm_up", side_effect=late):
            answer = self.ask("hello", device=DEVICE, memory_bytes=0)
        self.assertEqual((answer["error"]["kind"], answer["error"]["restart"]), ("machine", True))

    def test_order_of_requests(self):
        self.ask("drop")
        for request in ("check", "time", "compile", "nonsense", None):
            answer = self.ask(request, seeds=SEEDS)
            self.assertEqual(answer["error"]["kind"], "machine")
        self.load(GOOD)
        self.assertEqual(self.ask("check", seeds=[1, 1, 2])["error"]["kind"], "machine")
        self.assertEqual(self.ask("time", calls=1, longest=1, compiled=True)["error"]["kind"],
                         "machine")


class BetweenTasksTest(FilterTest):
    def test_nothing_stays(self):
        before = self.passed(GOOD)
        threads, folder = torch.get_num_threads(), os.getcwd()
        self.passed(task(head=textwrap.dedent("""
            torch.set_default_dtype(torch.float64)
            torch.set_default_device("meta") if False else None
            torch.set_num_threads(3)
            torch.set_grad_enabled(True)
            torch.set_float32_matmul_precision("medium")
            torch.use_deterministic_algorithms(True)
            torch.backends.cudnn.allow_tf32 = False
            torch.nn.modules.module.register_module_forward_hook(lambda m, i, o: o * 2)
            __import__("os").chdir("/")
            __import__("os").environ["LEFT"] = "1"
            __import__("sys").path.append("/nowhere")
            __import__("sys").setrecursionlimit(200)
        """)))
        self.assertEqual(self.ask("drop"), {})
        self.assertNotIn("task", sys.modules)
        self.assertEqual((torch.get_num_threads(), os.getcwd()), (threads, folder))
        self.assertEqual(torch.get_default_dtype(), torch.float32)
        self.assertFalse(torch.is_grad_enabled() or torch.are_deterministic_algorithms_enabled())
        self.assertTrue(torch.backends.cudnn.allow_tf32)
        self.assertNotIn("LEFT", os.environ)
        self.assertNotIn("/nowhere", sys.path)
        after = self.passed(GOOD)
        for answer in (before, after):
            answer.pop("seconds")
        self.assertEqual(before, after)

    def test_a_rejected_task_leaves_room_for_the_next(self):
        for code in (task("raise ValueError"), task(init="torch.set_default_dtype(torch.half)"),
                     task("return x[x > 0]")):
            self.check(code)
            self.assertEqual(self.passed(GOOD)["ops"][0], "torch.nn.Linear")

    def test_lines_are_those_of_the_task_at_hand(self):
        self.assertIn("task.py:14:", self.rejected("raises", task("raise ValueError")))
        self.assertIn("task.py:16:", self.rejected("raises", task("\nx = x\nx = x\nraise ValueError")))


class GraphTest(FilterTest):
    def hash_of(self, *arguments, **named):
        return self.passed(task(*arguments, **named))["graph_hash"]

    def test_same_computation(self):
        two = {"inputs": "torch.randn(n, 24), torch.randn(n, 24)", "arguments": "x, y"}
        known = self.hash_of("return torch.relu(x) + y.sigmoid()", **two)
        self.assertEqual(known, self.hash_of("b = F.sigmoid(y)\na = F.relu(x)\nreturn a + b", **two))
        self.assertEqual(known, self.hash_of(
            "a = self.act(left)\nreturn torch.add(a, right.sigmoid())",
            **(two | {"arguments": "left, right", "init": "self.act = nn.ReLU()"})))
        self.assertEqual(self.hash_of(inputs="torch.randn(n, 33)"),
                         self.hash_of(inputs="torch.randn(n, 63)"))

    def test_other_computation(self):
        two = {"inputs": "torch.randn(n, 24), torch.randn(n, 24)", "arguments": "x, y"}
        hashes = [self.hash_of(forward, **two) for forward in (
            "return x.relu() - y.sigmoid()", "return y.relu() + x.sigmoid()",
            "return x.relu() - y.relu()", "return x.relu() - x.relu()[:1] + y", "return x.sum(0) + y",
            "return x.sum(1, keepdim=True) + y", "return x.relu() * y.sigmoid() / 3",
            "return x.relu() * y.sigmoid() * 3")]
        hashes += [self.hash_of(inputs=f"torch.randn(n, {size}{dtype})") for size, dtype in (
            (24, ""), (64, ""), (24, ", dtype=torch.half"), ("24, 1", ""))]
        self.assertEqual(len(set(hashes)), len(hashes))

    def test_writes_are_traced(self):
        answer = self.passed(task("y = torch.zeros_like(x)\ny[:, 1:] = x[:, :-1]\nreturn y.relu()"))
        self.assertFalse([name for name in answer["graph"] if "_." in name], answer["graph"])
        self.assertTrue(answer["graph_hash"])

    def test_attention_is_products(self):
        answer = self.passed(task("return F.scaled_dot_product_attention(x, x, x)",
                                  "torch.randn(2, n, 8)"))
        self.assertEqual(answer["graph"].count("aten.bmm.default"), 2)

    def test_no_graph(self):
        forward = "return x.cos() if x.sum() < 1e6 else x.sin()"
        answer = self.passed(task(forward))
        self.assertEqual(answer["graph"][0], "aten.sum.default")
        self.assertEqual(answer["graph"][-1], "aten.cos.default")
        self.assertIn("data-dependent", answer["graph_problem"])
        self.assertEqual(answer["graph_hash"], self.hash_of("y = x\n" + forward))
        self.assertNotEqual(answer["graph_hash"], self.hash_of(forward.replace("x.cos", "x.sinh")))

    def test_recurrent_layers(self):
        answer = self.passed(task("return self.gru(x)[0]", "torch.randn(n, 6, 8)",
                                  "self.gru = nn.GRU(8, 8, batch_first=True)"))
        self.assertEqual("graph_problem" in answer, DEVICE == "cuda")
        self.assertGreater(len(answer["graph"]), 1)
        if DEVICE == "cuda":
            self.assertLess(answer["seconds"]["graph"], 1)

    def test_gradients_are_traced(self):
        answer = self.passed(task("""
            with torch.enable_grad():
                x = x.detach().requires_grad_()
                return torch.autograd.grad(x.atanh(), [x], grad)[0]
        """, "torch.randn(n, 24), torch.rand(n, 24) * 0.9", arguments="grad, x"))
        self.assertNotIn("graph_problem", answer)
        self.assertFalse([name for name in answer["graph"] if "_." in name], answer["graph"])


class TimesTest(FilterTest):
    def test_time(self):
        self.load(GOOD)
        seconds = self.ask("time", calls=7, longest=10.0)["seconds"]
        self.assertEqual(len(seconds), 7)
        self.assertTrue(all(0 < value < 1 for value in seconds))
        self.load(task("__import__('time').sleep(0.05)\nreturn x"), {})
        seconds = self.ask("time", calls=100, longest=0.12)["seconds"]
        self.assertIn(len(seconds), (2, 3))
        self.assertGreaterEqual(min(seconds), 0.05)
        self.load(task("raise ValueError"), {})
        self.assertEqual(self.ask("time", calls=1, longest=1.0)["rejected"], "raises")

    def test_compile(self):
        self.load(GOOD)
        answer = self.ask("compile", seed=5)
        output, = answer["outputs"]
        self.assertGreater(answer["compile_seconds"], 0)
        self.assertEqual(output["mismatches"], 0)
        own, = output["own"]
        self.assertLess(output["error_norm"], 4 * max(own["error_norm"], own["sensitivity_norm"]))
        self.assertEqual(len(self.ask("time", calls=3, longest=1.0, compiled=True)["seconds"]), 3)

    def test_compiled_model_that_answers_otherwise(self):
        self.load(task("return x.cos()"))
        with mock.patch("torch.compile", lambda model: lambda x: x.cos() * 1.01):
            output, = self.ask("compile", seed=5)["outputs"]
        self.assertGreater(output["error_norm"], 100 * output["own"][0]["sensitivity_norm"])
        for answer in (RuntimeError("cannot"), MemoryError("out of memory")):
            with mock.patch("torch.compile", mock.Mock(side_effect=answer)):
                body = self.ask("compile", seed=5)
            self.assertEqual(body["rejected"],
                             "memory" if isinstance(answer, MemoryError) else "compile raises")

    def test_no_oracle_of_the_whole(self):
        from maker import checks, oracles, timed

        def of(task):
            self.assertIsNot(task, self.session.loaded.whole)
            return oracles.Oracles(task)

        with mock.patch.object(checks, "Oracles", of), mock.patch.object(timed, "Oracles", of):
            answer = self.passed(GOOD)
            output, = self.ask("compile", seed=5)["outputs"]
        full, own = answer["outputs"][0]["full"], answer["outputs"][0]["own"][0]
        self.assertNotEqual(full["oracle_norm"], own["oracle_norm"])
        self.assertAlmostEqual(full["error_norm"] / full["oracle_norm"],
                               own["error_norm"] / own["oracle_norm"], places=12)
        self.assertLess(output["error_norm"], 8 * output["own"][0]["error_norm"])

    def test_live_memory(self):
        known = torch.zeros(1000)
        with Live([known]) as live:
            a = known + 1
            del a
            b = known * 2
            c = b.view(10, 100)
            known.add_(1)
            d = c.double()
        self.assertEqual(live.peak, 4000 + 8000)
        del b, d


class ProcessTest(unittest.TestCase):
    """The program as the engine starts it."""

    def setUp(self):
        self.engine, theirs = socket.socketpair()
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-B", str(PROGRAM)], pass_fds=[theirs.fileno()],
            stderr=subprocess.PIPE, stdout=subprocess.PIPE,
            env=os.environ | {"CUDA_AGENT_CHANNEL": str(theirs.fileno()), "OMP_NUM_THREADS": "1"})
        theirs.close()

    def tearDown(self):
        self.engine.close()
        self.process.kill()
        self.process.communicate()

    def send(self, **request):
        body = json.dumps(request).encode()
        self.engine.sendall(struct.pack("<II", len(body), 0) + body)

    def ask(self, **request):
        self.send(**request)
        head = self.engine.recv(8, socket.MSG_WAITALL)
        size, descriptors = struct.unpack("<II", head)
        self.assertEqual(descriptors, 0)
        return json.loads(self.engine.recv(size, socket.MSG_WAITALL))

    def test_a_life(self):
        self.assertEqual(self.ask(request="load", code=GOOD)["error"]["kind"], "machine")
        hello = self.ask(request="hello", device="cpu", memory_bytes=1 << 30)
        self.assertEqual(hello["packages"]["torch"], hello["torch"].split("+")[0])
        # It may print, and close what is not its own.
        loud = task("print('x' * 5000)\n__import__('os').close(1)\nreturn x.cos()")
        self.ask(request="load", id="a", code=loud, small={}, backward=False)
        self.assertIn("rejected", self.ask(request="check", seeds=SEEDS))
        # More than the limit, less than the machine has.
        big = task("return torch.empty(1 << 29).fill_(1.0)[:n].clone()")
        self.ask(request="load", id="b", code=big, small={}, backward=False)
        self.assertEqual(self.ask(request="check", seeds=SEEDS)["rejected"], "memory")
        self.ask(request="drop")
        self.ask(request="load", id="c", code=GOOD, small={"n": "8"}, backward=False)
        self.assertEqual(self.ask(request="check", seeds=SEEDS)["unused"], [])
        self.send(request="quit")
        self.assertEqual(self.process.wait(30), 0)
        self.assertEqual(self.process.stdout.read(), b"")
        self.assertNotIn(b"Traceback", self.process.stderr.read())

    def test_ends_with_the_engine(self):
        self.engine.close()
        self.assertEqual(self.process.wait(30), 0)


if __name__ == "__main__":
    if DEVICE == "cuda" and not torch.cuda.is_available():
        sys.exit(77)
    unittest.main()
