# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stages of reinforcement learning in two processes, as torchrun starts them: usage processes_test.py CUDA_AGENT_LEARN
TASKS"""

import json
import math
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

import torch
from safetensors.torch import load_file

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "cli"))
import tiny_policy
from recorded_tries import recorded

TASKS = sys.argv.pop()
LEARN = sys.argv.pop()
STAGES = ["single-turn-ppo", "rft", "value-pretrain", "agentic-ppo"]

RECIPE = """
name = "processes"
seed = 5
device = "cpu"
stages = [{stages}]
[model]
actor = "base/run/checkpoints/step-2/actor"
[data]
context = 512
[rollout]
tasks = "tasks.jsonl"
environments = 4
longest_turn = 24
timing = false
sessions = 8
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


class ProcessesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.holder.name)
        tiny_policy.train(LEARN, cls.folder / "base", context=512)
        for stage, steps in (("single-turn-ppo", 4), ("rft", 2), ("value-pretrain", 2), ("agentic-ppo", 3)):
            recorded(cls.folder / "tries", stage, steps, count=11)
        wanted = {"relu", "add", "subtract_relu", "abs_multiply"}
        lines = [line for line in open(TASKS, encoding="utf-8") if json.loads(line)["name"] in wanted]
        (cls.folder / "tasks.jsonl").write_text("".join(lines))

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    def recipe(self, name, stages, tasks=2, steps=4, more=""):
        (self.folder / name).write_text(RECIPE.format(stages=", ".join(f'"{stage}"' for stage in stages), tasks=tasks,
                                                      steps=steps, more=more))
        return name

    def train(self, recipe, out, processes, *more):
        """Each process's exit, in order of rank."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        programs = [subprocess.Popen(
            [LEARN, "train", str(self.folder / recipe), "--out", str(self.folder / out), "--threads", "1", *more],
            env=os.environ | {"WORLD_SIZE": str(processes), "RANK": str(rank), "LOCAL_RANK": str(rank),
                              "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in range(processes)]
        told = [program.communicate(timeout=500) for program in programs]
        return [(program.returncode, err) for program, (_, err) in zip(programs, told)]

    def rows(self, out):
        rows = [json.loads(line) for line in open(self.folder / out / "metrics.jsonl", encoding="utf-8")]
        return {row["step"]: {name: value for name, value in row["metrics"].items()
                              if not name.startswith(("timing_s/", "perf/time", "perf/throughput"))
                              and "episodes_per_second" not in name} for row in rows}

    def last(self, out):
        return max(self.folder.glob(f"{out}/checkpoints/step-*"), key=lambda path: int(path.name[5:]))

    def same(self, one, two, within=1e-4):
        one, two = self.rows(one), self.rows(two)
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
            ended = self.train(recipe, out, processes, *tries)
            self.assertEqual([code for code, _ in ended], [0] * processes, ended)
        steps = self.rows("one")
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
        self.assertEqual(self.train(recipe, "whole", 1, *tries)[0][0], 0)
        cut = self.folder / self.recipe("cut.toml", ["single-turn-ppo"])
        self.assertEqual(self.train(cut.name, "on", 2, *tries)[0][0], 0)
        ended = self.train(recipe, "on", 2, "--resume", *tries)
        self.assertEqual([code for code, _ in ended], [0, 0], ended)
        self.same("whole", "on")

    def test_an_error_is_everybodys(self):
        recipe = self.folder / self.recipe("none.toml", ["rft"])
        recipe.write_text(recipe.read_text().replace("[rft]", "[rft]\nleast_reward = 3"))
        for out, words, code, tries in (("none", "not one of 22 trajectories is good enough", 1, "tries"),
                                        ("missing", "step-0.safetensors", 2, "nowhere")):
            ended = self.train("none.toml", out, 2, "--replay", str(self.folder / tries))
            self.assertEqual([each[0] for each in ended], [code, code], ended)
            for _, told in ended:
                self.assertIn(words, told)

    def test_tries_are_those_of_one(self):
        """A policy that writes nonsense before the judge, and its score: who plays a try makes no difference."""
        recipe = self.recipe("real.toml", ["single-turn-ppo"], tasks=2, steps=1,
                             more='[scoring]\nsplits = ["held_out"]\ntasks = 2')
        for out, processes in (("alone", 1), ("both", 2)):
            ended = self.train(recipe, out, processes)
            self.assertEqual([code for code, _ in ended], [0] * processes, ended)
        self.same("alone", "both")
        files = [self.folder / out / "trajectories/single-turn-ppo/step-0.safetensors" for out in ("alone", "both")]
        alone, both = (load_file(file) for file in files)
        for key in ("tokens", "by_policy", "begins", "rewards"):
            self.assertTrue(torch.equal(alone[key], both[key]), key)
        index = [json.loads(line) for line in
                 (self.folder / "both/rollouts/step-1/index.jsonl").read_text().splitlines()]
        self.assertEqual(len(index), 3, "two tries and one that is scored: those of the first process")
        for row in index:
            self.assertTrue((self.folder / "both/rollouts/step-1" / row["session"] / "session.jsonl").exists())
        self.assertEqual(self.rows("both")[1]["val-core/held_out/pass_rate"], 0)


if __name__ == "__main__":
    unittest.main()
