# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""No path of somebody's machine in a tracked file, no file over 2 MB, nothing built."""

import re

import common

LIMIT = 2_000_000
LARGE = {"training/weights/model.safetensors": 40_000_000,  # comes along
         "training/data/tasks-h200/set.jsonl.gz": 8_000_000}
# Home folders of people and checkouts. Folders that the sandbox makes for itself (a bare /root,
# /home/user) are no machine's.
MACHINE = re.compile(r"(?<![\w.$}])/(?:home/(?!user\b)[a-z]\w*|Users/\w+|root/\w+|wor[k]/(?:main|shared))\b")
BUILT = re.compile(r"^(build|\.venv)/|(^|/)__pycache__/|\.(pyc|o|a|so|cubin|whl)$")


def problems(root, files):
    found = []
    for name in files:
        size = (root / name).stat().st_size
        limit = LARGE.get(name, LIMIT)
        if size > limit:
            found.append(f"{name}: {size} bytes, more than {limit}")
            continue
        if BUILT.search(name):
            found.append(f"{name}: a built file is tracked")
        content = (root / name).read_bytes()
        if b"\0" in content:
            continue
        for number, line in enumerate(content.decode(errors="replace").splitlines(), 1):
            match = MACHINE.search(line)
            if match:
                found.append(f"{name}:{number}: path of one machine: {match[0]}")
    return found


if __name__ == "__main__":
    home = "/home/" + "ada"
    common.main(
        problems,
        good={
            "sandbox": {"a.cpp": '"/home/user", "/root", "/usr/local/cuda"\n'},
            "address": {"a.md": "https://example.org/home/page and $HOME" + home[5:] + "\n"},
            "binary": {"a.png": b"\0" + home.encode()},
        },
        bad={
            "home": {"a.md": f"cd {home}/code\n"},
            "root": {"a.json": '{"path": "/root/' + 'x"}\n'},
            "checkout": {"a.py": "open('/work/" + "main/x')\n"},
            "large": {"a.bin": b"\0" * (LIMIT + 1)},
            "built": {"tests/data/a.so": b"\0"},
            "build tree": {"build/release/a.txt": "a\n"},
        },
    )
