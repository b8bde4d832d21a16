# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much a policy remembers of its corpus, before the judge on the CPU device:
usage memorised_test.py CUDA_AGENT_LEARN SOURCE

The tiny policy of the repository is scored on tasks that it was trained on, and what the run tells is
counted again from the sessions and the corpus."""

import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop()).resolve()
LEARN = sys.argv.pop()

RECIPE = """
name = "memorised"
seed = 3
device = "cpu"
stages = ["value-pretrain"]
[model]
actor = "{source}/training/results/policy-tiny/actor"
[data]
corpus = "{source}/training/data/tasks-tiny/corpus.jsonl.gz"
context = 1280
[rollout]
tasks = "{source}/training/data/tasks-tiny/set.jsonl"
environments = 8
longest_turn = 700
timing = false
[value-pretrain]
rounds = 1
tasks = 1
samples = 1
steps = 1
batch = 1
[scoring]
splits = ["train", "held_out"]
tasks = 3
samples = 2
temperature = 0.7
"""


def plain(text):
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip("\n")


def shown():
    """Kernels that the conversations write or mend."""
    known = set()
    with gzip.open(SOURCE / "training/data/tasks-tiny/corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        for document in map(json.loads, lines):
            kernel = None
            for segment in document["segments"]:
                if segment["by"] != "policy" or document["split"] != "train":
                    continue
                for name, body in re.findall(r"<function=(\w+)>\n(.*?)</function>", segment["text"], re.S):
                    given = dict(re.findall(r"<parameter=(\w+)>\n(.*?)\n</parameter>", body, re.S))
                    if given.get("file_path") != "kernels/fused.cu":
                        continue
                    if name == "Write":
                        kernel = given["content"]
                    if name == "Edit":
                        kernel = kernel.replace(given["old_string"], given["new_string"], 1)
                if kernel is not None:
                    known.add(plain(kernel))
    return known


class MemorisedTest(unittest.TestCase):
    def test_remembering_is_told_from_writing(self):
        with tempfile.TemporaryDirectory() as holder:
            folder = pathlib.Path(holder)
            (folder / "recipe.toml").write_text(RECIPE.format(source=SOURCE))
            done = subprocess.run([LEARN, "train", folder / "recipe.toml", "--out", folder / "run"],
                                  capture_output=True, text=True, timeout=500)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = [json.loads(line) for line in open(folder / "run/metrics.jsonl", encoding="utf-8")]
            metrics = next(row["metrics"] for row in rows if "val-core/train/pass_rate" in row["metrics"])
            known = shown()
            correct = {}
            for split in ("train", "held_out"):
                verdicts = []  # of each try: whether it is correct, and in the corpus
                for session in sorted(folder.glob(f"run/rollouts/step-2/score-{split}-*")):
                    events = [json.loads(line) for line in open(session / "session.jsonl", encoding="utf-8")]
                    good = [event["data"]["candidate"] for event in events
                            if event.get("type") == "verdictGiven" and event["data"]["verdict"]["correct"]]
                    kernels = [(session / "blobs" / blob).read_text()
                               for path, blob in (good[-1].items() if good else []) if path.endswith(".cu")]
                    verdicts.append((bool(good), bool(kernels) and plain(kernels[0]) in known))
                self.assertEqual(len(verdicts), 6)
                others = [right for right, remembered in verdicts if not remembered]
                told = f"val-aux/{split}/"
                self.assertAlmostEqual(metrics[told + "memorised"], 1 - len(others) / 6)
                if others:
                    self.assertAlmostEqual(metrics[told + "unmemorised/pass_rate"], sum(others) / len(others))
                correct[split] = sum(right for right, _ in verdicts)
                print(split, verdicts)
            self.assertGreater(correct["train"], 0, "what the tiny policy has learned")


if __name__ == "__main__":
    unittest.main()
