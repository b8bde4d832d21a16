# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A device that was put away: who refuses it, who shows it, how it comes back. Then faults of
candidates on the command line: each is told apart from a wrong answer, and the next one is judged.
Needs CUDA_AGENT=<program>."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ["CUDA_AGENT"]

TASK = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return x * 2 + 1

def get_inputs():
    return [torch.randn(64, 500)]

def get_init_inputs():
    return []
"""

PLAN = {
    "version": 1, "name": "scale and shift", "symbols": {"N": "in0.numel"},
    "buffers": [
        {"name": "in0", "role": "input", "index": 0},
        {"name": "out0", "role": "output", "index": 0, "dtype": "float32",
         "shape": ["in0.shape[0]", "in0.shape[1]"]}],
    "steps": [{"kind": "kernel", "source": "kernels/k.cu", "entry": "k", "grid": ["cdiv(N, 256)"],
               "block": [256], "args": [{"buffer": "in0"}, {"buffer": "out0"}, {"int32": "N"}]}],
}


def kernel(body):
    return ('extern "C" __global__ void k(const float *x, float *y, int n) {\n'
            "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
            "    if (i >= n) return;\n"
            f"    {body}\n}}\n")


class Case(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        self.environment = dict(os.environ, CUDA_AGENT_CACHE=str(self.folder / "cache"),
                                CUDA_AGENT_DATA=str(self.folder / "data"))
        self.task = self.folder / "task.py"
        self.task.write_text(TASK)

    def tearDown(self):
        self.temporary.cleanup()

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                              timeout=300, env=self.environment, stdin=subprocess.DEVNULL)

    def expect(self, result, code, *texts):
        said = result.stdout + result.stderr
        self.assertEqual(result.returncode, code, said)
        for text in texts:
            self.assertIn(text, said)
        self.assertNotIn("terminate called", said)

    def candidate(self, name, body):
        folder = self.folder / name
        (folder / "kernels").mkdir(parents=True)
        (folder / "plan.json").write_text(json.dumps(PLAN))
        (folder / "kernels/k.cu").write_text(kernel(body))
        return folder

    def put_away(self, device="cpu0", text=None):
        folder = self.folder / "cache/quarantine"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{device}.json").write_text(
            text if text is not None else json.dumps(
                {"device": device, "reason": "a kernel never ended", "time": 1.8e9}))


class Quarantine(Case):
    def test_work_is_refused_with_the_machines_exit_code(self):
        self.put_away()
        right = self.candidate("right", "y[i] = 2 * x[i] + 1;")
        result = self.run_program("check", self.task, right, "--device", "cpu")
        self.expect(result, 3, "cpu0 is in quarantine since 2027-01-15", "a kernel never ended",
                    "--lift-quarantine cpu0")
        result = self.run_program("optimize", self.task, "--device", "cpu", "--turns", 1,
                                  "--session", self.folder / "session")
        self.expect(result, 3, "cpu0 is in quarantine")

    def test_doctor_shows_and_lifts_it(self):
        self.put_away()
        self.put_away("cuda9", "rubbish")
        result = self.run_program("doctor", "--json")
        findings = [each for each in json.loads(result.stdout)["findings"]
                    if each["name"] == "quarantine"]
        self.assertEqual(len(findings), 2)
        self.assertFalse(findings[0]["ok"])
        self.assertIn("cpu0 is in quarantine since 2027-01-15", findings[0]["detail"])
        self.assertIn("cuda9 is in quarantine since an unknown time", findings[1]["detail"])
        self.assertIn("BAD", self.run_program("doctor").stdout)

        result = self.run_program("doctor", "--lift-quarantine", "cpu0", "--json")
        self.expect(result, 0)
        self.assertEqual(json.loads(result.stdout),
                         {"device": "cpu0", "well": True, "lifted": True})
        self.expect(self.run_program("doctor", "--lift-quarantine", "cpu0"), 0,
                    "it was in no quarantine")
        self.assertFalse((self.folder / "cache/quarantine/cpu0.json").exists())
        self.assertTrue((self.folder / "cache/quarantine/cuda9.json").exists())

    def test_a_device_that_cannot_be_tried_stays(self):
        self.put_away("cuda9")
        self.expect(self.run_program("doctor", "--lift-quarantine", "cuda9"), 3, "/dev/nvidia9")
        self.assertTrue((self.folder / "cache/quarantine/cuda9.json").exists())

    def test_bad_names_are_requests(self):
        for name in ("gpu0", "cuda", "cuda0x", "../cuda0", "0"):
            self.expect(self.run_program("doctor", "--lift-quarantine", name), 2,
                        "there is no device")


class Faults(Case):
    def test_faults_are_told_apart_and_the_next_candidate_is_judged(self):
        right = "y[i] = 2 * x[i] + 1;"
        cases = [("illegal_address", "y[i + (long long)n * 100000000] = 1;"), ("right", right),
                 ("assertion", "assert(i < 7); y[i] = 1;"), ("wrong", "y[i] = 2 * x[i];"),
                 ("hang", "volatile float *spin = y; while (spin[i] != 12345.0f) { }"),
                 ("illegal_instruction", "if (i == 5) __trap();"), ("right again", right)]
        folders = [self.candidate(name, body) for name, body in cases]
        result = self.run_program("check", self.task, *folders, "--device", "cpu", "--json",
                                  "--strength", "training")
        self.expect(result, 1)
        verdicts = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual(len(verdicts), len(cases), result.stderr)
        for (name, _), verdict in zip(cases, verdicts):
            good = name.startswith("right")
            self.assertEqual(verdict["correct"], good, (name, verdict.get("problem")))
            if good or name == "wrong":
                self.assertNotIn("fault", verdict)
                continue
            self.assertEqual(verdict["reward"], -1)
            self.assertEqual(verdict["fault"]["kind"], name, verdict["problem"])
            self.assertIn(verdict["fault"]["detail"], verdict["problem"])
        self.assertFalse((self.folder / "cache/quarantine").exists())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
