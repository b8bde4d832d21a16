#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`cuda-agent profile` against Nsight Compute: DRAM bytes, operations, occupancy, duration and more of
the kernels in profile_kernels.py, which are the same machine code on both sides (the cubin that the
profiler compiled is launched under ncu, clocks and caches left alone). Prints a table.

usage: profile_on_gpu.py --program build/release/bin/cuda-agent [--results FOLDER] [--only NAME,...]
                         [--ncu /usr/local/cuda/bin/ncu] [--no-ncu] [--replay application|kernel]

Writes into FOLDER (default: $OUT, else the current folder) what each side said, in full. Exit code 1
when a figure differs by more than 5 %, 77 without a GPU or without ncu.
"""
import argparse
import csv
import ctypes
import io
import json
import os
import pathlib
import random
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import profile_kernels  # noqa: E402

TOLERANCE = 0.05
WARM = 0.2  # seconds of launches before those that are looked at, as on the profiler's side
LOOKED_AT = 5  # launches under ncu, of whose figures the medians count

# figure: (ncu's metrics, summed, with factors; where it is in the profiler's launch; what is little)
TENSOR = ["sm__ops_path_tensor_src_fp16.sum", "sm__ops_path_tensor_src_bf16_dst_fp32.sum",
          "sm__ops_path_tensor_src_tf32_dst_fp32.sum"]
FIGURES = {
    "duration": (["gpu__time_duration.sum"], ("seconds",), 1e-9, 0),
    "dram": (["dram__bytes_read.sum", "dram__bytes_write.sum"], ("bytes", "dram"), 1, 1 << 22),
    "tensor": (TENSOR, ("operations", "tensor"), 1, 0),
    "fp32": (["smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
              "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
              "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
              "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"],
             ("operations", "fp32"), 1, 0),
    "occupancy": (["sm__warps_active.avg.pct_of_peak_sustained_active"],
                  ("achieved_occupancy",), 0.01, 0),
    "possible": (["sm__maximum_warps_per_active_cycle_pct"],
                 ("theoretical_occupancy", "occupancy"), 0.01, 0),
    "l2": (["lts__t_bytes.sum"], ("bytes", "l2"), 1, 1 << 22),
    "sectors": (["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"], ("global_loads", "sectors"),
                1, 0),
    "conflicts": (["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"],
                  ("shared_loads", "bank_conflicts"), 1, 1 << 16),
    "registers": (["launch__registers_per_thread"], ("registers",), 1, 0),
}
# Those that the 5 per cent are about; the others are shown.
JUDGED = ["duration", "dram", "tensor", "occupancy"]


# ------------------------------------------------------------------ the program that ncu looks at

def launch(specification):
    """Launches one kernel of a cubin some times, by the driver alone."""
    spec = json.loads(pathlib.Path(specification).read_text())
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name, *arguments):
        code = getattr(cuda, name)(*arguments)
        if code != 0:
            text = ctypes.c_char_p()
            cuda.cuGetErrorString(code, ctypes.byref(text))
            sys.exit(f"{name}: {code} {text.value}")

    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), pathlib.Path(spec["cubin"]).read_bytes())
    call("cuModuleGetFunction", ctypes.byref(function), module, spec["kernel"].encode())
    if spec["shared"] > 48 << 10:
        call("cuFuncSetAttribute", function, 8, spec["shared"])
    size = 4 * spec["floats"]
    x, y = ctypes.c_uint64(), ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(x), ctypes.c_size_t(size))
    call("cuMemAlloc_v2", ctypes.byref(y), ctypes.c_size_t(size))
    draw = random.Random(1)
    piece = struct.pack("262144f", *(draw.gauss(0, 1) for _ in range(262144)))
    for offset in range(0, size, len(piece)):
        call("cuMemcpyHtoD_v2", ctypes.c_uint64(x.value + offset), piece,
             ctypes.c_size_t(min(len(piece), size - offset)))
    call("cuMemsetD8_v2", y, ctypes.c_ubyte(0), ctypes.c_size_t(size))
    n = ctypes.c_int(spec["n"])
    arguments = (ctypes.c_void_p * 3)(*(ctypes.cast(ctypes.byref(each), ctypes.c_void_p)
                                        for each in (x, y, n)))
    for _ in range(spec["launches"]):
        call("cuLaunchKernel", function, *spec["grid"], *spec["block"],
             ctypes.c_uint(spec["shared"]), None, arguments, None)
        call("cuCtxSynchronize")


# ------------------------------------------------------------------ both sides

def profiled(arguments, names, folder, results):
    """What `cuda-agent profile` says: {name: report or {"error"}}."""
    candidates = profile_kernels.write(folder, names)
    cache = folder / "cache"
    environment = dict(os.environ, CUDA_AGENT_CACHE=str(cache))
    command = [str(arguments.program), "profile", str(folder / "task.py"),
               *map(str, candidates.values()), "--device", "cuda", "--json"]
    if not arguments.flush:
        command.append("--keep-cache")
    start = time.monotonic()
    output = results / "profile.jsonl"
    with output.open("w") as out, (results / "profile.log").open("w") as log:
        try:
            code = subprocess.run(command, stdout=out, stderr=log, env=environment,
                                  stdin=subprocess.DEVNULL, timeout=arguments.seconds).returncode
        except subprocess.TimeoutExpired:
            code = "too long"
    print(f"profile: exit {code}, {time.monotonic() - start:.1f} s, {output}", flush=True)
    text = output.read_text()
    reports = {}
    for line in text.splitlines() if len(names) > 1 else [text]:
        try:
            report = json.loads(line)
        except ValueError:
            continue
        if "candidate" in report:
            reports[pathlib.Path(report["candidate"]).name] = report
    if not reports:
        print(text[-2000:] + (results / "profile.log").read_text()[-3000:])
    return reports, cache


def cubin_with(cache, kernel):
    for file in sorted(cache.glob("binaries/*/*")):
        data = file.read_bytes()
        if data[:4] == b"\x7fELF" and kernel.encode() in data:
            return file
    return None


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def under_ncu(arguments, name, seconds, cubin, folder, results):
    """What ncu says of the same kernel: {metric: value}, or a text with what went wrong."""
    skip = min(2000, max(3, round(WARM / max(seconds, 1e-6))))
    _, grid, block, shared, n, _, _ = profile_kernels.KERNELS[name]
    spec = {"cubin": str(cubin), "kernel": "k_" + name, "shared": shared, "n": n,
            "floats": profile_kernels.N, "launches": skip + LOOKED_AT,
            "grid": (grid + [1, 1])[:3], "block": (block + [1, 1])[:3]}
    file = folder / f"{name}.json"
    file.write_text(json.dumps(spec))
    metrics = sorted({metric for figure in FIGURES.values() for metric in figure[0]})
    command = [arguments.ncu, "--clock-control", "none", "--cache-control",
               "all" if arguments.flush else "none", "--replay-mode", arguments.replay,
               "--launch-skip", str(skip), "--launch-count", str(LOOKED_AT), "--csv", "--page", "raw",
               "--print-units", "base", "--metrics", ",".join(metrics),
               sys.executable, os.path.abspath(__file__), "--launch", str(file)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=240,
                              stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return "ncu took too long"
    (results / f"ncu-{name}.txt").write_text(done.stdout + done.stderr)
    rows = [line for line in done.stdout.splitlines() if line.startswith('"')]
    table = list(csv.reader(io.StringIO("\n".join(rows))))
    if len(table) < 3:
        return f"ncu: exit {done.returncode}: {(done.stdout + done.stderr).strip()[-400:]}"
    launches = [dict(zip(table[0], row)) for row in table[2:]]  # the second row has the units
    seen = {metric: [value for each in launches if (value := number(each.get(metric, ""))) is not None]
            for metric in metrics}
    return {metric: statistics.median(values) for metric, values in seen.items() if values}


def ours(launch_of, path):
    for key in path:
        if not isinstance(launch_of, dict) or key not in launch_of:
            return None
        launch_of = launch_of[key]
    return launch_of


def theirs(values, metrics, factor):
    """The sum; metrics that ncu does not have on this chip are left out where others are there."""
    known = [values[metric] for metric in metrics if metric in values]
    return factor * sum(known) if known else None


def compare(name, report, values):
    """{figure: (ours, theirs, relative difference or None)}."""
    launches = [each for each in report.get("launches", []) if each["kind"] == "kernel"]
    if len(launches) != 1:
        return {}
    compared = {}
    for figure, (metrics, path, factor, little) in FIGURES.items():
        a, b = ours(launches[0], path), theirs(values, metrics, factor)
        difference = None
        if a is not None and b is not None:
            difference = 0.0 if max(abs(a), abs(b)) <= little else \
                abs(a - b) / max(abs(b), 1e-30) if b else (0.0 if a == 0 else float("inf"))
        compared[figure] = (a, b, difference)
    return compared


def text_of(value):
    return "-" if value is None else f"{value:.4g}"


def machine():
    """What may keep counters away, for the record."""
    for file in ("/proc/driver/nvidia/version", "/proc/driver/nvidia/params", "/proc/self/status"):
        try:
            for line in pathlib.Path(file).read_text().splitlines():
                if any(word in line for word in ("NVRM", "RmProfilingAdminOnly", "CapEff", "CapBnd",
                                                 "Uid", "Seccomp:")):
                    print(f"{file}: {line.strip()}")
        except OSError as problem:
            print(problem)
    for name in ("bwrap", "ncu", "nvidia-smi"):
        print(f"{name}: {shutil.which(name)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--launch", help=argparse.SUPPRESS)
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--results", type=pathlib.Path,
                        default=pathlib.Path(os.environ.get("OUT", ".")))
    parser.add_argument("--only", default="", help="names, separated by commas")
    parser.add_argument("--ncu", default=shutil.which("ncu") or "/usr/local/cuda/bin/ncu")
    parser.add_argument("--no-ncu", action="store_true", help="the profiler's side alone")
    parser.add_argument("--replay", default="application", choices=["application", "kernel"])
    parser.add_argument("--flush", action="store_true",
                        help="caches cold on both sides: written over here, ncu's cache control there")
    parser.add_argument("--seconds", type=float, default=400, help="for the profiler's side")
    parser.add_argument("--total-seconds", type=float, default=480,
                        help="after which no further kernel goes under ncu")
    arguments = parser.parse_args()
    if arguments.launch:
        return launch(arguments.launch)
    if not arguments.program:
        parser.error("--program is needed")
    arguments.program = arguments.program.resolve()
    results = arguments.results.resolve()
    results.mkdir(parents=True, exist_ok=True)
    if not arguments.no_ncu and not pathlib.Path(arguments.ncu).exists():
        print(f"skipped: there is no {arguments.ncu}; --no-ncu shows the profiler's side alone")
        return 77
    names = [name for name in arguments.only.split(",") if name] or list(profile_kernels.KERNELS)
    machine()
    begin = time.monotonic()
    lines, failed, shown = [], 0, 0
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        reports, cache = profiled(arguments, names, folder, results)
        if not reports:
            return 77 if "no NVIDIA driver" in (results / "profile.log").read_text() else 1
        if all("NVIDIA" in report.get("error", {}).get("message", "") for report in reports.values()):
            print("skipped:", next(iter(reports.values()))["error"]["message"])
            return 77
        notes = {}
        for name, report in reports.items():
            for note in report.get("notes", []):
                notes.setdefault(note, []).append(name)
            if "error" in report:
                print(f"{name}: {report['error']['message']}")
            for finding in report.get("findings", []):
                gain = finding.get("gain")
                lines.append(f"{name}: {finding['message']} (at most {text_of(gain)}x)")
        for note, of in notes.items():
            print(f"note ({len(of)} of {len(reports)}): {note}")
        table = {}
        for name in names:
            report = reports.get(name)
            if report is None or "error" in report:
                failed += 1
                continue
            values = {}
            if not arguments.no_ncu:
                cubin = cubin_with(cache, "k_" + name)
                launches = report.get("launches") or [{"seconds": 0}]
                if time.monotonic() - begin > arguments.total_seconds:
                    values = "left out, the time is up (--total-seconds)"
                elif cubin is None:
                    values = "no cubin in the cache"
                else:
                    values = under_ncu(arguments, name, launches[0]["seconds"], cubin, folder,
                                       results)
                if isinstance(values, str):
                    print(f"{name}: {values}", flush=True)
                    failed += 1
                    values = {}
            table[name] = compare(name, report, values)
            shown += 1
            row = [f"{name:20}"]
            for figure, (a, b, difference) in table[name].items():
                mark = "" if difference is None else f" {100 * difference:.1f}%"
                wrong = figure in JUDGED and difference is not None and difference > TOLERANCE
                failed += wrong
                row.append(f"{figure} {text_of(a)}/{text_of(b)}{mark}{' WRONG' if wrong else ''}")
            print(" | ".join(row), flush=True)
        (results / "comparison.json").write_text(json.dumps(
            {name: {figure: {"profile": a, "ncu": b, "difference": difference}
                    for figure, (a, b, difference) in row.items()}
             for name, row in table.items()}, indent=1))
    print("\n".join(lines))
    (results / "findings.txt").write_text("\n".join(lines) + "\n")
    judged = [entry for row in table.values() for figure, entry in row.items()
              if figure in JUDGED and entry[2] is not None]
    print(f"{shown} of {len(names)} kernels; {sum(entry[2] <= TOLERANCE for entry in judged)} of "
          f"{len(judged)} figures within {100 * TOLERANCE:.0f} %")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
