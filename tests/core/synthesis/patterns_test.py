# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Unit tests of the patterns of real model code. By hand: <python> patterns_test.py. No torch."""

import ast
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "core" / "synthesis"))

from maker import patterns  # noqa: E402
from maker.spec import FAMILIES  # noqa: E402
from maker.spellings import canonical  # noqa: E402

FAMILY_OF = {"linear": "product", "relu": "activation", "add": "binary", "layer_norm":
             "normalisation", "softmax": "activation", "conv2d": "convolution", "mul": "binary",
             "transpose": "layout"}

CODE = '''
import torch
from torch import nn
from ...activations import ACT2FN

class TinyNorm(nn.Module):
    def __init__(self, size):
        super().__init__()

    def forward(self, x):
        return x * x

class Tiny(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.up = nn.Linear(config.size, config.size * 4)
        self.down = nn.Linear(config.size * 4, config.size)
        self.act = ACT2FN[config.act]
        self.norm = TinyNorm(config.size)
        self.half = config.size // 2

    def forward(self, hidden):
        residual = hidden
        rows = hidden.shape[0] * self.half
        hidden = self.act(self.up(hidden)).view(rows, -1)
        hidden = self.down(hidden)
        return self.norm(residual + hidden)
'''


class Counting(unittest.TestCase):
    def test_by_what_an_operator_takes(self):
        found = patterns.count([ast.parse(CODE)], FAMILY_OF)
        self.assertEqual(found["classes"], 2)
        self.assertEqual(found["operators"], {"linear": 2, "add": 1, "mul": 1})
        self.assertEqual(found["follow"], {
            "start": {"binary": 2, "product": 1},
            "product": {"activation": 1, "binary": 1}, "activation": {"product": 1},
            "binary": {"normalisation": 1, "end": 1}, "normalisation": {"end": 1}})

    def test_no_forward_no_count(self):
        found = patterns.count([ast.parse("import torch\nclass A(torch.nn.Module):\n    pass\n")],
                               FAMILY_OF)
        self.assertEqual((found["classes"], found["follow"]), (0, {}))


class Weights(unittest.TestCase):
    def test_all_can_follow_and_they_sum_to_one(self):
        for previous in FAMILIES + ("start", "nothing of the kind"):
            weights = patterns.transition_weights(previous)
            self.assertEqual(set(weights), set(FAMILIES) | {"end"})
            self.assertAlmostEqual(sum(weights.values()), 1)
            self.assertGreater(min(weights.values()), 0.001)

    def test_they_are_those_of_models(self):
        norm = patterns.transition_weights("normalisation")
        self.assertGreater(norm["product"], 3 * norm["sorting"])
        convolution = patterns.transition_weights("convolution")
        self.assertGreater(convolution["normalisation"], 3 * convolution["embedding"])
        unseen = patterns.transition_weights("nothing of the kind")
        self.assertAlmostEqual(unseen["fft"], unseen["product"])

    def test_operators(self):
        weight = patterns.operator_weight
        self.assertGreater(weight("torch.nn.Linear"), 8)
        self.assertEqual(weight("torch.nn.Linear"), weight("torch.nn.functional.linear"))
        self.assertGreater(weight("torch.nn.functional.relu"), weight("torch.erfinv"))
        self.assertEqual(weight("torch.no_such_operator"), 1)

    def test_what_is_shipped_names_families(self):
        content = patterns.counts()
        self.assertGreater(content["classes"], 5000)
        for previous, row in content["follow"].items():
            self.assertIn(previous, FAMILIES + ("start",))
            self.assertLessEqual(set(row), set(FAMILIES) | {"end"})


class Spelling(unittest.TestCase):
    def test_modules_and_functions(self):
        for module, function in (
                ("CrossEntropyLoss", "cross_entropy"), ("KLDivLoss", "kl_div"),
                ("PReLU", "prelu"), ("LeakyReLU", "leaky_relu"), ("ReLU6", "relu6"),
                ("GELU", "gelu"), ("SiLU", "silu"), ("CELU", "celu"), ("LogSigmoid", "logsigmoid"),
                ("MSELoss", "mse_loss"), ("SmoothL1Loss", "smooth_l1_loss"),
                ("AdaptiveAvgPool2d", "adaptive_avg_pool2d"), ("LPPool2d", "lp_pool2d"),
                ("ConvTranspose3d", "conv_transpose3d"), ("BatchNorm1d", "batch_norm"),
                ("RMSNorm", "rms_norm"), ("NLLLoss", "nll_loss"), ("Hardtanh", "hardtanh"),
                ("BCEWithLogitsLoss", "binary_cross_entropy_with_logits"),
                ("TripletMarginLoss", "triplet_margin_loss"), ("PixelShuffle", "pixel_shuffle"),
                ("CosineSimilarity", "cosine_similarity"), ("Softmax2d", "softmax")):
            self.assertEqual(canonical("torch.nn." + module),
                             canonical("torch.nn.functional." + function), module)

    def test_unlike_ones_stay_unlike(self):
        names = ["relu", "gelu", "max", "min", "maximum", "cumsum", "sum", "conv1d", "conv2d",
                 "conv_transpose2d", "max_pool2d", "avg_pool2d", "layer_norm", "batch_norm", "std",
                 "var", "linear", "matmul", "bmm_"]
        self.assertEqual(len({canonical("torch." + name) for name in names}), len(names) - 1)


if __name__ == "__main__":
    unittest.main()
