# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every header under core/ compiles alone, without a warning; those under widgets/ too where --system
names the folders of Qt, and those of core/learn that need LibTorch where --torch names its folders.

A header that another one includes first of all is proven by that one, for nothing stands before it
there either. What a header was last checked with (content hashes of it and of all that it includes)
is kept in a cache file, so a second run looks only at what changed.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import tempfile

import common
import layering

FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-fsyntax-only"]


def command(with_torch=False):
    """The compiler with its options. Qt wants code that does not depend on its place."""
    given = problems.options
    folders = [word for folder in given.system for word in ("-isystem", folder)]
    torch = [word for folder in given.torch if with_torch for word in ("-isystem", folder)]
    return [given.compiler, *FLAGS, *(["-fPIC", *folders] if folders else []), *torch]


def needs_torch(root, name):
    return layering.learn_part(name) in layering.learn_parts(root)[1]


def digest(path, known={}):
    """Content hash, or of size and time for system headers, which are many and large."""
    path = str(path)
    if path not in known:
        try:
            if path.startswith("/usr/"):
                status = os.stat(path)
                content = f"{status.st_size} {status.st_mtime_ns}".encode()
            else:
                content = pathlib.Path(path).read_bytes()
            known[path] = hashlib.sha256(content).hexdigest()[:16]
        except OSError:
            known[path] = "missing"
    return known[path]


def dependencies(file):
    """Paths in a make rule as the compiler writes it."""
    rule = file.read_text().replace("\\\n", " ").partition(":")[2]
    return [word for word in rule.split() if word != "-"]


def first_include(root, name):
    """The header that `name` includes before anything else, or None."""
    code = re.sub(r"//.*|^#pragma once$", "", common.text(root, name), flags=re.MULTILINE)
    match = re.match(r'\s*#include "([^"]+)"', code)
    return match and match[1]


def compile_alone(root, name):
    """Returns (problem or "", files it was made of)."""
    with tempfile.TemporaryDirectory() as folder:
        rule = pathlib.Path(folder) / "rule.d"
        run = subprocess.run(
            [*command(needs_torch(root, name)), f"-I{root}", "-x", "c++", "-", "-MD", "-MF", rule],
            input=f'#include "{name}"\n',
            cwd=root,
            capture_output=True,
            text=True,
        )
        if run.returncode:
            lines = [line for line in run.stderr.splitlines() if "error" in line]
            return f"{name}: does not compile alone: {(lines or [run.stderr])[0]}", []
        return "", [str((root / path).resolve()) for path in dependencies(rule)]


def problems(root, files):
    cache_file = problems.options.cache
    setting = " ".join([*command(True), digest(problems.options.compiler)])
    cache = {}
    if cache_file and cache_file.exists():
        stored = json.loads(cache_file.read_text())
        cache = stored["headers"] if stored.get("setting") == setting else {}
    trees = ("core/", "widgets/") if problems.options.system else ("core/",)
    headers = [name for name in files if name.startswith(trees) and name.endswith(".h")]
    # Headers handed to compilers of candidates are not the engine's; their rooms test them.
    apart = ("/share/", "/host/", "/modules/extension/")
    headers = [name for name in headers if not any(part in name for part in apart)]

    if not problems.options.torch:
        headers = [name for name in headers if not needs_torch(root, name)]

    def fresh(name):
        made_of = cache.get(f"{root}/{name}")
        return bool(made_of) and all(digest(path) == value for path, value in made_of.items())

    found = []
    passed = set()

    def check(names):
        passed.update(name for name in names if fresh(name))
        todo = [name for name in names if name not in passed]
        with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
            for name, (problem, made_of) in zip(
                todo, pool.map(lambda name: compile_alone(root, name), todo)
            ):
                if problem:
                    found.append(problem)
                    cache.pop(f"{root}/{name}", None)
                else:
                    passed.add(name)
                    cache[f"{root}/{name}"] = {path: digest(path) for path in made_of}

    first = {name: first_include(root, name) for name in headers}
    check([name for name in headers if name not in first.values()])
    proven = set(passed)
    while grown := {first[name] for name in proven if first.get(name)} - proven:
        proven |= grown
    check([name for name in headers if name in first.values() and name not in proven])
    if cache_file:
        kept = {key: value for key, value in cache.items() if os.path.exists(key)}
        cache_file.parent.mkdir(parents=True, exist_ok=True)
        cache_file.write_text(json.dumps({"setting": setting, "headers": kept}))
    return found


def folders(text):
    return [folder for folder in text.split(",") if folder]


def options(parser):
    parser.add_argument("--compiler", default="/usr/bin/g++")
    parser.add_argument("--cache", type=pathlib.Path)
    parser.add_argument(
        "--system",
        type=folders,
        default=[],
        help="include folders of Qt, separated by commas",
    )
    parser.add_argument(
        "--torch",
        type=folders,
        default=[],
        help="include folders of LibTorch, separated by commas",
    )


if __name__ == "__main__":
    common.main(
        problems,
        good={
            "complete": {"core/a.h": "#pragma once\n#include <string>\nstd::string name();\n"},
            "outside core": {"app/a.h": "std::string name();\n"},
        },
        bad={
            "missing include": {"core/a.h": "#pragma once\nstd::string name();\n"},
            "warning": {"core/a.h": "#pragma once\ninline int f(int unused) { return 1; }\n"},
            "bad behind a bad one": {
                "core/a.h": '#pragma once\n#include "core/b.h"\nNothing f();\n',
                "core/b.h": "#pragma once\nstd::string name();\n",
            },
            "second include": {
                "core/a.h": '#pragma once\n#include <string>\n#include "core/b.h"\n',
                "core/b.h": "#pragma once\nstd::string name();\n",
            },
            "leans on another": {
                "core/a.h": "#pragma once\ninline Thing make() { return {}; }\n",
                "core/b.h": '#pragma once\nstruct Thing {};\n#include "core/a.h"\n',
            },
        },
        options=options,
    )
