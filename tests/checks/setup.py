# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Set-up fails with one clear line and the right exit code, and does nothing twice.

Works on a copy of packaging/ in a temporary folder. Programs that would change the machine
(apt-get, sudo) or that have to be missing are replaced through PATH by small scripts.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = None
TOOLS = (
    "awk basename bash cat cmake comm cut date df dirname env flock grep head id kill mkdir ninja"
    " nproc printf rm sed sh sha256sum sleep sort tail tr xargs ln cp ls"
).split()


class Setup(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name) / "a checkout"
        shutil.copytree(ROOT / "packaging", self.root / "packaging")
        self.packaging = self.root / "packaging"
        self.stubs = pathlib.Path(self.folder.name) / "stubs"
        self.stubs.mkdir()
        for tool in TOOLS:
            found = shutil.which(tool)
            if found:
                (self.stubs / tool).symlink_to(found)

    def tearDown(self):
        self.folder.cleanup()

    def stub(self, name, body):
        path = self.stubs / name
        path.unlink(missing_ok=True)
        path.write_text("#!/bin/bash\n" + body + "\n")
        path.chmod(0o755)

    def packages(self, *names):
        (self.packaging / "packages.txt").write_text("".join(f"{name} # why\n" for name in names))

    def run_command(self, *arguments, command="setup", **variables):
        environment = {"PATH": str(self.stubs), "HOME": self.folder.name, "LC_ALL": "C.UTF-8"}
        return subprocess.run(
            [str(self.packaging / command), *arguments],
            cwd="/",
            env={**environment, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
        )

    def assert_one_line(self, run, code, *words):
        lines = run.stderr.splitlines()
        self.assertEqual(len(lines), 1, run.stdout + run.stderr)
        self.assertTrue(lines[0].startswith("packaging/"), lines[0])
        for word in words:
            self.assertIn(word, lines[0])
        self.assertEqual(run.returncode, code, lines[0])

    # --- requests

    def test_help(self):
        for command in ("setup", "start", "test", "bundle"):
            run = self.run_command("--help", command=command)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            self.assertTrue(run.stdout.startswith(f"usage: packaging/{command}"), run.stdout)

    def test_unusable_requests(self):
        self.assert_one_line(self.run_command("--wat"), 2, "--wat", "--help")
        self.assert_one_line(self.run_command("--until", "lunch"), 2, "lunch", "configure")
        self.assert_one_line(self.run_command("--until"), 2, "--until")
        self.assert_one_line(self.run_command("--wat", command="start"), 2, "--wat")
        self.assert_one_line(self.run_command("no.py", command="start"), 2, "no.py", "KernelBench")
        self.assert_one_line(self.run_command("plan.", command="test"), 2, "plan.")
        self.assert_one_line(self.run_command("--wat", command="test"), 2, "--wat")
        self.assert_one_line(self.run_command("-R", command="test"), 2, "-R", "value")
        self.assert_one_line(self.run_command(command="bundle"), 2, "OUT")

    # --- Debian packages

    def test_installed_packages_need_nothing(self):
        self.packages("alpha", "beta")
        self.stub("dpkg-query", 'printf "installed alpha\\ninstalled beta\\n"')
        self.stub("apt-get", "exit 99")
        run = self.run_command("--until", "packages")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout.splitlines(), ["[1/5] Debian packages … ready"])

    def test_missing_package_without_apt(self):
        self.packages("alpha", "beta")
        self.stub("dpkg-query", 'echo "installed alpha"; exit 1')
        run = self.run_command("--until", "packages")
        self.assert_one_line(run, 3, "package beta", "no apt-get")

    def test_no_debian(self):
        run = self.run_command("--until", "packages")
        self.assert_one_line(run, 3, "dpkg-query", "--no-packages")

    def test_network_away(self):
        self.packages("alpha")
        self.stub("dpkg-query", "exit 1")
        self.stub("id", "echo 0")
        self.stub(
            "apt-get",
            "echo \"W: Failed to fetch http://deb.debian.org  Temporary failure resolving 'deb.debian.org'\"\n"
            "echo 'E: Unable to locate package alpha'; exit 100",
        )
        run = self.run_command("--until", "packages")
        self.assert_one_line(run, 3, "package alpha", "no network", "deb.debian.org")

    def test_unknown_package(self):
        self.packages("alpha")
        self.stub("dpkg-query", "exit 1")
        self.stub("id", "echo 0")
        self.stub("apt-get", "echo 'E: Unable to locate package alpha'; exit 100")
        run = self.run_command("--until", "packages")
        self.assert_one_line(run, 3, "package alpha", "Unable to locate")

    def test_apt_that_only_claims(self):
        self.packages("alpha")
        self.stub("dpkg-query", "exit 1")
        self.stub("id", "echo 0")
        self.stub("apt-get", "exit 0")
        self.assert_one_line(self.run_command("--until", "packages"), 3, "alpha", "still missing")

    def test_user_without_sudo(self):
        self.packages("alpha")
        self.stub("dpkg-query", "exit 1")
        self.stub("id", "echo 1000")
        self.stub("apt-get", "exit 99")
        run = self.run_command("--until", "packages")
        self.assert_one_line(run, 3, "package alpha", "no sudo", "apt-get install alpha")

    def test_user_whose_sudo_is_refused(self):
        self.packages("alpha")
        self.stub("dpkg-query", "exit 1")
        self.stub("id", "echo 1000")
        self.stub("apt-get", "exit 99")
        self.stub("sudo", "echo 'sudo: a password is required' >&2; exit 1")
        run = self.run_command("--until", "packages")
        self.assert_one_line(run, 3, "package alpha", "sudo was refused")

    def test_installs_through_sudo(self):
        self.packages("alpha", "beta")
        installed = self.root / "installed"
        self.stub("dpkg-query", f'cat "{installed}" 2>/dev/null; exit 1')
        self.stub("id", "echo 1000")
        self.stub("sudo", 'shift; [ "$1" = true ] || AS_ROOT=1 "$@"')
        self.stub(
            "apt-get",
            '[ -n "$AS_ROOT" ] || exit 99\n'
            'case "$*" in *install*) for p in "$@"; do echo "installed $p"; done '
            f'>"{installed}" ;; esac',
        )
        run = self.run_command("--until", "packages")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("installed beta", installed.read_text())

    # --- Python

    def test_venv_package_missing(self):
        self.stub("python-without-venv", "echo 'ensurepip is not available.'; exit 1")
        run = self.run_command(
            "--no-packages",
            "--until",
            "python",
            CUDA_AGENT_BASE_PYTHON=str(self.stubs / "python-without-venv"),
        )
        self.assert_one_line(run, 3, "package python3-venv is missing")
        self.assertFalse((self.root / ".venv").exists())

    def test_python_missing(self):
        run = self.run_command(
            "--no-packages", "--until", "python", CUDA_AGENT_BASE_PYTHON="/nowhere/python3"
        )
        self.assert_one_line(run, 3, "package python3 is missing")

    def test_package_index_away_then_back(self):
        (self.packaging / "requirements.txt").write_text("no-such-thing==1.0\n")
        offline = {
            "PIP_CONFIG_FILE": "/dev/null",
            "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
            "PIP_RETRIES": "1",
        }
        run = self.run_command("--no-packages", "--until", "python", **offline)
        self.assert_one_line(run, 3, "no-such-thing==1.0", "no network")
        # The environment that stands half finished is taken up again, not made anew.
        self.assertTrue((self.root / ".venv" / "bin" / "python").exists())
        (self.packaging / "requirements.txt").write_text("# nothing\n")
        (self.root / ".venv" / "lib" / "python3" / "site-packages" / "torch").mkdir(parents=True)
        for _ in range(2):
            run = self.run_command("--no-packages", "--until", "python", **offline)
            self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("Python environment … ready", run.stdout)

    def test_given_environment_is_not_changed(self):
        venv = self.root / "theirs"
        run = self.run_command("--no-packages", "--until", "python", CUDA_AGENT_VENV=str(venv))
        self.assert_one_line(run, 2, "CUDA_AGENT_VENV", "bin/python")
        (venv / "bin").mkdir(parents=True)
        (venv / "bin" / "python").symlink_to("/usr/bin/python3")
        (self.packaging / "requirements.txt").write_text("no-such-thing==1.0\n")
        before = sorted(os.walk(venv))
        run = self.run_command("--no-packages", "--until", "python", CUDA_AGENT_VENV=str(venv))
        self.assert_one_line(run, 3, "no-such-thing==1.0", "pip install -r")
        self.assertEqual(before, sorted(os.walk(venv)))

    def test_toolkit_lines_are_told_apart(self):
        pins = [str(self.packaging / "pins.py")]
        listed = {}
        for kind in ("base", "alone", "toolkit"):
            run = subprocess.run(
                ["/usr/bin/python3", "-I", "-S", *pins, kind, self.packaging / "requirements.txt"],
                capture_output=True,
                text=True,
            )
            listed[kind] = run.stdout.split()
        self.assertIn("torch==2.11.0", listed["base"])
        self.assertNotIn("torch==2.11.0", listed["toolkit"] + listed["alone"])
        self.assertTrue(any(pin.startswith("tensorboard==") for pin in listed["alone"]))
        self.assertTrue(any(pin.startswith("nvidia-cuda-nvcc==13.0.") for pin in listed["toolkit"]))
        for pin in listed["base"] + listed["alone"] + listed["toolkit"]:
            self.assertRegex(pin, r"^[\w.-]+==[\w.]+$")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, required=True)
    arguments, rest = parser.parse_known_args()
    ROOT = arguments.root.resolve()
    unittest.main(argv=["setup.py", *rest])
