# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Exports candidates for the CPU, installs what was written with pip and runs its tests.
Needs CUDA_AGENT=<program>; runs under the Python that has torch."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ["CUDA_AGENT"]
DATA = pathlib.Path(__file__).parents[2] / "data" / "export"
SAMPLES = pathlib.Path(PROGRAM).parent.parent / "share" / "cuda-agent" / "tasks"


class Case(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)

    def run_well(self, *command, timeout=600, **more):
        result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                                timeout=timeout, stdin=subprocess.DEVNULL, **more)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def export(self, *arguments):
        project = self.folder / "project"
        said = subprocess.run([PROGRAM, "export", *map(str, arguments), "--to", project, "--json"],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        return project, json.loads(said.stdout)

    def install_and_test(self, project):
        """Returns what the package's tests said."""
        target = self.folder / "target"
        self.run_well(sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-deps",
                      "--no-index", "--target", target, project)
        self.environment = dict(os.environ, PYTHONPATH=str(target))
        said = self.run_well(sys.executable, "tests/test_operator.py", cwd=project,
                             env=self.environment)
        self.assertGreaterEqual(int(re.search(r"Ran (\d+) tests", said)[1]), 9, said)
        return said


class Handwritten(Case):
    """Barriers, shared memory, a fill, a product, a convolution, a number, three outputs."""

    def test_installs_and_passes_its_tests(self):
        project, facts = self.export(DATA / "mixed", "--task", DATA / "mixed" / "task.py",
                                     "--device", "cpu", "--unverified")
        self.assertTrue(facts["builds_for_cpu"])
        self.assertTrue(facts["differentiable"])
        self.assertFalse(facts["verified"])
        self.assertNotIn("skipped", self.install_and_test(project))
        # A size that `requires` refuses, from a user's seat.
        script = (
            "import torch, warnings\n"
            f"from {facts['package']} import Model, reference\n"
            "model = Model(7, 2).eval()\n"
            "with warnings.catch_warnings(record=True) as said:\n"
            "    warnings.simplefilter('always')\n"
            "    try: model(torch.randn(4, 38), 1.0)\n"
            "    except RuntimeError as error: print('reference says:', error)\n"
            "print('warned:', said[0].message)\n"
            f"try: torch.ops.{facts['package']}.forward(torch.randn(4, 38), 1.0, "
            "model.layers[0].weight, model.layers[0].bias, model.filter.weight)\n"
            "except RuntimeError as error: print('operator says:', error)\n"
            "assert torch.equal(model(torch.ones(3, 40), 1.0)[1], torch.full((3, 40), 1 / 40))\n")
        said = self.run_well(sys.executable, "-c", script, cwd=self.folder, env=self.environment)
        self.assertIn("reference says: mat1 and mat2 shapes cannot be multiplied", said)
        self.assertIn("warned: task_extension runs the PyTorch reference: N % 4 == 0", said)
        self.assertIn("operator says: N % 4 == 0 and N >= 8 does not hold for N = 38", said)

    def test_a_gpu_only_package_says_so_where_there_is_no_cuda(self):
        project, _ = self.export(DATA / "mixed", "--task", DATA / "mixed" / "task.py", "--device",
                                 "cpu", "--unverified")
        setup = project / "setup.py"
        setup.write_text(setup.read_text().replace('MADE_FOR = "cpu"', 'MADE_FOR = "cuda"').replace(
            'CPU_PROBLEM = ""', 'CPU_PROBLEM = "kernels/a.cu:3: inline PTX"').replace(
            "def has_cuda():\n", "def has_cuda():\n    return False\n"))
        result = subprocess.run([sys.executable, "setup.py", "build"], cwd=project,
                                capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, 1)
        self.assertIn("needs PyTorch with CUDA and its nvcc", result.stderr)
        self.assertIn("kernels/a.cu:3: inline PTX", result.stderr)


class Layouts(Case):
    """Convolutions whose buffers have their channels last, grouped and transposed."""

    def test_installs_and_passes_its_tests(self):
        folder = DATA / "channels_last"
        project, facts = self.export(folder, "--task", folder / "task.py", "--device", "cpu",
                                     "--unverified")
        self.assertIn(".channelsLast = true", (project / "csrc" / "operator.cpp").read_text())
        self.assertTrue(facts["differentiable"])
        self.assertNotIn("skipped", self.install_and_test(project))


class Constants(Case):
    """Tensors that are no parameters: an attribute of a module, and one that forward() makes."""

    def test_installs_and_passes_its_tests(self):
        folder = DATA / "constants"
        project, facts = self.export(folder, "--task", folder / "task.py", "--device", "cpu",
                                     "--unverified")
        self.assertTrue(facts["differentiable"])
        readme = (project / "README.md").read_text()
        self.assertIn("neither parameters nor buffers (`scale`, `powers`)", readme)
        self.assertNotIn("skipped", self.install_and_test(project))
        # What the Model has when it is made is what the kernels and the backward work with.
        script = (
            "import torch, warnings\n"
            f"from {facts['package']} import Model, reference\n"
            "warnings.simplefilter('error')\n"
            "def gradient(kind):\n"
            "    torch.manual_seed(1)\n"
            "    model = kind().eval()\n"
            "    x = torch.ones(2, 24, requires_grad=True)\n"
            "    model(x).sum().backward()\n"
            "    return torch.cat([x.grad.flatten(), model.bias.grad])\n"
            "torch.testing.assert_close(gradient(Model), gradient(reference.Model))\n"
            "assert gradient(Model).abs().max() > 0.1\n")
        self.run_well(sys.executable, "-c", script, cwd=self.folder, env=self.environment)


class Session(Case):
    def test_a_sample_sessions_best_candidate(self):
        session = self.folder / "session"
        self.run_well(PROGRAM, "optimize", SAMPLES / "fused_norm.py", "--no-memory", "--set", "rows=200",
                      "--device", "cpu", "--turns", "1", "--session", session)
        project, facts = self.export(session)
        self.assertTrue(facts["verified"])
        readme = (project / "README.md").read_text()
        self.assertIn("| these kernels |", readme)
        self.assertIn("`rows = 200`", readme)
        self.assertIn("rows = 200\n",
                      (project / "src" / facts["package"] / "reference.py").read_text())
        self.install_and_test(project)
        said = self.run_well(sys.executable, "benchmark.py", "--samples", "5", cwd=project,
                             env=self.environment)
        self.assertRegex(said, r"extension +[\d.]+ ms")


if __name__ == "__main__":
    unittest.main()
