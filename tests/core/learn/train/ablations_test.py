# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""training/ablations.py with a program in the trainer's place that writes down what it was asked for: which runs there
are, of which stages and with which actor, on which GPU, and that one that is complete is not made again."""

import json
import pathlib
import subprocess
import sys
import tempfile
import tomllib
import unittest

ABLATIONS = pathlib.Path(__file__).parents[4] / "training/ablations.py"
GROUP = 'steps = 10\nbaseline = "group"'
TRAINER = """#!{python}
import json, os, pathlib, sys, tomllib
assert sys.argv[1] == "train" and sys.argv[3] == "--out", sys.argv
out = pathlib.Path(sys.argv[4])
with open(out.parent / "calls", "a") as calls:
    calls.write(out.name + os.environ.get("CUDA_VISIBLE_DEVICES", "") + "\\n")
if (out.parent / ("fails-" + out.name)).exists():
    sys.exit(1)
stages = tomllib.loads(pathlib.Path(sys.argv[2]).read_text())["stages"]
for step in range(2 * len(stages)): # two of each stage
    (out / f"checkpoints/step-{{step + 7}}/actor").mkdir(parents=True, exist_ok=True)
    (out / f"checkpoints/step-{{step + 7}}/manifest.json").write_text(
        json.dumps({{"state": {{"stage": stages[step // 2]}}}}))
rows = [("single-turn-ppo", {{"critic/score/mean": reward}}) for reward in (-1, 0, 1, 2)]
rows.append(("single-turn-ppo", {{"val-core/held_out/pass_rate": 0.25}}))
(out / "metrics.jsonl").write_text("".join(
    json.dumps({{"step": 1, "stage": stage, "metrics": metrics}}) + "\\n" for stage, metrics in rows))
(out / "status.json").write_text(json.dumps({{"state": "done"}}))
"""
RECIPE = """
stages = ["pretrain", "single-turn-ppo", "rft", "value-pretrain", "agentic-ppo"]
[data]
corpus = "corpus.jsonl.gz"
[rollout]
tasks = "set.jsonl"
timing = false
[single-turn-ppo]
steps = 10
[rft]
rounds = 2
least_reward = 2
[value-pretrain]
rounds = 1
[agentic-ppo]
steps = 8
[scoring]
splits = ["held_out"]
before_train = true
"""


class AblationsTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name).resolve()
        self.out = self.folder / "out"
        self.trainer = self.folder / "trainer"
        self.trainer.write_text(TRAINER.format(python=sys.executable))
        self.trainer.chmod(0o755)
        (self.folder / "recipe.toml").write_text(RECIPE)

    def run_it(self, *arguments, recipe="recipe.toml"):
        return subprocess.run([sys.executable, "-B", ABLATIONS, self.folder / recipe, "--out", self.out,
                               "--program", self.trainer, *arguments], capture_output=True, text=True, timeout=60)

    def calls(self):
        return (self.out / "calls").read_text().split()

    def recipe(self, name):
        return tomllib.loads((self.out / f"{name}.toml").read_text())

    def test_each_leaves_one_part_out(self):
        ended = self.run_it("--seeds", "7", "8")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        variants = ["all-stages", "raw-speed-up", "single-turn-only", "without-warm-up", "without-rft",
                    "without-value-pretraining", "timed"]
        self.assertEqual(self.calls(), [f"{name}-{seed}" for name in ["pretrain", *variants] for seed in (7, 8)])
        every = self.recipe("all-stages-7")
        self.assertEqual(every["stages"], ["single-turn-ppo", "rft", "value-pretrain", "agentic-ppo"])
        self.assertEqual(every["seed"], 7)
        self.assertEqual(every["rollout"]["tasks"], str(self.folder / "set.jsonl"))
        self.assertEqual(every["model"]["actor"], str(self.out / "pretrain-7/checkpoints/step-8/actor"))
        self.assertEqual(every["data"]["tokenizer"], str(self.out / "pretrain-7/tokenizer.json"))
        self.assertEqual(self.recipe("all-stages-8")["model"]["actor"],
                         str(self.out / "pretrain-8/checkpoints/step-8/actor"))
        for name, stage in (("warm-up", "single-turn-ppo"), ("rft", "rft"), ("value-pretraining", "value-pretrain")):
            self.assertEqual(self.recipe(f"without-{name}-7")["stages"], [one for one in every["stages"] if one != stage])
        self.assertEqual(every["scoring"], {"splits": ["held_out"], "before_train": True})
        raw = self.recipe("raw-speed-up-7")
        self.assertEqual(raw["scoring"], {"splits": ["held_out"], "before_train": False, "stages": ["agentic-ppo"]})
        self.assertEqual((raw["rollout"]["reward"], raw["rollout"]["timing"]), ("speedup", True))
        self.assertNotIn("least_reward", raw["rft"])
        self.assertEqual(every["rft"]["least_reward"], 2)
        single = self.recipe("single-turn-only-7")
        self.assertEqual((single["stages"], single["single-turn-ppo"]["steps"]), (["single-turn-ppo"], 21))
        rows = json.loads((self.out / "ablations.json").read_text())
        self.assertEqual(len(rows), 14)
        self.assertEqual(rows[0], {"variant": "all-stages", "seed": 7, "held_out/pass_rate": 0.25,
                                   "tries: score/mean": 1})
        self.assertIn("| all-stages | 7 | 0.25 | 1.00 |", (self.out / "ablations.md").read_text())

    def test_what_is_in_common_with_all_stages_is_done_once(self):
        (self.folder / "recipe.toml").write_text(RECIPE.replace("steps = 10", GROUP).replace('"pretrain", ', ""))
        variants = ["all-stages", "without-warm-up", "without-rft", "without-value-pretraining", "raw-speed-up"]
        self.assertEqual(self.run_it("--seeds", "7", "--variants", *variants).returncode, 0)
        left = self.out / "all-stages-7/checkpoints"
        for name, stages, begins in (
                ("without-rft", ["value-pretrain", "agentic-ppo"], "step-8"),
                ("without-value-pretraining", ["agentic-ppo"], "step-10"),
                ("without-warm-up", ["rft", "value-pretrain", "agentic-ppo"], None),
                ("raw-speed-up", ["single-turn-ppo", "rft", "value-pretrain", "agentic-ppo"], None)):
            recipe = self.recipe(f"{name}-7")
            self.assertEqual(recipe["stages"], stages)
            self.assertEqual(recipe.get("model"), {"actor": str(left / begins / "actor")} if begins else None)

    def test_runs_are_beside_each_other_on_gpus(self):
        on_gpus = RECIPE.replace("steps = 10", GROUP).replace('"pretrain", ', "").replace("timing = false\n", "")
        (self.folder / "recipe.toml").write_text(on_gpus)
        self.out.mkdir()
        (self.out / "fails-all-stages-8").touch()
        ended = self.run_it("--gpus", "5", "6")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("without-rft-8 has nothing to begin with: all-stages-8 is not complete", ended.stderr)
        calls = self.calls()
        self.assertEqual({call[-1] for call in calls}, {"5", "6"})
        self.assertEqual({call[:-1] for call in calls}, {f"{name}-{seed}" for seed in (7, 8) for name in (
            "all-stages", "without-warm-up", "without-rft", "without-value-pretraining", "raw-speed-up",
            "single-turn-only")} - {"without-rft-8", "without-value-pretraining-8"})

    def test_what_is_complete_is_not_made_again_and_what_failed_is(self):
        self.out.mkdir()
        (self.out / "fails-without-rft-7").touch()
        words = ("--seeds", "7", "--variants", "without-rft", "without-warm-up")
        ended = self.run_it(*words)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("without-rft-7 ended with 1", ended.stderr)
        self.assertEqual(self.calls(), ["pretrain-7", "without-rft-7", "without-warm-up-7"])
        (self.out / "fails-without-rft-7").unlink()
        self.assertEqual(self.run_it(*words).returncode, 0)
        self.assertEqual(self.calls()[3:], ["without-rft-7"])

    def test_a_recipe_that_cannot_be_one_is_refused(self):
        for text, words in (("stages = [", "recipe.toml: "), ('stages = ["pretrain"]', "has none of the stages")):
            (self.folder / "recipe.toml").write_text(text)
            ended = self.run_it()
            self.assertEqual(ended.returncode, 2)
            self.assertIn(words, ended.stderr)
        self.assertEqual(self.run_it(recipe="missing.toml").returncode, 2)


if __name__ == "__main__":
    unittest.main()
