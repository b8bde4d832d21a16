# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""training/ablations.py with a program in the trainer's place that writes down what it was asked for: which runs there
are, of which stages, and that one that is complete is not made again."""

import json
import pathlib
import subprocess
import sys
import tempfile
import tomllib
import unittest

ABLATIONS = pathlib.Path(__file__).parents[4] / "training/ablations.py"
TRAINER = """#!{python}
import json, pathlib, sys
assert sys.argv[1] == "train" and sys.argv[3] == "--out", sys.argv
out = pathlib.Path(sys.argv[4])
with open(out.parent / "calls", "a") as calls:
    calls.write(out.name + "\\n")
if (out.parent / ("fails-" + out.name)).exists():
    sys.exit(1)
(out / "checkpoints/step-9/actor").mkdir(parents=True, exist_ok=True)
(out / "checkpoints/step-10/actor").mkdir(parents=True, exist_ok=True)
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
[single-turn-ppo]
steps = 10
[rft]
rounds = 2
least_reward = 2
[value-pretrain]
rounds = 1
[agentic-ppo]
steps = 8
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
        variants = ["all-stages", "without-warm-up", "without-rft", "without-value-pretraining", "timed", "raw-speed-up",
                    "single-turn-only"]
        self.assertEqual(self.calls(), [f"{name}-{seed}" for seed in (7, 8) for name in ["pretrain", *variants]])
        every = self.recipe("all-stages-7")
        self.assertEqual(every["stages"], ["single-turn-ppo", "rft", "value-pretrain", "agentic-ppo"])
        self.assertEqual(every["seed"], 7)
        self.assertEqual(every["rollout"]["tasks"], str(self.folder / "set.jsonl"))
        self.assertEqual(every["model"]["actor"], str(self.out / "pretrain-7/checkpoints/step-10/actor"))
        self.assertEqual(every["data"]["tokenizer"], str(self.out / "pretrain-7/tokenizer.json"))
        self.assertEqual(self.recipe("all-stages-8")["model"]["actor"],
                         str(self.out / "pretrain-8/checkpoints/step-10/actor"))
        for name, stage in (("warm-up", "single-turn-ppo"), ("rft", "rft"), ("value-pretraining", "value-pretrain")):
            self.assertEqual(self.recipe(f"without-{name}-7")["stages"], [one for one in every["stages"] if one != stage])
        raw = self.recipe("raw-speed-up-7")
        self.assertEqual((raw["rollout"]["reward"], raw["rollout"]["timing"]), ("speedup", True))
        self.assertNotIn("least_reward", raw["rft"])
        self.assertEqual(every["rft"]["least_reward"], 2)
        single = self.recipe("single-turn-only-7")
        self.assertEqual((single["stages"], single["single-turn-ppo"]["steps"]), (["single-turn-ppo"], 21))
        rows = json.loads((self.out / "ablations.json").read_text())
        self.assertEqual(len(rows), 14)
        self.assertEqual(rows[0], {"variant": "all-stages", "seed": 7, "held_out/pass_rate": 0.25,
                                   "reward, last steps": 1})
        self.assertIn("| all-stages | 7 | 0.25 | 1.00 |", (self.out / "ablations.md").read_text())

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
