# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles the launchers of the skills' module examples with nvcc (no GPU needed): each
kernels/X.cu is free of torch and exports `X_launcher`, which X_binding.cpp declares alike.

usage: compile_launchers.py --share build/release/share/cuda-agent

Exit code 77 (skipped) without an nvcc.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]


def find_nvcc(share):
    recorded = share / "cuda.path"
    folders = [os.environ.get("CUDA_HOME"), "/usr/local/cuda",
               recorded.read_text().split("\n")[0] if recorded.exists() else None]
    for folder in folders:
        if folder and (pathlib.Path(folder) / "bin" / "nvcc").exists():
            return pathlib.Path(folder) / "bin" / "nvcc"
    return None


def signature(text, name):
    """Parameters of the first `name(...)`, white space folded."""
    found = re.search(rf"\bvoid {name}\(([^)]*)\)", text)
    return " ".join(found[1].split()) if found else None


def problem_of(kernel, nvcc, folder):
    name = kernel.stem + "_launcher"
    text = kernel.read_text()
    if "torch" in text or "ATen" in text:
        return "names torch"
    library = pathlib.Path(folder) / (kernel.stem + ".so")
    run = subprocess.run([nvcc, "-arch=sm_90", "-shared", "-Xcompiler", "-fPIC,-Wall,-Werror", "-o",
                          library, kernel], capture_output=True, text=True, timeout=300)
    if run.returncode:
        return run.stderr
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True,
                             check=True).stdout
    if not re.search(rf" T {name}$", symbols, re.MULTILINE):
        return f"does not export {name} with C linkage"
    binding = kernel.with_name(kernel.stem + "_binding.cpp").read_text()
    if signature(text, name) != signature(binding, name):
        return f"{name} is declared otherwise in the binding"
    if f"REGISTER_BINDING({kernel.stem}," not in binding:
        return "its binding registers nothing"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=pathlib.Path, required=True)
    nvcc = find_nvcc(parser.parse_args().share)
    if nvcc is None:
        print("there is no nvcc on this machine")
        return 77
    kernels = [kernel for model in sorted(ROOT.glob("skills/*/candidates/*/model_new.py"))
               for kernel in sorted(model.parent.glob("kernels/*.cu"))]
    if not kernels:
        print("no module example found")
        return 1
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        broken = pathlib.Path(folder) / "broken.cu"
        broken.write_text("void broken_launcher() {}\n")  # C++ linkage
        broken.with_name("broken_binding.cpp").write_text("")
        if problem_of(broken, nvcc, folder) != "does not export broken_launcher with C linkage":
            print("a launcher with C++ linkage was not found wrong")
            wrong += 1
        for kernel in kernels:
            problem = problem_of(kernel, nvcc, folder)
            print(f"{kernel.relative_to(ROOT)}: {problem or 'ok'}")
            wrong += problem is not None
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
