# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every header under core/ compiles alone, without a warning; those under widgets/ too where --system
names the folders of Qt, and those of core/learn that need LibTorch where --torch names its folders.

Most of the time would go into the same few headers again and again (nlohmann/json.hpp, ATen, QWidget).
So a header may be compiled behind a precompiled stem, but only one whose parts it includes itself, by
whatever way: then the stem gives it no name that it would not have alone. A header between the two
that leans on the stem is found where it is checked itself.

What a header was last checked with (content hashes of it and of all that it includes) is kept in a
cache file, so a second run looks only at what changed.
"""

import collections
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

# Sets of headers to precompile, the dearest first: a header takes the first one that it has whole.
STEMS = [
    ("core/learn/model/transformer.h",),
    ("ATen/core/Tensor.h",),
    ("QDialog", "core/session/event.h"),
    ("QWidget", "core/base/json.h"),
    ("QWidget",),
    ("QObject", "core/session/event.h"),
    ("QString", "core/base/json.h"),
    ("QString",),
    ("core/session/event.h", "core/device/device.h"),
    ("core/session/event.h",),
    ("core/base/json.h", "functional", "map", "memory", "vector"),
    ("core/base/json.h",),
    ("core/base/result.h",),
]

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


def included(root, name, known):
    """Paths of all that a header includes outside of conditions, by way of the project's own too."""
    if name not in known:
        known[name] = set()  # for circles
        if (root / name).is_file():
            depth = 0
            for line in re.findall(r"^[ \t]*#[ \t]*(.*)", common.text(root, name), re.MULTILINE):
                depth += line.startswith("if") - line.startswith("endif")
                if not depth and (path := re.match(r'include\s*[<"]([^>"]+)', line)):
                    known[name] |= {path[1]} | included(root, path[1], known)
    return known[name]


def stem_of(root, name, known):
    has = included(root, name, known) - {name}
    return next((stem for stem in STEMS if has.issuperset(stem)), ())


def precompile(root, stem, with_torch, folder):
    """The stem's header in `folder`, with its precompiled form beside it, and the files that it was
    made of; nothing where it does not compile."""
    header = folder / f"{STEMS.index(stem)}{'t' if with_torch else ''}.h"
    header.write_text("".join(f"#include <{path}>\n" for path in stem))
    rule = header.with_suffix(".d")
    flags = [flag for flag in command(with_torch) if flag != "-fsyntax-only"]
    made = f"{header}.gch"
    run = subprocess.run(
        [*flags, f"-I{root}", "-x", "c++-header", header, "-o", made, "-MD", "-MF", rule],
        cwd=root,
        capture_output=True,
    )
    if run.returncode:
        return None, []
    return header, [path for path in dependencies(rule) if path != str(header)]


def compile_alone(root, name, stem=None, behind=()):
    """Returns (problem or "", files it was made of); `behind` are those of the stem."""
    with tempfile.TemporaryDirectory() as folder:
        rule = pathlib.Path(folder) / "rule.d"
        before = ["-Winvalid-pch", "-include", stem] if stem else []
        source = [f"-I{root}", *before, "-x", "c++", "-", "-MD", "-MF", rule]
        run = subprocess.run(
            [*command(needs_torch(root, name)), *source],
            input=f'#include "{name}"\n',
            cwd=root,
            capture_output=True,
            text=True,
        )
        if run.returncode:
            lines = [line for line in run.stderr.splitlines() if "error" in line]
            return f"{name}: does not compile alone: {(lines or [run.stderr])[0]}", []
        made_of = [*behind, *(path for path in dependencies(rule) if not path.startswith(str(stem)))]
        return "", sorted({str((root / path).resolve()) for path in made_of})


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

    known = {}
    todo = {name: stem_of(root, name, known) for name in headers if not fresh(name)}
    # Those of the dearest stems first, so that the others fill the gaps at the end.
    order = {stem: place for place, stem in enumerate([*STEMS, ()])}
    todo = dict(sorted(todo.items(), key=lambda item: order[item[1]]))
    uses = collections.Counter((stem, needs_torch(root, name)) for name, stem in todo.items())
    found = []
    with (
        tempfile.TemporaryDirectory() as folder,
        concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool,
    ):
        made = {
            use: pool.submit(precompile, root, *use, pathlib.Path(folder))
            for use, count in uses.items()
            if use[0] and count > 1
        }

        def check(name):
            use = (todo[name], needs_torch(root, name))
            return compile_alone(root, name, *(made[use].result() if use in made else ()))

        for name, (problem, made_of) in zip(todo, pool.map(check, todo)):
            if problem:
                found.append(problem)
                cache.pop(f"{root}/{name}", None)
            else:
                cache[f"{root}/{name}"] = {path: digest(path) for path in made_of}
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


# Two headers behind one stem.
RESULTS = {
    "core/base/result.h": "#pragma once\nstruct Result {};\n",
    "core/user.h": '#pragma once\n#include "core/base/result.h"\nResult make();\n',
}

if __name__ == "__main__":
    common.main(
        problems,
        good={
            "complete": {"core/a.h": "#pragma once\n#include <string>\nstd::string name();\n"},
            "behind a stem": RESULTS,
            "outside core": {"app/a.h": "std::string name();\n"},
        },
        bad={
            "missing include": {"core/a.h": "#pragma once\nstd::string name();\n"},
            "warning": {"core/a.h": "#pragma once\ninline int f(int unused) { return 1; }\n"},
            "second include": {
                "core/a.h": '#pragma once\n#include <string>\n#include "core/b.h"\n',
                "core/b.h": "#pragma once\nstd::string name();\n",
            },
            "leans on what its user precompiles": {
                **RESULTS,
                "core/c.h": '#pragma once\n#include "core/d.h"\n#include "core/base/result.h"\n',
                "core/d.h": "#pragma once\nint value(Result);\n",
            },
            "bad behind a stem": {
                **RESULTS,
                "core/a.h": '#pragma once\n#include "core/base/result.h"\nNothing f();\n',
            },
            "leans on what a condition includes": {
                **RESULTS,
                "core/a.h": '#pragma once\n#ifdef NEVER\n#include "core/base/result.h"\n#endif\n'
                "int value(Result);\n",
            },
            "leans on another": {
                "core/a.h": "#pragma once\ninline Thing make() { return {}; }\n",
                "core/b.h": '#pragma once\nstruct Thing {};\n#include "core/a.h"\n',
            },
        },
        options=options,
    )
