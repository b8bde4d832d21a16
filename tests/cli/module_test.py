# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Module candidates from the command line, with wrong input too: a language model's session whose
model is a script, and `check`. Needs CUDA_AGENT=<program>."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from cli_test import PROGRAM, Case, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
SERVER = ROOT / "tests" / "core" / "endpoint" / "chat_server.py"
EXAMPLE = ROOT / "skills" / "module-candidates" / "candidates" / "residual_scale"
FILES = ("model_new.py", "kernels/residual_scale.cu", "kernels/residual_scale_binding.cpp")


def write(path, content):
    return ["Write", {"file_path": path, "content": content}]


class Module(Case):
    def test_a_model_writes_a_module(self):
        wrong = (EXAMPLE / FILES[0]).read_text().replace(
            "return cuda_extension.residual_scale_forward(x, residual, self.scale, 0)",
            "return x + self.scale * residual")
        files = [write(path, (EXAMPLE / path).read_text()) for path in FILES]
        script = self.file("script.json", json.dumps([
            {"text": "All files, but PyTorch does the work.",
             "calls": [files[1], files[2], write(FILES[0], wrong),
                       ["Bash", {"command": "ls; head -5 binding_registry.h"}], ["Verify", {}]]},
            {"text": "Now the kernel does it.",
             "calls": [files[0], ["Verify", {"strength": "full"}]]},
        ]))
        server = subprocess.Popen([sys.executable, "-B", SERVER, script], stdout=subprocess.PIPE,
                                  text=True)
        self.addCleanup(lambda: (server.kill(), server.wait(), server.stdout.close()))
        url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        session = self.folder / "session"
        environment = {**os.environ, "XDG_CONFIG_HOME": str(self.folder / "config"),
                       "CUDA_AGENT_API_KEY": "key"}
        result = subprocess.run(
            [PROGRAM, "optimize", EXAMPLE / "task.py", "--device", "cpu", "--policy", "endpoint",
             "--base-url", url, "--model", "script", "--session", session, "--set", "rows=64",
             "--json"], capture_output=True, text=True, timeout=300, env=environment,
            stdin=subprocess.DEVNULL)
        self.expect(result, 0)
        verdict = json.loads(result.stdout)
        self.assertTrue(verdict["correct"])
        self.assertEqual((verdict["kind"], verdict["best_turn"]), ("module", 2))
        events = [json.loads(line) for line in
                  (session / "session.jsonl").read_text().splitlines()[1:]]
        verdicts = [event["data"]["verdict"] for event in events if event["type"] == "verdictGiven"]
        self.assertIn("aten.mul.Tensor", verdicts[0]["problem"])
        said = [event["data"]["text"] for event in events if event["type"] == "observation"]
        self.assertTrue(any("REGISTER_BINDING" in text or "binding_registry.h" in text
                            for text in said))
        for path in FILES:
            self.assertEqual((session / "best" / path).read_text(), (EXAMPLE / path).read_text())
        # A plan exports; a module is an extension already, and the answer says where.
        self.expect(run("export", session, "--to", self.folder / "out"), 2, "plan.json")

    def test_wrong_requests_are_named_at_once(self):
        task = EXAMPLE / "task.py"
        check = lambda candidate, *more: run("check", task, candidate, "--device", "cpu", *more,
                                             timeout=30)
        self.expect(check(EXAMPLE / "single_triton.py"), 2, "--rules kernelbench")
        self.expect(check(EXAMPLE / "single_triton.py", "--rules", "kernelbench"), 2,
                    "needs a GPU")
        self.expect(check(EXAMPLE, "--rules", "loose"), 2, "--rules", "published")
        self.expect(check(self.folder / "nothing"), 2, "there is no", "model_new.py")
        both = self.folder / "both"
        shutil.copytree(EXAMPLE, both)
        (both / "plan.json").write_text("{}")
        self.expect(check(both), 2, "both plan.json and model_new.py")
        (both / "plan.json").unlink()
        (both / "kernels" / "residual_scale_binding.cpp").unlink()
        self.expect(check(both), 2, "has no kernels/residual_scale_binding.cpp")
        self.expect(check(self.file("candidate.txt", "x")), 2, "is not a folder")


if __name__ == "__main__":
    unittest.main()
