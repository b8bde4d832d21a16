#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The generator of compositions: deterministic, and every file is a task worth scoring.

usage: compositions_test.py [--seed 1] [--count 40] (needs torch)
"""
import argparse
import importlib.util
import pathlib
import sys
import tempfile
import unittest

import torch

import compositions

COUNT, SEED, SCALE = 40, 1, "small"


def outputs(file):
    """The outputs of two draws, each a list of tensors in float32."""
    specification = importlib.util.spec_from_file_location("task", file)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    torch.manual_seed(0)
    model = module.Model(*module.get_init_inputs()).eval()
    results = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        with torch.no_grad():
            result = model(*module.get_inputs())
        results.append([t.float() for t in (result if isinstance(result, tuple) else (result,))])
    return results


class Compositions(unittest.TestCase):
    def test_a_seed_means_the_same_files(self):
        for scale in compositions.ELEMENTS:
            first = [compositions.compose(5, number, scale) for number in range(20)]
            self.assertEqual(first, [compositions.compose(5, number, scale) for number in range(20)])
            self.assertEqual(len(set(first)), 20)
            self.assertNotEqual(first, [compositions.compose(6, number, scale) for number in range(20)])

    def test_every_file_is_a_valid_task(self):
        with tempfile.TemporaryDirectory() as folder:
            for number in range(COUNT):
                file = pathlib.Path(folder) / f"{number:03}.py"
                file.write_text(compositions.compose(SEED, number, SCALE))
                with self.subTest(number=number, steps=file.read_text().splitlines()[1]):
                    first, second = outputs(file)
                    for a, b in zip(first, second):
                        self.assertTrue(torch.isfinite(a).all(), "not finite")
                        self.assertFalse(torch.equal(a, b), "the same for other inputs")
                        self.assertGreater((a - a.flatten()[0]).abs().max() if a.numel() > 8 else 1, 0, "constant")

    def test_most_kinds_of_steps_occur(self):
        text = "".join(compositions.compose(SEED, number, "large") for number in range(200))
        for name in ("F.softmax", "layer_norm", "GroupNorm", "BatchNorm", "F.batch_norm", "InstanceNorm", "cross_entropy",
                     "kl_div", "nn.Linear", "matmul", "torch.cat", ".permute(", ".reshape(", "argmax", "keepdim=True",
                     "float16", "bfloat16", "nn.Parameter", "torch.where", "cumsum", ".prod(", "logsumexp"):
            self.assertIn(name, text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--count", type=int, default=COUNT)
    arguments, rest = parser.parse_known_args()
    SEED, COUNT = arguments.seed, arguments.count
    unittest.main(argv=sys.argv[:1] + rest)
