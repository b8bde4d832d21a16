# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns that are drawn by the grammar: usage grammar_test.py CUDA_AGENT_LEARN TASKS"""

import json
import unittest

from stage_case import TASKS, StageCase, recipe_of  # sets the environment that torch reads

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

ROLLOUT = """
longest_turn = 40
temperature = 0.9
grammar = {grammar}
seconds = 200
fresh_starts = "never"
"""
PPO = """
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


class GrammarTest(StageCase):
    """A model that has learned nothing writes turns that can be read, and learns from them."""

    context = 640

    def metrics(self, out, grammar, *more):
        """Of the one step."""
        (self.folder / f"{out}.toml").write_text(recipe_of(
            ["agentic-ppo"], ROLLOUT.format(grammar=str(grammar).lower()), TASKS, 640, PPO))
        done = self.train(f"{out}.toml", out, *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.rows(out)[-1]["metrics"]

    def kept(self, out):
        return self.folder / out / "trajectories/agentic-ppo/step-0.safetensors"

    def tries(self, out):
        with safe_open(self.kept(out), "pt") as file:
            return json.loads(file.metadata()["trajectories"])

    def test_every_turn_can_be_read_and_the_update_has_the_same_probabilities(self):
        metrics = self.metrics("masked", True)
        self.assertEqual(metrics["response_length/clip_ratio"], 0, "every turn ends by itself")
        self.assertLess(metrics["training/rollout_probs_diff_max"], 1e-5)
        tries = self.tries("masked")
        self.assertEqual(len(tries), 6)
        self.assertEqual(sum(one["unreadable"] for one in tries), 0)
        self.assertGreater(sum(one["turns"] for one in tries), 5)
        # Without it the same model writes nothing else.
        free = self.metrics("free", False)
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
        metrics = self.metrics("learned", True, "--replay", str(self.folder / "earned"))
        self.assertLess(metrics["training/rollout_probs_diff_max"], 1e-5)
        self.assertGreater(metrics["actor/grad_norm"], 0)
        self.assertLess(abs(metrics["actor/ppo_kl"]), 1, "the policy moved a step, not away")
        before = load_file(self.base / "model.safetensors")
        after = load_file(self.folder / "learned/checkpoints/step-1/actor/model.safetensors")
        self.assertTrue(any(not torch.equal(tensor, after[name]) for name, tensor in before.items()))
        for name, tensor in after.items():
            self.assertTrue(torch.isfinite(tensor.float()).all(), name)
        # Updates by other probabilities than those that were drawn by are told.
        other = self.metrics("unlike", False, "--replay", str(self.folder / "earned"))
        self.assertGreater(other["training/rollout_probs_diff_max"], 0.1)


if __name__ == "__main__":
    unittest.main()
