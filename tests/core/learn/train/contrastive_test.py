# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prompts that show earlier candidates with their scores: usage contrastive_test.py CUDA_AGENT_LEARN TASKS"""

import json
import shutil
import unittest

from stage_case import StageCase, recipe_of  # sets the environment that torch reads

import torch
from safetensors import safe_open
from safetensors.torch import load_file
from transformers import AutoTokenizer

from recorded_tries import recorded

PPO = """
[single-turn-ppo]
steps = {steps}
tasks = 2
samples = 1
baseline = "batch"
keep_trajectories = true
exemplars = {exemplars}
checkpoint_every = 1
"""

KERNEL = "// {}\nextern \"C\" __global__ void act(const float *x, float *y) {{}}\n"


def candidate(step, i):
    """Of the tries at relu, of which every other one is good: step 0 makes four kernels, one of them twice and one too
    long to be shown; each later step a faster one."""
    if (i + step) % 2 != 0:
        return {"task": "relu", "correct": False, "milestone": -1, "candidate": {}}
    if step > 0:
        return {"task": "relu", "candidate": {"kernels/a.cu": KERNEL.format(f"step {step}"), "plan.json": "{}"},
                "milestone": 3, "seconds": 1e-5, "over_eager": 2.0 + step, "over_compile": 3.5 + step}
    names = ["slow", "fast", "slow", "long", "third", "slow"]
    name = names[i // 2]
    text = KERNEL.format(name + " x" * 20_000 if name == "long" else name)
    if name == "slow" and i > 0:  # once more, with blanks behind its lines, and another time
        text = text.replace("\n", " \n")
    return {"task": "relu", "milestone": 1, "candidate": {"kernels/a.cu": text, "plan.json": "{}"},
            "seconds": 1e-5 * i, "over_eager": 0.0,
            "over_compile": {"slow": 0.5, "fast": 1.4, "long": 3.0, "third": 0.4}[name] + (0.05 if i > 3 else 0)}


class ContrastiveTest(StageCase):
    context = 2048
    task_names = ("relu", "add")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        recorded(cls.folder / "tries", "single-turn-ppo", 4, rows_of=candidate)

    def shown(self, out, exemplars, steps, *more):
        """The end of a run whose prompts show so many."""
        (self.folder / f"{out}.toml").write_text(recipe_of(
            ["single-turn-ppo"], "longest_turn = 24", context=2048, more=PPO.format(exemplars=exemplars, steps=steps)))
        return self.train(f"{out}.toml", out, *more)

    def prompts(self, out):
        """Of each task what the tries of the second step read."""
        file = self.folder / out / "trajectories/single-turn-ppo/step-1.safetensors"
        tokenizer = AutoTokenizer.from_pretrained(self.base)
        with safe_open(file, "pt") as opened:
            rows = json.loads(opened.metadata()["trajectories"])
        tensors = load_file(file)
        prompts = {}
        for i, row in enumerate(rows):
            begin, end = tensors["begins"][i], tensors["begins"][i + 1]
            own = tensors["by_policy"][begin:end].bool()
            prompts[row["task"]] = (tokenizer.decode(tensors["tokens"][begin:end][~own]), row["exemplars"])
        return prompts

    def test_prompts_show_what_was_made_before(self):
        texts = {}
        for exemplars in (0, 3):
            out = f"shown{exemplars}"
            # The first step was done before: its tries lie in the run's folder.
            kept = self.folder / out / "trajectories/single-turn-ppo/step-0.safetensors"
            kept.parent.mkdir(parents=True)
            shutil.copy(self.folder / "tries/trajectories/single-turn-ppo/step-0.safetensors", kept)
            done = self.shown(out, exemplars, 2)
            self.assertEqual(done.returncode, 0, done.stderr)
            texts[exemplars] = self.prompts(out)
        plain, count = texts[0]["relu"]
        self.assertEqual(count, 0)
        self.assertNotIn("Candidate 1", plain)
        text, count = texts[3]["relu"]
        self.assertEqual(count, 2, "three of them are kept, and the longest has no room")
        begin, end = text.index("\n\nEarlier candidates"), text.index("<|im_end|>\n<|im_start|>assistant")
        self.assertEqual(text[:begin] + text[end:], plain, "nothing else is different")
        self.assertEqual(text[begin:end], (
            "\n\nEarlier candidates for this task, the best one first. Compare them and write a faster one."
            "\n\nCandidate 1: correct, reward 1, 20.0 us, 1.40x torch.compile\nkernels/a.cu:\n"
            + KERNEL.format("fast") + "plan.json:\n{}"
            "\n\nCandidate 2: correct, reward 1, not timed, 0.50x torch.compile\nkernels/a.cu:\n"
            + KERNEL.format("slow") + "plan.json:\n{}"))
        self.assertNotIn("Candidate", texts[3]["add"][0], "another task's")
        self.assertEqual(self.rows("shown3")[1]["metrics"]["prompt/exemplars"], 1)

    def test_a_resumed_run_shows_the_same(self):
        tries = ("--replay", self.folder / "tries")
        self.assertEqual(self.shown("whole", 3, 4, *tries).returncode, 0)
        self.assertEqual(self.shown("killed", 3, 4, *tries).returncode, 0)
        for step in (3, 4):  # as if it had been killed before them
            shutil.rmtree(self.folder / f"killed/checkpoints/step-{step}")
        early = json.loads((self.folder / "killed/checkpoints/step-2/exemplars.json").read_text())
        self.assertEqual(len(early["relu"]), 3)
        done = self.shown("killed", 3, 4, *tries, "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("goes on from step 2", done.stderr)
        whole, killed = (self.folder / out / "checkpoints/step-4" for out in ("whole", "killed"))
        self.assertEqual((whole / "exemplars.json").read_bytes(), (killed / "exemplars.json").read_bytes())
        best = json.loads((whole / "exemplars.json").read_text())["relu"]
        self.assertEqual([one["over_compile"] for one in best], [6.5, 5.5, 4.5])
        one, two = (load_file(folder / "actor/model.safetensors") for folder in (whole, killed))
        for key, tensor in one.items():
            self.assertTrue(torch.equal(tensor, two[key]), key)


if __name__ == "__main__":
    unittest.main()
