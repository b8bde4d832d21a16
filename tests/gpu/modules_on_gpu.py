#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges module candidates on this machine's GPU: the skill's example as the published workspace and
as single files, then what a careless or dishonest author would change in it. Prints a table.

usage: modules_on_gpu.py --program build/release/bin/cuda-agent [--skills skills] [--only NAME;...]
                         [--jobs 4] [--results results.json]

Exit code 1 when a verdict is not the expected one.
"""
import argparse
import concurrent.futures
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORWARD = "return cuda_extension.residual_scale_forward(x, residual, self.scale, 0)"
LAUNCH = "residual_scale_launcher(x.data_ptr<float>()"
BINDING = "kernels/residual_scale_binding.cpp"
KERNEL = "kernels/residual_scale.cu"

# name: (file, what, by, rules, expected exit code, words of the answer)
CASES = {
    "workspace": (None, "", "", "published", 0, ""),
    "operators in Python": ("model_new.py", FORWARD, "return x + self.scale * residual",
                            "published", 1, "aten.mul.Tensor"),
    "operators in C++": (BINDING, "    return out;", "    return at::add(x, residual * scale);",
                         "published", 1, "framework operator"),
    "around the dispatcher": (BINDING, "    return out;",
                              "    c10::impl::ExcludeDispatchKeyGuard hidden(c10::DispatchKeySet("
                              "{c10::DispatchKey::Python, c10::DispatchKey::PythonTLSSnapshot}));"
                              "\n    return at::add(x, residual * scale);",
                              "published", 1, "framework operator"),
    "flags only": ("model_new.py", FORWARD, "return x + self.scale * residual",
                   "kernelbench", 0, "framework operators ran"),
    "outside its memory": (KERNEL, "out[i] = make_float4(", "out[i + (1ll << 40)] = make_float4(",
                           "published", 1, "illegal memory access"),
    "does not compile": (KERNEL, "const float4 s = scale[column];",
                         "const float4 s = scales[column];", "published", 1,
                         "kernels/residual_scale.cu:"),
    "result remembered": ("model_new.py", FORWARD,
                          "if not hasattr(self, 'kept'):\n            self.kept = "
                          "cuda_extension.residual_scale_forward(x, residual, self.scale, 0)\n"
                          "        return self.kept", "published", 1, "random inputs"),
    "load_inline": ("single_inline.py", "", "", "kernelbench", 0, ""),
    "load_inline, does not compile": ("single_inline.py", "out[i] = x[i]",
                                      "out[i] = y[i]",
                                      "kernelbench", 1, "is undefined"),
    "triton": ("single_triton.py", "", "", "kernelbench", 0, ""),
    "triton, published rules": ("single_triton.py", "", "", "published", 2, "--rules kernelbench"),
}


def judge(arguments, folder, name):
    file, what, by, rules, code, words = CASES[name]
    example = arguments.skills / "module-candidates/candidates/residual_scale"
    own = folder / name.replace(" ", "_")
    shutil.copytree(example, own)
    if what:
        text = (own / file).read_text()
        assert what in text, f"{name}: '{what}' is not in {file}"
        (own / file).write_text(text.replace(what, by))
    candidate = own / file if file and file.startswith("single_") else own
    start = time.monotonic()
    run = subprocess.run(
        [str(arguments.program), "check", str(own / "task.py"), str(candidate), "--device", "cuda",
         "--rules", rules, "--json", "--set", "rows=65536"], capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=400)
    seconds = time.monotonic() - start
    try:
        verdict = json.loads(run.stdout)
    except json.JSONDecodeError:
        verdict = {}
    said = run.stdout + run.stderr
    good = run.returncode == code and words in said
    return name, good, run.returncode, seconds, verdict, said


def row(name, good, code, seconds, verdict, said):
    times = verdict.get("times", {})

    def us(which):
        return f"{1e6 * times[which]['seconds']:9.1f}" if which in times else "        -"

    told = "; ".join([verdict.get("problem", "")] * ("problem" in verdict) +
                     verdict.get("flags", [])) or said.strip()[-200:].replace("\n", " ")
    if good and code == 0 and not verdict.get("flags"):
        told = "ok"
    return (f"{'good' if good else 'NOT AS EXPECTED':15} {name:30} exit {code} {seconds:5.0f} s "
            f"{us('candidate')} {us('eager')} {us('compile')} us  {told[:160]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--skills", type=pathlib.Path, default=ROOT / "skills")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--results", type=pathlib.Path)
    arguments = parser.parse_args()
    chosen = [name for name in CASES if not arguments.only or name in arguments.only.split(";")]
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        # The first alone: it measures the card's ceilings and compiles what the others share.
        done = [judge(arguments, folder, chosen[0])]
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            done += pool.map(lambda name: judge(arguments, folder, name), chosen[1:])
    for outcome in done:
        print(row(*outcome))
    if arguments.results:
        arguments.results.write_text(json.dumps(
            {name: {"good": good, "code": code, "seconds": seconds, "verdict": verdict,
                    "said": said[-4000:]}
             for name, good, code, seconds, verdict, said in done}, indent=1))
    wrong = sum(not outcome[1] for outcome in done)
    print(f"{len(done)} cases, {wrong} not as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
