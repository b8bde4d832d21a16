# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What cuda-agent-learn mistakes tells, against transformers: usage mistakes_test.py CUDA_AGENT_LEARN"""

import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "cli"))
import tiny_policy

LEARN = sys.argv.pop()
CALL = "<tool_call>\n<function=Write>\n<parameter=file_path>\n{}\n</parameter>\n<parameter=content>\n"
TURN = [("call", "<think>\n"), ("thought", "map0: reads in0 [4]; relu(in0).\n"),
        ("call", "</think>\n\n" + CALL.format("kernels/fused.cu")),
        ("source", "const float x = in0[i]; // </think>\nout0[i] = x;\n"),
        ("call", "</parameter>\n</function>\n</tool_call>\n" + CALL.format("plan.json")),
        ("plan", '{"steps": []}\n'), ("call", "</parameter>\n</function>\n</tool_call><|im_end|>")]


def document(i, turn, split="validation"):
    return {"task": f"task{i}", "split": split, "level": "1", "candidate": f"c{i}",
            "segments": [{"by": "context", "text": f"const float x{i} = 3;\n<|im_start|>assistant\n"},
                         {"by": "policy", "text": turn}]}


class MistakesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.weights = tiny_policy.train(LEARN, cls.folder / "policy", context=2048)
        cls.corpus = cls.folder / "documents.jsonl.gz"
        turn = "".join(text for _, text in TURN)
        cls.documents = [document(0, turn), document(1, "out0[7] = x7;\n" * 40 + "<|im_end|>"),
                         document(2, turn, "train"), document(3, "x\n" * 3000)]
        with gzip.open(cls.corpus, "wt", encoding="utf-8") as out:
            out.writelines(json.dumps(one) + "\n" for one in cls.documents)

    def run_it(self, *more, weights=None, device="cpu"):
        return subprocess.run([LEARN, "mistakes", str(self.corpus), "--weights", str(weights or self.weights),
                               "--device", device, "--threads", "1", *more],
                              capture_output=True, text=True, timeout=100, check=False)

    def test_likelihoods_are_those_of_transformers(self):
        done = self.run_it("--out", str(self.folder / "told.jsonl"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Left out: task3: ", done.stderr)
        told = [json.loads(line) for line in open(self.folder / "told.jsonl", encoding="utf-8")]
        self.assertEqual([one["task"] for one in told], ["task0", "task1"])
        model = AutoModelForCausalLM.from_pretrained(self.weights, dtype=torch.float32)
        tokenizer = AutoTokenizer.from_pretrained(self.weights)
        for one, read in zip(self.documents, told):
            context, turn = (tokenizer(segment["text"], add_special_tokens=False)["input_ids"]
                             for segment in one["segments"])
            with torch.no_grad():
                logits = model(torch.tensor([context + turn])).logits[0, len(context) - 1:-1]
            said = torch.log_softmax(logits, -1)
            own = said[torch.arange(len(turn)), torch.tensor(turn)]
            wrong = [i for i in range(len(turn)) if said[i].argmax() != turn[i]]
            self.assertEqual(read["tokens"], len(turn))
            self.assertAlmostEqual(read["nats"], -own.sum().item(), delta=0.01)
            self.assertEqual([mistake["token"] - len(context) for mistake in read["mistakes"]], wrong)
            self.assertGreater(len(wrong), 10)
            for mistake, i in zip(read["mistakes"], wrong):
                self.assertAlmostEqual(mistake["probability"], own[i].exp().item(), delta=1e-5)
                self.assertEqual(mistake["written"], tokenizer.decode([turn[i]]))
                self.assertEqual(mistake["likeliest"], tokenizer.decode([said[i].argmax()]))
                before = tokenizer.decode(turn[:i]).rpartition("\n")[2]
                self.assertEqual(mistake["before"], before[-80:])

    def test_tokens_are_told_by_part(self):
        done = self.run_it("--out", str(self.folder / "parts.jsonl"), "--documents", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        read = json.loads((self.folder / "parts.jsonl").read_text())
        tokenizer = AutoTokenizer.from_pretrained(self.weights)
        ids = tokenizer("".join(text for _, text in TURN), add_special_tokens=False)["input_ids"]
        ends, end = [], 0  # of the parts, in characters
        for part, text in TURN:
            end += len(text)
            ends.append((end, part))
        expected, at = {}, 0
        for token in ids:
            part = next(part for end, part in ends if at < end)
            expected[part] = expected.get(part, 0) + 1
            at += len(tokenizer.decode([token]))
        self.assertEqual({part: of["tokens"] for part, of in read["parts"].items()}, expected)
        self.assertEqual(sum(of["mistakes"] for of in read["parts"].values()), len(read["mistakes"]))
        for part in expected:
            self.assertRegex(done.stdout, rf"(?m)^{part} +{expected[part]} ")

    def test_splits(self):
        self.assertIn("1 documents", self.run_it("--split", "train").stdout)
        self.assertIn("3 documents", self.run_it("--split", "all", "--worst", "0").stdout)

    def test_wrong_input(self):
        for done, word in ((self.run_it("--split", "none"), "no documents of the split none"),
                           (self.run_it(weights=self.folder), "config.json"),
                           (self.run_it(device="tpu"), "tpu"),
                           (self.run_it("--documents", "0"), "--documents")):
            self.assertEqual(done.returncode, 2, word)
            self.assertIn(word, done.stderr)
            self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
