# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stages of reinforcement learning in two processes, as torchrun starts them: usage processes_test.py CUDA_AGENT_LEARN
TASKS"""

import json
import math
import os
import socket
import subprocess
import unittest

from stage_case import StageCase, recipe_of  # sets the environment that torch reads

import torch
from safetensors.torch import load_file

from recorded_tries import recorded

STAGES = ["single-turn-ppo", "rft", "value-pretrain", "agentic-ppo"]

SECTIONS = """
[single-turn-ppo]
steps = {steps}
tasks = {tasks}
samples = 2
epochs = 2
mini_batch = 5
keep_trajectories = true
actor_learning_rate = 0.001
critic_learning_rate = 0.001
kl = 0.1
kl_target = 0.01
kl_horizon = 100
[rft]
rounds = 2
steps = 5
batch = 5
learning_rate = 0.001
warm_up = 0
[value-pretrain]
rounds = 2
steps = 8
batch = 7
micro_tokens = 64
learning_rate = 0.001
warm_up = 0
[agentic-ppo]
steps = 3
baseline = "group"
actor_learning_rate = 0.001
{more}
"""


class ProcessesTest(StageCase):
    task_names = ("relu", "add", "subtract_relu", "abs_multiply")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for stage, steps in (("single-turn-ppo", 4), ("rft", 2), ("value-pretrain", 2), ("agentic-ppo", 3)):
            recorded(cls.folder / "tries", stage, steps, count=11)

    def recipe(self, name, stages, tasks=2, steps=4, more=""):
        (self.folder / name).write_text(recipe_of(
            stages, "longest_turn = 24\nsessions = 8", more=SECTIONS.format(tasks=tasks, steps=steps, more=more)))
        return name

    def train_together(self, recipe, out, processes, *more, machines=1):
        """Each process's exit, in order of rank; as on so many machines, all of which are this one."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        programs = [subprocess.Popen(
            self.command(recipe, out, *more),
            env=os.environ | {"WORLD_SIZE": str(processes), "RANK": str(rank), "LOCAL_RANK": str(rank),
                              "LOCAL_WORLD_SIZE": str(processes // machines),
                              "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in range(processes)]
        told = [program.communicate(timeout=500) for program in programs]
        return [(program.returncode, err) for program, (_, err) in zip(programs, told)]

    def steps(self, out):
        """Metrics of each step but for times."""
        return {row["step"]: {name: value for name, value in row["metrics"].items()
                              if not name.startswith(("timing_s/", "perf/time", "perf/throughput"))
                              and "episodes_per_second" not in name} for row in self.rows(out)}

    def same(self, one, two, within=1e-4):
        one, two = self.steps(one), self.steps(two)
        self.assertEqual(one.keys(), two.keys())
        for step, metrics in one.items():
            self.assertEqual(metrics.keys(), two[step].keys())
            for name, value in metrics.items():
                other = two[step][name]
                if isinstance(value, str):
                    self.assertEqual(value, other, name)
                else:
                    self.assertTrue(math.isclose(value, other, rel_tol=within, abs_tol=within),
                                    f"{name} of step {step}: {value} and {other}")

    def test_the_update_is_that_of_one(self):
        recipe = self.recipe("all.toml", STAGES)
        tries = ("--replay", str(self.folder / "tries"))
        for out, processes in (("one", 1), ("two", 2), ("three", 3)):
            ended = self.train_together(recipe, out, processes, *tries)
            self.assertEqual([code for code, _ in ended], [0] * processes, ended)
        steps = self.steps("one")
        self.assertEqual(len(steps), 4 + 7 + 10 + 3)
        self.assertGreater(steps[4]["actor/grad_norm"], 0)
        for out in ("two", "three"):
            self.same("one", out)
            for model in ("actor", "critic"):
                one, other = (load_file(self.last(name) / model / "model.safetensors") for name in ("one", out))
                for key, tensor in one.items():
                    self.assertLess((tensor - other[key]).abs().max().item(), 1e-4, f"{model} {key}")
        moved = load_file(self.last("one") / "actor/model.safetensors")
        base = load_file(self.folder / "base/run/checkpoints/step-2/actor/model.safetensors")
        self.assertGreater(max((moved[key] - base[key]).abs().max().item() for key in base), 1e-3, "they did learn")

    def test_a_run_goes_on(self):
        recipe = self.recipe("on.toml", ["single-turn-ppo", "value-pretrain"])
        tries = ("--replay", str(self.folder / "tries"))
        self.assertEqual(self.train_together(recipe, "whole", 1, *tries)[0][0], 0)
        cut = self.folder / self.recipe("cut.toml", ["single-turn-ppo"])
        self.assertEqual(self.train_together(cut.name, "on", 2, *tries)[0][0], 0)
        ended = self.train_together(recipe, "on", 2, "--resume", *tries)
        self.assertEqual([code for code, _ in ended], [0, 0], ended)
        self.same("whole", "on")

    def test_an_error_is_everybodys(self):
        recipe = self.folder / self.recipe("none.toml", ["rft"])
        recipe.write_text(recipe.read_text().replace("[rft]", "[rft]\nleast_reward = 3"))
        for out, words, code, tries in (("none", "not one of 22 trajectories is good enough", 1, "tries"),
                                        ("missing", "step-0.safetensors", 2, "nowhere")):
            ended = self.train_together("none.toml", out, 2, "--replay", str(self.folder / tries))
            self.assertEqual([each[0] for each in ended], [code, code], ended)
            for _, told in ended:
                self.assertIn(words, told)

    def test_tries_are_those_of_one(self):
        """A policy that writes nonsense before the judge, and its score: who plays a try makes no difference."""
        recipe = self.recipe("real.toml", ["single-turn-ppo"], tasks=2, steps=1,
                             more='[scoring]\nsplits = ["held_out"]\ntasks = 2\nbefore_train = true')
        for out, processes, machines in (("alone", 1, 1), ("both", 2, 1), ("apart", 2, 2)):
            ended = self.train_together(recipe, out, processes, machines=machines)
            self.assertEqual([code for code, _ in ended], [0] * processes, ended)
        self.same("alone", "both")
        files = [self.folder / out / "trajectories/single-turn-ppo/step-0.safetensors" for out in ("alone", "both")]
        alone, both = (load_file(file) for file in files)
        for key in ("tokens", "by_policy", "begins", "rewards"):
            self.assertTrue(torch.equal(alone[key], both[key]), key)
        sessions = {}
        for out in ("alone", "both", "apart"):
            folder = self.folder / out / "rollouts/step-1"
            sessions[out] = {json.loads(line)["session"] for line in (folder / "index.jsonl").read_text().splitlines()}
            for name in sessions[out]:
                self.assertTrue((folder / name / "session.jsonl").exists(), name)
        self.assertEqual(sessions["both"], sessions["alone"])
        self.assertEqual(len(sessions["apart"]), 3, "two tries and one that is scored: those of the first machine")
        self.assertLess(sessions["apart"], sessions["both"])
        for step in (0, 1):  # what it begins with is scored, too
            self.assertEqual(self.steps("both")[step]["val-core/held_out/pass_rate"], 0)


if __name__ == "__main__":
    unittest.main()
