# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of the stages of reinforcement learning share: their arguments, CUDA_AGENT_LEARN TASKS, a base model that
has learned nothing, and runs of the program from it."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "cli"))
import tiny_policy

TASKS = sys.argv.pop()
LEARN = sys.argv.pop()


def recipe_of(stages, rollout="", tasks="tasks.jsonl", context=512, more=""):
    """A recipe's text that begins at the base model: `rollout` are lines of its section, `more` other sections."""
    return f"""
name = "test"
seed = 5
device = "cpu"
stages = {json.dumps(list(stages))}
[model]
actor = "base/run/checkpoints/step-2/actor"
[data]
context = {context}
[rollout]
tasks = "{tasks}"
environments = 4
timing = false
{rollout}
{more}
"""


class StageCase(unittest.TestCase):
    """`folder` holds everything; `base` is the model's."""

    context = 512  # tokens of the base model
    task_names = None  # of TASKS that tasks.jsonl has; None: there is no such file

    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.holder.name)
        cls.base = tiny_policy.train(LEARN, cls.folder / "base", context=cls.context)
        if cls.task_names:
            lines = [line for line in open(TASKS, encoding="utf-8") if json.loads(line)["name"] in cls.task_names]
            (cls.folder / "tasks.jsonl").write_text("".join(lines))

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    @classmethod
    def command(cls, recipe, out, *more):
        return [LEARN, "train", cls.folder / recipe, "--out", cls.folder / out, "--threads", "1", *more]

    @classmethod
    def train(cls, recipe, out, *more):
        """The program's end. `recipe` and `out` are names in the folder."""
        return subprocess.run(cls.command(recipe, out, *more), capture_output=True, text=True, timeout=500)

    def rows(self, out):
        """The run's metrics, as they were written."""
        return [json.loads(line) for line in open(self.folder / out / "metrics.jsonl", encoding="utf-8")]

    def last(self, out):
        """The folder of its last checkpoint."""
        return max(self.folder.glob(f"{out}/checkpoints/step-*"), key=lambda path: int(path.name[5:]))
