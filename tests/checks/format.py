# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""C++ is laid out by clang-format 14 and .clang-format."""

import pathlib
import re
import subprocess

import common

STYLE = pathlib.Path(__file__).resolve().parents[2] / ".clang-format"


def problems(root, files):
    try:
        said = subprocess.run(["clang-format", "--version"], capture_output=True, text=True).stdout
    except OSError:
        return ["clang-format is missing: apt-get install clang-format"]
    version = re.search(r"version (\d+)", said)
    if not version or version[1] != "14":
        # Versions lay code out differently, so another one would ask for changes that 14 undoes.
        return [f"clang-format 14 is required, this is: {said.strip()}"]
    names = [name for name in files if common.is_cpp(name)]
    if not names:
        return []
    run = subprocess.run(
        ["clang-format", f"--style=file:{STYLE}", "--dry-run", "-Werror", *names],
        cwd=root,
        capture_output=True,
        text=True,
    )
    bad = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", run.stderr, re.MULTILINE)))
    if run.returncode and not bad:
        return [run.stderr.strip()]
    return [f"{name}: clang-format -i {name}" for name in bad]


if __name__ == "__main__":
    common.main(
        problems,
        good={"plain": {"a.h": "int add(int a, int b);\n"}},
        bad={"spaces": {"a.cpp": "int  add( int a ,int b ) ;\n"}},
    )
