# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Includes go downwards only, in the order that core/CMakeLists.txt lists the rooms; no Qt and no
LibTorch under core/; programs include core/ and app/ alone."""

import re

import common

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
QT = re.compile(r"^(Q[A-Z]\w*|Qsci/|qcustomplot|Qt\w+/)")
TORCH = re.compile(r"^(torch|ATen|c10|caffe2)/")


def room_order(root):
    words = re.search(r"foreach\(\s*room\s+([^)]*)\)", common.text(root, "core/CMakeLists.txt"))
    return words[1].split() if words else []


def problems(root, files):
    rooms = room_order(root)
    if not rooms:
        return ["core/CMakeLists.txt: no foreach(room ...) list found"]
    found = []
    for name in files:
        top, _, rest = name.partition("/")
        if top not in ("core", "app") or not name.endswith((".h", ".cpp", ".cu")):
            continue
        room = rest.partition("/")[0]
        if top == "core" and "/" in rest and room not in rooms:
            found.append(f"{name}: room '{room}' is not in the list of core/CMakeLists.txt")
            continue
        for quote, path in INCLUDE.findall(common.text(root, name)):
            where = f"{name}: includes {path}"
            into, _, inner = path.partition("/")
            if QT.match(path) and top == "core":
                found.append(f"{where}: core/ has no Qt")
            elif TORCH.match(path):
                found.append(f"{where}: only the trainer and the Python worker use LibTorch")
            elif quote == '"' and into == "core":
                other = inner.partition("/")[0]
                if other not in rooms:
                    found.append(f"{where}: no such room")
                elif top == "core" and rooms.index(other) > rooms.index(room):
                    found.append(f"{where}: '{other}' lies above '{room}'")
            elif quote == '"' and into in ("app", "widgets", "tests") and into != top:
                found.append(f"{where}: {top}/ does not include {into}/")
            elif quote == '"' and ".." in path.split("/"):
                found.append(f"{where}: write includes from the repository root")
    return found


LIST = "foreach(\n  room\n  base\n  task\n  agent)\nendforeach()\n"


def case(name, line):
    return {"core/CMakeLists.txt": LIST, name: line + "\n"}


if __name__ == "__main__":
    common.main(
        problems,
        good={
            "down": case("core/task/a.h", '#include "core/base/b.h"'),
            "same room": case("core/task/a.cpp", '#include "core/task/a.h"'),
            "program": case("app/main.cpp", '#include "core/agent/a.h"\n#include "app/b.h"'),
            "system": case("core/base/a.h", "#include <fmt/format.h>"),
        },
        bad={
            "up": case("core/base/a.h", '#include "core/task/b.h"'),
            "unknown room": case("core/extra/a.h", "#include <string>"),
            "room not there": case("core/task/a.h", '#include "core/extra/b.h"'),
            "Qt": case("core/base/a.cpp", "#include <QString>"),
            "torch": case("core/base/a.cpp", "#include <torch/torch.h>"),
            "ATen": case("core/base/a.cpp", "#  include <ATen/ATen.h>"),
            "program in the engine": case("core/base/a.cpp", '#include "app/b.h"'),
            "window in a program": case("app/a.cpp", '#include "widgets/b.h"'),
            "dots": case("core/task/a.cpp", '#include "../base/b.h"'),
        },
    )
