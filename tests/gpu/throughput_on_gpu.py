#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Verdicts an hour beside KernelBench's own evaluation, on this machine, in one run: the same sixteen pointwise
kernels as load_inline files, judged by its eval_kernel_against_ref (5 correctness and 100 timed runs, one
candidate after the other, each in a process of its own) and by `cuda-agent evaluate` (training strength, 100 timed
calls, at least 5 random and 6 adversarial inputs), and then as plan candidates by `cuda-agent evaluate`, in
training and in full strength. No text comes twice, so that no cache knows it.

usage: throughput_on_gpu.py --program build/release/bin/cuda-agent --kernelbench CHECKOUT
                            [--theirs 3] [--modules 2] [--plans 20] [--full 4] [--per-device 16] [--sizes 8192,8192]

--theirs: candidates for KernelBench's side; --modules, --plans, --full: samples of each of the sixteen tasks; 0
leaves a side out. `--device cpu --theirs 0 --modules 0 --sizes 512,512` tries the rest without a GPU.
The first of our runs, of one plan for each task, measures the tasks' baselines (eager and torch.compile, in full
strength), which KernelBench's evaluation does not; the others take them from there, as `evaluate` does for a suite that
it has seen, and count everything else. Packages that KernelBench's evaluation imports for language models alone are stood in for where they
are missing. Exit code 1 when a correct candidate is refused on either side.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

FUNCTIONS = {  # name: (PyTorch, CUDA)
    "relu": ("torch.relu(x)", "v > 0.0f || isnan(v) ? v : 0.0f"),
    "leaky": ("torch.nn.functional.leaky_relu(x, 0.1)", "v > 0.0f ? v : 0.1f * v"),
    "silu": ("torch.nn.functional.silu(x)", "v / (1.0f + expf(-v))"),
    "tanh": ("torch.tanh(x)", "tanhf(v)"),
    "sigmoid": ("torch.sigmoid(x)", "1.0f / (1.0f + expf(-v))"),
    "softsign": ("torch.nn.functional.softsign(x)", "v / (1.0f + fabsf(v))"),
    "square": ("x * x", "v * v"),
    "abs": ("torch.abs(x)", "fabsf(v)"),
    "sine": ("torch.sin(x)", "sinf(v)"),
    "cosine": ("torch.cos(x)", "cosf(v)"),
    "erf": ("torch.erf(x)", "erff(v)"),
    "arctan": ("torch.atan(x)", "atanf(v)"),
    "gelu": ("torch.nn.functional.gelu(x)", "0.5f * v * (1.0f + erff(v * 0.70710678118654752f))"),
    "cube": ("x * x * x", "v * v * v"),
    "scaled": ("2.5 * x + 1.0", "2.5f * v + 1.0f"),
    "asinh": ("torch.asinh(x)", "asinhf(v)"),
}

TASK = """import torch

rows, columns = {rows}, {columns}


class Model(torch.nn.Module):
    def forward(self, x):
        return {torch}


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
"""

KERNEL = """// candidate {number}
extern "C" __global__ void {entry}_kernel(const float *__restrict__ x, float *__restrict__ out, long long n) {{
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) {{
        const float v = x[i];
        out[i] = {cuda};
    }}
}}
"""

MODULE = '''import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
{kernel}
torch::Tensor run_{entry}(torch::Tensor x) {{
    auto out = torch::empty_like(x);
    const long long n = x.numel();
    {entry}_kernel<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), n);
    return out;
}}
"""
extension = load_inline(name="{entry}_{number}", cpp_sources="torch::Tensor run_{entry}(torch::Tensor x);",
                        cuda_sources=SOURCE, functions=["run_{entry}"])


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return extension.run_{entry}(x)
'''

