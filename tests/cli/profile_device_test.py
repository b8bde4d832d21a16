# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`cuda-agent profile` on the cpu as a user runs it, with wrong input too. Needs CUDA_AGENT=<program>."""
import csv
import json
import pathlib
import shutil
import unittest

from cli_test import Case, run

SKILLS = pathlib.Path(__file__).resolve().parents[2] / "skills"
GEMM = SKILLS / "gemm-and-epilogues" / "candidates" / "linear_gelu"
MODULE = SKILLS / "module-candidates" / "candidates" / "residual_scale"


class Profile(Case):
    def profile(self, task, *candidates_and_more):
        return run("profile", task, *candidates_and_more, "--device", "cpu", timeout=300)

    def broken(self):
        """A candidate whose kernel does not compile."""
        folder = self.folder / "broken"
        shutil.copytree(GEMM, folder)
        kernel = next((folder / "kernels").iterdir())
        kernel.write_text(kernel.read_text().replace("__global__", "__global__ nonsense", 1))
        return folder

    def test_a_plan_step_by_step(self):
        table = self.folder / "figures.csv"
        result = self.profile(GEMM / "task.py", GEMM, "--json", "--csv", table, "--calls", "5")
        self.expect(result, 0)
        report = json.loads(result.stdout)
        self.assertEqual(report["device"]["kind"], "cpu")
        self.assertIn("says nothing about GPU time", report["label"])
        self.assertEqual(report["source"], "host clock")
        gemm, kernel = report["launches"]
        self.assertEqual([gemm["step"], kernel["step"]], [0, 1])
        self.assertEqual(kernel["file"], "kernels/epilogue.cu")
        self.assertGreater(kernel["line"], 0)
        # What the plan counts is what PyTorch's own counter of operations says.
        self.assertEqual(gemm["counted_operations"], report["counted_operations"])
        self.assertGreater(gemm["seconds"], 0)
        self.assertAlmostEqual(gemm["share"] + kernel["share"], 1)
        roofs = {roof["name"]: roof for roof in gemm["roofs"]}
        self.assertAlmostEqual(roofs["counted operations"]["rate"],
                               gemm["counted_operations"] / gemm["seconds"], delta=1)
        self.assertEqual(roofs["counted operations"]["measured"],
                         report["ceilings"]["fp32_flops_per_second"])
        self.assertNotIn("counters", gemm)
        self.assertNotIn("achieved_occupancy", kernel)
        rows = list(csv.DictReader(table.read_text().splitlines()))
        self.assertEqual([row["kind"] for row in rows], ["step", "step", "call"])
        self.assertAlmostEqual(float(rows[0]["seconds"]), gemm["seconds"], delta=1e-9)
        self.assertEqual(rows[0]["dram_read"], "")

    def test_a_person_reads_it(self):
        result = self.profile(GEMM / "task.py", GEMM)
        self.expect(result, 0, "one call takes", "bias_gelu_residual", "counted bytes",
                    "of the measured ceiling", "says nothing about GPU time")

    def test_several_candidates_and_one_that_does_not_compile(self):
        result = self.profile(GEMM / "task.py", self.broken(), GEMM, "--json")
        self.expect(result, 1)
        first, second = map(json.loads, result.stdout.splitlines())
        self.assertIn("does not compile", first["error"]["message"])
        self.assertEqual(first["error"]["exit_code"], 1)
        self.assertEqual(second["candidate"], str(GEMM))
        self.assertEqual(len(second["launches"]), 2)

    def test_what_cannot_be_profiled(self):
        self.expect(self.profile(GEMM / "task.py", self.broken()), 1, "does not compile")
        self.expect(self.profile(MODULE / "task.py", MODULE), 2, "is a module candidate")
        self.expect(self.profile(GEMM / "task.py", self.folder / "nowhere"), 2)
        self.expect(self.profile(self.folder / "no.py", GEMM), 2, "no task file")
        self.expect(self.profile(GEMM / "task.py", GEMM, GEMM, "--csv", self.folder / "x.csv"), 2,
                    "--csv takes one candidate")
        self.expect(self.profile(GEMM / "task.py", GEMM, "--calls", "0"), 2, "--calls")
        # The plan is for another task.
        softmax = SKILLS / "reductions-and-normalisations" / "candidates" / "softmax_rows"
        self.expect(self.profile(softmax / "task.py", GEMM), 2)


if __name__ == "__main__":
    unittest.main()
