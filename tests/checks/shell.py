# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shell scripts parse, stop at the first error, and pass ShellCheck where it is installed."""

import shutil
import subprocess

import common


def problems(root, files):
    scripts = [name for name in files if common.is_shell(root, name)]
    found = []
    for name in scripts:
        run = subprocess.run(["bash", "-n", name], cwd=root, capture_output=True, text=True)
        if run.returncode:
            found.append(run.stderr.strip())
        lines = common.text(root, name).splitlines()
        commands = [line for line in lines if line.strip() and not line.startswith("#")]
        # A script that is one exec has nothing to stop at, and a plain sh knows no pipefail.
        wanted = "set -eu" if lines[:1] == ["#!/bin/sh"] else "set -euo pipefail"
        if len(commands) > 1 and wanted not in lines:
            found.append(f"{name}: {wanted} is missing")
    if scripts and shutil.which("shellcheck"):
        run = subprocess.run(
            ["shellcheck", "-x", "-f", "gcc", *scripts], cwd=root, capture_output=True, text=True
        )
        found += run.stdout.splitlines() if run.returncode else []
    elif scripts:
        print("shellcheck is not installed: only parsed (apt-get install shellcheck)")
    return found


HEAD = "#!/usr/bin/env bash\nset -euo pipefail\n"
GOOD = {
    "plain": {"run": HEAD + 'rm "$1"\n'},
    "plain sh": {"run.sh": '#!/bin/sh\nset -eu\nrm "$1"\n'},
}

if __name__ == "__main__":
    bad = {
        "syntax": {"run": HEAD + "if true; then\n"},
        "sh goes on after errors": {"run.sh": "#!/bin/sh\ncd x\nrm y\n"},
        "goes on after errors": {"run": "#!/usr/bin/env bash\ncd x\nrm y\n"},
    }
    if shutil.which("shellcheck"):
        bad["unquoted"] = {"run": HEAD + "rm $1\n"}
    common.main(problems, good=GOOD, bad=bad)
