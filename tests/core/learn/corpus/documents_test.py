# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""training/documents.py with a program in cuda-agent's place that writes down what it was asked for and makes a document
of each task."""

import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

DOCUMENTS = pathlib.Path(__file__).parents[4] / "training/documents.py"
PROGRAM = """#!{python}
import gzip, json, pathlib, sys
option = dict(zip(sys.argv, sys.argv[1:]))
out = pathlib.Path(option["--out"])
with open("{calls}", "a") as calls:
    calls.write(" ".join(sys.argv[1:]) + "\\n")
out.mkdir(parents=True, exist_ok=True)
if sys.argv[1] == "synthesize":
    with gzip.open(out / "proposed.jsonl.gz", "wt") as file:
        for i, kinds in enumerate((["relu"], ["lgamma"], ["relu", "circular padding"])):
            file.write(json.dumps({{"name": f"p{{i}}", "kinds": kinds, "split": "train"}}) + "\\n")
    sys.exit()
known = out / "descriptions-cuda.gz"
before = known.read_text() if known.exists() else ""
tasks = [json.loads(line)["name"] for line in gzip.open(sys.argv[2], "rt")]
if "bad" in tasks:
    sys.exit(3)
known.write_text(before or " ".join(tasks))
with gzip.open(out / "corpus.jsonl.gz", "wt") as file:
    for task in tasks:
        file.write(json.dumps({{"task": task, "seed": option["--seed"], "known": bool(before)}}) + "\\n")
(out / "summary.json").write_text("{{}}")
"""
RECIPE = """
scored = "scored.jsonl"
longest = 1000
[[set]]
name = "own"
tasks = "set.jsonl"
splits = ["train"]
draws = [[11, 0], [13, 64]]
[[set]]
name = "rare"
propose = "rare.toml"
apart = ["set.jsonl"]
rarest = 2
per_task = 3
draws = [[21, 8]]
"""


def lines(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class DocumentsTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.program, self.calls = self.folder / "program", self.folder / "calls"
        self.program.write_text(PROGRAM.format(python=sys.executable, calls=self.calls))
        self.program.chmod(0o755)
        self.recipe(RECIPE)
        self.tasks(["a", "b", "c", "scored"])
        (self.folder / "scored.jsonl").write_text('{"task": "scored"}\n')

    def recipe(self, text):
        (self.folder / "recipe.toml").write_text(text)

    def tasks(self, names):
        (self.folder / "set.jsonl").write_text("".join(
            json.dumps({"name": name, "kinds": ["relu"], "split": "held_out" if name == "c" else "train"}) + "\n"
            for name in names))

    def make(self):
        return subprocess.run([sys.executable, DOCUMENTS, self.folder / "recipe.toml", "--out", self.folder / "out",
                               "--program", self.program], capture_output=True, text=True)

    def test_sets_are_described_once_and_drawn_several_times(self):
        done = self.make()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads((self.folder / "out/documents.json").read_text()),
                         {"own/11-0": 2, "own/13-64": 2, "rare/21-8": 2})
        drawn = lines(self.folder / "out/corpus.jsonl.gz")
        own = sorted((one["task"], one["seed"], one["known"]) for one in drawn if one["task"] in "ab")
        self.assertEqual(own, [("a", "11", False), ("a", "13", True), ("b", "11", False), ("b", "13", True)])
        self.assertEqual({one["task"] for one in drawn} - set("ab"), {"p1", "p2"}, "those with rare kinds")
        calls = self.calls.read_text().splitlines()
        self.assertIn("--propose-only", calls[0])
        self.assertIn("--per-task 3 --best-of 8 --seed 21 --broken 0 --longest 1000 --device cuda", calls[-1])

    def test_what_is_there_is_not_made_again(self):
        self.assertEqual(self.make().returncode, 0)
        first = self.calls.read_text()
        self.assertEqual(self.make().returncode, 0)
        self.assertEqual(self.calls.read_text(), first)

    def test_says_what_is_wrong(self):
        self.recipe('[[set]]\nname = "a"\n')
        done = self.make()
        self.assertEqual((done.returncode, "needs a draws" in done.stderr), (2, True), done.stderr)
        self.recipe("[[set]\n")
        self.assertEqual(self.make().returncode, 2)
        self.recipe(RECIPE)
        self.tasks(["bad"])
        done = self.make()
        self.assertEqual((done.returncode, "returned non-zero exit status 3" in done.stderr), (1, True), done.stderr)


if __name__ == "__main__":
    unittest.main()
