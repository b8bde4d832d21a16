# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`cuda-agent check --sanitize` on the cpu as a user runs it, with wrong input too. Needs
CUDA_AGENT=<program>."""
import json
import pathlib
import shutil
import unittest

from cli_test import Case, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOFTMAX = ROOT / "skills" / "reductions-and-normalisations" / "candidates" / "softmax_rows"
MODULE = ROOT / "skills" / "module-candidates" / "candidates" / "residual_scale"


class Sanitize(Case):
    def check(self, task, candidate, *more):
        return run("check", task, candidate, "--device", "cpu", "--strength", "training",
                   "--sanitize", *more, timeout=300)

    def scale(self, kernel):
        """A plan whose kernel is to double a vector, with this body."""
        task = self.file("task.py", "import torch\n\nN = 1000\n\n\nclass Model(torch.nn.Module):\n"
                         "    def forward(self, x):\n        return 2 * x\n\n\n"
                         "def get_inputs():\n    return [torch.randn(N)]\n\n\n"
                         "def get_init_inputs():\n    return []\n")
        folder = self.folder / "candidate"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "kernels").mkdir(parents=True)
        (folder / "kernels" / "k.cu").write_text(
            'extern "C" __global__ void k(const float *x, float *y, int n) {\n'
            "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n" + kernel + "}\n")
        (folder / "plan.json").write_text(json.dumps({
            "version": 1, "name": "scale", "symbols": {"N": "in0.numel"},
            "buffers": [{"name": "in0", "role": "input", "index": 0},
                        {"name": "out0", "role": "output", "index": 0, "dtype": "float32",
                         "shape": ["N"]}],
            "steps": [{"kind": "kernel", "source": "kernels/k.cu", "entry": "k",
                       "grid": ["cdiv(N, 256)"], "block": [256],
                       "args": [{"buffer": "in0"}, {"buffer": "out0"}, {"int32": "N"}]}]}))
        return task, folder

    def test_an_honest_candidate_is_clean(self):
        result = self.check(SOFTMAX / "task.py", SOFTMAX, "--json")
        self.expect(result, 0)
        verdict = json.loads(result.stdout)
        self.assertTrue(verdict["correct"])
        self.assertEqual(verdict["sanitizer"]["findings"], [])
        self.assertTrue(verdict["sanitizer"]["clean"])
        self.assertEqual(verdict["sanitizer"]["tools"], ["cpu checks"])
        self.assertNotIn("candidate", verdict["times"])

    def test_a_right_answer_with_a_wrong_access(self):
        # One element past the end is read and thrown away: no comparison of outputs sees that.
        task, folder = self.scale("    if (i < n) {\n        const float more = x[i + 1];\n"
                                  "        y[i] = 2 * x[i] + (more == 1e30f);\n    }\n")
        result = self.check(task, folder, "--json")
        self.expect(result, 1)
        verdict = json.loads(result.stdout)
        self.assertTrue(verdict["correct"])
        finding = verdict["sanitizer"]["findings"][0]
        self.assertEqual((finding["kind"], finding["file"], finding["line"], finding["column"],
                          finding["buffer"]), ("out-of-bounds", "kernels/k.cu", 4, 28, "in0"))
        self.assertIn("index 1000 of 1000", finding["message"])
        self.expect(self.check(task, folder), 1, "kernels/k.cu:4:28: out-of-bounds", "1 finding")

    def test_a_wrong_candidate_is_looked_at_too(self):
        task, folder = self.scale("    __shared__ float s[256];\n    s[threadIdx.x] = x[i < n ? i : 0];\n"
                                  "    if (i < n) y[i] = s[threadIdx.x ^ 1];\n    __syncthreads();\n")
        result = self.check(task, folder, "--json")
        self.expect(result, 1)
        verdict = json.loads(result.stdout)
        self.assertFalse(verdict["correct"])
        self.assertIn("race", [each["kind"] for each in verdict["sanitizer"]["findings"]])

    def test_a_module(self):
        self.expect(self.check(MODULE / "task.py", MODULE), 0, "no findings (cpu checks")

    def test_several_candidates(self):
        task, folder = self.scale("    if (i < n) y[i] = 2 * x[i];\n")
        wrong = self.folder / "wrong"
        shutil.copytree(folder, wrong)
        source = wrong / "kernels" / "k.cu"
        source.write_text(source.read_text().replace("i < n", "i <= n"))
        result = self.check(task, folder, wrong, "--json")
        self.expect(result, 1)
        verdicts = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([verdict["sanitizer"]["clean"] for verdict in verdicts], [True, False])

    def test_what_does_not_compile_is_not_looked_at(self):
        task, folder = self.scale("    y[i] = nothing;\n")
        result = self.check(task, folder, "--json")
        self.expect(result, 1)
        self.assertNotIn("sanitizer", json.loads(result.stdout))

    def test_wrong_requests_are_named_at_once(self):
        self.expect(self.check(MODULE / "task.py", MODULE / "single_triton.py"), 2, "--rules kernelbench")
        self.expect(self.check(SOFTMAX / "task.py", SOFTMAX, "--against", str(SOFTMAX)), 2,
                    "--against", "--sanitize")
        stored = self.file("stored.json", "{}")
        self.expect(self.check(SOFTMAX / "task.py", SOFTMAX, "--baseline", stored), 2,
                    "--baseline", "--sanitize")


if __name__ == "__main__":
    unittest.main()
