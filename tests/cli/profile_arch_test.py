# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`cuda-agent profile --arch` and `cuda-agent export --trace` as a user runs them, with wrong input
too. Need no GPU; need NVRTC. Needs CUDA_AGENT=<program>."""
import json
import pathlib
import re
import unittest

from cli_test import Case, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKILLS = ROOT / "skills"
SOFTMAX = SKILLS / "reductions-and-normalisations" / "candidates" / "softmax_rows"
LINEAR = SKILLS / "gemm-and-epilogues" / "candidates" / "half_linear_relu"
MODULE = SKILLS / "module-candidates" / "candidates" / "residual_scale"
TASK = ROOT / "tests" / "data" / "judge" / "scale_and_shift.py"
ALL = ["sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110", "sm_120",
       "sm_121"]


class Architectures(Case):
    def profile(self, task, candidate, *more):
        return run("profile", task, candidate, "--device", "cpu", *more, timeout=300)

    def plan(self, kernel, block=256, shared=0):
        """A task that doubles N numbers, and a candidate with this kernel body."""
        task = self.file("task.py", "import torch\n\nN = 1000\n\n\nclass Model(torch.nn.Module):\n"
                         "    def forward(self, x):\n        return 2 * x\n\n\n"
                         "def get_inputs():\n    return [torch.randn(N)]\n\n\n"
                         "def get_init_inputs():\n    return []\n")
        folder = self.folder / "candidate"
        (folder / "kernels").mkdir(parents=True)
        (folder / "kernels" / "k.cu").write_text(
            'extern "C" __global__ void k(const float *x, float *y, int n) {\n'
            "    extern __shared__ float t[];\n" + kernel + "}\n")
        (folder / "plan.json").write_text(json.dumps({
            "version": 1, "name": "scale", "symbols": {"N": "in0.numel"},
            "buffers": [{"name": "in0", "role": "input", "index": 0},
                        {"name": "out0", "role": "output", "index": 0, "dtype": "float32",
                         "shape": ["N"]}],
            "steps": [{"kind": "kernel", "source": "kernels/k.cu", "entry": "k",
                       "grid": ["cdiv(N, 256)"], "block": [block], "shared": shared,
                       "args": [{"buffer": "in0"}, {"buffer": "out0"}, {"int32": "N"}]}]}))
        return task, folder

    def test_every_architecture(self):
        result = self.profile(SOFTMAX / "task.py", SOFTMAX, "--arch", "all", "--json")
        self.expect(result, 0)
        report = json.loads(result.stdout)
        self.assertTrue(report["holds"])
        self.assertEqual([each["name"] for each in report["architectures"]], ALL)
        for each in report["architectures"]:
            self.assertTrue(each["compiled"] and each["holds"], each)
            kernel, = each["kernels"]
            self.assertGreater(kernel["registers"], 8)
            occupancy = kernel["occupancy"]
            self.assertEqual(occupancy["warps_per_sm"],
                             occupancy["blocks_per_sm"] * occupancy["warps_per_block"])
            self.assertAlmostEqual(occupancy["occupancy"],
                                   occupancy["warps_per_sm"] / occupancy["max_warps_per_sm"])
            self.assertEqual(occupancy["blocks_per_sm"], min(occupancy["blocks_by"].values()))
        # The second time nothing is compiled.
        again = json.loads(self.profile(SOFTMAX / "task.py", SOFTMAX, "--arch", "sm_90", "--json").stdout)
        self.assertTrue(again["architectures"][0]["cached"])

    def test_an_instruction_that_a_card_lacks_is_named_by_line(self):
        text = (LINEAR / "kernels" / "half_linear.cu").read_text().splitlines()
        result = self.profile(LINEAR / "task.py", LINEAR, "--arch", "sm_75,sm_80", "--json")
        self.expect(result, 1)
        old, new = json.loads(result.stdout)["architectures"]
        self.assertTrue(new["holds"])
        self.assertFalse(old["compiled"])
        errors = [each for each in old["diagnostics"] if each["severity"] == "error"]
        self.assertTrue(errors)
        for error in errors:
            self.assertEqual(error["file"], "kernels/half_linear.cu")
            self.assertIn("requires .target sm_80 or higher", error["message"])
            near = "".join(text[max(error["line"] - 4, 0):error["line"] + 2])
            self.assertRegex(near, "asm|cp.async|ldmatrix|mma", error)
        table = self.profile(LINEAR / "task.py", LINEAR, "--arch", "sm_75,sm_80")
        self.expect(table, 1, "does not compile", "does not hold on sm_75", "spills", "occupancy")
        self.assertRegex(table.stdout + table.stderr, r"sm_75: kernels/half_linear.cu:\d+:\d+: Feature")

    def test_a_launch_that_does_not_fit(self):
        task, folder = self.plan("    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                 "    t[threadIdx.x] = i < n ? x[i] : 0;\n    __syncthreads();\n"
                                 "    if (i < n)\n        y[i] = 2 * t[threadIdx.x];\n", shared=120 << 10)
        result = self.profile(task, folder, "--arch", "sm_86,sm_90")
        self.expect(result, 1, "does not fit: 122880 bytes of shared memory", "at most 101376",
                    "does not hold on sm_86")

    def test_other_sizes_of_the_task(self):
        task, folder = self.plan("    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                 "    if (i < n)\n        y[i] = 2 * x[i];\n")
        result = self.profile(task, folder, "--arch", "sm_90", "--set", "N=5000", "--json")
        self.expect(result, 0)
        kernel, = json.loads(result.stdout)["architectures"][0]["kernels"]
        self.assertEqual(kernel["grids"], [[20, 1, 1]])

    def test_wrong_use_exits_2(self):
        for bad in ("sm_70", "sm_80;sm_90", "hopper", "sm_90,cuda"):
            self.expect(self.profile(SOFTMAX / "task.py", SOFTMAX, "--arch", bad), 2,
                        "known are sm_75, sm_80", "all")
        for empty in ("", ",", "sm_80,"):
            self.expect(self.profile(SOFTMAX / "task.py", SOFTMAX, "--arch", empty), 2, "missing")
        self.expect(self.profile(SOFTMAX / "task.py", self.folder, "--arch", "sm_90"), 2, "plan.json")
        self.expect(self.profile(self.folder / "none.py", SOFTMAX, "--arch", "sm_90"), 2, "none.py")
        broken, folder = self.plan("}\n")
        (folder / "plan.json").write_text("{")
        self.expect(self.profile(broken, folder, "--arch", "sm_90"), 2, "plan.json")

    def test_instructions_stand_under_their_lines(self):
        task, folder = self.plan("    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                 "    if (i < n)\n        y[i] = 2 * x[i];\n")
        for kind, load, store in (("ptx", "ld.global", "st.global"), ("sass", "LDG", "STG")):
            result = self.profile(task, folder, "--arch", "sm_80,sm_90", "--listing", kind, "--json")
            if result.returncode == 3 and "nvdisasm" in result.stdout + result.stderr:
                self.skipTest("no nvdisasm")
            self.expect(result, 0)
            for each in json.loads(result.stdout)["architectures"]:
                function, = each["listing"]
                self.assertEqual((function["source"], function["function"]), ("kernels/k.cu", "k"))
                for opcode in (load, store):
                    lines = {instruction["line"] for instruction in function["instructions"]
                             if opcode in instruction["text"]}
                    self.assertEqual(lines, {5}, (kind, opcode))
        self.expect(self.profile(task, folder, "--arch", "sm_90", "--listing", "ptx"), 0,
                    "k on sm_90", "kernels/k.cu:5:         y[i] = 2 * x[i];", "compiles and fits")
        self.assertEqual(self.profile(task, folder, "--listing", "ptx").returncode, 2)
        self.expect(self.profile(MODULE / "task.py", MODULE, "--arch", "sm_90", "--listing", "sass"), 2,
                    "--listing takes a candidate with plan.json")

    def test_a_workspace_is_compiled_without_its_host_code(self):
        result = self.profile(MODULE / "task.py", MODULE, "--arch", "sm_80,sm_90", "--json")
        if result.returncode == 3 and "nvcc" in result.stdout + result.stderr:
            self.skipTest("no nvcc")
        self.expect(result, 0)
        for each in json.loads(result.stdout)["architectures"]:
            self.assertEqual({kernel["entry"] for kernel in each["kernels"]}, {"elements", "words"})
            for kernel in each["kernels"]:
                self.assertGreater(kernel["registers"], 8)
                self.assertEqual(set(kernel["occupancy_by_threads"]), {"128", "256", "512", "1024"})
        table = self.profile(MODULE / "task.py", MODULE, "--arch", "sm_90")
        self.expect(table, 0, "whether launches fit is not known", "compiles on all 1")

    def test_a_single_file_says_what_holds(self):
        self.expect(self.profile(MODULE / "task.py", MODULE / "single_triton.py", "--arch", "sm_90"),
                    2, "compiles what it needs when it is loaded")

    def test_a_plan_of_another_task_exits_2(self):
        result = self.profile(LINEAR / "task.py", SOFTMAX, "--arch", "sm_90", "--json")
        self.expect(result, 2, "plan.json: ")
        self.assertEqual(json.loads(result.stdout)["error"]["exit_code"], 2)


class Trace(Case):
    def session(self):
        folder = self.folder / "session"
        result = run("optimize", TASK, "--device", "cpu", "--turns", 2, "--session", folder)
        self.expect(result, 0)
        return folder

    def test_a_recorded_session(self):
        session = self.session()
        file = self.folder / "trace.json"
        self.expect(run("export", session, "--trace", file), 0, "ui.perfetto.dev")
        trace = json.loads(file.read_text())
        log = [json.loads(line) for line in (session / "session.jsonl").read_text().splitlines()][1:]
        start = log[0]["t"]
        names = {(event["pid"], event["tid"]): event["args"]["name"]
                 for event in trace["traceEvents"] if event["name"] == "thread_name"}
        spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        tracks = {}
        for span in spans:
            tracks.setdefault(names[span["pid"], span["tid"]], []).append(span)
            self.assertNotIn("unfinished", span["args"])
        self.assertLessEqual({"session", "turns and tools", "compile", "verify and time"}, set(tracks))
        # Each turn and each call where the log has it, in microseconds from the start.
        times = {}
        for event in log:
            if event["type"] in ("turnStarted", "turnEnded"):
                times.setdefault(f"turn {event['turn']}", []).append(1e6 * (event["t"] - start))
        self.assertTrue(times)
        for name, (begin, end) in times.items():
            span, = [each for each in tracks["turns and tools"] if each["name"] == name]
            self.assertAlmostEqual(span["ts"], begin, delta=2)
            self.assertAlmostEqual(span["ts"] + span["dur"], end, delta=2)
        calls = [event for event in log if event["type"] == "action"]
        drawn = [each for each in tracks["turns and tools"] if not each["name"].startswith("turn ")]
        self.assertEqual([each["data"]["tool"] for each in calls], [each["name"] for each in drawn])
        for call, span in zip(calls, drawn):
            self.assertAlmostEqual(span["ts"], 1e6 * (call["t"] - start), delta=2)
        verdicts = [event["data"]["verdict"] for event in log if event["type"] == "verdictGiven"]
        shown = [each for each in tracks["verify and time"] if each["name"] == "verdict"]
        self.assertEqual(len(verdicts), len(shown))
        for verdict, span in zip(verdicts, shown):
            self.assertAlmostEqual(span["dur"], 1e6 * verdict["seconds"], delta=50)

    def test_what_cannot_be_exits_2(self):
        self.expect(run("export", self.folder, "--trace", self.folder / "x.json"), 2, "session")
        self.assertFalse((self.folder / "x.json").exists())
        self.assertEqual(run("export", self.folder, "--trace", "x.json", "--turn", 1).returncode, 2)

    def test_a_log_that_was_cut_off(self):
        session = self.session()
        log = session / "session.jsonl"
        lines = log.read_text().splitlines(keepends=True)
        last = max(i for i, line in enumerate(lines) if '"action"' in line)
        log.write_text("".join(lines[:last + 1]) + '{"seq":')
        file = self.folder / "trace.json"
        result = run("export", session, "--trace", file, "--json")
        self.expect(result, 0)
        self.assertEqual(json.loads(result.stdout)["sessions"], 1)
        spans = [each for each in json.loads(file.read_text())["traceEvents"] if each["ph"] == "X"]
        unfinished = {re.sub(r"\d+", "N", each["name"]) for each in spans
                      if each["args"].get("unfinished")}
        self.assertLessEqual({"session", "turn N"}, unfinished)


if __name__ == "__main__":
    unittest.main()
