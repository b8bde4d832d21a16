# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line as a user runs it, with wrong input too. Needs CUDA_AGENT=<program>."""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

PROGRAM = os.environ["CUDA_AGENT"]
TASKS = pathlib.Path(__file__).resolve().parents[1] / "data" / "tasks"
SAMPLES = pathlib.Path(PROGRAM).parent.parent / "share" / "cuda-agent" / "tasks"

GOOD_TASK = """
import torch
import torch.nn as nn

rows = 64

class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2

def get_inputs():
    return [torch.randn(rows, 500)]

def get_init_inputs():
    return []
"""


def run(*arguments, timeout=300, cwd=None, **environment):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=timeout, cwd=cwd,
                          stdin=subprocess.DEVNULL, env=os.environ | environment)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # For `--baselines`, where a test is not about times: the next one spares torch.compile.
        cls.of_class = tempfile.TemporaryDirectory()
        cls.baselines = pathlib.Path(cls.of_class.name) / "baselines"

    @classmethod
    def tearDownClass(cls):
        cls.of_class.cleanup()

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        # Each test has a record of its own: what one finds would change what the next tries.
        os.environ["CUDA_AGENT_DATA"] = str(self.folder / "data")

    def tearDown(self):
        self.temporary.cleanup()

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def expect(self, result, code, *texts):
        said = result.stdout + result.stderr
        self.assertEqual(result.returncode, code, said)
        for text in texts:
            self.assertIn(text, said)


class Options(Case):
    def test_help_names_every_command(self):
        self.expect(run("--help"), 0, "doctor", "optimize", "check", "evaluate", "endpoint", "export",
                    "replay", "knowledge", "Exit codes")

    def test_every_command_has_help_and_json(self):
        for command in ("doctor", "optimize", "check", "endpoint", "evaluate",
                        "profile", "export", "replay", "knowledge"):
            self.expect(run(command, "--help"), 0, "--json")

    def test_wrong_use_exits_2(self):
        for arguments in ([], ["paint"], ["optimize"], ["optimize", "x.py", "--device", "tpu"],
                          ["optimize", "x.py", "--turns", "0"], ["check", "x.py"],
                          ["optimize", "x.py", "--policy", "oracle"], ["replay"]):
            with self.subTest(arguments=arguments):
                self.assertEqual(run(*arguments).returncode, 2)

    def test_wrong_words_are_told_what_was_meant(self):
        self.expect(run(), 2, "optimize", "Exit codes")
        self.expect(run("optimise", "x.py"), 2, "cuda-agent: there is no command optimise; did you mean optimize?")
        self.expect(run("optimize", "x.py", "--devcie", "cpu"), 2,
                    "cuda-agent optimize: there is no option --devcie; did you mean --device?",
                    "cuda-agent optimize --help")
        self.expect(run("optimize", "x.py", "--turn=3"), 2, "no option --turn; did you mean --turns?")
        self.assertNotIn("did you mean", run("optimize", "x.py", "--furlong", "3").stderr)
        self.assertNotIn("did you mean", run("paint").stderr)
        self.expect(run("optimize", "x.py", "y.py"), 2, "nothing is known to do with 'y.py'")
        self.expect(run("optimize"), 2, "cuda-agent optimize: TASK is required")
        self.expect(run("optimize", "x.py", "--device"), 2, "cuda-agent optimize: --device")

    def test_missing_things_exit_2_and_are_named(self):
        self.expect(run("optimize", "none.py", "--device", "cpu"), 2, "none.py")
        self.expect(run("optimize", self.folder, "--device", "cpu"), 2)
        self.expect(run("optimize", self.file("t.txt", "x"), "--device", "cpu"), 2, ".py")
        self.expect(run("replay", self.folder), 2, "session")
        task = self.file("t.py", GOOD_TASK)
        self.expect(run("check", task, self.folder / "none", "--device", "cpu"), 2, "plan.json")
        self.expect(run("optimize", task, "--device", "cpu", "--set", "rows"), 2, "NAME=VALUE")

    def test_errors_are_json_when_asked(self):
        result = run("optimize", "none.py", "--device", "cpu", "--json")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(json.loads(result.stdout)["error"]["exit_code"], 2)
        result = run("optimize", "x.py", "--devcie", "cpu", "--json")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--device?", json.loads(result.stdout)["error"]["message"])
        result = run("optimise", "x.py", "--json")
        self.assertIn("optimize?", json.loads(result.stdout)["error"]["message"])

    def test_doctor(self):
        result = run("doctor", "--json")
        findings = json.loads(result.stdout)
        self.assertTrue(findings["usable"], findings)
        self.assertEqual(result.returncode, 0)
        cpu = findings["findings"][0]
        if "in use" not in cpu["detail"]:  # by another test that times
            self.assertIn("measured: copy", cpu["detail"])
            self.assertGreater(cpu["ceilings"]["copy_bytes_per_second"], 1e8)
            sizes = [level["bytes"] for level in cpu["ceilings"]["levels"]]
            self.assertEqual(sizes, sorted(sizes))

    def test_doctor_tells_of_a_torch_without_bytecode(self):
        packages = self.folder / "venv" / "lib" / "python3.11" / "site-packages"
        python = self.folder / "venv" / "bin" / "python"
        for folder in (packages / "torch-2.11.0.dist-info", packages / "torch", python.parent):
            folder.mkdir(parents=True)
        python.touch()

        def told():
            findings = json.loads(run("doctor", "--json", CUDA_AGENT_PYTHON=str(python)).stdout)["findings"]
            return next(each["detail"] for each in findings if each["name"] == "Python with torch")

        self.assertIn(f"{python} -m compileall -q {packages}", told())
        (packages / "torch" / "__pycache__").mkdir()
        self.assertEqual(told(), f"{python} (torch 2.11.0)")


