# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`cuda-agent ncu` as a user runs it, with wrong input too. Needs CUDA_AGENT=<program>."""
import json
import unittest

from cli_test import Case, run

TABLE = ('==PROF== Connected to process 1 (/usr/bin/python3)\n'
         '"ID","Kernel Name","Block Size","Grid Size","dram__bytes_read.sum","gpu__time_duration.sum"\n'
         '"","","","","Mbyte","usecond"\n'
         '"0","softmax(const float *, int)","(256, 1, 1)","(64, 1, 1)","1,234.5","10.5"\n')


class Ncu(Case):
    def profile(self, read, seconds):
        return self.file("profile.json", json.dumps({"launches": [
            {"kind": "kernel", "name": "softmax", "seconds": seconds,
             "counters": {"dram__bytes_read.sum": read}}]}))

    def test_a_table_is_read(self):
        table = self.file("run.csv", TABLE)
        self.expect(run("ncu", table), 0, "softmax(const float *, int)", "1.2345e+09 byte")
        launch, = json.loads(run("ncu", table, "--json").stdout)["launches"]
        self.assertEqual(launch["metrics"][0]["value"], 1234.5e6)
        self.assertEqual(launch["metrics"][1]["unit"], "second")

    def test_a_comparison(self):
        table = self.file("run.csv", TABLE)
        close = self.profile(1230e6, 10.4e-6)
        self.expect(run("ncu", table, "--with", close), 0, "2 of 2 figures within 5 %")
        self.expect(run("ncu", table, "--with", close, "--tolerance", "0.5"), 1, "apart",
                    "1 of 2 figures within 0.5 %")
        result = run("ncu", table, "--with", self.profile(600e6, 10.4e-6), "--json")
        self.expect(result, 1)
        figures = json.loads(result.stdout)["figures"]
        self.assertAlmostEqual(figures[0]["relative"], 600 / 1234.5 - 1)

    def test_wrong_use_exits_2(self):
        table = self.file("run.csv", TABLE)
        self.expect(run("ncu", self.folder / "none.csv"), 2, "none.csv")
        self.expect(run("ncu", self.file("other.csv", "a,b\n1,2\n")), 2, "--csv --page raw")
        self.expect(run("ncu", table, "--with", self.file("x.json", "{}")), 2, "no launches")
        self.expect(run("ncu", table, "--with", self.file("x.json", "{")), 2, "x.json")
        other = self.file("y.json", json.dumps({"launches": [{"kind": "kernel", "name": "gemm"}]}))
        self.expect(run("ncu", table, "--with", other), 2, "no figure in common")
        self.assertEqual(run("ncu", table, "--tolerance", "3").returncode, 2)
        self.assertEqual(run("ncu").returncode, 2)


if __name__ == "__main__":
    unittest.main()
