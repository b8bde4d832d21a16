#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tokens a second of pretraining, in one run: cuda-agent-learn without and with its fused kernels, and the same model
as a PyTorch module, eager and under torch.compile.

usage: train_bench.py --program build/release/bin/cuda-agent-learn [--device cuda|cpu] [--tiny]
                      [--steps 60] [--only plain fused eager compile] [--rounds 2] [--deterministic]

The model is the one of the training recipes: 15.7 million parameters (8 layers, 6 heads of 64, inner 1024, a
vocabulary of 4096), batches of 32 sequences of 2048 tokens, bfloat16, AdamW over float32 weights, gradients clipped.
--tiny is for a machine without a GPU. Each variant trains the whole step; the first steps are not counted. "step" is
the median of single steps, from data to weights; "wall" is what a whole run gives, with the writing of metrics and of
the status between steps. The corpus is made up, so losses say nothing but that both sides learn from the same kind of
text. Needs a Python with PyTorch. Exit code 1 when a variant failed.
"""
import argparse
import gzip
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

WARM_UP = 10  # steps that do not count


def sizes(tiny):
    if tiny:
        return dict(vocabulary=512, hidden=64, layers=2, heads=2, head_size=32, inner=128, context=64, batch=4)
    return dict(vocabulary=4096, hidden=384, layers=8, heads=6, head_size=64, inner=1024, context=2048, batch=32)


def write_corpus(file, size, seed=1):
    """Text with enough different words for the vocabulary, and tokens for a few batches."""
    draw = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(draw.choice(letters) for _ in range(draw.randint(3, 9))) for _ in range(3 * size["vocabulary"])]
    tokens = 4 * size["context"] * size["batch"]
    with gzip.open(file, "wt", encoding="utf-8", compresslevel=1) as out:
        for i in range(40):
            body = " ".join(draw.choice(words) for _ in range(tokens // 40)) + "\n"
            out.write(json.dumps({
                "task": f"task{i}", "split": "validation" if i == 0 else "train", "level": "1", "candidate": "none",
                "segments": [{"by": "context", "text": "<|im_start|>assistant\n"},
                             {"by": "policy", "text": body + "<|im_end|>"}]}) + "\n")


def recipe(size, options, fused):
    return f"""name = "bench"
seed = 1
device = "{options.device}"
precision = "{'float32' if options.device == 'cpu' else 'bfloat16'}"
deterministic = {str(options.deterministic).lower()}
fused = {str(fused).lower()}
[model]
hidden = {size['hidden']}
layers = {size['layers']}
heads = {size['heads']}
head_size = {size['head_size']}
inner = {size['inner']}
[data]
corpus = "corpus.jsonl.gz"
tokenizer = "tokenizer.json"
vocabulary = {size['vocabulary']}
context = {size['context']}
[pretrain]
steps = {options.steps}
batch = {size['batch']}
learning_rate = 0.001
warm_up = 10
weight_decay = 0.1
validate_every = 1000000
validation_sequences = 1
checkpoint_every = 1000000
"""


def learner(folder, size, options, fused, turn):
    """Runs the program; seconds of each step, those between the rows of metrics, the last loss."""
    name = f"{'fused' if fused else 'plain'}{turn}"
    file = folder / f"{name}.toml"
    text = recipe(size, options, fused)
    tokenizer = folder / "tokenizer.json"
    if not tokenizer.exists():
        text = text.replace('tokenizer = "tokenizer.json"\n', "")
    file.write_text(text)
    out = folder / name
    words = [options.program, "train", str(file), "--out", str(out)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=options.timeout)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-2000:])
    if not tokenizer.exists():
        tokenizer.write_bytes((out / "tokenizer.json").read_bytes())
    rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    rows = [row for row in rows if "train/loss" in row["metrics"]]
    steps = [row["metrics"]["perf/time_per_step"] for row in rows[WARM_UP:]]
    times = [row["time"] for row in rows if "time" in row]
    wall = (times[-1] - times[WARM_UP - 1]) / len(steps) if len(times) == len(rows) else None
    return steps, wall, rows[-1]["metrics"]["train/loss"]


def reference_model(size):
    """The same Transformer as a module: RMSNorm, packed projections, norms of queries and keys, rotary positions,
    SwiGLU, tied embeddings."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    heads, head = size["heads"], size["head_size"]

    class Norm(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(width))

        def forward(self, x):
            return F.rms_norm(x, (x.shape[-1],), self.weight, 1e-6)

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.input_norm, self.inner_norm = Norm(size["hidden"]), Norm(size["hidden"])
            self.query_norm, self.key_norm = Norm(head), Norm(head)
            self.qkv = nn.Linear(size["hidden"], 3 * heads * head, bias=False)
            self.out = nn.Linear(heads * head, size["hidden"], bias=False)
            self.gate_up = nn.Linear(size["hidden"], 2 * size["inner"], bias=False)
            self.down = nn.Linear(size["inner"], size["hidden"], bias=False)

        def forward(self, x, cos, sin):
            batch, length, _ = x.shape
            q, k, v = self.qkv(self.input_norm(x)).view(batch, length, 3 * heads, head).split(heads, 2)

            def rotated(states, norm):
                a, b = norm(states).chunk(2, -1)
                return torch.cat((a * cos - b * sin, b * cos + a * sin), -1).transpose(1, 2)

            seen = F.scaled_dot_product_attention(rotated(q, self.query_norm), rotated(k, self.key_norm),
                                                  v.transpose(1, 2), is_causal=True)
            x = x + self.out(seen.transpose(1, 2).reshape(batch, length, heads * head))
            gate, up = self.gate_up(self.inner_norm(x)).chunk(2, -1)
            return x + self.down(F.silu(gate) * up)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(size["vocabulary"], size["hidden"])
            self.layers = nn.ModuleList(Layer() for _ in range(size["layers"]))
            self.last_norm = Norm(size["hidden"])
            powers = torch.arange(0, head, 2).float() / head
            angles = torch.outer(torch.arange(size["context"]).float(), 10000.0 ** -powers)
            self.register_buffer("cos", angles.cos()[:, None])
            self.register_buffer("sin", angles.sin()[:, None])
            for parameter in self.parameters():
                if parameter.dim() > 1:
                    nn.init.normal_(parameter, std=0.02)

        def forward(self, tokens, targets):
            x = self.embedding(tokens)
            for layer in self.layers:
                x = layer(x, self.cos, self.sin)
            logits = F.linear(self.last_norm(x), self.embedding.weight)
            return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())

    return Model()


