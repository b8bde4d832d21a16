# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stages of reinforcement learning as a program: usage stages_test.py CUDA_AGENT_LEARN TASKS

Rewards are recorded ones, made up, wherever learning is the point; one round of tries is real."""

import json
import re
import signal
import subprocess
import time
import unittest

from stage_case import TASKS, StageCase, recipe_of  # sets the environment that torch reads

import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from recorded_tries import BAD, GOOD, recorded

SECTIONS = """
[single-turn-ppo]
steps = {steps}
tasks = 2
samples = 2
epochs = 2
mini_batch = 6
actor_learning_rate = 0.003
critic_learning_rate = 0.003
checkpoint_every = 4
{ppo}
[rft]
rounds = 2
steps = 12
batch = 4
learning_rate = 0.006
warm_up = 0
[value-pretrain]
rounds = 2
steps = 60
batch = 8
learning_rate = 0.003
warm_up = 0
"""


class StagesTest(StageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tries = cls.folder / "tries"
        for stage, steps in (("single-turn-ppo", 12), ("rft", 2), ("value-pretrain", 2)):
            recorded(cls.tries, stage, steps)

    def recipe(self, name, stages, steps=12, ppo=""):
        (self.folder / name).write_text(recipe_of(
            stages, "longest_turn = 24\nseconds = 120", TASKS, more=SECTIONS.format(steps=steps, ppo=ppo)))
        return name

    def replayed(self, out, stages, **more):
        done = self.train(self.recipe(f"{out}.toml", stages, **more), out, "--replay", str(self.tries))
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.rows(out)

    def odds(self, actor):
        """How much likelier the good token is than the bad one behind prompts that were never seen."""
        model = AutoModelForCausalLM.from_pretrained(actor, dtype=torch.float32)
        prompts = torch.randint(20, 200, (16, 10), generator=torch.Generator().manual_seed(1))
        with torch.no_grad():
            logits = model(torch.cat([torch.zeros(16, 1, dtype=torch.long), prompts], 1)).logits[:, -1]
        return (logits[:, GOOD] - logits[:, BAD]).mean().item()

    def test_ppo_makes_likelier_what_earns(self):
        before = self.odds(self.base)
        for baseline in ("critic", "group", "batch"):
            rows = self.replayed(baseline, ["single-turn-ppo"], ppo=f'baseline = "{baseline}"')
            self.assertGreater(self.odds(self.last(baseline) / "actor"), before + 1, baseline)
            metrics = rows[-1]["metrics"]
            self.assertEqual(metrics["critic/score/mean"], 0.5)
            self.assertEqual(metrics["reward/pass_rate"], 0.5)
            self.assertGreater(metrics["actor/grad_norm"], 0)
            self.assertEqual((self.last(baseline) / "critic").exists(), baseline == "critic")
            if baseline == "critic":
                first = rows[0]["metrics"]["critic/vf_explained_var"]
                self.assertGreater(metrics["critic/vf_explained_var"], first + 0.2)

    def test_a_penalty_holds_the_policy_near_its_beginning(self):
        free = self.replayed("free", ["single-turn-ppo"], ppo='baseline = "batch"')
        held = self.replayed("held", ["single-turn-ppo"], ppo='baseline = "batch"\nkl = 20')
        self.assertNotIn("actor/reward_kl_penalty", free[-1]["metrics"])
        self.assertEqual(held[-1]["metrics"]["actor/reward_kl_penalty_coeff"], 20)
        self.assertLess(self.odds(self.last("held") / "actor"), self.odds(self.last("free") / "actor"))
        self.assertTrue((self.last("held") / "reference/model.safetensors").exists())

    def test_a_stage_whose_time_is_up_is_done_and_the_next_one_follows(self):
        rows = self.replayed("short", ["single-turn-ppo", "rft"], ppo="seconds = 0.000001")
        self.assertEqual([row["step"] for row in rows if row["stage"] == "single-turn-ppo"], [1])
        self.assertEqual([row["step"] for row in rows if row["stage"] == "rft"], list(range(13, 27)))
        # A checkpoint behind that step is of a stage that is done.
        again = self.train("short.toml", "short", "--replay", str(self.tries), "--resume")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(self.rows("short"), rows)
        self.replayed("alone", ["single-turn-ppo"], ppo="seconds = 0.000001")
        self.assertEqual(json.loads((self.folder / "alone/status.json").read_text())["seconds_left"], 0)

    def test_fine_tuning_takes_the_good_ones_alone(self):
        rows = self.replayed("rft", ["rft"])
        self.assertEqual(len(rows), 14, "two rounds and twelve updates")
        losses = [row["metrics"]["train/loss"] for row in rows[2:]]
        self.assertLess(losses[-1], losses[0] - 0.3)
        self.assertEqual(rows[2]["metrics"]["rft/kept"], 0.5)
        self.assertGreater(self.odds(self.last("rft") / "actor"),
                           self.odds(self.base) + 1)

    def test_fine_tuning_does_not_learn_a_few_by_heart(self):
        recipe = self.folder / self.recipe("few.toml", ["rft"])
        recipe.write_text(recipe.read_text().replace("steps = 12\nbatch = 4", "steps = 12\nbatch = 4\nmost_passes = 2"))
        done = self.train("few.toml", "few", "--replay", str(self.tries))
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.rows("few")
        self.assertEqual(len(rows), 2 + 6, "twelve that are kept, twice, four in each update")
        self.assertLess(rows[-1]["metrics"]["train/lr"], 0.2 * rows[2]["metrics"]["train/lr"])
        status = json.loads((self.folder / "few/status.json").read_text())
        self.assertEqual((status["state"], status["stage_step"], status["stage_steps"]), ("done", 8, 8))
        again = self.train("few.toml", "few", "--replay", str(self.tries), "--resume")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(self.rows("few"), rows)

    def test_fine_tuning_on_nothing_is_an_error(self):
        recipe = self.folder / self.recipe("none.toml", ["rft"])
        recipe.write_text(recipe.read_text().replace("rounds = 2\nsteps = 12", "rounds = 2\nleast_reward = 3\nsteps = 12"))
        done = self.train("none.toml", "none", "--replay", str(self.tries))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"not one of 24 trajectories is good enough to learn from \(.*\d+ have too little "
                                      r"reward \(least_reward\)")
        self.assertEqual(json.loads((self.folder / "none/status.json").read_text())["state"], "failed")

    def test_the_critic_learns_what_tries_come_to(self):
        rows = self.replayed("value", ["value-pretrain"])
        told = [row["metrics"]["critic/vf_explained_var"] for row in rows[2:]]
        self.assertGreater(told[-1], 0.8)
        self.assertLess(told[0], 0.2)
        actor = load_file(self.last("value") / "actor/model.safetensors")
        for name, tensor in load_file(self.base / "model.safetensors").items():
            self.assertTrue(torch.equal(tensor, actor[name]), "the actor stays as it is")

    def test_killed_and_resumed_with_recorded_rewards_is_bitwise_the_same(self):
        stages = ["single-turn-ppo", "rft", "value-pretrain"]
        self.replayed("whole", stages)
        words = self.command("whole.toml", "killed", "--replay", self.tries)
        kills = 0
        for wanted in (3, 9, 20, 40, 70):
            with subprocess.Popen(words + (["--resume"] if kills else []), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as program:
                deadline = time.monotonic() + 120
                while program.poll() is None and time.monotonic() < deadline:
                    metrics = self.folder / "killed/metrics.jsonl"
                    steps = re.findall(r'"step": ?(\d+)', metrics.read_text()) if metrics.exists() else []
                    if steps and int(steps[-1]) >= wanted:
                        break
                    time.sleep(0.002)
                if program.poll() is None:
                    program.send_signal(signal.SIGKILL)
                    kills += 1
        self.assertGreater(kills, 1)
        done = subprocess.run(words + ["--resume"], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)

        def told(out):
            return {row["step"]: {name: value for name, value in row["metrics"].items()
                                  if not name.startswith(("timing_s/", "perf/time", "perf/throughput"))}
                    for row in self.rows(out)}
        self.assertEqual(told("whole"), told("killed"))
        for name in ("actor/model.safetensors", "critic/model.safetensors", "optimiser.safetensors"):
            whole, killed = (load_file(self.last(out) / name) for out in ("whole", "killed"))
            for key, tensor in whole.items():
                self.assertTrue(torch.equal(tensor, killed[key]), key)

    def test_tries_before_the_judge(self):
        """A model that has learned nothing: every try is a wrong answer, none the machine's fault."""
        self.recipe("real.toml", ["single-turn-ppo"], steps=1, ppo="keep_trajectories = true")
        done = self.train("real.toml", "real")
        self.assertEqual(done.returncode, 0, done.stderr)
        metrics = self.rows("real")[-1]["metrics"]
        self.assertEqual(metrics["critic/score/mean"], -1)
        self.assertEqual(metrics["env/infrastructure_failures"], 0)
        self.assertEqual(metrics["env/unusable_tasks"], 0)
        self.assertEqual(metrics["tools/error_rate"], 1, "nothing it writes is a call")
        self.assertLess(metrics["training/rollout_probs_diff_max"], 1e-4, "sampling's are the update's")
        self.assertGreater(metrics["actor/entropy"], 3)
        index = [json.loads(line) for line in
                 (self.folder / "real/rollouts/step-1/index.jsonl").read_text().splitlines()]
        self.assertEqual(len(index), 4)
        for row in index:
            log = (self.folder / "real/rollouts/step-1" / row["session"] / "session.jsonl").read_text()
            self.assertIn("sessionEnded", log)
        # The same tries once more, from what was kept.
        again = self.train("real.toml", "again", "--replay", str(self.folder / "real"))
        self.assertEqual(again.returncode, 0, again.stderr)
        for name in ("actor", "critic"):
            one, two = (load_file(self.last(out) / name / "model.safetensors") for out in ("real", "again"))
            for key, tensor in one.items():
                self.assertTrue(torch.equal(tensor, two[key]), key)

    def test_recipes_that_cannot_be_run(self):
        for change, words in ((('"rft"', '"rtf"'), "stages must be one of"),
                              (('tasks = "', 'tusks = "'), "tusks"),
                              (("context = 512", "context = 4096"), "the recipe needs"),
                              (('actor = "base', 'actor = "nowhere'), "nowhere")):
            recipe = self.folder / self.recipe("wrong.toml", ["rft"])
            recipe.write_text(recipe.read_text().replace(*change))
            done = self.train("wrong.toml", "wrong")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)
            self.assertFalse((self.folder / "wrong/metrics.jsonl").exists())
        done = self.train(self.recipe("missing.toml", ["rft"]), "missing", "--replay", str(self.folder / "base/run"))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("step-0.safetensors", done.stderr)


if __name__ == "__main__":
    unittest.main()