# Run by KernelBench's side: a request on standard input, what came of it on the last line.
THEIRS = r"""
import json, sys, tempfile, time, types, typing
request = json.load(sys.stdin)
class Anything:
    def __init__(self, *words, **named): pass
class Fields:
    def __init__(self, **named):
        for base in reversed(type(self).__mro__):
            for name in getattr(base, "__annotations__", {}):
                setattr(self, name, getattr(type(self), name, None))
        self.__dict__.update(named)
for name, more in {"dotenv": {"load_dotenv": lambda *w, **n: None}, "openai": {"OpenAI": Anything},
                   "litellm": {"completion": None}, "requests": {}, "tqdm": {"tqdm": lambda x, *w, **n: x},
                   "pydantic": {"BaseModel": Fields}}.items():
    try:
        __import__(name)
    except ImportError:
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__dict__.update(more)
sys.path.insert(0, request["checkout"] + "/src")
from kernelbench.eval import eval_kernel_against_ref
with tempfile.TemporaryDirectory() as folder:
    result = eval_kernel_against_ref(request["reference"], request["candidate"], num_correct_trials=5,
                                     num_perf_trials=100, measure_performance=True, build_dir=folder)
print(json.dumps({"correct": bool(result.correctness), "milliseconds": result.runtime,
                  "metadata": {str(k): str(v) for k, v in (result.metadata or {}).items()}}))
"""


def write(folder, arguments):
    """Tasks, and a folder of candidates for each of our runs."""
    rows, columns = map(int, arguments.sizes.split(","))
    tasks = folder / "tasks"
    tasks.mkdir()
    number = 0
    for entry, (torch, cuda) in FUNCTIONS.items():
        (tasks / f"{entry}.py").write_text(TASK.format(rows=rows, columns=columns, torch=torch))
        for kind, samples in (("first", 1), ("modules", arguments.modules), ("plans", arguments.plans),
                              ("full", arguments.full), ("theirs", 1)):
            (folder / kind).mkdir(exist_ok=True)
            for sample in range(samples):
                number += 1
                kernel = KERNEL.format(number=number, entry=entry, cuda=cuda)
                place = folder / kind / f"{entry}_sample_{sample}"
                if kind in ("modules", "theirs"):
                    place.with_suffix(".py").write_text(
                        MODULE.format(kernel=kernel, entry=entry, number=number))
                    continue
                (place / "kernels").mkdir(parents=True)
                (place / "kernels" / f"{entry}.cu").write_text(kernel)
                (place / "plan.json").write_text(json.dumps({
                    "version": 1, "name": f"{entry} {number}",
                    "symbols": {"N": "x.shape[0] * x.shape[1]"}, "requires": ["x.ndim == 2"],
                    "buffers": [{"name": "x", "role": "input", "index": 0, "dtype": "float32"},
                                {"name": "out0", "role": "output", "index": 0, "dtype": "float32",
                                 "shape": ["x.shape[0]", "x.shape[1]"]}],
                    "steps": [{"kind": "kernel", "source": f"kernels/{entry}.cu", "entry": f"{entry}_kernel",
                               "grid": ["cdiv(N, 256)"], "block": [256],
                               "args": [{"buffer": "x"}, {"buffer": "out0"}, {"int64": "N"}]}]}))
    return tasks


def theirs(arguments, folder, tasks):
    """Seconds of each candidate by KernelBench's evaluation, and how many were refused."""
    seconds, refused = [], 0
    for entry in list(FUNCTIONS)[:arguments.theirs]:
        request = {"checkout": str(arguments.kernelbench.resolve()),
                   "reference": (tasks / f"{entry}.py").read_text(),
                   "candidate": (folder / "theirs" / f"{entry}_sample_0.py").read_text()}
        begin = time.monotonic()
        done = subprocess.run([sys.executable, "-c", THEIRS], input=json.dumps(request),
                              capture_output=True, text=True, timeout=600)
        seconds.append(time.monotonic() - begin)
        lines = done.stdout.strip().splitlines() or [""]
        said = json.loads(lines[-1]) if lines[-1].startswith("{") else {"correct": False}
        if not said["correct"]:
            refused += 1
            print(f"KernelBench refuses {entry}: {said} {done.stderr[-1500:]}", flush=True)
    return seconds, refused


