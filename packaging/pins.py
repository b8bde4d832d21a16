# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the pins of a requirements file that the running environment does not meet.

usage: pins.py base|alone|toolkit REQUIREMENTS

`alone` and `toolkit` look at the lines that carry the marker `extra == "alone"` (to be installed without
their requirements) or `extra == "toolkit"`, `base` at those without such a marker.
One `name==version` a line; exit code 1 when there is any. A local version (torch's +cu130) meets
its pin.
"""

import importlib.metadata
import sys


def pins(kind, lines):
    for line in lines:
        requirement, _, marker = line.partition("#")[0].partition(";")
        wanted = f'extra == "{kind}"' in marker or (kind == "base" and "extra ==" not in marker)
        if requirement.strip() and wanted:
            yield requirement.strip()


def met(pin):
    name, _, version = pin.partition("==")
    try:
        return importlib.metadata.version(name).partition("+")[0] == version
    except importlib.metadata.PackageNotFoundError:
        return False


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        unmet = [pin for pin in pins(sys.argv[1], file) if not met(pin)]
    print("\n".join(unmet))
    return 1 if unmet else 0


if __name__ == "__main__":
    sys.exit(main())
