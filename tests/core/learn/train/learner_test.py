# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The trainer as a program: usage learner_test.py CUDA_AGENT_LEARN TRAIN_TOOL

The corpus is made up: what the model learns there is not the point."""

import gzip
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

TOOL = sys.argv.pop()
LEARN = sys.argv.pop()

RECIPE = """
name = "tiny"
seed = 5
device = "cpu"
[model]
hidden = 32
layers = 2
heads = 4
kv_heads = 2
head_size = 8
inner = 64
[data]
corpus = "corpus.jsonl.gz"
vocabulary = 500
context = 64
[pretrain]
steps = {steps}
batch = 4
micro_batch = {micro}
learning_rate = 0.003
warm_up = 10
weight_decay = 0.1
validate_every = 20
validation_sequences = 8
checkpoint_every = {checkpoint}
"""


def body_of(draw):
    """Lines like those of a kernel."""
    lines = []
    for _ in range(40):
        kind = draw.choice(["const float x{0} = in{1}[i + {2}] * {3}f;", "out{1}[i] = x{0} + x{2};",
                            "if (i >= rows - {2})\n    return;", "float total{0} = {3}f;",
                            "for (int k = {0}; k < {2}; ++k)\n    total{0} += x{1};"])
        lines.append(kind.format(*(draw.randint(0, 9) for _ in range(3)), draw.randint(0, 99) / 8))
    return "\n".join(lines) + "\n"


def write_corpus(file):
    draw = random.Random(3)
    with gzip.open(file, "wt", encoding="utf-8") as out:
        for i in range(30):
            out.write(json.dumps({
                "task": f"task{i}", "split": "validation" if i % 5 == 0 else "train",
                "level": "1", "candidate": "none",
                "segments": [{"by": "context", "text": body_of(draw) + "<|im_start|>assistant\n"},
                             {"by": "policy", "text": body_of(draw) + "<|im_end|>"}]}) + "\n")


class LearnerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        write_corpus(self.folder / "corpus.jsonl.gz")

    def recipe(self, steps=50, micro=0, checkpoint=1000, text=None):
        file = self.folder / "recipe.toml"
        file.write_text(text or RECIPE.format(steps=steps, micro=micro, checkpoint=checkpoint))
        return file

    def train(self, out, *more, recipe=None):
        return subprocess.run(
            [LEARN, "train", str(recipe or self.folder / "recipe.toml"), "--out", str(self.folder / out),
             "--threads", "1", *more], capture_output=True, text=True, timeout=300)

    def rows(self, out):
        rows = [json.loads(line) for line in open(self.folder / out / "metrics.jsonl", encoding="utf-8")]
        return {row["step"]: row["metrics"]["train/loss"] for row in rows if "train/loss" in row["metrics"]}

    def apart(self, steps, optimisers_of, more=""):
        """How far our losses are from those of transformers and PyTorch's optimisers, from the same weights on the
        same documents, each in a row of its own. `more` is added to the recipe."""
        text = RECIPE.format(steps=steps, micro=0, checkpoint=1000) + more
        recipe = self.recipe(text=text)
        done = self.train("run")
        self.assertEqual(done.returncode, 0, done.stderr)
        ours = self.rows("run")
        # The weights before the first step: those that one step with no learning rate leaves.
        still = RECIPE.format(steps=1, micro=0, checkpoint=1).replace("0.003", "0.0")
        frozen = self.folder / "frozen.toml"
        frozen.write_text(still)
        self.assertEqual(self.train("frozen", recipe=frozen).returncode, 0)
        model = AutoModelForCausalLM.from_pretrained(
            self.folder / "frozen/checkpoints/step-1/actor", dtype=torch.float32,
            attn_implementation="sdpa")
        told = subprocess.run([TOOL, str(recipe), str(self.folder / "run/tokenizer.json"), str(steps)],
                              capture_output=True, text=True, timeout=60, check=True)
        batches = [[torch.tensor(tokens) for tokens in batch] for batch in json.loads(told.stdout)]
        self.assertGreater(max(len(batch) for batch in batches), 4, "sequences hold several documents")

        def padded(sequences, value):
            return torch.nn.utils.rnn.pad_sequence(sequences, batch_first=True, padding_value=value)

        optimisers = optimisers_of(model)
        apart = 0.0
        for step in range(steps):
            way = max(0.0, (step - 10) / (steps - 10))
            rate = 0.003 * ((step + 1) / 10 if step < 10 else
                            0.1 + 0.9 * 0.5 * (1 + torch.cos(torch.tensor(torch.pi * way)).item()))
            model.zero_grad()
            logits = model(padded([tokens[:-1] for tokens in batches[step]], 0)).logits
            targets = padded([tokens[1:] for tokens in batches[step]], -100)  # which counts for nothing
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for optimiser in optimisers:
                for group in optimiser.param_groups:
                    group["lr"] = rate
                optimiser.step()
            apart = max(apart, abs(loss.item() - ours[step + 1]))
        self.assertLess(ours[steps], ours[1] - 1, "it learns")
        return apart

    @staticmethod
    def adamw(decaying, others):
        return torch.optim.AdamW([{"params": decaying, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}],
                                 lr=0.003, betas=(0.9, 0.95), eps=1e-8)

    def test_losses_are_those_of_the_reference(self):
        def optimisers(model):
            parameters = list(model.parameters())
            return [self.adamw([p for p in parameters if p.dim() > 1], [p for p in parameters if p.dim() == 1])]

        self.assertLess(self.apart(50, optimisers), 1e-3)

    def test_muon_moves_projections_as_torchs_does(self):
        def optimisers(model):
            norms = [p for p in model.parameters() if p.dim() == 1]
            projections = [p for name, p in model.named_parameters() if p.dim() > 1 and "_proj" in name]
            self.assertEqual(len(projections), 2 * 7)
            return [torch.optim.Muon(projections, lr=0.003, weight_decay=0.1, momentum=0.95,
                                     adjust_lr_fn="match_rms_adamw"),
                    self.adamw([model.model.embed_tokens.weight], norms)]

        # Products of bfloat16 are rounded in another order where matrices go through them together.
        self.assertLess(self.apart(50, optimisers, 'optimizer = "muon"\n'), 1e-2)

    def test_micro_batches_change_nothing(self):
        self.recipe(steps=10)
        self.assertEqual(self.train("whole").returncode, 0)
        self.recipe(steps=10, micro=2)
        self.assertEqual(self.train("parts").returncode, 0)
        whole, parts = self.rows("whole"), self.rows("parts")
        for step in whole:
            self.assertAlmostEqual(whole[step], parts[step], delta=1e-4)

    def test_two_processes_do_what_one_does(self):
        self.two_processes(RECIPE.format(steps=30, micro=0, checkpoint=15), 1e-4)

    def test_two_processes_turn_the_same_matrices(self):
        self.two_processes(RECIPE.format(steps=30, micro=0, checkpoint=15) + 'optimizer = "muon"\n', 1e-3)

    def two_processes(self, recipe, delta):
        """As torchrun starts them, each with half of every batch."""
        self.recipe(text=recipe)
        self.assertEqual(self.train("one").returncode, 0)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        programs = [subprocess.Popen(
            [LEARN, "train", str(self.folder / "recipe.toml"), "--out", str(self.folder / "two"), "--threads", "1"],
            env=os.environ | {"WORLD_SIZE": "2", "RANK": str(rank), "LOCAL_RANK": str(rank),
                              "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in (0, 1)]
        told = [program.communicate(timeout=200) for program in programs]
        self.assertEqual([program.returncode for program in programs], [0, 0], told)
        self.assertIn("Done after step 30", told[0][0])
        self.assertEqual(told[1][0], "")
        one, two = self.rows("one"), self.rows("two")
        self.assertEqual(one.keys(), two.keys())
        for step in one:
            self.assertAlmostEqual(one[step], two[step], delta=delta)
        uneven = subprocess.run(
            [LEARN, "train", str(self.folder / "recipe.toml"), "--out", str(self.folder / "three")],
            env=os.environ | {"WORLD_SIZE": "3", "RANK": "x", "MASTER_PORT": "1"}, capture_output=True, text=True,
            timeout=60)
        self.assertEqual(uneven.returncode, 2)
        self.assertIn("RANK", uneven.stderr)

    def test_the_tokenizer_is_one_of_transformers(self):
        self.recipe(steps=1)
        self.assertEqual(self.train("run").returncode, 0)
        tokenizer = AutoTokenizer.from_pretrained(self.folder / "run/checkpoints/step-1/actor")
        ids = tokenizer("<|im_start|>int main() {}<|im_end|>", add_special_tokens=False)["input_ids"]
        self.assertEqual(tokenizer.decode(ids), "<|im_start|>int main() {}<|im_end|>")
        self.assertEqual(ids[0], tokenizer.convert_tokens_to_ids("<|im_start|>"))

    def test_killed_and_resumed_is_bitwise_the_same(self):
        self.recipe(steps=60, checkpoint=10)
        self.assertEqual(self.train("whole").returncode, 0)
        kills = 0
        for wanted in (13, 27, 44):
            words = [LEARN, "train", str(self.folder / "recipe.toml"), "--out", str(self.folder / "killed"),
                     "--threads", "1"] + (["--resume"] if kills else [])
            with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
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
        self.assertGreater(kills, 0, "it was killed at least once")
        done = self.train("killed", "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.rows("whole"), self.rows("killed"))
        for name in ("optimiser.safetensors", "actor/model.safetensors"):
            whole = load_file(self.folder / "whole/checkpoints/step-60" / name)
            killed = load_file(self.folder / "killed/checkpoints/step-60" / name)
            for key, tensor in whole.items():
                self.assertTrue(torch.equal(tensor, killed[key]), key)

    def test_stop_leaves_a_checkpoint(self):
        self.recipe(steps=1_000_000)
        done = self.train("run", "--seconds", "2", "--json")
        self.assertEqual(done.returncode, 1, done.stderr)
        told = json.loads(done.stdout)
        self.assertFalse(told["done"])
        self.assertEqual(json.loads((self.folder / "run/status.json").read_text())["state"], "stopped")
        self.assertTrue((pathlib.Path(told["checkpoint"]) / "manifest.json").exists())
        self.assertEqual(max(self.rows("run")), told["step"])

    def test_a_stop_that_is_told_twice_at_once_leaves_a_checkpoint(self):
        """As timeout and torchrun tell it: to the program and to its group."""
        self.recipe(steps=1_000_000)
        words = [LEARN, "train", str(self.folder / "recipe.toml"), "--out", str(self.folder / "run"), "--threads", "1"]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as program:
            metrics = self.folder / "run/metrics.jsonl"
            deadline = time.monotonic() + 120
            while not (metrics.exists() and metrics.stat().st_size) and time.monotonic() < deadline:
                time.sleep(0.01)
            program.send_signal(signal.SIGINT)
            program.send_signal(signal.SIGTERM)
            said = program.communicate(timeout=60)[1]
        self.assertIn(program.returncode, (1, 130), said)
        self.assertEqual(json.loads((self.folder / "run/status.json").read_text())["state"], "stopped")
        self.assertTrue(list((self.folder / "run/checkpoints").glob("step-*/manifest.json")))

    def test_a_damaged_checkpoint_is_passed_over(self):
        self.recipe(steps=20, checkpoint=10)
        self.assertEqual(self.train("run").returncode, 0)
        weights = self.folder / "run/checkpoints/step-20/actor/model.safetensors"
        data = bytearray(weights.read_bytes())
        data[-1] ^= 1
        weights.write_bytes(data)
        done = self.train("run", "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("model.safetensors is not as it was written", done.stderr)
        self.assertIn("goes on from step 10", done.stderr)

    def test_wrong_input(self):
        good = RECIPE.format(steps=5, micro=0, checkpoint=5)
        for wrong, word in ((good.replace("steps = 5", "stepps = 5"), "stepps"),
                            (good.replace("head_size = 8", "head_size = 7"), "even"),
                            (good.replace("kv_heads = 2", "kv_heads = 3"), "evenly"),
                            (good.replace("corpus.jsonl.gz", "none.gz"), "none.gz"),
                            (good.replace("context = 64", "context = 1000000"), "less than one sequence"),
                            (good.replace('device = "cpu"', 'device = "tpu"'), "tpu"),
                            (good.replace('device = "cpu"', 'device = "cpu"\nfused = true'), "fused = false"),
                            (good.replace("micro_batch = 0", "micro_batch = 3"), "micro"),
                            (good.replace("vocabulary = 500", "vocabulary = 1"), "vocabulary")):
            self.recipe(text=wrong)
            done = self.train("wrong")
            self.assertEqual(done.returncode, 2, wrong)
            self.assertIn(word, done.stderr)
        self.recipe(steps=5)
        self.assertEqual(self.train("run").returncode, 0)
        again = self.train("run")
        self.assertEqual(again.returncode, 2)
        self.assertIn("--resume", again.stderr)
        self.assertEqual(self.train("run", "--resume").returncode, 0, "a run that is done stays done")


if __name__ == "__main__":
    unittest.main()
