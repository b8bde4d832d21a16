# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tiny recipe from its first step to its last, all five stages before the judge on the CPU device:
usage tiny_recipe_test.py CUDA_AGENT_LEARN RECIPE"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

RECIPE = sys.argv.pop()
LEARN = sys.argv.pop()
STAGES = ["pretrain", "single-turn-ppo", "rft", "value-pretrain", "agentic-ppo"]


class TinyRecipeTest(unittest.TestCase):
    def test_the_reward_rises(self):
        with tempfile.TemporaryDirectory() as holder:
            run = pathlib.Path(holder) / "run"
            done = subprocess.run([LEARN, "train", RECIPE, "--out", str(run)], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
            told = json.loads((run / "run.json").read_text())
            self.assertEqual([stage["name"] for stage in told["stages"]], STAGES)

            def values(stage, name):
                return [row["metrics"][name] for row in rows if row["stage"] == stage and name in row["metrics"]]

            passed = {stage: values(stage, "val-core/train/pass_rate")[0] for stage in STAGES}
            scores = {stage: values(stage, "critic/score/mean") for stage in STAGES[1:]}
            seconds = json.loads((run / "status.json").read_text())["seconds"]
            print(f"pass rates after each stage {passed}, training {seconds:.0f} s")
            for stage, each in scores.items():
                print(stage, [round(score, 2) for score in each])
            first, last = scores["single-turn-ppo"][:3], scores["agentic-ppo"][-3:]
            self.assertGreater(sum(last) / 3, sum(first) / 3 + 0.2, "the reward rises")
            self.assertGreater(passed["agentic-ppo"], passed["pretrain"], "and so does what passes")
            self.assertEqual(sum(sum(values(stage, "env/infrastructure_failures")) for stage in STAGES), 0)


if __name__ == "__main__":
    unittest.main()