def reference(size, options, compiled):
    """Seconds of each step, the wall's, the last loss. Weights that the optimiser moves are float32, those of the pass
    are of the training precision, as in cuda-agent-learn."""
    import torch

    torch.manual_seed(1)
    torch.use_deterministic_algorithms(options.deterministic, warn_only=True)
    kind = torch.float32 if options.device == "cpu" else torch.bfloat16
    model = reference_model(size).to(options.device, kind)
    parameters = list(model.parameters())
    weights = [p.detach().float().clone() for p in parameters]
    groups = [{"params": [w for w in weights if w.dim() > 1], "weight_decay": 0.1},
              {"params": [w for w in weights if w.dim() == 1], "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.95), fused=True)
    forward = torch.compile(model) if compiled else model
    draw = torch.Generator().manual_seed(2)
    text = torch.randint(size["vocabulary"], (8, size["batch"], size["context"] + 1), generator=draw)
    synchronize = torch.cuda.synchronize if options.device == "cuda" else lambda: None
    steps, begin = [], None
    for step in range(options.steps):
        if step == WARM_UP:
            begin = time.perf_counter()
        start = time.perf_counter()
        batch = text[step % 8].to(options.device)
        for parameter in parameters:
            parameter.grad = None
        loss = forward(batch[:, :-1].contiguous(), batch[:, 1:].contiguous())
        loss.backward()
        for weight, parameter in zip(weights, parameters):
            weight.grad = parameter.grad.float()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.step()
        with torch.no_grad():
            torch._foreach_copy_(parameters, weights)
        value = loss.item()
        synchronize()
        steps.append(time.perf_counter() - start)
    return steps[WARM_UP:], (time.perf_counter() - begin) / len(steps[WARM_UP:]), value


def run_reference(size, options, variant):
    """In a process of its own, so that memory and settings of one are not the other's."""
    words = [sys.executable, "-B", "-W", "ignore", os.path.abspath(__file__), "--reference", variant, "--device",
             options.device, "--steps", str(options.steps)]
    words += ["--tiny"] * options.tiny + ["--deterministic"] * options.deterministic
    done = subprocess.run(words, capture_output=True, text=True, timeout=options.timeout)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", nargs="+", choices=("plain", "fused", "eager", "compile"))
    parser.add_argument("--deterministic", action="store_true")
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--reference", choices=("eager", "compile"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.steps <= WARM_UP:
        parser.error(f"--steps must be more than the {WARM_UP} that do not count")
    size = sizes(options.tiny)
    if options.reference:
        print(json.dumps(reference(size, options, options.reference == "compile")))
        return 0
    if not options.program:
        parser.error("--program is needed")
    variants = options.only or ["plain", "fused", "eager", "compile"]
    if options.device == "cpu" and "fused" in variants:
        print("fused kernels need a GPU: left out")
        variants.remove("fused")
    results, bad = {variant: [] for variant in variants}, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_corpus(folder / "corpus.jsonl.gz", size)
        for turn in range(options.rounds):
            for variant in variants:
                try:
                    if variant in ("plain", "fused"):
                        results[variant].append(learner(folder, size, options, variant == "fused", turn))
                    else:
                        results[variant].append(run_reference(size, options, variant))
                except (RuntimeError, subprocess.TimeoutExpired) as problem:
                    bad += 1
                    print(f"{variant} failed: {problem}", file=sys.stderr)
    tokens = size["batch"] * size["context"]
    print(f"{tokens} tokens a step, {options.steps - WARM_UP} steps counted, {options.rounds} rounds, {options.device}")
    print(f"{'variant':<32} {'step ms':>9} {'step Mtok/s':>12} {'wall Mtok/s':>12} {'last loss':>10}")
    titles = {"plain": "cuda-agent-learn", "fused": "cuda-agent-learn, fused", "eager": "PyTorch module, eager",
              "compile": "PyTorch module, torch.compile"}
    for variant, runs in results.items():
        if not runs:
            continue
        step = statistics.median(value for run in runs for value in run[0])
        walls = [run[1] for run in runs if run[1]]
        wall = f"{tokens / statistics.median(walls) / 1e6:12.3f}" if walls else f"{'-':>12}"
        print(f"{titles[variant]:<32} {1e3 * step:9.2f} {tokens / step / 1e6:12.3f} {wall} {runs[-1][2]:10.4f}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
