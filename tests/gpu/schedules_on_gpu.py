#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times every schedule that the planner would try for some tasks on this machine's GPU, each with
the caches cold, and tells how far its first choice is from the fastest one: what the order of
schedules in core/policy/planner/*_space.cpp is to be read from. Nothing is judged: outputs are
only compared with those of the first choice, and a candidate that differs is named.

usage: schedules_on_gpu.py --dump build/release/bin/planner-dump [--only WORD] [--top 3]
                           [--results FILE.jsonl] TASK...

A TASK is a description as JSON, or a session's session.jsonl, which holds one. Needs PyTorch and
NVRTC of CUDA 13. Candidates with steps of a library are left out. Exit code 1 when nothing could
be timed.
"""
import argparse
import collections
import ctypes
import glob
import json
import multiprocessing
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

CALLS = 13  # of which the median counts
COLD_BYTES = 256 << 20
SAME = 2e-2  # relative distance of outputs that still count as equal, floats of 16 bits among them
LARGEST_INDEX = 16  # of whole numbers among the inputs, which often are positions


def cuda_home():
    return os.environ.get("CUDA_HOME", "/usr/local/cuda")


def nvrtc():
    places = [f"{cuda_home()}/lib64"] + [f"{path}/nvidia/*/lib" for path in sys.path]
    for place in places:
        for file in sorted(glob.glob(f"{place}/libnvrtc.so.13")):
            return ctypes.CDLL(file)
    raise SystemExit("libnvrtc.so.13 not found: set CUDA_HOME to a CUDA 13 toolkit")


def compile_source(text):
    """The cubin of a source, or None. Options are those of core/toolchain/cuda_compiler.cpp."""
    library = nvrtc()
    include = f"{cuda_home()}/include"
    options = [option.encode() for option in (
        "--gpu-architecture=sm_90a", "-std=c++17", f"--include-path={include}",
        f"--include-path={include}/cccl", "--define-macro=INFINITY=__int_as_float(0x7f800000)",
        "--define-macro=NAN=__int_as_float(0x7fffffff)")]
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"planner.cu", 0, None, None)
    if library.nvrtcCompileProgram(program, len(options),
                                   (ctypes.c_char_p * len(options))(*options)):
        return None
    library.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    library.nvrtcGetCUBIN(program, cubin)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return cubin.raw


def description_of(path):
    if path.suffix != ".jsonl":
        return json.loads(path.read_text())
    for line in path.open():
        event = json.loads(line)
        if event.get("type") == "taskDescribed":
            return event["data"]
    raise SystemExit(f"{path} describes no task")


def candidates_of(dump, description, folder):
    """(name, source, plan) of all candidates whose steps are kernels of their own."""
    file = folder / "description.json"
    file.write_text(json.dumps(description))
    subprocess.run([dump, file, folder / "out"], check=True, stdout=subprocess.DEVNULL)
    for entry in json.loads((folder / "out/index.json").read_text()):
        where = folder / "out" / entry["folder"]
        plan = json.loads((where / "plan.json").read_text())
        if all(step["kind"] in ("kernel", "fill") for step in plan["steps"]):
            yield entry["name"], (where / "kernels/planner.cu").read_text(), plan


