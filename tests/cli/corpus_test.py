# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A corpus whose candidates are judged, made from the command line. Needs CUDA_AGENT=<program>."""
import gzip
import json
import unittest

from cli_test import GOOD_TASK, Case, run


class Corpus(Case):
    def setUp(self):
        super().setUp()
        self.set = self.folder / "set.jsonl"
        self.set.write_text(json.dumps({"name": "double", "code": GOOD_TASK, "split": "train"}) + "\n")
        self.out = self.folder / "out"

    def corpus(self, *arguments):
        return run("corpus", self.set, "--out", self.out, "--device", "cpu", "--per-task", 2, *arguments)

    def test_judged(self):
        first = self.corpus("--judge", "--broken", 1, "--json")
        self.expect(first, 0, "of 1 of 1 tasks", "first turns: ", " verdicts")
        judged = json.loads(first.stdout)["judged"]
        self.assertGreaterEqual(judged["verdicts"], 2)
        documents = [json.loads(line) for line in gzip.open(self.out / "corpus.jsonl.gz", "rt")]
        self.assertEqual(judged["correct"] + judged["wrong"] + judged["not_compiled"], len(documents))
        for document in documents:
            self.assertIn("<tool_response>", document["segments"][2]["text"])
            self.assertTrue(document["verdicts"][-1]["correct"])
        # All is known: nothing is judged again.
        again = self.corpus("--judge", "--broken", 1, "--json")
        self.expect(again, 0, " 0 verdicts")
        self.assertEqual(json.loads(again.stdout)["judged"], {**judged, "verdicts": 0})

    def test_wrong_use(self):
        self.expect(self.corpus("--improved", 0.5), 2, "--judge")


if __name__ == "__main__":
    unittest.main()
