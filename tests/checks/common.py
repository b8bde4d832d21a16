# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the checks share: the list of tracked files, the self-test on fixtures, the report.

A check is a function `problems(root, files) -> list of lines` where `files` are paths relative to
`root`. `main` first runs it on the fixtures (every bad one must give a problem, every good one
must not), so that a check that has gone blind fails by itself.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

SPDX = (
    "SPDX-FileCopyrightText: The CUDA Agent Workbench authors",
    "SPDX-License-Identifier: GPL-3.0-or-later",
)


def tracked_files(root):
    """Tracked files that exist; without git (an unpacked archive) all but build outputs."""
    try:
        listed = subprocess.run(
            ["git", "-c", f"safe.directory={root}", "-C", str(root), "ls-files", "-z"],
            capture_output=True,
            check=True,
        ).stdout.decode()
        names = [name for name in listed.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        names = [
            str(path.relative_to(root))
            for path in sorted(root.rglob("*"))
            if path.relative_to(root).parts[0] not in ("build", ".venv", ".git")
            and "__pycache__" not in path.parts
        ]
    return [name for name in names if (root / name).is_file()]


def text(root, name):
    return (root / name).read_text(encoding="utf-8", errors="replace")


def is_cpp(name):
    return name.endswith((".h", ".cpp"))


def is_shell(root, name):
    """Shell scripts: by suffix, or by a first line that names a shell."""
    if name.endswith(".sh"):
        return True
    if pathlib.PurePath(name).suffix:
        return False
    with open(root / name, "rb") as file:
        first = file.readline(80)
    return first.startswith(b"#!") and first.rstrip().endswith((b"bash", b"/sh"))


def is_source(root, name):
    base = pathlib.PurePath(name).name
    return (
        name.endswith((".h", ".cpp", ".cu", ".cuh", ".py", ".cmake"))
        or base == "CMakeLists.txt"
        or is_shell(root, name)
    )


def spdx_head(comment="//"):
    return "".join(f"{comment} {line}\n" for line in SPDX)


def self_test(problems, good, bad):
    """`good` and `bad` map a name to a dictionary of file name -> content."""
    wrong = []
    for expected, cases in ((False, good), (True, bad)):
        for case, files in cases.items():
            with tempfile.TemporaryDirectory() as folder:
                root = pathlib.Path(folder)
                for name, content in files.items():
                    (root / name).parent.mkdir(parents=True, exist_ok=True)
                    mode = "wb" if isinstance(content, bytes) else "w"
                    with open(root / name, mode) as file:
                        file.write(content)
                found = problems(root, sorted(files))
                if bool(found) != expected:
                    wrong.append(f"self-test: '{case}' gave {found or 'no problem'}")
    return wrong


def main(problems, good, bad, options=None):
    """Runs the check; `options(parser)` may add arguments, which `problems.options` then holds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, required=True)
    if options:
        options(parser)
    arguments = parser.parse_args()
    problems.options = arguments
    found = self_test(problems, good, bad)
    if not found:
        root = arguments.root.resolve()
        files = tracked_files(root)
        found = problems(root, files) if files else [f"{root}: no files to look at"]
    for line in found:
        print(line)
    if not found:
        print(f"ok, {len(files)} tracked files")
    sys.exit(1 if found else 0)
