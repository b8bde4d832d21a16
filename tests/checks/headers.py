# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every header under core/ compiles alone, without a warning; those under widgets/ too where --system
names the folders of Qt, and those of core/learn that need LibTorch where --torch names its folders.

Most of the time would go into the same few headers again and again (nlohmann/json.hpp, ATen, QWidget).
So a header may be compiled behind a precompiled stem, but only one whose parts it includes itself, by
whatever way: then the stem gives it no name that it would not have alone. A header between the two
that leans on the stem is found where it is checked itself.

The compiler may be g++ or clang++. Clang takes a third of the time: it instantiates the templates that
a stem needs once, with the stem, and g++ in every header behind it.

What a header was last checked with (content hashes of it and of all that it includes) is kept in a
cache file, so a second run looks only at what changed; names in it are as seen from the root, so that
every checkout can use it.
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
    ("QWidget", "core/session/event.h"),
    ("QWidget", "core/base/json.h"),
    ("QDialog",),
    ("QWidget",),
    ("QObject", "core/session/event.h"),
    ("QString", "core/base/json.h"),
    ("QString",),
    ("core/session/event.h", "core/device/device.h"),
    ("core/session/event.h",),
    ("core/device/device.h", "functional", "map", "memory", "vector"),
    ("core/device/device.h",),
    ("core/base/json.h", "functional", "map", "memory", "vector"),
    ("core/base/json.h",),
    ("core/base/result.h",),
    ("string", "vector"),
]

FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-fsyntax-only"]
CLANG = ["-fpch-instantiate-templates", "-Wno-pragma-once-outside-header", "-Wno-overloaded-virtual"]


def command(with_torch=False):
    """The compiler with its options. Qt wants code that does not depend on its place."""
    given = problems.options
    own = CLANG if is_clang() else ["-Winvalid-pch"]
    folders = [word for folder in given.system for word in ("-isystem", folder)]
    torch = [word for folder in given.torch if with_torch for word in ("-isystem", folder)]
    return [given.compiler, *FLAGS, *own, *(["-fPIC", *folders] if folders else []), *torch]


def is_clang():
    return "clang" in pathlib.Path(problems.options.compiler).name


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
    made = f"{header}.{'pch' if is_clang() else 'gch'}"
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
        before = ["-include", stem] if stem else []
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
        return "", sorted({seen_from(root, (root / path).resolve()) for path in made_of})


def seen_from(root, path):
    """A path in the checkout as seen from its root, any other as it is."""
    path = str(path)
    return path[len(str(root)) + 1 :] if path.startswith(f"{root}/") else path


def digest_of(root, paths):
    """One hash of the contents of all of them, and of their names."""
    text = "".join(f"{path} {digest(root / path)}\n" for path in paths)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_cache(file, setting):
    """Header -> (hash, paths that it is of); empty where another setting or nothing is there."""
    try:
        stored = json.loads(file.read_text())
        if stored["setting"] == setting:
            paths = stored["paths"]
            return {name: (made, [paths[i] for i in of]) for name, (made, of) in stored["headers"].items()}
    except (OSError, ValueError, KeyError):
        pass
    return {}


def write_cache(file, setting, cache):
    paths = {}
    headers = {
        name: (made, [paths.setdefault(path, len(paths)) for path in of])
        for name, (made, of) in sorted(cache.items())
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps({"setting": setting, "paths": list(paths), "headers": headers}))
    part.replace(file)


def problems(root, files):
    given = problems.options
    trees = ("core/", "widgets/") if given.system else ("core/",)
    headers = [name for name in files if name.startswith(trees) and name.endswith(".h")]
    # Headers handed to compilers of candidates are not the engine's; their rooms test them.
    apart = ("/share/", "/host/", "/modules/extension/")
    headers = [name for name in headers if not any(part in name for part in apart)]
    if not given.torch:
        headers = [name for name in headers if not needs_torch(root, name)]

    words = (word.replace(f"{root}/", "") for word in command(True))
    setting = " ".join([*words, digest(given.compiler)])
    cached = given.cache and root == given.root.resolve()  # fixtures are none
    cache = read_cache(given.cache, setting) if cached else {}

    def fresh(name):
        made, of = cache.get(name, ("", ()))
        return bool(of) and made == digest_of(root, of)

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
            else:
                cache[name] = (digest_of(root, made_of), made_of)
    if cached and todo:
        write_cache(given.cache, setting, {name: cache[name] for name in headers if fresh(name)})
    return found


def default_cache():
    """In the user's cache, where core/base/paths.h has it, so that every checkout shares it."""
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(os.environ.get("CUDA_AGENT_CACHE") or pathlib.Path(home) / "cuda-agent") / "headers.json"


def folders(text):
    return [folder for folder in text.split(",") if folder]


def options(parser):
    parser.add_argument("--compiler", default="/usr/bin/g++")
    parser.add_argument("--cache", type=pathlib.Path, default=default_cache())
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
