# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A suite evaluated from the command line: a policy, stored candidates, a stop, a kill, and wrong use.
Needs CUDA_AGENT=<program>."""
import html.parser
import json
import shutil
import signal
import subprocess
import time
import unittest

from cli_test import GOOD_TASK, PROGRAM, Case, run


class Evaluate(Case):
    def setUp(self):
        super().setUp()
        self.suite = self.folder / "suite"
        for name, text in (("level1/1_double.py", GOOD_TASK), ("level1/2_broken.py", "def ("),
                           ("level2/1_triple.py", GOOD_TASK.replace("* 2", "* 3"))):
            (self.suite / name).parent.mkdir(parents=True, exist_ok=True)
            (self.suite / name).write_text(text)
        self.out = self.folder / "out"

    def evaluate(self, *arguments):
        return run("evaluate", self.suite, "--device", "cpu", "--out", self.out, "--no-memory", *arguments)

    def records(self):
        return [json.loads(line) for line in (self.out / "results.jsonl").read_text().splitlines()]

    def test_a_policy_and_then_its_candidates(self):
        kept = ["--baselines", self.folder / "baselines"]
        first = self.evaluate("--turns", 1, "--only", "1/1,1/2", "--per-device", 2, "--json", *kept)
        self.expect(first, 0, "2 to evaluate", "1_double", "unusable", "2 of 2", "report.html")
        summary = json.loads(first.stdout)
        self.assertTrue(summary["whole"])
        group = summary["modes"][0]["groups"][0]
        self.assertEqual((group["records"], group["judged"], group["correct"]), (2, 1, 1))
        self.assertGreater(group["against"]["eager"]["geometric_mean"], 0)
        self.assertGreater(summary["device_seconds"], 1)
        double = next(record for record in self.records() if record["task"] == "1/1")
        self.assertEqual(double["outcome"], "correct")
        self.assertEqual(double["verdict"]["strength"], "full")
        self.assertGreater(double["phases"]["verification"], 0)
        self.assertGreater(double["phases"]["timing eager and torch.compile"], 0)
        self.assertIn("waiting for room in the device's memory", double["phases"])
        self.assertNotIn("baselines_time", double["verdict"])
        self.assertRegex(double["versions"]["reference"], r"^torch 2\.\d+.*, Python 3\.")
        self.assertLess(sum(double["phases"].values()), double["seconds"] + 0.5)
        page = (self.out / "report.html").read_text()
        html.parser.HTMLParser().feed(page)
        self.assertIn("1_double", page)
        self.assertIn("1\\_double", (self.out / "report.md").read_text())

        # All is there: nothing is judged again. The rest of the suite goes into the same folder.
        again = self.evaluate("--turns", 1, "--only", "1/1,1/2")
        self.expect(again, 0, "0 to evaluate, 2 of 2 are there already")
        self.assertEqual(len(self.records()), 2)
        self.expect(self.evaluate("--turns", 2), 2, "turns 1, not 2; use another --out")

        # What the policy found is a stored candidate, and a wrong one is its second sample.
        mine = self.folder / "mine"
        shutil.copytree(self.out / double["session"] / "best", mine / "1_double")
        shutil.copytree(mine / "1_double", mine / "1_double_sample_1")
        kernel = next((mine / "1_double_sample_1" / "kernels").glob("*.cu"))
        kernel.write_text(kernel.read_text().replace("* 2", "* 3").replace("2.0f", "3.0f").replace("2.f", "3.f"))
        (mine / "1_triple.py").write_text("class ModelNew: pass\n")
        self.out = self.folder / "stored"
        stored = self.evaluate("--candidates", mine, "--strength", "training", "--timed-calls", 37, "--json",
                               *kept)
        self.expect(stored, 0, "4 to evaluate")
        by_name = {(record["task"], record.get("sample")): record for record in self.records()}
        self.assertEqual(by_name["1/1", 0]["outcome"], "correct")
        verdict = by_name["1/1", 0]["verdict"]
        if "throttled" not in verdict["flags"]:  # else what was measured in slow moments is dropped
            self.assertGreaterEqual(verdict["times"]["candidate"]["samples"], 37)  # 30 by itself
        # Against times that the first has left.
        left = json.loads(next((self.folder / "baselines").glob("1_double-*.json")).read_text())
        self.assertEqual(by_name["1/1", 0]["verdict"]["times"]["eager"]["seconds"],
                         left["baselines"]["eager"]["seconds"])
        self.assertLess(abs(by_name["1/1", 0]["verdict"]["baselines_time"] - time.time()), 600)
        self.assertNotIn("timing eager and torch.compile", by_name["1/1", 0]["phases"])
        self.assertEqual(by_name["1/1", 1]["outcome"], "wrong")
        self.assertEqual(by_name["1/2", None]["outcome"], "missing")
        self.assertEqual(by_name["2/1", 0]["outcome"], "not_compiled")
        self.assertIn("--rules kernelbench", by_name["2/1", 0]["cause"])
        summary = json.loads(stored.stdout)
        self.assertEqual(summary["settings"]["timed_calls"], 37)
        groups = summary["modes"][0]["groups"]
        self.assertEqual([group["name"] for group in groups], ["all", "level 1", "level 2"])
        self.assertEqual((groups[0]["judged"], groups[0]["correct"]), (3, 1))

    def test_a_stop_and_a_kill_lose_only_what_is_at_hand(self):
        command = [PROGRAM, "evaluate", self.suite, "--device", "cpu", "--out", self.out, "--turns", "1",
                   "--no-memory", "--only", "1/2,2/1,1/1", "--baselines", self.baselines]
        session, results = self.out / "sessions/1/1-default/session.jsonl", self.out / "results.jsonl"
        for number, begun in ((signal.SIGINT, session.exists),
                              (signal.SIGKILL, lambda: results.stat().st_size > 0)):
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            deadline = time.monotonic() + 120
            while not begun() and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(0.5)
            process.send_signal(number)
            said = process.communicate(timeout=60)[0]
            self.assertEqual(process.returncode, 130 if number == signal.SIGINT else -number, said)
            if number == signal.SIGINT:
                self.assertTrue((self.out / "report.html").exists())
                self.assertNotIn('"machine"', results.read_text())
        before = [record["task"] for record in self.records()]
        self.assertLess(len(before), 3)
        self.expect(run(*command[1:]), 0, f"{3 - len(before)} to evaluate")
        after = [record["task"] for record in self.records()]
        self.assertEqual(after[:len(before)], before)
        self.assertEqual(sorted(after), ["1/1", "1/2", "2/1"])

    def test_tasks_may_share_their_workers(self):
        first, second = self.suite / "level1/1_double.py", self.suite / "level2/1_triple.py"
        first.write_text("import torch\ntorch.left_behind = True\n" + first.read_text())
        second.write_text("import torch\nassert not hasattr(torch, 'left_behind'), 'left_behind'\n" +
                          second.read_text())
        outcome = self.evaluate("--turns", 1, "--only", "1/1,2/1", "--shared-workers", "--baselines", self.baselines)
        self.expect(outcome, 0, "2 of 2")
        by_name = {record["task"]: record for record in self.records()}
        self.assertEqual(by_name["1/1"]["outcome"], "correct")
        self.assertEqual(by_name["2/1"]["outcome"], "unusable")
        self.assertIn("left_behind", by_name["2/1"]["cause"])
        kept = json.loads((self.out / "evaluation.json").read_text())
        self.assertTrue(kept["shared_workers"])

    def test_a_policy_may_be_judged_briefly(self):
        kept = ["--turns", 1, "--only", "1/1", "--baselines", self.folder / "short"]
        self.expect(self.evaluate(*kept, "--strength", "training"), 0, "1 of 1")
        verdict = self.records()[0]["verdict"]
        self.assertEqual(verdict["strength"], "training")
        stored = next((self.folder / "short").glob("1_double-*.json"))
        self.assertEqual(json.loads(stored.read_text())["strength"], "training")
        self.assertLessEqual(verdict["times"]["eager"]["samples"], 30)
        self.expect(self.evaluate(*kept), 2, "strength")  # another evaluation's folder
        # Whoever asks for more does not take what was timed briefly.
        self.out = self.folder / "full"
        self.expect(self.evaluate(*kept), 0, "1 of 1")
        self.assertEqual(self.records()[0]["verdict"]["strength"], "full")
        self.assertIn("timing eager and torch.compile", self.records()[0]["phases"])
        self.assertEqual(json.loads(stored.read_text())["strength"], "full")

    def test_what_is_only_verified_ends_with_what_is_correct(self):
        kept = ["--turns", 6, "--only", "1/1"]
        self.expect(self.evaluate(*kept, "--untimed"), 0, "1 of 1")
        record, = self.records()
        self.assertEqual((record["outcome"], record["turns"], record["best_turn"]), ("correct", 1, 1))
        self.assertEqual(record["verdict"]["reward"], 1)
        self.assertNotIn("timing eager and torch.compile", record["phases"])
        self.expect(self.evaluate(*kept), 2, "untimed")  # another evaluation's folder
        self.expect(self.evaluate(*kept, "--untimed", "--until-reward", 2), 2, "--until-reward")

    def test_a_session_ends_with_the_reward_asked_for(self):
        self.expect(self.evaluate("--turns", 6, "--only", "1/1", "--until-reward", 1, "--strength", "training",
                                  "--baselines", self.folder / "short"), 0, "1 of 1")
        record, = self.records()
        self.assertEqual((record["outcome"], record["turns"]), ("correct", 1))
        self.assertGreaterEqual(record["verdict"]["reward"], 1)
        log = (self.out / record["session"] / "session.jsonl").read_text()
        self.assertIn("a candidate has the reward of 1", log)

    def test_time_that_is_up_is_told(self):
        result = self.evaluate("--turns", 1, "--seconds", 0.5)
        self.expect(result, 1, "not all is evaluated; the same command goes on")
        result = self.evaluate("--turns", 1, "--only", "1/1", "--longest", 0.5)
        self.expect(result, 0, "out_of_time", "its 0.5 s are up")

    def test_wrong_use_is_2(self):
        for arguments, said in ((["--only", "9/9"], "no task '9/9'"), (["--levels", 3], "no tasks of level 3"),
                                (["--candidates", self.folder / "none"], "cannot read"),
                                (["--candidates", self.folder], "nothing in"),
                                (["--strength", "quick"], "--strength"),
                                (["--timed-calls", "50"], "--candidates"),
                                (["--gpus", 0], "--gpus"), (["--gpus", 2], "GPUs"),
                                (["--policy", "replay"], "--policy"),
                                (["--numerics", "default,exact"], "exact")):
            with self.subTest(arguments=arguments):
                self.expect(self.evaluate(*arguments), 2, said)
        self.expect(run("evaluate", self.folder / "nowhere", "--out", self.out), 2, "neither a folder of tasks")
        (self.folder / "occupied").write_text("x")
        self.out = self.folder / "occupied"
        self.expect(self.evaluate(), 2, "cannot create")


if __name__ == "__main__":
    unittest.main()
