# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns that are drawn by the grammar: usage grammar_test.py CUDA_AGENT_LEARN TASKS"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "cli"))
import tiny_policy

TASKS = sys.argv.pop()
LEARN = sys.argv.pop()

RECIPE = """
name = "grammar"
seed = 5
device = "cpu"
stages = ["agentic-ppo"]
[model]
actor = "base/run/checkpoints/step-2/actor"
[data]
context = 640
[rollout]
tasks = "{tasks}"
environments = 4
longest_turn = 40
temperature = 0.9
grammar = {grammar}
timing = false
seconds = 200
[agentic-ppo]
steps = 1
tasks = 2
samples = 3
turns = 2
epochs = 2
baseline = "batch"
actor_learning_rate = 0.003
keep_trajectories = true
checkpoint_every = 1
"""


class GrammarTest(unittest.TestCase):
    """A model that has learned nothing writes turns that can be read, and learns from them."""

    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.holder.name)
        cls.base = tiny_policy.train(LEARN, cls.folder / "base", context=640)

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    def train(self, out, grammar, *more):
        """Metrics of the one step."""
        recipe = self.folder / f"{out}.toml"
        recipe.write_text(RECIPE.format(tasks=TASKS, grammar=str(grammar).lower()))
        done = subprocess.run([LEARN, "train", str(recipe), "--out", str(self.folder / out), "--threads", "1", *more],
                              capture_output=True, text=True, timeout=500)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in open(self.folder / out / "metrics.jsonl", encoding="utf-8")]
        return rows[-1]["metrics"]

    def kept(self, out):
        return self.folder / out / "trajectories/agentic-ppo/step-0.safetensors"

    def tries(self, out):
        with safe_open(self.kept(out), "pt") as file:
            return json.loads(file.metadata()["trajectories"])

    def test_every_turn_can_be_read_and_the_update_has_the_same_probabilities(self):
        metrics = self.train("masked", True)
        self.assertEqual(metrics["response_length/clip_ratio"], 0, "every turn ends by itself")
        self.assertLess(metrics["training/rollout_probs_diff_max"], 1e-5)
        tries = self.tries("masked")
        self.assertEqual(len(tries), 6)
        self.assertEqual(sum(one["unreadable"] for one in tries), 0)
        self.assertGreater(sum(one["turns"] for one in tries), 5)
        # Without it the same model writes nothing else.
        free = self.train("free", False)
        self.assertGreater(free["response_length/clip_ratio"], 0)
        for one in self.tries("free"):
            self.assertEqual(one["unreadable"], one["episode_turns"])

        # The same tries, some of which earned something: the update goes through the masks.
        tensors = load_file(self.kept("masked"))
        with safe_open(self.kept("masked"), "pt") as file:
            metadata = file.metadata()
        tensors["rewards"] = torch.tensor([1.0, -1.0] * 3, dtype=torch.float64)
        self.kept("earned").parent.mkdir(parents=True)
        save_file(tensors, self.kept("earned"), metadata)
        metrics = self.train("learned", True, "--replay", str(self.folder / "earned"))
        self.assertLess(metrics["training/rollout_probs_diff_max"], 1e-5)
        self.assertGreater(metrics["actor/grad_norm"], 0)
        self.assertLess(abs(metrics["actor/ppo_kl"]), 1, "the policy moved a step, not away")
        before = load_file(self.base / "model.safetensors")
        after = load_file(self.folder / "learned/checkpoints/step-1/actor/model.safetensors")
        self.assertTrue(any(not torch.equal(tensor, after[name]) for name, tensor in before.items()))
        for name, tensor in after.items():
            self.assertTrue(torch.isfinite(tensor.float()).all(), name)
        # Updates by other probabilities than those that were drawn by are told.
        other = self.train("unlike", False, "--replay", str(self.folder / "earned"))
        self.assertGreater(other["training/rollout_probs_diff_max"], 0.1)


if __name__ == "__main__":
    unittest.main()
