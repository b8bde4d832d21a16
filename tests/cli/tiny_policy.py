# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A model for tests of `--policy transformer`: it has seen two batches, and writes nonsense."""
import gzip
import json
import pathlib
import random
import subprocess

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
vocabulary = 400
context = {context}
[pretrain]
steps = 2
batch = 2
learning_rate = {rate}
warm_up = 1
validate_every = 100
validation_sequences = 2
checkpoint_every = 100
"""


def body_of(draw):
    """Lines like those of a kernel."""
    kinds = ["const float x{0} = in{1}[i + {2}] * {3}f;", "out{1}[i] = x{0} + x{2};", "if (i >= rows - {2})",
             "for (int k = {0}; k < {2}; ++k)"]
    return "".join(draw.choice(kinds).format(*(draw.randint(0, 99) for _ in range(4))) + "\n" for _ in range(60))


def train(learner, folder, context=4096, rate=0.003):
    """The folder of its weights."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    draw = random.Random(3)
    with gzip.open(folder / "corpus.jsonl.gz", "wt", encoding="utf-8") as out:
        for i in range(40):
            out.write(json.dumps({
                "task": f"task{i}", "split": "validation" if i % 4 == 0 else "train", "level": "1",
                "candidate": "none",
                "segments": [{"by": "context", "text": body_of(draw) + "<|im_start|>assistant\n"},
                             {"by": "policy", "text": body_of(draw) + "<|im_end|>"}]}) + "\n")
    (folder / "recipe.toml").write_text(RECIPE.format(context=context, rate=rate))
    done = subprocess.run([learner, "train", folder / "recipe.toml", "--out", folder / "run", "--threads", "1"],
                          capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return folder / "run" / "checkpoints" / "step-2" / "actor"
