# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of operators, what a recorder sees, and the crawl of torch, which leaves nothing
undecided."""

import json
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "core/synthesis"), str(ROOT / "core/reference")]

import torch
import torch.nn as nn
import torch.nn.functional as F

from maker import crawl, crawl_reasons
from maker.operators.catalogue import all_operators
from maker.record import Recorder

torch.set_num_threads(1)


def recorded(call, model=None):
    recorder = Recorder(model)
    with recorder:
        call()
    return recorder.names


class Names(unittest.TestCase):
    def setUp(self):
        self.x = torch.randn(2, 4, 8, 8)
        self.square = torch.randn(8, 8)

    def spelled(self, name, *calls):
        for number, call in enumerate(calls):
            with self.subTest(name, number=number):
                self.assertEqual(recorded(call), [name])

    def test_spellings_of_a_function(self):
        x, square = self.x, self.square
        self.spelled("torch.add", lambda: x + 1, lambda: 1 + x, lambda: torch.add(x, x),
                     lambda: x.add(x))
        self.spelled("torch.sub", lambda: x - 1, lambda: 1 - x)
        self.spelled("torch.div", lambda: x / 2, lambda: 2 / x, lambda: torch.div(x, x))
        self.spelled("torch.pow", lambda: x**2, lambda: 2**x, lambda: x.pow(3))
        self.spelled("torch.matmul", lambda: x @ square, lambda: x.matmul(square))
        self.spelled("torch.mm", lambda: torch.mm(square, square), lambda: square.mm(square))
        self.spelled("torch.neg", lambda: -x, lambda: x.neg())
        self.spelled("torch.gt", lambda: x > 0, lambda: torch.gt(x, 0))
        self.spelled("torch.relu", lambda: torch.relu(x), lambda: x.relu())
        self.spelled("torch.nn.functional.relu", lambda: F.relu(x))
        self.spelled("torch.softmax", lambda: x.softmax(-1), lambda: torch.softmax(x, -1))
        slope = torch.rand(4)
        self.spelled("torch.nn.functional.prelu", lambda: F.prelu(x, slope),
                     lambda: torch.prelu(x, slope), lambda: x.prelu(slope))
        self.spelled("torch.nn.functional.conv2d", lambda: F.conv2d(x, x),
                     lambda: torch.conv2d(x, x))
        self.spelled("torch.einsum", lambda: torch.einsum("bchw->bhwc", x))
        self.spelled("torch.norm", lambda: torch.norm(x), lambda: x.norm())
        self.spelled("torch.max", lambda: x.max(dim=-1).values)
        self.spelled("torch.Tensor.view", lambda: x.view(x.size(0), -1))
        self.spelled("torch.Tensor.__getitem__", lambda: x[:, 1:])
        self.spelled("torch.special.erf", lambda: torch.special.erf(x))
        self.spelled("torch.linalg.vector_norm", lambda: torch.linalg.vector_norm(x))

    def test_a_function_that_calls_others_counts_once(self):
        x = self.x
        self.spelled("torch.nn.functional.interpolate", lambda: F.interpolate(x, scale_factor=2))
        self.spelled("torch.nn.functional.cross_entropy", lambda: F.cross_entropy(x, x))
        self.spelled("torch.nn.functional.lp_pool2d", lambda: F.lp_pool2d(x, 2, 2))
        self.spelled("torch.nn.functional.max_pool2d", lambda: F.max_pool2d(x, 2))

    def test_questions_are_no_operators(self):
        x = self.x
        for call in (lambda: x.shape, lambda: x.size(0), lambda: len(x), lambda: x.dim(),
                     lambda: x.T, lambda: x.is_contiguous(), lambda: x.stride(), lambda: x.dtype,
                     lambda: x.numel(), lambda: x.detach(), lambda: x.requires_grad_(False)):
            self.assertEqual(recorded(call), [])


class Block(nn.Module):
    """A task's own module."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.stack = nn.Sequential(nn.Linear(8, 8), nn.GELU())

    def forward(self, x):
        return torch.tanh(self.stack(self.norm(x)) + x)


