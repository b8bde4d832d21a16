#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Thousands of candidates, half of them hostile or broken, through one engine in one process.

usage: endurance.py --program build/release/tests/cuda-agent-endurance [--device cpu|cuda]
                    [--count 2000] [--seed 1] [--short] [--light] [--only NAME,...]
                    [--json FILE] [--list] [-- OPTIONS of the program]

Writes entries of the exploit corpus, the skills' examples among them, and careless candidates of its
own into a temporary folder with a manifest, and starts the program on it. --short: two tasks, no
modules; --light: no modules with bindings of their own, which take half a minute to compile. Exit code 0 clean, 1 something was found, 2 unusable request, 3 the machine failed, 77
without a GPU where --device cuda asks for one.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "exploits")]

import candidates  # noqa: E402
import corpus  # noqa: E402
import run  # noqa: E402

# What a verdict without times can say.
UNTIMED = {"compile", "request", "start", "machine", "process", "passed", "random inputs",
           "adversarial inputs", "inputs unchanged", "guard zones", "misaligned storage",
           "no aliasing", "repeat", "hidden shapes", "sources", "origin of the work"}
# What only a clock or the calls after it find. Flags are left out: a busy machine changes them.
TIMED = {"timed calls", "after timing", "fresh inputs", "knock-out"}
# Accusations that do not hang on a clock.
ACCUSING = tuple(text for text in run.ACCUSING
                 if not any(word in text for word in ("clock", "faster")))
# Tasks that are prepared a second time, with baselines, for a slice that is timed.
TIMED_TASKS = ("linear", corpus.RESIDUAL)
TIMED_WEIGHT = 0.2
# Every other --set would be one more task to prepare.
SETS = ((), ("rows=63",))
# Those that end by a limit of ten seconds and more, or take gigabytes.
SLOW = {"hangs", "stops itself", "memory bomb", "fork bomb", "disk bomb", "template bomb",
        "constant evaluation", "billion laughs", "a huge message announced", "channel closed",
        "one warp without end"}
SLOW_WEIGHT = 0.05
MODULE_WEIGHT = 0.1


@dataclasses.dataclass
class Slot:
    """An entry's place in the run: with or without a clock."""
    entry: corpus.Entry
    timing: bool

    @property
    def honest(self):
        return self.entry.family == "honest"

    @property
    def module(self):
        if "" not in self.entry.files:
            return corpus.MODEL in self.entry.files
        elsewhere = corpus.ROOT / self.entry.files[""]
        return elsewhere.suffix == ".py" or (elsewhere / corpus.MODEL).exists()

    @property
    def own_binding(self):
        """Has a binding that no other candidate compiles: PyTorch's headers, half a minute."""
        text = self.entry.files.get(corpus.BINDING)
        return "kernels/linear_binding.cpp" in self.entry.files or (
            text is not None and text != (corpus.EXAMPLE / corpus.BINDING).read_text())

    @property
    def weight(self):
        weight = SLOW_WEIGHT if self.entry.name in SLOW or self.own_binding else 1
        return weight * (MODULE_WEIGHT if self.module else 1) * (TIMED_WEIGHT if self.timing else 1)

    @property
    def key(self):
        return (str(self.entry.task_path), tuple(self.entry.sets), self.entry.rules, self.timing)


def slots(device, short=False, only=(), light=False):
    """What is judged: without a clock whatever that can tell, with it a slice."""
    found = []
    for entry in run.entries() + candidates.ENTRIES:
        wanted = set(entry.wanted(device))
        if device not in entry.devices or entry.sets not in SETS \
                or (only and entry.name not in only):
            continue
        slot = Slot(entry, False)
        if light and slot.own_binding:
            continue
        if wanted <= UNTIMED and not (short and (
                slot.module or slot.weight < 1 or entry.sets
                or entry.task not in ("shift", "linear"))):
            found.append(slot)
        if entry.task in TIMED_TASKS and not short and not entry.sets \
                and entry.rules == "published" and wanted <= UNTIMED | TIMED \
                and (slot.honest or not wanted <= UNTIMED):
            found.append(Slot(entry, True))
    return found


def write(chosen, device, folder):
    """Writes the candidates and their manifest below `folder`; the manifest's path."""
    tasks, entries = {}, []
    for number, slot in enumerate(chosen):
        own = folder / "candidates" / f"{number:03}"
        own.mkdir(parents=True)
        entries.append({"name": slot.entry.name + (" (timed)" if slot.timing else ""),
                        "task": tasks.setdefault(slot.key, len(tasks)),
                        "path": str(slot.entry.write(own)), "honest": slot.honest,
                        "wanted": list(slot.entry.wanted(device)), "module": slot.module,
                        "full": slot.entry.full, "weight": slot.weight})
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps({
        "tasks": [{"file": file, "sets": list(sets), "rules": rules, "timing": timing}
                  for file, sets, rules, timing in tasks],
        "accusing": ACCUSING, "entries": entries}, indent=1))
    return manifest


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--light", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("rest", nargs="*", help="options of the program, after --")
    arguments = parser.parse_args()
    chosen = slots(arguments.device, arguments.short,
                   [each for each in arguments.only.split(",") if each], arguments.light)
    if arguments.list:
        for slot in chosen:
            print(f"{'timed' if slot.timing else '':6} {'honest' if slot.honest else '':7} "
                  f"{slot.weight:5.3f} {slot.entry.task_path.stem:15} {slot.entry.name}")
        return 0
    if not arguments.program or not chosen:
        parser.error("--program is missing, or --only names no entry of this device (see --list)")
    if arguments.device == "cuda" and not pathlib.Path("/dev/nvidiactl").exists():
        print("skipped: there is no NVIDIA GPU here (no /dev/nvidiactl)")
        return 77
    with tempfile.TemporaryDirectory(prefix="endurance-") as temporary:
        manifest = write(chosen, arguments.device, pathlib.Path(temporary))
        command = [str(arguments.program), str(manifest), "--device", arguments.device, "--count",
                   str(arguments.count), "--seed", str(arguments.seed), *arguments.rest]
        if arguments.json:
            command += ["--json", str(arguments.json.resolve())]
        # Candidates look for this one in every environment that they can read.
        return subprocess.run(command, stdin=subprocess.DEVNULL, check=False,
                              env={**os.environ,
                                   "CUDA_AGENT_CORPUS_SECRET": "never to be seen"}).returncode


if __name__ == "__main__":
    sys.exit(main())
