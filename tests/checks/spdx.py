# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every source file starts with the two-line SPDX head (after a shebang or a tool's own line)."""

import common


def head_stands(lines):
    # "#!" of scripts, and the line that tells ShellCheck the shell of a file to be sourced.
    while lines and lines[0].startswith(("#!", "# shellcheck ")):
        lines = lines[1:]
    return len(lines) >= 2 and any(
        [line.rstrip() for line in lines[:2]] == [mark + line for line in common.SPDX]
        for mark in ("// ", "# ")
    )


def problems(root, files):
    return [
        f"{name}: the two-line SPDX head is missing"
        for name in files
        if common.is_source(root, name) and not head_stands(common.text(root, name).split("\n")[:5])
    ]


if __name__ == "__main__":
    common.main(
        problems,
        good={
            "C++": {"a.h": common.spdx_head() + "#pragma once\n"},
            "script": {"run": "#!/usr/bin/env bash\n" + common.spdx_head("#") + "true\n"},
            "sourced": {"a.sh": "# shellcheck shell=bash\n" + common.spdx_head("#")},
            "no source": {"a.json": "{}\n", "notes": "text\n"},
        },
        bad={
            "none": {"a.cpp": "int a;\n"},
            "empty": {"a.py": ""},
            "one line": {"CMakeLists.txt": f"# {common.SPDX[0]}\nproject(x)\n"},
            "other licence": {"a.cu": f"// {common.SPDX[0]}\n// SPDX-License-Identifier: MIT\n"},
            "late": {"a.cmake": "# text\n" + common.spdx_head("#")},
            "script": {"run": "#!/usr/bin/env bash\ntrue\n"},
        },
    )