class Own(nn.Linear):
    pass


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.own = Own(8, 8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return F.softmax(self.attention(self.own(x), x, x)[0], dim=-1)


class Record(unittest.TestCase):
    BLOCK = ["torch.nn.LayerNorm", "torch.nn.Linear", "torch.nn.GELU", "torch.add", "torch.tanh"]

    def test_modules_are_outermost_and_own_ones_are_looked_into(self):
        model, x = Model(), torch.randn(2, 3, 8)
        wanted = self.BLOCK * 2 + ["torch.nn.functional.linear", "torch.nn.MultiheadAttention",
                                   "torch.nn.functional.softmax"]
        self.assertEqual(recorded(lambda: model(x), model), wanted)
        # Nothing stays behind: without a recorder nothing is added, with one again the same.
        recorder = Recorder(model)
        with recorder:
            model(x)
        model(x)
        self.assertEqual(recorder.names, wanted)
        self.assertFalse(any(module._forward_hooks or module._forward_pre_hooks
                             for module in model.modules()))

    def test_modules_of_transformers_are_outermost(self):
        class LlamaRMSNorm(nn.Module):
            def forward(self, x):
                return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)

        LlamaRMSNorm.__module__ = "transformers.models.llama.modeling_llama"
        model = nn.Sequential(LlamaRMSNorm(), nn.ReLU())
        x = torch.randn(2, 8)
        self.assertEqual(recorded(lambda: model(x), model),
                         ["transformers.LlamaRMSNorm", "torch.nn.ReLU"])

    def test_after_an_exception(self):
        model = nn.Sequential(nn.Linear(8, 4))
        wrong, right = torch.randn(2, 9), torch.randn(2, 8)
        recorder = Recorder(model)
        with self.assertRaises(RuntimeError), recorder:
            model(wrong)
        with recorder:
            torch.tanh(model(right))
        self.assertEqual(recorder.names, ["torch.nn.Linear", "torch.tanh"])


class Crawl(unittest.TestCase):
    def test_every_name_is_kept_or_has_a_reason(self):
        entries = crawl.crawl_torch()
        self.assertEqual(json.loads(json.dumps(entries)), entries)
        names = [entry["name"] for entry in entries]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreater(len(names), 1500)
        self.assertEqual([entry["name"] for entry in entries
                          if entry["reason"] == crawl.UNDECIDED], [],
                         "new in this PyTorch: put it into the catalogue or crawl_reasons.py")
        for entry in entries:
            self.assertEqual(set(entry), {"name", "source", "family", "kept", "reason"})
            self.assertNotEqual(entry["kept"], bool(entry["reason"]), entry)
            self.assertEqual(entry["kept"], bool(entry["family"]), entry)

    def test_the_catalogue_is_found(self):
        kept = {entry["name"] for entry in crawl.crawl_torch() if entry["kept"]}
        self.assertEqual(kept, {operator.name for operator in all_operators()})

    def test_what_nobody_has_decided_is_told(self):
        def unheard_of(x):
            return x

        unheard_of.__module__ = "torch"
        self.assertEqual(crawl.decide("torch.unheard_of", unheard_of, {}), crawl.UNDECIDED)
        self.assertEqual(crawl.decide("torch.nn.Unheard", nn.Linear, {}), crawl.UNDECIDED)

    def test_reasons_are_about_names_that_are_there(self):
        names = {entry["name"]: entry for entry in crawl.crawl_torch()}
        for name, reason in crawl_reasons.BY_NAME.items():
            with self.subTest(name):
                self.assertIn(name, names)
                self.assertFalse(names[name]["kept"], reason)
        for name, reason in crawl_reasons.BY_NAME.items():
            same = re.fullmatch(r"the same as (torch\S+) in another spelling", reason)
            if same:
                self.assertIn(same.group(1), names, name)

    def test_some_reasons(self):
        reasons = {entry["name"]: entry["reason"] for entry in crawl.crawl_torch()}
        for name, reason in (("torch.nn.Dropout", crawl_reasons.RANDOM),
                             ("torch.relu_", crawl_reasons.IN_PLACE),
                             ("torch.fft.rfft", crawl_reasons.COMPLEX),
                             ("torch.nn.LazyLinear", crawl_reasons.LAZY),
                             ("torch.Tensor.relu", "the same as torch.relu in another spelling"),
                             ("torch.Tensor.__add__", "the same as torch.add in another spelling"),
                             ("torch.unique", crawl_reasons.BY_VALUES),
                             ("torch.scatter_add", crawl_reasons.REPEATED),
                             ("torch.Tensor.index_copy",
                              "the same as torch.index_copy in another spelling")):
            self.assertEqual(reasons[name], reason, name)


if __name__ == "__main__":
    unittest.main()
