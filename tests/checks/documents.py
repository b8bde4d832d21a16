# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Links in Markdown files lead somewhere, and README.md lists the rooms in dependency order."""

import re

import common
import layering

LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")


def problems(root, files):
    found = []
    for name in files:
        if not name.endswith(".md"):
            continue
        folder = (root / name).parent
        for target in LINK.findall(common.text(root, name)):
            if not (folder / target).exists():
                found.append(f"{name}: link to {target}, which does not exist")
    if "README.md" not in files:
        return found
    for tree in ("core", "widgets"):
        listed = re.findall(rf"^\| `{tree}/(\w+)` \|", common.text(root, "README.md"), re.MULTILINE)
        rooms = layering.room_order(root, tree)
        there = [room for room in rooms if f"{tree}/{room}/CMakeLists.txt" in files]
        if [room for room in listed if room in there] != there:
            found.append(f"README.md: lists {tree}/ as {listed}, in order it is {there}")
        found += [
            f"README.md: {tree}/{room} is no room" for room in listed if rooms and room not in rooms
        ]
    return found


def rooms(*listed):
    files = {
        "core/CMakeLists.txt": "foreach(room base task)\n",
        "README.md": "".join(f"| `core/{room}` | text |\n" for room in listed),
    }
    return {**files, "core/base/CMakeLists.txt": "", "core/task/CMakeLists.txt": ""}


if __name__ == "__main__":
    common.main(
        problems,
        good={
            "links": {"a.md": "[b](b.md) [c](https://example.org) [d](#d)\n", "b.md": "\n"},
            "rooms": rooms("base", "task"),
        },
        bad={
            "dead link": {"a.md": "[b](b.md)\n"},
            "room left out": rooms("base"),
            "wrong order": rooms("task", "base"),
            "invented room": rooms("base", "task", "more"),
        },
    )
