# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Includes go downwards only: core/, widgets/, app/, and within core/ and widgets/ in the order that
their CMakeLists.txt list the rooms; no Qt under core/. The parts of core/learn are in order, too, and
those that core/learn/CMakeLists.txt appends are the only ones with LibTorch: besides them only the
trainer, app/learn, includes them."""

import re

import common

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
QT = re.compile(r"^(Q[A-Z]\w*|Qsci/|qcustomplot|Qt\w+/)")
TORCH = re.compile(r"^(torch|ATen|c10|caffe2)/")


TREES = ("core", "widgets", "app")  # lowest first


def room_order(root, tree):
    if not (root / tree / "CMakeLists.txt").exists():
        return []
    words = re.search(r"foreach\(\s*room\s+([^)]*)\)", common.text(root, f"{tree}/CMakeLists.txt"))
    return words[1].split() if words else []


def learn_parts(root):
    """All parts of core/learn, lowest first, and those that have LibTorch."""
    if not (root / "core/learn/CMakeLists.txt").exists():
        return [], []
    text = common.text(root, "core/learn/CMakeLists.txt")
    plain = re.search(r"set\(\s*parts\s+([^)]*)\)", text)
    torch = re.search(r"list\(\s*APPEND\s+parts\s+([^)]*)\)", text)
    with_torch = torch[1].split() if torch else []
    return (plain[1].split() if plain else []) + with_torch, with_torch


def learn_part(path):
    """PART of core/learn/PART/FILE, or nothing."""
    words = path.split("/")
    return words[2] if words[:2] == ["core", "learn"] and len(words) > 3 else ""


def problems(root, files):
    parts, torch_parts = learn_parts(root)
    rooms = {tree: room_order(root, tree) for tree in ("core", "widgets")}
    if not rooms["core"]:
        return ["core/CMakeLists.txt: no foreach(room ...) list found"]
    found = []
    for name in files:
        top, _, rest = name.partition("/")
        if top not in TREES or not name.endswith((".h", ".cpp", ".cu")):
            continue
        room = rest.partition("/")[0]
        part = learn_part(name)
        has_torch = part in torch_parts or name.startswith("app/learn/")
        if top in rooms and "/" in rest and room not in rooms[top]:
            found.append(f"{name}: room '{room}' is not in the list of {top}/CMakeLists.txt")
            continue
        for quote, path in INCLUDE.findall(common.text(root, name)):
            where = f"{name}: includes {path}"
            into, _, inner = path.partition("/")
            other = inner.partition("/")[0]
            if QT.match(path) and top == "core":
                found.append(f"{where}: core/ has no Qt")
            elif TORCH.match(path) and "/torch_include/" in name:
                continue  # stand-ins that bindings of candidates find among PyTorch's own headers
            elif TORCH.match(path):
                if not has_torch:
                    found.append(f"{where}: only the trainer and the Python worker use LibTorch")
            elif learn_part(path) in torch_parts and not has_torch:
                found.append(f"{where}: it has LibTorch, which only the trainer links")
            elif part in parts and learn_part(path) in parts and parts.index(learn_part(path)) > parts.index(part):
                found.append(f"{where}: '{learn_part(path)}' lies above '{part}'")
            elif quote != '"':
                continue
            elif into == "tests" or (into in TREES and TREES.index(into) > TREES.index(top)):
                found.append(f"{where}: {top}/ does not include {into}/")
            elif into in rooms and other not in rooms[into]:
                found.append(f"{where}: no such room")
            elif into in rooms and into == top:
                if rooms[top].index(other) > rooms[top].index(room):
                    found.append(f"{where}: '{other}' lies above '{room}'")
            elif ".." in path.split("/"):
                found.append(f"{where}: write includes from the repository root")
    return found


LIST = "foreach(\n  room\n  base\n  task\n  agent\n  learn)\nendforeach()\n"


LEARN = "set(parts corpus run)\nif(X)\n  list(APPEND parts model train)\nendif()\n"


PANES = "foreach(\n  room\n  plot\n  shell)\nendforeach()\n"


def case(name, line):
    return {"core/CMakeLists.txt": LIST, "core/learn/CMakeLists.txt": LEARN, "widgets/CMakeLists.txt": PANES, name: line + "\n"}


if __name__ == "__main__":
    common.main(
        problems,
        good={
            "down": case("core/task/a.h", '#include "core/base/b.h"'),
            "same room": case("core/task/a.cpp", '#include "core/task/a.h"'),
            "program": case("app/main.cpp", '#include "core/agent/a.h"\n#include "app/b.h"'),
            "window": case("widgets/shell/a.cpp", '#include "core/task/a.h"\n#include <QLabel>'),
            "pane": case("widgets/shell/a.cpp", '#include "widgets/plot/a.h"'),
            "window program": case("app/main.cpp", '#include "widgets/shell/a.h"'),
            "trainer": case("core/learn/train/a.cpp", '#include <ATen/ATen.h>\n#include "core/learn/corpus/a.h"'),
            "trainer's program": case("app/learn/a.cpp", '#include "core/learn/train/a.h"'),
            "system": case("core/base/a.h", "#include <fmt/format.h>"),
        },
        bad={
            "up": case("core/base/a.h", '#include "core/task/b.h"'),
            "unknown room": case("core/extra/a.h", "#include <string>"),
            "room not there": case("core/task/a.h", '#include "core/extra/b.h"'),
            "Qt": case("core/base/a.cpp", "#include <QString>"),
            "torch": case("core/base/a.cpp", "#include <torch/torch.h>"),
            "ATen": case("core/base/a.cpp", "#  include <ATen/ATen.h>"),
            "torch in the plain half": case("core/learn/run/a.cpp", "#include <ATen/ATen.h>"),
            "the trainer in the window": case("widgets/shell/a.cpp", '#include "core/learn/train/a.h"'),
            "up in learn": case("core/learn/model/a.cpp", '#include "core/learn/train/a.h"'),
            "program in the engine": case("core/base/a.cpp", '#include "app/b.h"'),
            "window in the engine": case("core/base/a.cpp", '#include "widgets/plot/b.h"'),
            "pane up": case("widgets/plot/a.cpp", '#include "widgets/shell/b.h"'),
            "pane not there": case("widgets/plot/a.cpp", '#include "widgets/extra/b.h"'),
            "program in the window": case("widgets/plot/a.cpp", '#include "app/b.h"'),
            "test in the window": case("widgets/plot/a.cpp", '#include "tests/b.h"'),
            "dots": case("core/task/a.cpp", '#include "../base/b.h"'),
        },
    )
