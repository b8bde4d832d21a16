# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""No source file is longer than 600 lines: past that it has a second job, so split it."""

import common

LIMIT = 600


def problems(root, files):
    found = []
    for name in files:
        if common.is_source(root, name):
            lines = common.text(root, name).count("\n")
            if lines > LIMIT:
                found.append(f"{name}: {lines} lines, more than {LIMIT}: split it")
    return found


if __name__ == "__main__":
    common.main(
        problems,
        good={"at the limit": {"a.cpp": "\n" * LIMIT}, "data": {"a.json": "\n" * (LIMIT + 1)}},
        bad={"past it": {"a.cpp": "\n" * (LIMIT + 1)}},
    )