class Busy(threading.Thread):
    """Samples how busy the GPU is, in per cent, until it is asked for the mean."""

    def __init__(self):
        super().__init__(daemon=True)
        self.watcher = subprocess.Popen(["nvidia-smi", "--query-gpu=utilization.gpu",
                                         "--format=csv,noheader,nounits", "-lms", "200"],
                                        stdout=subprocess.PIPE, text=True)
        self.samples = []
        self.start()

    def run(self):
        for line in self.watcher.stdout:
            self.samples.append(float(line.split()[0]))

    def mean(self):
        self.watcher.kill()
        self.join()
        return sum(self.samples) / max(1, len(self.samples))


def ours(arguments, folder, tasks, kind, strength):
    """Seconds, verdicts, refusals, busy per cent of one run of `cuda-agent evaluate`."""
    out = folder / f"out-{kind}"
    busy = Busy() if arguments.device == "cuda" else None
    begin = time.monotonic()
    done = subprocess.run(
        [arguments.program, "evaluate", tasks, "--candidates", folder / kind, "--rules", "kernelbench",
         "--strength", strength, "--timed-calls", "100", "--device", arguments.device,
         *(["--gpus", "1"] if arguments.device == "cuda" else []), "--per-device", str(arguments.per_device),
         "--baselines", folder / "baselines", "--out", out],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=1200)
    took = time.monotonic() - begin
    share = busy.mean() if busy else None
    lines = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    lines = [line for line in lines if "outcome" in line]
    refused = [line for line in lines if line["outcome"] != "correct"]
    for line in refused[:3]:
        print(f"{kind}: {json.dumps(line)[:600]}", flush=True)
    if done.returncode != 0:
        print(f"{kind}: exit {done.returncode}: {done.stderr[-800:]}", flush=True)
    if arguments.results:
        for name in ("report.md", "summary.json"):
            if (out / name).exists():
                (arguments.results / f"{kind}-{name}").write_bytes((out / name).read_bytes())
    return took, len(lines), len(refused), share


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--kernelbench", type=pathlib.Path, help="a checkout, for --theirs")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--theirs", type=int, default=3)
    parser.add_argument("--modules", type=int, default=2)
    parser.add_argument("--plans", type=int, default=20)
    parser.add_argument("--full", type=int, default=4)
    parser.add_argument("--per-device", type=int, default=16)
    parser.add_argument("--sizes", default="8192,8192", help="rows and columns of the tasks")
    parser.add_argument("--results", type=pathlib.Path, help="folder for the reports of our runs")
    arguments = parser.parse_args()
    if arguments.theirs and not arguments.kernelbench:
        parser.error("--kernelbench is needed, or --theirs 0")
    if arguments.theirs and not (arguments.kernelbench / "src" / "kernelbench" / "eval.py").exists():
        parser.error(f"{arguments.kernelbench} is no checkout of KernelBench with src/kernelbench/eval.py")
    if not 0 <= arguments.theirs <= len(FUNCTIONS):
        parser.error(f"--theirs takes 0 to {len(FUNCTIONS)}")
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        tasks = write(folder, arguments)
        print(f"{'side':34} {'verdicts':>8} {'seconds':>8} {'an hour':>8} {'ratio':>7} {'GPU busy':>8}")
        seconds, wrong = theirs(arguments, folder, tasks)
        base = len(seconds) / sum(seconds) * 3600 if seconds else None

        def row(side, verdicts, took, share=None):
            hour = verdicts / took * 3600
            busy = "" if share is None else f"{share:.0f} %"
            ratio = f"{hour / base:.1f}x" if base else ""
            print(f"{side:34} {verdicts:8} {took:8.1f} {hour:8.0f} {ratio:>7} {busy:>8}", flush=True)

        if seconds:
            row("KernelBench, load_inline", len(seconds), sum(seconds))
        for side, kind, strength, samples in (
                ("ours, plans, with baselines", "first", "training", 1),
                ("ours, plans, training", "plans", "training", arguments.plans),
                ("ours, plans, full", "full", "full", arguments.full),
                ("ours, load_inline, training", "modules", "training", arguments.modules)):
            if samples > 0:
                took, verdicts, refused, share = ours(arguments, folder, tasks, kind, strength)
                wrong += refused + (verdicts != samples * len(FUNCTIONS))
                row(side, verdicts, took, share)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
