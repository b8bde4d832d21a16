# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far times of baselines differ from run to run, with the device held while samples are queued and without:
usage baseline_spread.py [RUNS], on a machine with a GPU.

Of each module and way to run it the median of RUNS (10) medians of 15 samples, the least, the most, and their ratio.
Both ways take turns. Without holding, short modules that take the host long are timed as the host's time.
"""

import pathlib
import statistics
import sys
import time
import types

import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "core/reference"))
from worker import baselines  # noqa: E402

SAMPLES = 15


def cases():
    def drawn(*sizes):
        return torch.randn(*sizes, device="cuda")

    x, y, w = drawn(8192, 4096), drawn(8192, 4096), drawn(4096)
    image, classes = drawn(64, 64, 56, 56), torch.randint(0, 4096, (8192,), device="cuda")
    return {
        "pointwise": lambda: torch.relu(x * w + y),
        "layer_norm": lambda: F.layer_norm(x, (4096,), w, w),
        "three reductions": lambda: (x.sum(0), (x * y).sum(1), torch.tanh(x).mean(0)),
        "cross entropy": lambda: F.cross_entropy(x, classes),
        "pad, pool": lambda: F.max_pool2d(F.pad(image, (1, 0, 1, 2)), 3, 2),
        "4096 elements": lambda: torch.relu(w * 2 + 1),
    }


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    timer = baselines.Timer(types.SimpleNamespace(device=torch.device("cuda")))
    longest = baselines.LONGEST_HOLD
    for name, function in cases().items():
        for kind, call in (("eager", function), ("compile", torch.compile(function))):
            found = {0: [], longest: []}
            with torch.no_grad():
                call()
                for _ in range(runs):
                    for baselines.LONGEST_HOLD, medians in found.items():
                        medians.append(statistics.median(timer._cuda(call, SAMPLES, 0)) * 1e6)
                        timer.last_call = time.perf_counter()
            texts = [f"{'held' if hold else 'not held'} {statistics.median(m):7.1f} us, {min(m):7.1f} to {max(m):7.1f}"
                     f" ({max(m) / min(m):.2f})" for hold, m in found.items()]
            print(f"{name:17} {kind:8}", "; ".join(texts), flush=True)


if __name__ == "__main__":
    main()