class BadTasks(Case):
    """Each gets a clear error and exit code 2, and leaves a readable log."""

    def bad(self, text, *expected, arguments=()):
        task = self.file("task.py", text)
        session = self.folder / "session"
        result = run("optimize", task, "--device", "cpu", "--session", session, *arguments)
        self.expect(result, 2, *expected)
        if session.exists():
            self.expect(run("replay", session), 0, "ended:")

    def test_not_python(self):
        self.bad("this is (no Python\n", "task.py:1")

    def test_no_model(self):
        self.bad(GOOD_TASK.replace("class Model", "class Modell"), "Model")

    def test_inputs_raise(self):
        self.bad(GOOD_TASK.replace("return [torch.randn", "raise ValueError('no data')\n    return [torch.randn"),
                 "no data")

    def test_output_is_not_a_tensor(self):
        self.bad(GOOD_TASK.replace("return torch.relu(x) * 2", "return 'text'"), "tensor")

    def test_too_large(self):
        self.bad(GOOD_TASK, "memory", arguments=["--set", "rows=4000000000"])

    def test_unknown_constant(self):
        self.bad(GOOD_TASK, "rows", arguments=["--set", "columns=3"])

    def test_tasks_that_cannot_tell_right_from_wrong(self):
        for name, why in (("cancels", "zeros would pass as output 0"),
                          ("mean_of_noise", "zeros would pass as output 0"),
                          ("ignores_inputs", "output 0 is the same whatever the inputs are")):
            result = run("optimize", TASKS / f"{name}.py", "--device", "cpu", "--session", self.folder / name)
            self.expect(result, 2, "cannot tell a right kernel from a wrong one", why)

    def test_hangs_are_not_waited_for_on_interrupt(self):
        task = self.file("task.py", GOOD_TASK.replace("return [torch.randn", "while True: pass\n    return [torch.randn"))
        session = self.folder / "session"
        process = subprocess.Popen([PROGRAM, "optimize", task, "--device", "cpu", "--session", session],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(8)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130, said)
        self.expect(run("replay", session), 0, "ended: stopped by request")


class Optimize(Case):
    def test_optimizes_and_checks_and_replays(self):
        task = self.file("task.py", GOOD_TASK)
        session = self.folder / "session"
        result = run("optimize", task, "--device", "cpu", "--session", session, "--json")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        verdict = json.loads(result.stdout)
        self.assertTrue(verdict["correct"])
        self.assertGreaterEqual(verdict["reward"], 1)
        self.assertEqual(verdict["device"], "cpu")
        self.expect(run("replay", session), 0, "turn 1", "best: turn")
        lines = run("replay", session, "--json").stdout.splitlines()
        types = [json.loads(line)["type"] for line in lines]
        for kind in ("sessionStarted", "thought", "action", "observation", "verdictGiven", "sessionEnded"):
            self.assertIn(kind, types)
        best = session / "best"
        checked = run("check", task, best, "--device", "cpu", "--json")
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        verdict = json.loads(checked.stdout)
        self.assertTrue(verdict["correct"])
        # As in a workflow: a thousand times faster in the store than ever measured is a
        # regression, however far the intervals of a busy machine reach.
        verdict["times"]["candidate"] = {name: verdict["times"]["candidate"][name] / 1000
                                         for name in ("seconds", "low", "high")}
        stored = self.file("verdict.json", json.dumps(verdict))
        junit = self.folder / "junit.xml"
        worse = run("check", task, best, "--device", "cpu", "--strength", "training",
                    "--baseline", stored, "--junit", junit)
        self.expect(worse, 1, "worse than", "speed-up over eager fell")
        suite = xml.etree.ElementTree.parse(junit).getroot()[0]
        self.assertEqual(suite.get("failures"), "1")
        self.assertIn("random inputs", [case.get("name") for case in suite])
        self.expect(run("check", task, best, "--baseline", "none.json"), 2, "none.json")
        # Several candidates of one task: a verdict a line, what is unusable spoils no other.
        several = run("check", task, self.folder / "none", best, "--device", "cpu", "--json",
                      "--strength", "training", "--no-timing")
        self.expect(several, 2)
        lines = [json.loads(line) for line in several.stdout.splitlines()]
        self.assertEqual([line["candidate"] for line in lines],
                         [str(self.folder / "none"), str(best)])
        self.assertIn("there is no", lines[0]["error"]["message"])
        self.assertTrue(lines[1]["correct"])
        self.assertEqual(lines[1]["reward"], 1)
        self.assertNotIn("speedup", lines[1])
        self.expect(run("check", task, best, best, "--against", best), 2, "--against")
        self.expect(run("check", task, best, "--no-timing", "--baseline", stored), 2, "--no-timing")
        again = run("optimize", task, "--device", "cpu", "--session", session)
        self.expect(again, 2, "has ended")


class Crash(Case):
    def test_a_killed_run_resumes(self):
        task = self.file("task.py", GOOD_TASK)
        session = self.folder / "session"
        command = [PROGRAM, "optimize", task, "--device", "cpu", "--session", session,
                   "--baselines", self.baselines]
        dice = random.Random(time.time_ns())
        for _ in range(3):
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                process.wait(dice.uniform(2, 25))
                break  # it was done before the blow
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                if session.exists() and (session / "session.jsonl").exists():
                    self.expect(run("replay", session), 0)
        result = run(*command[1:])
        said = result.stdout + result.stderr
        self.assertTrue(result.returncode == 0 or "has ended" in said, said)
        self.expect(run("replay", session), 0, "best: turn")


if __name__ == "__main__":
    unittest.main()
