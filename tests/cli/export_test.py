# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`cuda-agent export` as a user runs it, with wrong input too. Needs CUDA_AGENT=<program>. What it
writes is built and run by tests/core/export/end_to_end_test.py."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["CUDA_AGENT"]
MIXED = pathlib.Path(__file__).parents[1] / "data" / "export" / "mixed"


def run(*arguments, cwd=None):
    return subprocess.run([PROGRAM, "export", *map(str, arguments)], capture_output=True, text=True,
                          timeout=120, cwd=cwd, stdin=subprocess.DEVNULL)


class Export(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def expect(self, result, code, *texts):
        said = result.stdout + result.stderr
        self.assertEqual(result.returncode, code, said)
        for text in texts:
            self.assertIn(text, said)

    def session(self, *events):
        """A log of those events, by hand."""
        folder = self.folder / "session"
        folder.mkdir()
        lines = [{"schema": 1}]
        for number, (kind, turn, data) in enumerate(events):
            lines.append({"seq": number, "t": 1.0, "type": kind, "turn": turn, "data": data})
        (folder / "session.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return folder

    def test_help(self):
        self.expect(run("--help"), 0, "--json", "--turn", "--task", "--to", "--force")

    def test_wrong_use_exits_2(self):
        self.assertEqual(run().returncode, 2)
        self.assertEqual(run(self.folder, "--turn", "0").returncode, 2)
        self.expect(run(self.folder), 2, "session")
        self.expect(run(self.folder, "--unverified"), 2, "--task")
        self.expect(run(MIXED, "--task", MIXED / "task.py", "--turn", "2"), 2, "--turn")
        self.expect(run(self.folder, "--task", MIXED / "task.py"), 2, "plan.json")
        self.expect(run(MIXED, "--task", self.folder / "none.py"), 2, "none.py")

    def test_errors_are_json_when_asked(self):
        result = run(self.folder, "--json")
        self.assertEqual(json.loads(result.stdout)["error"]["exit_code"], 2)

    def test_a_session_without_a_correct_candidate_exits_1(self):
        session = self.session(("sessionStarted", 0, {"task": {"name": "t", "blob": "0" * 64}}),
                               ("turnStarted", 1, {}),
                               ("verdictGiven", 1, {"verdict": {"correct": False},
                                                    "candidate": {}}))
        self.expect(run(session, "--to", self.folder / "out"), 1, "no correct candidate")
        self.expect(run(session, "--turn", "1"), 1, "turn 1")
        self.expect(run(session, "--turn", "2"), 2, "1 turns")
        self.assertFalse((self.folder / "out").exists())

    def test_writes_a_project_once(self):
        given = [MIXED, "--task", MIXED / "task.py", "--device", "cpu", "--unverified", "--json"]
        result = run(*given, cwd=self.folder)
        self.expect(result, 0)
        facts = json.loads(result.stdout)
        self.assertEqual(facts["folder"], "task-extension")
        self.assertEqual(facts["package"], "task_extension")
        for name in ("setup.py", "README.md", "LICENSE", "csrc/operator.cpp"):
            self.assertIn(name, facts["files"])
            self.assertTrue((self.folder / facts["folder"] / name).is_file(), name)
        for path in (self.folder / facts["folder"]).rglob("*.py"):
            compile(path.read_text(), str(path), "exec")
        self.expect(run(*given, cwd=self.folder), 2, "--force")
        self.expect(run(*given, "--force", cwd=self.folder), 0)
        self.expect(run(*given, "--to", "/proc/nowhere"), 3, "/proc/nowhere")

    def test_a_wrong_candidate_is_not_exported(self):
        candidate = self.folder / "candidate"
        (candidate / "kernels").mkdir(parents=True)
        (candidate / "plan.json").write_text((MIXED / "plan.json").read_text())
        kernel = (MIXED / "kernels" / "softmax.cu").read_text()
        (candidate / "kernels" / "softmax.cu").write_text(kernel.replace("/ tile[0]", "/ tile[1]"))
        self.expect(run(candidate, "--task", MIXED / "task.py", "--device", "cpu", "--to",
                        self.folder / "out"), 1, "not correct")
        self.assertFalse((self.folder / "out").exists())


if __name__ == "__main__":
    unittest.main()
