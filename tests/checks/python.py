# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every tracked Python file parses. Nothing is written: no .pyc stays behind.

Files under tests/data/ are inputs of tests, some of them broken on purpose, and are left out.
"""

import warnings

import common


def problems(root, files):
    found = []
    for name in files:
        if not name.endswith(".py") or name.startswith("tests/data/"):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                compile(common.text(root, name), name, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            found.append(f"{name}:{getattr(error, 'lineno', 0)}: {error}")
    return found


if __name__ == "__main__":
    common.main(
        problems,
        good={"plain": {"a.py": "x = 1\n"}, "fixture": {"tests/data/a.py": ")(\n"}},
        bad={"syntax": {"a.py": "def f(:\n"}, "escape": {"core/a.py": 'x = "\\d"\n'}},
    )