class Bench:
    """One task's inputs, and candidates run on them."""

    def __init__(self, torch, driver, description):
        self.torch, self.driver, self.description = torch, driver, description
        torch.manual_seed(0)
        self.cold = torch.empty(COLD_BYTES, dtype=torch.uint8, device="cuda")
        self.inputs = [self.make(entry) for entry in description["inputs"]]
        self.parameters = {}
        self.reference = None

    def make(self, entry):
        torch = self.torch
        dtype = getattr(torch, entry["dtype"])
        count = 1 + sum((size - 1) * step for size, step in zip(entry["shape"], entry["strides"]))
        if dtype.is_floating_point:
            memory = torch.randn(count, device="cuda").to(dtype)
        elif dtype == torch.bool:
            memory = torch.randint(0, 2, (count,), device="cuda").to(dtype)
        else:
            memory = torch.randint(0, LARGEST_INDEX, (count,), device="cuda", dtype=dtype)
        return torch.as_strided(memory, entry["shape"], entry["strides"])

    def parameter(self, key):
        if key not in self.parameters:
            entry = next(p for p in self.description["parameters"] if p["name"] == key)
            self.parameters[key] = self.make(entry)
        return self.parameters[key]

    def buffers(self, plan):
        """Tensors by name, and what the plan's expressions may ask of them."""
        known = {"cdiv": lambda a, b: -(-a // b)}
        tensors = {}
        for buffer in sorted(plan["buffers"], key=lambda b: "shape" in b):
            if buffer["role"] == "input":
                tensor = self.inputs[buffer["index"]]
            elif buffer["role"] == "parameter":
                tensor = self.parameter(buffer["key"])
            else:
                size = 1
                for expression in buffer["shape"]:
                    size *= number(expression, known)
                tensor = self.torch.zeros(max(size, 1), device="cuda",
                                          dtype=getattr(self.torch, buffer["dtype"]))
            tensors[buffer["name"]] = known[buffer["name"]] = tensor
        return tensors, known

    def steps(self, plan, module, tensors, known):
        for step in plan["steps"]:
            if step["kind"] == "fill":
                yield lambda t=tensors[step["buffer"]], v=step["value"]: t.fill_(v)
                continue
            function = ctypes.c_void_p()
            self.check(self.driver.cuModuleGetFunction(ctypes.byref(function), module,
                                                       step["entry"].encode()))
            values = [ctypes.c_uint64(tensors[a["buffer"]].data_ptr()) if "buffer" in a
                      else ctypes.c_int64(number(a["int64"], known)) for a in step["args"]]
            pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
            grid = [number(g, known) for g in step["grid"]]
            shared = number(step.get("shared", 0), known)
            if shared > 48 << 10:
                self.check(self.driver.cuFuncSetAttribute(function, 8, shared))
            stream = ctypes.c_void_p(self.torch.cuda.current_stream().cuda_stream)
            yield lambda f=function, g=grid, b=step["block"], s=shared, p=pointers, v=values: (
                self.check(self.driver.cuLaunchKernel(f, *g, *b, s, stream, p, None)))

    @staticmethod
    def check(code):
        if code != 0:
            raise RuntimeError(f"CUDA error {code}")

    def run(self, plan, cubin):
        """Microseconds of a call, and whether its outputs are those of the first candidate."""
        torch = self.torch
        tensors, known = self.buffers(plan)
        module = ctypes.c_void_p()
        self.check(self.driver.cuModuleLoadData(ctypes.byref(module), cubin))
        steps = list(self.steps(plan, module, tensors, known))
        for step in steps:
            step()
        torch.cuda.synchronize()
        outputs = [tensors[b["name"]].clone() for b in plan["buffers"] if b["role"] == "output"]
        self.reference = self.reference or outputs
        same = all(alike(mine, other) for mine, other in zip(outputs, self.reference))
        times = []
        for _ in range(CALLS):
            before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            self.cold.fill_(1)
            before.record()
            for step in steps:
                step()
            after.record()
            times.append((before, after))
        torch.cuda.synchronize()
        self.check(self.driver.cuModuleUnload(module))
        return statistics.median(a.elapsed_time(b) * 1e3 for a, b in times), same


def alike(mine, other):
    distance = (mine.double() - other.double()).abs() / (1 + other.double().abs())
    return float(distance.nan_to_num(0).max()) < SAME


def number(expression, known):
    """What an expression of a plan comes to: its "/" is a division of whole numbers."""
    if isinstance(expression, int):
        return expression
    return int(eval(expression.replace("/", "//"), {"__builtins__": {}}, known))  # noqa: S307


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--dump", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--top", type=int, default=3)
    parser.add_argument("--results")
    parser.add_argument("tasks", nargs="+", type=pathlib.Path)
    chosen = parser.parse_args()
    work = []
    for path in chosen.tasks:
        description = description_of(path)
        if chosen.only not in description["name"]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            work.append((description, list(candidates_of(os.path.abspath(chosen.dump), description,
                                                         pathlib.Path(folder)))))
    sources = sorted({source for _, candidates in work for _, source, _ in candidates})
    with multiprocessing.Pool() as pool:  # before CUDA starts in this process
        cubins = dict(zip(sources, pool.imap(compile_source, sources, chunksize=1)))
    import torch  # noqa: PLC0415
    torch.zeros(1, device="cuda")
    driver = ctypes.CDLL("libcuda.so.1")
    results = open(chosen.results, "w") if chosen.results else None
    timed = 0
    for description, candidates in work:
        bench, found = Bench(torch, driver, description), collections.OrderedDict()
        for name, source, plan in candidates:
            if cubins[source] is None:
                print(f"{description['name']}: {name} does not compile")
                continue
            microseconds, same = bench.run(plan, cubins[source])
            found[name] = microseconds
            if not same:
                print(f"{description['name']}: {name} differs from the first choice")
            if results:
                results.write(json.dumps({"task": description["name"], "candidate": name,
                                          "us": round(microseconds, 2), "same": same}) + "\n")
        if not found:
            continue
        timed += len(found)
        first = next(iter(found))
        print(f"{description['name']}: first {found[first]:.1f} us, {first}")
        for name in sorted(found, key=found.get)[:chosen.top]:
            if name != first:
                print(f"    {found[name]:8.1f} us  {found[name] / found[first]:.3f}  {name}")
    print(f"{timed} candidates of {len(work)} tasks timed")
    return 0 if timed else 1


if __name__ == "__main__":
    sys.exit(main())
